"""A run of canaries: every report says how many answers that must fail were passed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from steelyard.reports.html.notebook import run_output
from steelyard.reports.html.run_html import run_html
from steelyard.reports.rate_words import say_canaries
from steelyard.reports.run.run_markdown import run_markdown
from steelyard.reports.run.run_summary import Fact, summary_of
from steelyard.reports.run.run_text import RunView, run_lines
from steelyard.results.facts import Facts
from strategies.run_facts import facts
from strategies.run_views import prediction, run_view

SENTENCE = "canaries: 2 of 6 answers that must fail were passed"
CANARIES: dict[str, Any] = {
    "dataset_id": "canaries",
    "targets": {"canaries": {"provider": "canaries"}},
    "judges": ({"judge": "judge/kind@1.0.0"},),
}


def some(passed: int, failed: int, missing: int = 0) -> Iterable[Facts]:
    outcomes = [True] * passed + [False] * failed + [None] * missing
    return (
        facts(index, passed=outcome, slices=(("tags", f"t{index % 2}"),))
        for index, outcome in enumerate(outcomes)
    )


def canaries(*counts: int) -> RunView:
    return run_view(some(*counts), **CANARIES)


def test_every_report_has_the_sentence_and_no_quality() -> None:
    view, rows = canaries(2, 4), [prediction(0)]
    pages = [
        "\n".join(run_lines(view)),
        run_markdown(view, rows),
        run_html(view, rows),
        run_output(view, rows),
        json.dumps(view.headline),
    ]

    assert [SENTENCE in page for page in pages] == [True] * len(pages)
    assert [
        words for words in ("Of answers like these", "lowest") for p in pages if words in p
    ] == []
    assert "Not passed" not in run_markdown(view, rows)


def test_the_head_names_the_judges_and_calls_no_rate_a_pass_rate() -> None:
    summary = summary_of(canaries(2, 4))

    assert (summary.title, summary.say) == ("Canaries", f"C{SENTENCE[1:]}.")
    assert summary.rates[0].name == "Passed, though they must fail"
    assert Fact("Judge tried", "judge/kind@1.0.0") in summary.facts


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((1, 3), "canaries: 1 of 4 answers that must fail was passed"),
        ((0, 1), "canaries: 0 of 1 answer that must fail were passed"),
        ((1, 1, 2), "canaries: 1 of 2 answers that must fail was passed, 2 without a score"),
        ((0, 0, 3), "canaries: none of 3 answers that must fail has a score"),
    ],
)
def test_the_sentence_counts_what_has_a_score(counts: tuple[int, ...], said: str) -> None:
    assert say_canaries(canaries(*counts).metrics) == said


def test_a_dataset_called_canaries_is_not_one_of_canaries() -> None:
    view = run_view(some(2, 4), dataset_id="canaries", targets={"canaries": {"provider": "echo"}})

    assert not view.is_of_canaries
    assert "pass rate" in "\n".join(run_lines(view))
