"""The files that a run leaves behind."""

from __future__ import annotations

from steelyard.results.attempts import ATTEMPTS
from steelyard.results.failures import FAILURES
from steelyard.results.predictions import PREDICTIONS
from steelyard.results.record_validation import RECORD_VALIDATION

MANIFEST = "run_manifest.json"
METRICS = "metrics_summary.json"
SLICES = "metrics_by_slice.json"
ARTIFACTS = (
    MANIFEST,
    "input_dataset.json",
    RECORD_VALIDATION,
    PREDICTIONS,
    ATTEMPTS,
    METRICS,
    SLICES,
    FAILURES,
)
