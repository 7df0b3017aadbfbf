"""`judge validate`: a judge that likes long answers, and juries beside their best juror."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fakes.judged_desk import REF, RUN, Response, label, reply, write_judged_desk, write_rows
from fakes.many_commands import run_many

pytestmark = pytest.mark.trials

PANEL = """\
id: panel
version: 1.0.0
checks:
  - id: all
    kind: llm_judge
    jury:
      aggregation: majority
      judges:
        - {judge_prompt_ref: judge/right@1.0.0}
        - {judge_prompt_ref: judge/fair@1.0.0}
        - {judge_prompt_ref: judge/kind@1.0.0}
scoring: {combine: all_pass}
"""
VALIDATE = ("--labels", "labels.jsonl", "--run", "latest", "--split", "all", "--no-canaries")
JSON = ("--format", "json")


def responses(passes: Callable[[int, bool], bool], count: int = 160) -> list[Response]:
    """Half of the responses are bad; whether the judge passes one depends on its number."""
    return [Response(f"q{n}", n, n % 2 == 0, passes(n, n % 2 == 0)) for n in range(count)]


def validated(root: Path, made: list[Response]) -> tuple[dict[str, Any], str]:
    """The validation of a judge, as JSON and as text; every second pair of responses is long."""
    write_judged_desk(root, made)
    write_rows(root / "labels.jsonl", [label(one) for one in made])
    write_rows(
        root / "responses.jsonl",
        (
            {"record_id": one.name, "response_text": "So. " * (50 if is_long(one.number) else 2)}
            for one in made
        ),
    )
    command = ("judge", "validate", REF, *VALIDATE)
    _, told, said = run_many(root, [RUN, (*command, *JSON), command])
    return json.loads(told.stdout), said.stdout


def is_long(number: int) -> bool:
    return number % 4 > 1


def test_a_judge_that_passes_long_bad_answers_is_found_out(tmp_path: Path) -> None:
    luck = Random(1)
    made = responses(
        lambda n, good: luck.random() < (0.9 if good else 0.6 if is_long(n) else 0.15)
    )
    found, said = validated(tmp_path, made)
    passes, fails = (
        next(one for one in found["bias"] if one["error"] == error)
        for error in ("false_pass", "false_fail")
    )
    bad = [one for one in made if not one.is_good]
    rates = [
        sum(one.is_passed for one in bad if is_long(one.number) is long) / (len(bad) / 2)
        for long in (True, False)
    ]

    assert passes["covariate"] == "response_length"
    assert (passes["rate_above"], passes["rate_below"]) == pytest.approx(tuple(rates))
    assert passes["estimate"] == pytest.approx(rates[0] - rates[1])
    assert 0 < passes["low"] < passes["estimate"] < passes["high"]
    assert (passes["n"], passes["is_notable"], fails["is_notable"]) == (80, True, False)
    assert passes["p_value"] < 0.001
    assert f"bias       passes long bad responses more often: {100 * rates[0]:.1f} %" in said
    assert "fails long good responses" not in said


def test_a_judge_that_errs_whatever_the_length_has_no_bias(tmp_path: Path) -> None:
    luck = Random(2)
    found, said = validated(
        tmp_path, responses(lambda _, good: luck.random() < (0.9 if good else 0.3))
    )

    assert [one["is_notable"] for one in found["bias"]] == [False, False]
    assert "bias " not in said


def _in_turn(seat: int, number: int) -> bool:
    return number % 6 == 2 * seat


def _together(_: int, number: int) -> bool:
    return number % 7 == 0


@pytest.mark.parametrize(
    ("errs", "said"),
    [
        (_in_turn, "better than its best juror: +"),
        (_together, "no clear difference from its best juror: +0.0 points"),
    ],
)
def test_a_jury_is_better_than_its_best_juror_only_beyond_chance(
    tmp_path: Path, errs: Callable[[int, int], bool], said: str
) -> None:
    made = responses(lambda _, good: good, 120)
    write_judged_desk(tmp_path, made)
    (tmp_path / "rubrics" / "panel.yaml").write_text(PANEL, encoding="utf-8")
    right = (tmp_path / "judges" / "right.yaml").read_text(encoding="utf-8")
    names = ("right", "fair", "kind")
    for name in names:
        judge = right.replace("id: right", f"id: {name}")
        (tmp_path / "judges" / f"{name}.yaml").write_text(judge, encoding="utf-8")
    write_rows(
        tmp_path / "replies.jsonl",
        (
            {
                "record_id": one.name,
                "judge": name,
                "check": "all",
                "response_text": reply(int(one.is_good is not errs(seat, one.number // 2))),
            }
            for one in made
            for seat, name in enumerate(names)
        ),
    )
    write_rows(
        tmp_path / "labels.jsonl",
        [{**label(one), "rubric": "rubric/panel@1.0.0"} for one in made],
    )
    run = (*RUN[:-1], "rubric/panel@1.0.0")
    command = ("judge", "validate", "rubric/panel@1.0.0", *VALIDATE)
    _, told, text = run_many(tmp_path, [run, (*command, *JSON), command])
    minus = json.loads(told.stdout)["jury"]["minus_best"]

    assert f"jury       {said}" in text.stdout
    assert "interval widened because the best of 3 was picked" in text.stdout
    assert minus["low"] <= minus["value"] <= minus["high"]
    assert minus["low"] < minus["high"]
    assert minus["n"] == 120
