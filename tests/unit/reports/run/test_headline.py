# pyright: basic
"""One line says what a run came to, and a failed gate is part of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from fakes.metrics import metrics
from steelyard.model.statistics.corrected_rate import CorrectedRate
from steelyard.model.statistics.gate import ALLOW_FAILURES, GateResult
from steelyard.model.statistics.interval import Interval
from steelyard.reports.run.headline import gate_lines, headline

METRICS = structs.replace(metrics(), pass_rate=Interval(0.5, 0.3, 0.7, "wilson", 20))
JUDGED = CorrectedRate(judge="judge/right@1.0.0")
UNDER = GateResult(name="fail-under", passed=False, looked_at="the pass rate", reason="too low")
LOW = GateResult(name="fail-under-low", passed=False, looked_at="its lower bound", reason="low")
MISSING = GateResult(
    name=ALLOW_FAILURES, passed=False, looked_at="", reason="1 of 2", is_missing_scores=True
)
COMPLETE = GateResult(name=ALLOW_FAILURES, passed=True, looked_at="0 of 2")
PASSED = GateResult(name="fail-under", passed=True, looked_at="the pass rate, 50.0 %")


@pytest.mark.parametrize(
    ("corrected", "gates", "said"),
    [
        (None, (), "50.0 % [30.0, 70.0]"),
        (None, (PASSED, COMPLETE), "50.0 % [30.0, 70.0]"),
        (
            replace(JUDGED, value=0.4, low=0.2, high=0.6, n=20),
            (),
            "corrected 40.0 % [20.0, 60.0], raw 50.0 % [30.0, 70.0]",
        ),
        (replace(JUDGED, reason="never validated"), (), "50.0 % [30.0, 70.0], uncorrected"),
        (None, (UNDER, LOW), "50.0 % [30.0, 70.0]; gate failed: fail-under, fail-under-low"),
        (None, (MISSING,), "50.0 % [30.0, 70.0]; scores missing"),
        (None, (UNDER, MISSING), "50.0 % [30.0, 70.0]; gate failed: fail-under; scores missing"),
    ],
)
def test_the_headline_has_both_rates_and_the_gates_that_failed(corrected, gates, said):
    assert headline(structs.replace(METRICS, corrected_pass_rate=corrected), gates) == said


def test_a_gate_says_what_it_looked_at_or_why_it_failed():
    said = [text for _, text in gate_lines([UNDER, PASSED, COMPLETE, MISSING])]

    assert said == [
        "failed: too low",
        "passed: fail-under looked at the pass rate, 50.0 %",
        "failed: 1 of 2",
    ]
