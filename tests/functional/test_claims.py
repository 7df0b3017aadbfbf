"""Claims about two runs, through the real commands, on inputs where a false one was seen."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from fakes.claims_project import (
    run_id,
    write_cases,
    write_responses,
    write_rubric,
    write_settings,
)
from fakes.many_commands import Done, run_many

pytestmark = pytest.mark.no_cover

JSON = ("--format", "json")
CASES = "datasets/cases.jsonl"
SERIOUS = {"is_serious": True, "is_refused": True}
ANSWERS = ("--responses", "responses.jsonl", *JSON)


def runs(root: Path, *candidates: str, words: tuple[str, ...] = ()) -> list[str]:
    """The ids of a run for each candidate, in order."""
    commands = [("run", CASES, "--target", name, *ANSWERS, *words) for name in candidates]
    return [run_id(done.stdout) for done in run_many(root, commands)]


def compared(root: Path, *words: str) -> Done:
    return run_many(root, [("compare", *words)])[0]


def found(root: Path, *words: str) -> dict[str, Any]:
    return json.loads(compared(root, *words, *JSON).stdout)


def project(root: Path, count: int, candidates: dict[str, Any], *, turns: int = 1) -> Path:
    write_settings(root)
    write_cases(root, count, turns=turns)
    return write_responses(root, candidates)


def test_conversations_count_once_in_the_headline_and_in_the_gate(tmp_path: Path) -> None:
    said = ["y"] * 80 + ["n"] * 20
    project(tmp_path, 100, {"a": said}, turns=5)
    gate = ("run", CASES, "--target", "a", *ANSWERS, "--fail-under-low", "0.7")
    (done,) = run_many(tmp_path, [gate])
    rate = json.loads(done.stdout)["metrics"]["pass_rate"]

    assert (rate["value"], rate["n"], rate["clusters"]) == (0.8, 100, 20)
    assert rate["low"] < 0.6
    assert rate["high"] > 0.9
    assert done.code == 1
    assert "gate failed: the lower bound of the pass rate is 0.5" in done.stderr


def test_a_rubric_edited_in_place_is_another_measurement(tmp_path: Path) -> None:
    project(tmp_path, 12, {"a": ["y", "n"] * 6})
    write_rubric(tmp_path, '"yes"')
    (first,) = runs(tmp_path, "a", words=("--rubric", "rubric/says@1.0.0"))
    write_rubric(tmp_path, '"yes", "no"')
    (second,) = runs(tmp_path, "a", words=("--rubric", "rubric/says@1.0.0"))
    strict = compared(tmp_path, first, second, "--strict")
    soft = found(tmp_path, first, second)

    assert strict.code == 2
    assert "strict: these runs do not measure the same: rubric" in strict.stderr
    assert (soft["comparable"], soft["not_alike"][0]["what"]) == (False, "rubric")


def test_a_threshold_that_moves_is_another_measurement(tmp_path: Path) -> None:
    project(tmp_path, 4, {"a": ["y"] * 4})
    write_rubric(tmp_path, threshold=0.7)
    (first,) = runs(tmp_path, "a", words=("--rubric", "rubric/says@1.0.0"))
    write_rubric(tmp_path, threshold=0.9)
    (second,) = runs(tmp_path, "a", words=("--rubric", "rubric/says@1.0.0"))

    assert compared(tmp_path, first, second, "--strict").code == 2


def test_a_new_version_with_the_same_grading_is_the_same_measurement(tmp_path: Path) -> None:
    project(tmp_path, 4, {"a": ["y"] * 4})
    write_rubric(tmp_path)
    path = tmp_path / "rubrics" / "says.yaml"
    (first,) = runs(tmp_path, "a", words=("--rubric", "rubric/says@1.0.0"))
    path.write_text(
        "description: The same.\n" + path.read_text("utf-8").replace("1.0.0", "1.0.1"), "utf-8"
    )
    (second,) = runs(tmp_path, "a", words=("--rubric", "rubric/says@1.0.1"))

    assert compared(tmp_path, first, second, "--strict").code == 0


@pytest.mark.parametrize("words", [(), ("--strict",), ("--fail-if", "worse")])
def test_a_run_that_failed_entirely_cannot_be_compared(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    project(tmp_path, 10, {"a": ["y"] * 10, "b": ["?"] * 10})
    done = compared(tmp_path, *runs(tmp_path, "a", "b"), *words)

    assert done.code == 2
    assert "A and B cannot be compared: none of their 10 common records" in done.stdout


def test_timeouts_where_the_other_run_passes_are_no_pass_of_a_gate(tmp_path: Path) -> None:
    answers = {"a": ["y"] * 20, "b": ["?"] * 8 + ["y"] * 12, "c": ["y"] * 20}
    project(tmp_path, 20, answers)
    ids = runs(tmp_path, "a", "b", "c")
    two = compared(tmp_path, *ids[:2], "--fail-if", "worse", "--strict")
    three = compared(tmp_path, *ids, "--fail-if", "worse")
    free = found(tmp_path, *ids[:2])

    assert (two.code, three.code) == (2, 2)
    assert "cannot be compared: scores are missing unevenly" in two.stderr
    assert free["verdict"] == "cannot be compared"
    assert free["dropped"]["no_score_in_b"] == 8


def test_a_few_missing_scores_that_change_nothing_do_not_stop_a_gate(tmp_path: Path) -> None:
    project(tmp_path, 20, {"a": ["y"] * 20, "b": ["?"] * 2 + ["y"] * 18})
    done = compared(tmp_path, *runs(tmp_path, "a", "b"), "--fail-if", "worse")

    assert done.code == 0
    assert "gate passed: 'worse' looked at the raw difference 0.0 points [" in done.stderr


def test_repeats_missing_in_one_run_alone_are_no_pass_of_a_gate(tmp_path: Path) -> None:
    project(tmp_path, 12, {"a": ["yyy"] * 12, "b": ["y??"] * 12})
    ids = runs(tmp_path, "a", "b", words=("--repeat", "3"))

    assert compared(tmp_path, *ids, "--fail-if", "worse").code == 2


def test_the_same_responses_on_fewer_records_show_no_difference(tmp_path: Path) -> None:
    said = ["y"] * 10 + ["n"] * 10
    project(tmp_path, 20, {"a": said})
    (whole,) = runs(tmp_path, "a")
    (part,) = runs(tmp_path, "a", words=("--limit", "10"))
    row = found(tmp_path, whole, part)

    assert (row["verdict"], row["pairs"]) == ("no difference detectable", 10)
    assert (row["a"]["rate"], row["b"]["rate"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("gate", "code", "said"),
    [
        ("worse by 60", 0, "gate passed: 'worse by 60' looked at the lower bound of the raw"),
        ("worse by 2", 1, "gate failed: B may be worse by 2 points or more"),
        ("worse", 0, "gate passed"),
        ("better", 2, "--fail-if takes 'worse' or 'worse by N'"),
        ("worse by 0", 2, "N is above 0 and below 100 points"),
    ],
)
def test_a_margin_must_be_shown_and_not_assumed(
    tmp_path: Path, gate: str, code: int, said: str
) -> None:
    project(tmp_path, 20, {"a": ["y"] * 18 + ["n"] * 2, "b": ["y"] * 17 + ["n"] * 3})
    done = compared(tmp_path, *runs(tmp_path, "a", "b"), "--fail-if", gate)

    assert done.code == code
    assert said in done.stderr


def test_equal_systems_are_never_told_how_many_records_would_settle_it(tmp_path: Path) -> None:
    project(tmp_path, 20, {"a": ["y", "n"] * 10, "b": ["n", "y"] * 10})
    ids = runs(tmp_path, "a", "b")
    said = compared(tmp_path, *ids).stdout

    assert "settle" not in said
    assert (
        "to detect a difference of 5 points takes about 2,500 records (80 % power; assumed: "
        "76.7 % of records pass in one run only (100.0 % of 20 seen))" in said
    )
    assert "B − A 0.0 points [" in said


def coins(seed: int, count: int, tries: int) -> list[str]:
    """Tries of records that pass with chances from 0 to 1, the same for every seed."""
    chance = random.Random(seed)
    return [
        "".join("ny"[chance.random() < (place + 0.5) / count] for _ in range(tries))
        for place in range(count)
    ]


def test_repeats_that_are_planned_save_records_and_plan_and_compare_agree(tmp_path: Path) -> None:
    """60 records asked four times in both runs; nothing but repeats differs."""
    project(tmp_path, 60, {"a": coins(1, 60, 4), "b": coins(2, 60, 4)})
    ids = runs(tmp_path, "a", "b", words=("--repeat", "4"))
    plan = ("run", CASES, "--target", "a", *ANSWERS, "--plan", "--detect", "5")
    four, one = (
        json.loads(done.stdout)["detect"]
        for done in run_many(tmp_path, [(*plan, "--repeat", "4"), plan])
    )
    row = found(tmp_path, *ids)["detectable"]
    said = run_many(tmp_path, [(*plan[:-5], "--plan", "--detect", "5", "--repeat", "4")])[0].stdout

    assert one["records"] > 3.5 * four["records"]
    assert 200 < four["records"] < 300
    assert (row["records"], row["repeats"]) == (four["records"], 4)
    assert (row["discordant"], row["pairs"]) == (four["discordant"], 60)
    assert "of the two runs disagree on" in said
    assert "% of 60 seen), " in said
    assert "pass in only one" not in said


def test_single_tries_do_not_promise_that_repeats_save_records(tmp_path: Path) -> None:
    project(tmp_path, 40, {"a": ["y", "n"] * 20, "b": ["y", "y", "n", "n"] * 10})
    runs(tmp_path, "a", "b")
    plan = ("run", CASES, "--target", "echo", "--plan", "--detect", "5")
    one, four = run_many(tmp_path, [plan, (*plan, "--repeat", "4")])
    needed = [re.search(r"about ([0-9,]+) records", done.stdout) for done in (one, four)]

    assert [match and match[1] for match in needed] == ["1,482", "1,482"]
    assert "46.0 % of records pass in one run only (50.0 % of 40 seen)" in one.stdout
    assert "repeats are assumed to agree and so to save no records" in four.stdout


@pytest.mark.parametrize(("points", "share"), [("31", "31.0 %"), ("100", "100.0 %")])
def test_the_share_that_is_assumed_is_no_smaller_than_the_difference(
    tmp_path: Path, points: str, share: str
) -> None:
    project(tmp_path, 40, {"a": ["y"] * 40})
    plan = ("run", CASES, "--target", "echo", "--plan", "--detect", points)
    (done,) = run_many(tmp_path, [plan])

    assert f"two runs to compare: {share} of records pass in one run only" in done.stdout


def test_repeats_of_different_number_are_not_alike(tmp_path: Path) -> None:
    project(tmp_path, 6, {"a": ["yyn"] * 6, "b": ["yyy"] * 6})
    (three,) = runs(tmp_path, "a", words=("--repeat", "3"))
    write_responses(tmp_path, {"a": ["y"] * 6})
    (one,) = runs(tmp_path, "a")
    row = found(tmp_path, three, one)

    assert row["not_alike"][0] == {"what": "repeats", "a": "3", "b": "1", **SERIOUS}
    assert row["detectable"]["records"] < 10_000


def test_one_pair_has_an_interval_with_a_width(tmp_path: Path) -> None:
    project(tmp_path, 1, {"a": ["y"], "b": ["n"]})
    passes = found(tmp_path, *runs(tmp_path, "a", "b"))["passes"]

    assert passes["value"] == passes["low"] == -1.0
    assert passes["high"] > 0


def test_many_equal_runs_share_one_level_of_error_and_carry_their_ids(tmp_path: Path) -> None:
    """The first pair alone would be called different; among six pairs it is not."""
    answers = {
        "a": ["n"] * 6 + ["y"] * 34,
        "b": ["y"] * 40,
        "c": ["y"] * 39 + ["n"],
        "d": ["y"] * 38 + ["n"] * 2,
    }
    project(tmp_path, 40, answers)
    ids = runs(tmp_path, *answers)
    rows = found(tmp_path, *ids)["comparisons"]
    said = compared(tmp_path, *ids).stdout
    alone = found(tmp_path, *ids[:2])

    assert alone["verdict"] == "better"
    assert {row["verdict"] for row in rows} == {"no difference detectable"}
    assert rows[0]["passes"]["p_value"] == pytest.approx(6 * alone["passes"]["p_value"])
    assert rows[0]["passes"]["low"] <= 0
    assert f"{ids[1]} against {ids[0]}: no difference detectable" in said
    assert "at 99.2 %" in said
    assert "p-values are adjusted for all of them (Holm), each interval at its own level" in said
    assert [row["passes"]["level"] for row in rows] == [pytest.approx(0.05 / 6)] * 6


def test_intervals_of_several_runs_are_printed_with_their_levels(tmp_path: Path) -> None:
    """The first two pairs are called, so that the last is held to 95 % alone."""
    project(tmp_path, 40, {"a": ["n"] * 20 + ["y"] * 20, "b": ["y"] * 40, "c": ["y"] * 40})
    ids = runs(tmp_path, "a", "b", "c")
    lines = compared(tmp_path, *ids).stdout.splitlines()[4:]
    levels = [row["passes"]["level"] for row in found(tmp_path, *ids)["comparisons"]]

    assert [re.findall(r"] at ([0-9.]+) %", line) for line in lines] == [
        ["98.3"],
        ["97.5"],
        ["95.0"],
    ]
    assert levels == pytest.approx([0.05 / 3, 0.025, 0.05])


def test_gates_of_several_runs_compare_each_with_the_first_unadjusted(tmp_path: Path) -> None:
    answers = {"a": ["y"] * 40, "b": ["n"] * 6 + ["y"] * 34, "c": ["y"] * 40}
    project(tmp_path, 40, answers)
    done = compared(tmp_path, *runs(tmp_path, *answers), "--fail-if", "worse")

    assert done.code == 1
    assert "gate failed: B is worse by the raw difference" in done.stderr
    assert done.stderr.count("gate passed") == 1


def test_ties_of_repeats_are_counted_exactly(tmp_path: Path) -> None:
    """A net of zero is no evidence, however many records moved."""
    project(tmp_path, 14, {"a": ["yyn", "ynn"] * 7, "b": ["ynn", "yyn"] * 7})
    row = found(tmp_path, *runs(tmp_path, "a", "b", words=("--repeat", "3")))

    assert (row["passes"]["value"], row["passes"]["p_value"]) == (pytest.approx(0.0), 1.0)


def test_a_run_folder_that_was_changed_is_refused(tmp_path: Path) -> None:
    project(tmp_path, 12, {"a": ["y"] * 12, "b": ["n"] * 12})
    first, second = runs(tmp_path, "a", "b")
    copy = tmp_path / "copy"
    shutil.copytree(tmp_path / ".steelyard" / "runs" / second, copy)
    path = copy / "predictions.jsonl"
    path.chmod(0o600)
    path.write_text(path.read_text("utf-8").replace('"passed":false', '"passed":true'), "utf-8")
    done = compared(tmp_path, first, str(copy), "--fail-if", "worse")

    assert done.code == 2
    assert "is not what was sealed" in done.stderr


def test_another_cluster_is_another_measurement_whatever_the_order(tmp_path: Path) -> None:
    answers = {"a": ["n"] * 20 + ["y"] * 40, "b": ["y"] * 60}
    project(tmp_path, 60, answers, turns=5)
    (first,) = runs(tmp_path, "a", words=("--cluster", "dataset"))
    (second,) = runs(tmp_path, "b")
    rows = [found(tmp_path, *pair) for pair in ((first, second), (second, first))]

    assert compared(tmp_path, first, second, "--strict").code == 2
    assert {row["not_alike"][0]["what"] for row in rows} == {"cluster"}
    assert rows[0]["passes"]["p_value"] == rows[1]["passes"]["p_value"]
    assert {row["verdict"] for row in rows} == {"no difference detectable"}


def test_too_few_records_to_show_anything_are_named_by_the_gate(tmp_path: Path) -> None:
    project(tmp_path, 5, {"a": ["y"] * 5, "b": ["n"] * 5})
    done = compared(tmp_path, *runs(tmp_path, "a", "b"), "--fail-if", "worse")

    assert "; 5 records are too few to show any difference" in done.stderr


def test_repeats_without_a_score_are_missing_and_bounded(tmp_path: Path) -> None:
    project(tmp_path, 20, {"a": ["y??"] * 20})
    words = ("run", CASES, "--target", "a", *ANSWERS, "--repeat", "3", "--fail-under-low", "0.8")
    (done,) = run_many(tmp_path, [words])
    bounds = json.loads(done.stdout)["metrics"]["pass_rate_bounds"]

    assert done.code == 4
    assert "40 of 60 repeat(s) have no score" in done.stderr
    assert (bounds["low"], bounds["high"]) == (pytest.approx(1 / 3), 1.0)


@pytest.mark.parametrize(
    ("allowed", "code"), [("0", 4), ("1", 4), ("3", 4), ("4", 0), ("39%", 4), ("40%", 0)]
)
def test_repeats_without_a_score_count_beside_records_without_one(
    tmp_path: Path, allowed: str, code: int
) -> None:
    """One record lacks all three tries, nine lack one each: four records' worth of ten."""
    project(tmp_path, 10, {"a": ["???"] + ["yy?"] * 9})
    words = ("run", CASES, "--target", "a", *ANSWERS, "--repeat", "3", "--allow-failures", allowed)
    ran, resumed = run_many(tmp_path, [words, ("resume", "latest")])
    said = "1 of 10 record(s) and 9 of 27 repeat(s) of the others have no score"

    assert (ran.code, resumed.code) == (code, code)
    assert [said in done.stderr for done in (ran, resumed)] == [code == 4] * 2


def test_a_selection_in_one_run_says_what_the_verdict_is_not_about(tmp_path: Path) -> None:
    project(tmp_path, 40, {"a": ["y"] * 40, "b": ["y", "n"] * 20})
    (first,) = runs(tmp_path, "a")
    (second,) = runs(tmp_path, "b", words=("--limit", "12", "--where", "id != 'q0'"))
    text = compared(tmp_path, first, second, "--strict", "--fail-if", "worse")
    row = found(tmp_path, first, second)
    said = (
        "selection differs (limit none in A, 12 in B, where none in A, id != 'q0' in B): the "
        "verdict is about the 12 records that both runs have, not about 28 only in A and 0 only"
    )

    assert text.code == 1
    assert said in text.stdout
    assert "; 28 records of A are not in B" in text.stderr
    assert (row["pairs"], row["dropped"]["only_in_a"], row["comparable"]) == (12, 28, True)


def timed_out(root: Path) -> list[str]:
    """A passes 114 of 200; B gains 12 more and times out on 10 that A passes."""
    a = ["y"] * 114 + ["n"] * 86
    project(root, 200, {"a": a, "b": ["?"] * 10 + ["y"] * 116 + ["n"] * 74})
    return runs(root, "a", "b")


def test_b_is_not_better_where_its_timeouts_could_undo_that(tmp_path: Path) -> None:
    a, b = timed_out(tmp_path)
    row = found(tmp_path, a, b)
    gate = compared(tmp_path, a, b, "--fail-if", "worse")

    assert (row["passes"]["p_value"] < 0.001, row["passes"]["low"] > 0) == (True, True)
    assert (row["verdict"], row["raw_verdict"]) == ("no difference detectable",) * 2
    assert row["reason"].startswith("scores are missing unevenly (10 records in B alone)")
    assert "B is better on the pairs, but scores are missing unevenly" in gate.stdout
    assert "against B the difference would be +1.0 points [" in gate.stdout
    assert "to detect a difference" not in gate.stdout
    assert (gate.code, "gate passed: 'worse'" in gate.stderr) == (0, True)


def test_b_is_not_worse_where_the_timeouts_of_a_could_undo_that(tmp_path: Path) -> None:
    a, b = timed_out(tmp_path)
    row = found(tmp_path, b, a)
    gate = compared(tmp_path, b, a, "--fail-if", "worse")
    margin = compared(tmp_path, b, a, "--fail-if", "worse by 2")

    assert row["verdict"] == "cannot be compared"
    assert "with those in favour of B the difference would be -1.0 points" in row["reason"]
    assert (gate.code, margin.code) == (2, 2)
    assert "with those in favour of B the difference would be" in gate.stderr


def test_a_claim_that_outlasts_every_missing_score_stands(tmp_path: Path) -> None:
    b = ["?"] * 2 + ["y"] * 98
    project(tmp_path, 100, {"a": ["y"] * 60 + ["n"] * 40, "b": b})
    a, b = runs(tmp_path, "a", "b")

    assert found(tmp_path, a, b)["verdict"] == "better"
    assert found(tmp_path, b, a)["verdict"] == "worse"
    assert compared(tmp_path, b, a, "--fail-if", "worse").code == 1


def test_missing_scores_take_back_a_claim_among_several_runs_too(tmp_path: Path) -> None:
    a, b = timed_out(tmp_path)
    rows = found(tmp_path, a, b, a)["comparisons"]
    said = compared(tmp_path, a, b, a).stdout

    verdicts = ["no difference detectable", "no difference detectable", "cannot be compared"]
    assert [row["verdict"] for row in rows] == verdicts
    assert "scores are missing unevenly (10 records in B alone)" in said


def test_a_try_that_times_out_beside_repeats_that_lack_one_is_compared(tmp_path: Path) -> None:
    project(tmp_path, 12, {"a": ["yy?"] * 12, "b": ["y"] * 11 + ["?"]})
    (three,) = runs(tmp_path, "a", words=("--repeat", "3"))
    (one,) = runs(tmp_path, "b")

    assert found(tmp_path, three, one)["dropped"]["no_score_in_b"] == 1


TWO_CHECKS = """\
id: says
version: 1.0.0
checks:
  - {id: yes, kind: must_contain_any, phrases: ["yes"]}
  - {id: polite, kind: must_contain_any, phrases: ["please"], weight: 2}
scoring: {combine: weighted_avg, pass_threshold: 0.6}
"""


def test_scores_that_differ_beside_passes_that_do_not_are_named(tmp_path: Path) -> None:
    """Half of the records pass in both runs by the second check; A's pass the first one more."""
    project(tmp_path, 40, {"a": ["y"] * 40, "b": ["n"] * 40})
    path = tmp_path / "responses.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for place, row in enumerate(rows):
        row["response_text"] += " please" * (place % 2)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    write_rubric(tmp_path)
    (tmp_path / "rubrics" / "says.yaml").write_text(TWO_CHECKS, "utf-8")
    ids = runs(tmp_path, "a", "b", words=("--rubric", "rubric/says@1.0.0"))
    done = compared(tmp_path, *ids, "--fail-if", "worse")
    page = compared(tmp_path, *ids, "--format", "html").stdout
    said = "the verdict is about passes: B's scores are lower by 0.333"

    assert f"no difference detectable between A and B; {said}" in done.stdout
    assert "looks at scores: B's scores are lower by 0.333" in done.stderr
    assert done.code == 0
    assert "B&#39;s scores are lower by 0.333" in page


def test_one_record_is_not_called_records_and_repeats_differ(tmp_path: Path) -> None:
    project(tmp_path, 1, {"a": ["yyn"], "b": ["yyy"]})
    (three,) = runs(tmp_path, "a", words=("--repeat", "3"))
    write_responses(tmp_path, {"a": ["y"]})
    done = compared(tmp_path, three, *runs(tmp_path, "a"), "--fail-if", "worse")

    assert "pairs      1 record with a score in both runs" in done.stdout
    assert "repeats differ: 3 in A, 1 in B" in done.stdout
    assert "; 1 record is too few to show any difference" in done.stderr


def test_a_table_of_runs_says_what_was_left_out_and_what_is_not_alike(tmp_path: Path) -> None:
    project(tmp_path, 20, {"a": ["yy"] * 20, "b": ["yy"] * 20})
    whole = runs(tmp_path, "a", "b")
    part = runs(tmp_path, "b", words=("--limit", "12", "--repeat", "2"))
    done = compared(tmp_path, *whole, *part)
    lines = done.stdout.splitlines()
    (pair,) = (n for n, line in enumerate(lines) if f"{part[0]} against {whole[0]}" in line)

    assert "left out: 8 only in A" in lines[pair + 1]
    assert "not alike: repeats " in done.stdout
    assert "note: selection differs (limit none in A, 12 in B)" in done.stdout


def test_no_gate_passes_on_a_run_against_itself(tmp_path: Path) -> None:
    project(tmp_path, 8, {"a": ["y"] * 8, "b": ["y"] * 8})
    a, b = runs(tmp_path, "a", "b")
    gate = ("--fail-if", "worse by 90")
    shutil.copytree(tmp_path / ".steelyard" / "runs" / a, tmp_path / "baseline")
    named = ((a, a), (a, b, a), ("baseline", a))
    two, three, copied = (compared(tmp_path, *ids, *gate) for ids in named)
    page = compared(tmp_path, a, b, *gate, "--format", "html")

    assert [two.code, three.code, copied.code, page.code] == [2, 2, 2, 0]
    assert "cannot compare a run with itself" in two.stderr
    assert f"{a} is named twice, or a folder is a copy of it" in copied.stderr
    assert "gate passed: &#39;worse by 90&#39; looked at" in page.stdout
