"""Every state of a run, and every way in which one stands, has a word."""

from __future__ import annotations

from typing import get_args

import pytest

from fakes.predictions import prediction
from steelyard.model.run import RunState
from steelyard.reports.verdict_words import repeats_text, repeats_word, row_word, run_word
from steelyard.usecases.runs.ownership import CANCELLING, STOPPED, UNRESUMABLE


@pytest.mark.parametrize("text", [*get_args(RunState), CANCELLING, STOPPED, UNRESUMABLE])
def test_a_run_that_stands_so_has_a_word(text: str) -> None:
    assert run_word(text).word.lower() == text.replace("_", " ")


@pytest.mark.parametrize(
    ("tries", "word", "said"),
    [
        ("y", "Pass", ""),
        ("yyy", "Pass", "3 of 3 repeats pass"),
        ("nn", "Fail", "0 of 2 repeats pass"),
        ("yyn", "Mixed", "2 of 3 repeats pass"),
        ("y?n", "Incomplete", "1 of 2 scored repeats pass, 1 without a score"),
        ("yy?", "Incomplete", "2 of 2 scored repeats pass, 1 without a score"),
        ("??", "Timeout", "none of 2 repeats has a score"),
    ],
)
def test_repeats_have_one_verdict_only_where_all_agree(tries: str, word: str, said: str) -> None:
    passed = {"y": True, "n": False, "?": None}
    rows = [
        prediction(
            0,
            repeat=repeat,
            passed=passed[letter],
            status="timeout" if letter == "?" else "evaluated",
        )
        for repeat, letter in enumerate(tries)
    ]

    assert repeats_word(rows).word == word
    assert repeats_text(rows) == said


def test_an_answer_that_no_check_could_judge_is_unscored() -> None:
    row = prediction(0, status="evaluation_error", passed=None, trace={"messages": []})
    silent = prediction(0, status="evaluation_error", passed=None)

    assert (row_word(row).word, row_word(silent).word) == ("Unscored", "No score")
