"""What `run`, `show` and `report` claim: conversations, repeats, slices and small samples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from fakes.desk_project import case, jsonl
from fakes.many_commands import Done, run_many

JSON = ("--format", "json")
RUN = ("run", "cases.jsonl", "--responses", "responses.jsonl")
ZERO_WIDTH = re.compile(r"\[(-?\+?[0-9.]+), \1\]")
Tries = Iterable[bool | None]


def write(folder: Path, tries: dict[str, Tries], **fields: Any) -> Path:
    """Cases whose tries pass, fail or, with None, have no answer for good."""
    cases = [
        {**case(name, f"Question {name}?", "yes"), "tags": [], **_of(fields, place)}
        for place, name in enumerate(tries)
    ]
    jsonl(folder / "cases.jsonl", cases)
    rows = [
        {"record_id": name, "candidate_name": "model", "repeat": repeat, **_answer(passed)}
        for name, outcomes in tries.items()
        for repeat, passed in enumerate(outcomes)
    ]
    jsonl(folder / "responses.jsonl", rows)
    (folder / "steelyard.yaml").write_text("retry: {max_attempts: 1}\n", encoding="utf-8")
    return folder


def _of(fields: dict[str, Any], place: int) -> dict[str, Any]:
    return {name: value(place) for name, value in fields.items()}


def _answer(passed: bool | None) -> dict[str, Any]:
    if passed is None:
        return {"error_code": "timeout"}
    return {"response_text": "yes" if passed else "no"}


def metrics(done: Done) -> dict[str, Any]:
    return json.loads(done.stdout)["metrics"]


def conversations(folder: Path) -> Path:
    """20 conversations of 5 turns; the turns of 16 all pass, those of 4 all fail."""
    tries = {f"t{turn}": [turn < 80] for turn in range(100)}
    return write(folder, tries, conversation_id=lambda turn: f"talk {turn // 5}")


def test_the_headline_counts_conversations_and_not_turns(tmp_path: Path) -> None:
    text, as_json, markdown = run_many(
        conversations(tmp_path), [RUN, (*RUN, *JSON), (*RUN, "--format", "markdown")]
    )
    rate = metrics(as_json)["pass_rate"]

    assert "pass rate  80.0 % [56.2, 92.6]  80 of 100 evaluated (95 % interval)" in text.stdout
    said = "100 records in 20 conversations count as about 19 independent records"
    assert said in text.stdout
    assert said in markdown.stdout
    assert "score      0.800 [0.562, 0.926]" in text.stdout
    assert "check      says  80.0 % [56.2, 92.6]  n = 100" in text.stdout
    assert (rate["n"], rate["clusters"], round(rate["n_effective"])) == (100, 20, 19)


@pytest.mark.parametrize(("least", "code"), [("0.7", 1), ("0.5", 0)])
def test_a_gate_on_the_lower_end_sees_conversations(tmp_path: Path, least: str, code: int) -> None:
    (done,) = run_many(conversations(tmp_path), [(*RUN, "--fail-under-low", least)])

    assert done.code == code, done.stderr


def test_a_slice_of_conversations_counts_them_too(tmp_path: Path) -> None:
    folder = conversations(tmp_path)
    cases = [json.loads(line) for line in (folder / "cases.jsonl").read_text().splitlines()]
    jsonl(folder / "cases.jsonl", [{**one, "tags": ["all"]} for one in cases])
    run, shown = run_many(folder, [(*RUN, *JSON), ("report", "latest", "-o", "r.html")])
    file = Path(json.loads(run.stdout)["artifacts"]) / "metrics_by_slice.json"
    found = json.loads(file.read_text(encoding="utf-8"))["slices"][0]

    assert shown.code == 0
    assert found["pass_rate"] == metrics(run)["pass_rate"]
    assert "count as about 19 independent records" in (folder / "r.html").read_text("utf-8")


def test_cases_that_lack_tries_are_bounded(tmp_path: Path) -> None:
    """Two cases pass 3 of 3; two fail once, and their other tries have no score."""
    tries: dict[str, Tries] = {
        **{f"good{at}": [True] * 3 for at in range(2)},
        **{f"bad{at}": [False, None, None] for at in range(2)},
    }
    text, as_json = run_many(
        write(tmp_path, tries), [(*RUN, "--repeat", "3"), (*RUN, "--repeat", "3", *JSON)]
    )
    found = metrics(as_json)["repeats"]
    filled = "if the tries without a score had all failed or all passed"

    assert "pass rate  50.0 %" in text.stdout
    assert "pass^3     100.0 % [34.2, 100.0]  every one of 3 tries passes, n = 2" in text.stdout
    assert f"bounds     pass^3 is 50.0 % to 50.0 % {filled}" in text.stdout
    assert f"bounds     pass@3 is 50.0 % to 100.0 % {filled}" in text.stdout
    assert found["pass_hat_k"]["bounds"] == {"low": 0.5, "high": 0.5}
    assert [row["k"] for row in found["by_k"]] == [1, 2, 3]
    assert found["by_k"][0]["pass_at_k"]["value"] == 0.5


def test_repeats_say_where_the_noise_is(tmp_path: Path) -> None:
    coins: dict[str, Tries] = {f"c{at}": [True, False] for at in range(12)}
    sure: dict[str, Tries] = {f"c{at}": [at < 8] * 2 for at in range(12)}
    folders = [write(_made(tmp_path / name), one) for name, one in (("a", coins), ("b", sure))]
    outcomes = [run_many(folder, [(*RUN, "--repeat", "2")])[0] for folder in folders]

    assert "0 % of the variance is between records, 100 % between repeats: more repeats help" in (
        outcomes[0].stdout
    )
    assert "100 % of the variance is between records, 0 % between repeats: add records" in (
        outcomes[1].stdout
    )


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    "tries",
    [
        {"only": [True]},
        {"only": [True, True]},
        {f"c{at}": [True] for at in range(3)},
        {f"c{at}": [False] * 2 for at in range(3)},
    ],
    ids=["one record", "one record twice", "all pass", "all fail twice"],
)
def test_no_interval_has_width_zero(tmp_path: Path, tries: dict[str, Tries]) -> None:
    folder = write(tmp_path, tries, tags=lambda _: ["all"])
    repeats = str(max(len([*outcomes]) for outcomes in tries.values()))
    run = (*RUN, "--repeat", repeats)
    text, markdown, as_json, _ = run_many(
        folder,
        [run, (*run, "--format", "markdown"), (*run, *JSON), ("report", "latest", "-o", "r.html")],
    )
    page = (folder / "r.html").read_text(encoding="utf-8")

    for shown in (text.stdout, markdown.stdout, page):
        assert "[" in shown
        assert not ZERO_WIDTH.search(shown), shown
    for interval in _intervals(metrics(as_json)):
        assert interval["low"] is None or interval["low"] < interval["high"], interval


def _intervals(value: Any) -> Iterable[dict[str, Any]]:
    if isinstance(value, dict):
        if "method" in value and value.get("value") is not None:
            yield value
        for inner in value.values():
            yield from _intervals(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _intervals(inner)


def test_a_slice_is_weak_only_where_chance_does_not_explain_it(tmp_path: Path) -> None:
    """60 records: 16 of 20 fees fail; of 40 others one in eight fails, in one topic or another."""
    tries: dict[str, Tries] = {f"c{at}": [at > 15 and at % 8 > 0] for at in range(60)}
    folder = write(tmp_path, tries, tags=lambda at: ["fees" if at < 20 else f"topic{at % 3}"])
    (done,) = run_many(folder, [RUN])
    weak = [line for line in done.stdout.splitlines() if "weak slice" in line]

    assert len(weak) == 1
    assert "tags = fees" in weak[0]
    assert "below the rest (adjusted p = 0.000)" in weak[0]


def test_slices_within_chance_are_not_called_weak(tmp_path: Path) -> None:
    tries: dict[str, Tries] = {f"c{at}": [at % 4 > 0] for at in range(40)}
    folder = write(tmp_path, tries, tags=lambda at: [f"topic{at % 5}"])
    (done,) = run_many(folder, [RUN])

    assert "weak" not in done.stdout


def test_one_bad_conversation_makes_no_weak_slice(tmp_path: Path) -> None:
    """All ten turns of one conversation fail: one piece of evidence."""
    tries: dict[str, Tries] = {f"c{at}": [at >= 10] for at in range(100)}
    folder = write(
        tmp_path,
        tries,
        tags=lambda at: ["fees" if at < 20 else "loans"],
        conversation_id=lambda at: f"talk {at // 10}",
    )
    (done,) = run_many(folder, [RUN])

    assert "weak slice" not in done.stdout
    assert "lowest     tags = fees" in done.stdout
    assert "could be chance" in done.stdout
