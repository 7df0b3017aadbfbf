"""Corrected claims about two runs, through the real commands, where a false one was seen."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fakes.judged_desk import (
    REF,
    RUN,
    Response,
    drawn,
    label,
    write_judged_desk,
    write_rows,
)
from fakes.many_commands import run_many

pytestmark = pytest.mark.trials

JSON = ("--format", "json")
VALIDATE = ("judge", "validate", REF, "--labels", "labels.jsonl", "--split", "all")
RANDOM = ("--design", "random", "--no-canaries")


def started(root: Path, *words: str) -> str:
    return json.loads(run_many(root, [(*RUN, *words, *JSON)])[0].stdout)["run_id"]


def compared(root: Path, *words: str) -> tuple[dict[str, Any], str]:
    as_json, as_text = run_many(root, [("compare", *words, *JSON), ("compare", *words)])
    return json.loads(as_json.stdout), as_text.stdout


def labelled(run_id: str, responses: list[Response], count: int) -> list[dict[str, Any]]:
    chosen = Random(4).sample(responses, count)
    return [label(one, run_id=run_id, inclusion_prob=count / len(responses)) for one in chosen]


def ends(row: dict[str, Any]) -> tuple[float, float, float]:
    return row["value"], row["low"], row["high"]


def mirrored(row: dict[str, Any]) -> tuple[float, float, float]:
    return -row["value"], -row["high"], -row["low"]


def test_a_part_of_a_run_is_corrected_on_the_common_records(tmp_path: Path) -> None:
    """The first half is good and the second is not: the rates of whole runs differ by far."""
    good, bad = drawn(150, 0.95, seed=1), drawn(300, 0.4, seed=2)[150:]
    write_judged_desk(tmp_path, [*good, *bad])
    whole, part = started(tmp_path), started(tmp_path, "--limit", "150")
    labels = [*labelled(whole, [*good, *bad], 120), *labelled(part, good, 60)]
    write_rows(tmp_path / "labels.jsonl", labels)
    (done,) = run_many(tmp_path, [(*VALIDATE, "--run", whole, "--run", part, *RANDOM)])
    row, said = compared(tmp_path, whole, part)

    assert done.code == 0, done.stderr
    assert (row["pairs"], row["corrected"]["n"]) == (150, 150)
    assert row["verdict"] == row["corrected_verdict"] == "no difference detectable"
    assert abs(row["corrected"]["value"]) < 0.15
    assert "B is better" not in said


def test_labels_of_a_alone_make_no_verdict_about_b(tmp_path: Path) -> None:
    """Both are equally good; the judge is kinder to B."""
    a = drawn(300, 0.7, tpr=0.95, tnr=0.9, seed=3)
    b = [
        Response(one.name, one.number, one.is_good, one.is_good or Random(k).random() < 0.6)
        for k, one in enumerate(a)
    ]
    write_judged_desk(tmp_path, a)
    first = started(tmp_path)
    write_rows(tmp_path / "labels.jsonl", labelled(first, a, 200))
    run_many(tmp_path, [(*VALIDATE, "--run", first, *RANDOM)])
    write_judged_desk(tmp_path, b, voice="Well")
    second = started(tmp_path)
    row, said = compared(tmp_path, first, second)

    assert (row["corrected"], row["basis"]) == (None, "raw")
    assert "B − A" in said
    assert "corrected by people's labels" not in said


def test_the_corrected_verdict_leads_the_gate_looks_at_both(tmp_path: Path) -> None:
    """The judge passes nearly all of B's answers, and people as many as of A's."""
    a = drawn(200, 0.7, tpr=0.9, tnr=0.9, seed=5)
    b = [
        Response(one.name, one.number, one.is_good, Random(k).random() < 0.97)
        for k, one in enumerate(a)
    ]
    everything: list[dict[str, Any]] = []
    write_judged_desk(tmp_path, a)
    first = started(tmp_path)
    everything += labelled(first, a, 100)
    replies = (tmp_path / "replies.jsonl").read_text("utf-8")
    write_judged_desk(tmp_path, b, voice="Well")
    second = started(tmp_path)
    everything += labelled(second, b, 100)
    write_rows(tmp_path / "labels.jsonl", everything)
    runs = ("--run", first, "--run", second)
    (done,) = run_many(tmp_path, [(*VALIDATE, *runs, *RANDOM)])
    row, said = compared(tmp_path, first, second)

    assert replies
    assert done.code == 0, done.stderr
    assert (row["raw_verdict"], row["verdict"]) == ("better", "no difference detectable")
    assert said.splitlines()[2].startswith("  verdict    not comparable as they stand: judge")
    assert "taken as they are, no difference detectable" in said.splitlines()[2]
    assert said.index("  verdict ") < said.index("  corrected ") < said.index("  raw ")
    assert "; as the judge sees it: better" in said

    margin, tighter = run_many(
        tmp_path, [("compare", first, second, "--fail-if", f"worse by {n}") for n in (60, 2)]
    )

    assert (margin.code, tighter.code) == (0, 1)
    assert "gate failed: by the corrected difference B may be worse by 2 points" in tighter.stderr
    assert "looked at the lower bound of the raw difference +" in tighter.stderr
    assert " and of the corrected difference " in tighter.stderr

    back, _ = compared(tmp_path, second, first)

    for name in ("passes", "scores", "corrected"):
        assert mirrored(back[name]) == ends(row[name])


def test_labels_do_not_let_a_gate_pass_where_scores_are_missing_unevenly(tmp_path: Path) -> None:
    """Both runs have labels, and a fifth of B has no score."""
    a = drawn(300, 0.75, seed=9)
    write_judged_desk(tmp_path, a)
    first = started(tmp_path)
    write_rows(tmp_path / "responses.jsonl", (_answer(one) for one in a))
    second = started(tmp_path)
    rest = [one for one in a if one.number % 5]
    labels = [*labelled(first, a, 150), *labelled(second, rest, 120)]
    write_rows(tmp_path / "labels.jsonl", labels)
    run_many(tmp_path, [(*VALIDATE, "--run", first, "--run", second, *RANDOM)])
    pair = ("compare", first, second)
    plain, strict, margin, table, as_json = run_many(
        tmp_path,
        [
            (*pair, "--fail-if", "worse"),
            (*pair, "--fail-if", "worse", "--strict"),
            (*pair, "--fail-if", "worse by 15"),
            (*pair, second, "--fail-if", "worse"),
            (*pair, "--fail-if", "worse", *JSON),
        ],
    )
    row = json.loads(as_json.stdout)

    assert [one.code for one in (plain, strict, margin, table, as_json)] == [2] * 5
    assert "gate passed" not in plain.stderr + strict.stderr + table.stderr
    assert (row["verdict"], row["gate"]["passed"]) == ("cannot be compared", False)
    assert row["corrected"] is not None


def test_of_several_runs_each_verdict_says_whose_it_is(tmp_path: Path) -> None:
    """Two of three runs have labels: the third is compared as the judge alone sees it."""
    a = drawn(200, 0.6, seed=9)
    kind = [Response(one.name, one.number, one.is_good, True) for one in a]
    write_judged_desk(tmp_path, a)
    first, second = started(tmp_path), started(tmp_path)
    labels = [*labelled(first, a, 100), *labelled(second, a, 100)]
    write_rows(tmp_path / "labels.jsonl", labels)
    run_many(tmp_path, [(*VALIDATE, "--run", first, "--run", second, *RANDOM)])
    write_judged_desk(tmp_path, kind, voice="Well")
    third = started(tmp_path)
    pair, table = run_many(
        tmp_path, [("compare", first, third), ("compare", first, second, third)]
    )
    verdicts = [line for line in table.stdout.splitlines() if " against " in line]

    assert "B is better than A, as the judge sees it (raw, not corrected)" in pair.stdout
    assert f"{second} against {first}: no difference detectable, corrected" in verdicts[0]
    for line in verdicts[1:]:
        assert f"{third} against " in line
        assert "taken as they are, better, as the judge sees it (raw, not corrected)" in line


def _answer(one: Response) -> dict[str, Any]:
    if one.number % 5:
        return {"record_id": one.name, "response_text": f"Answer {one.number}."}
    return {"record_id": one.name, "error_code": "timeout"}
