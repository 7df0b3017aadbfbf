"""Random draws: the same every time, and how many."""

from __future__ import annotations

SEED = 20_260_115
RESAMPLES = 10_000
