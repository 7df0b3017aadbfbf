"""Whether the rates of a run are uncorrected for the errors of its judge."""

from __future__ import annotations

from steelyard.results.metrics import Metrics


def uncorrected(metrics: Metrics) -> dict[str, str]:
    """Why the rates are uncorrected; nothing where no judge decides them, or they are not."""
    corrected = metrics.corrected_pass_rate
    if corrected is None or corrected.value is not None:
        return {}
    return {"uncorrected": corrected.reason or "no reason is known"}
