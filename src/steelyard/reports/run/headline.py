"""The result of a run in one line, the same in every report format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.model.statistics.gate import GateResult
from steelyard.reports.findings import printable
from steelyard.reports.numbers import rate_text
from steelyard.results.metrics import Metrics


def headline(metrics: Metrics, gates: Sequence[GateResult]) -> str:
    """The corrected pass rate first where there is one, the raw one, and the failed gates."""
    return "; ".join([rates_text(metrics), *failed_text(gates)])


def rates_text(metrics: Metrics) -> str:
    """The corrected pass rate with the raw one, or a note that it is uncorrected."""
    raw = rate_text(metrics.pass_rate)
    row = metrics.corrected_pass_rate
    if row is None:
        return raw
    return f"corrected {rate_text(row)}, raw {raw}" if row.is_corrected else f"{raw}, uncorrected"


def failed_text(gates: Sequence[GateResult]) -> Iterator[str]:
    """The failed gates; empty if all passed."""
    failed = [one for one in gates if not one.passed]
    if measured := [one.name for one in failed if not one.is_missing_scores]:
        yield f"gate failed: {', '.join(measured)}"
    if len(measured) < len(failed):
        yield "scores missing"


def gate_lines(gates: Sequence[GateResult]) -> Iterator[tuple[GateResult, str]]:
    """Each gate with what it checked, or why it failed."""
    for one in gates:
        if one.passed and one.is_named:
            yield one, f"passed: {one.name} looked at {printable(one.looked_at)}"
        elif not one.passed:
            yield one, f"failed: {printable(one.reason)}"
