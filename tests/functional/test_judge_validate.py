"""`judge validate` and what becomes of it in runs, on a desk whose judge errs at known rates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fakes.judged_desk import (
    ALL,
    JSON,
    RANDOM,
    REF,
    RUN,
    VALIDATE,
    VALIDATE_LATEST,
    Response,
    copied_desk,
    drawn,
    label,
    labelled_desk,
    read,
    reply,
    write_dataset,
    write_judged_desk,
    write_rows,
)
from fakes.many_commands import run_many

pytestmark = pytest.mark.trials

TRUTH, COUNT = 0.85, 400
RESPONSES = drawn(COUNT, TRUTH, seed=5)
RATE = sum(one.is_good for one in RESPONSES) / len(RESPONSES)


def desk(root: Path, labels: list[dict[str, Any]], responses: list[Response] = RESPONSES) -> Path:
    return labelled_desk(root, responses, labels)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The desk with all responses, after one run."""
    root = desk(tmp_path_factory.mktemp("large"), [])
    assert run_many(root, [RUN])[0].code == 0
    return root


def by_verdict(*, with_chances: bool) -> list[dict[str, Any]]:
    """Sixty labels of what the judge passes, and sixty of what it fails."""
    labels: list[dict[str, Any]] = []
    for verdict in (True, False):
        group = [one for one in RESPONSES if one.is_passed is verdict]
        more = {"inclusion_prob": 60 / len(group)} if with_chances else {}
        labels.extend(label(one, **more) for one in Random(2).sample(group, 60))
    return labels


def by_label() -> list[dict[str, Any]]:
    """As many good responses as bad ones."""
    groups = ([one for one in RESPONSES if one.is_good is good] for good in (True, False))
    return [label(one) for group in groups for one in Random(3).sample(group, 50)]


OTHER_RUN = ("run", "other.yaml", *RUN[2:])


def other_responses(rate: float, **more: float) -> list[Response]:
    """Responses to other questions."""
    return [replace(one, name=f"p{one.number}") for one in drawn(COUNT, rate, seed=9, **more)]


def two_desks(root: Path, labels: list[dict[str, Any]], others: list[Response]) -> Path:
    """Two datasets, and one file with the judge's replies about both."""
    desk(root, labels, [*RESPONSES, *others])
    write_dataset(root / "desk.yaml", RESPONSES)
    write_dataset(root / "other.yaml", others)
    return root


def validated_and_run(
    large: Path, root: Path, labels: list[dict[str, Any]], *words: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a validation of the first run says, and the metrics of a second one."""
    copied_desk(large, root, labels)
    done = run_many(root, [(*VALIDATE_LATEST, *words, *JSON), (*RUN, *JSON)])
    return read(done[0]), read(done[1])["metrics"]


def covers(row: dict[str, Any]) -> bool:
    return row["low"] <= RATE <= row["high"]


@pytest.mark.no_cover
def test_labels_by_lot_correct_the_run_that_they_are_of(large: Path, tmp_path: Path) -> None:
    labels = [label(one) for one in Random(1).sample(RESPONSES, 200)]
    found, metrics = validated_and_run(large, tmp_path, labels, "--design", "random")
    corrected = metrics["corrected_pass_rate"]

    assert (found["kept"], found["sample_size"], found["design"]) == ("recorded", 200, "random")
    assert found["tp"] + found["fn"] + found["tn"] + found["fp"] == 200
    assert found["applicable_to"] == ["fees", "loans"]
    assert corrected["method"] == "post-stratified by verdict"
    assert (corrected["labels"], corrected["n"], corrected["basis"]) == (200, COUNT, "own labels")
    assert corrected == metrics["checks"]["right"]["corrected_pass_rate"] | {"check": "right"}
    assert corrected["value"] == found["runs"][0]["corrected"]["value"]
    assert covers(corrected)
    assert abs(corrected["value"] - RATE) < abs(metrics["pass_rate"]["value"] - RATE)


@pytest.mark.no_cover
def test_labels_balanced_by_what_people_say_come_out_right(large: Path, tmp_path: Path) -> None:
    found, metrics = validated_and_run(large, tmp_path, by_label(), "--design", "by_label")
    corrected = metrics["corrected_pass_rate"]

    assert (found["tp"] + found["fn"], found["tn"] + found["fp"]) == (50, 50)
    assert (corrected["method"], corrected["labels"]) == ("rogan-gladen", 100)
    assert covers(corrected)
    assert corrected["value"] == pytest.approx(RATE, abs=0.06)


@pytest.mark.no_cover
def test_labels_balanced_by_the_judges_verdict_come_out_right_with_their_chances(
    large: Path,
    tmp_path: Path,
) -> None:
    labels = by_verdict(with_chances=True)
    found, metrics = validated_and_run(large, tmp_path, labels, "--design", "by_verdict")
    corrected = metrics["corrected_pass_rate"]

    assert (found["tp"] + found["fp"], found["fn"] + found["tn"]) == (60, 60)
    assert corrected["method"] == "post-stratified by verdict"
    assert covers(corrected)
    assert corrected["value"] == pytest.approx(RATE, abs=0.05)


def true_rate(*, is_good: bool) -> float:
    """TPR or TNR over all responses."""
    right = [one.is_passed is is_good for one in RESPONSES if one.is_good is is_good]
    return sum(right) / len(right)


@pytest.mark.no_cover
def test_labels_at_random_within_each_verdict_need_no_chances(large: Path, tmp_path: Path) -> None:
    """The judge passes four of five: half of the labels are of what it fails."""
    words = ("--design", "by_verdict", "--fail-under", "0.7")
    labels = by_verdict(with_chances=False)
    found, metrics = validated_and_run(large, tmp_path, labels, *words)
    corrected = metrics["corrected_pass_rate"]
    sample = found["rates_of_sample"]

    assert (corrected["method"], corrected["labels"]) == ("post-stratified by verdict", 120)
    assert covers(corrected)
    for name, is_good in (("tpr", True), ("tnr", False)):
        truth = true_rate(is_good=is_good)
        assert found[name]["low"] <= truth <= found[name]["high"]
        assert found[name]["method"] == "jeffreys by verdict with inverse-probability weights"
        assert corrected[name]["value"] == found[name]["value"]
    assert abs(sample["tpr"]["value"] - true_rate(is_good=True)) > 0.1
    assert found["tpr"]["value"] == pytest.approx(true_rate(is_good=True), abs=0.05)
    # By the labelled sample alone TPR would be too low, and TNR higher.
    assert found["failed_gate"].startswith("the lower bound of TNR is")
    assert found["kept"] == "recorded"


def test_rates_of_a_sample_chosen_by_verdict_are_refused_where_chances_are_unknown(
    tmp_path: Path,
) -> None:
    root = desk(tmp_path, by_verdict(with_chances=False))
    words = ("--dataset", "desk.yaml", "--responses", "responses.jsonl", *ALL)
    done = run_many(root, [(*VALIDATE, *words, "--design", "by_verdict", "--check", "right")])[0]

    assert done.code == 1
    assert "of the labelled sample only: it was chosen by the judge's verdict" in done.stdout
    assert "refused    the labels were chosen by the judge's verdict, and their" in done.stdout
    assert "\n  the refusal is recorded in the registry; no rate is corrected" in done.stdout


def test_items_that_divide_people_are_counted_and_too_many_are_refused(tmp_path: Path) -> None:
    """On 17 of 60 two people say different things."""
    labels = [label(one) for one in SMALL]
    labels += [label(one, annotator="bob", passed=not one.is_good) for one in SMALL[:17]]
    root = desk(tmp_path, labels, SMALL)
    words = RANDOM
    done = run_many(root, [RUN, words, RUN])

    assert done[1].code == 1
    assert "left out: 17 with tied labels" in done[1].stdout
    assert "people are divided evenly on 17 of 60 labelled responses (28.3 %)" in done[1].stdout
    assert "uncorrected  " in done[2].stdout


@pytest.mark.no_cover
def test_without_a_known_design_the_rate_stays_uncorrected(large: Path, tmp_path: Path) -> None:
    found, metrics = validated_and_run(large, tmp_path, by_verdict(with_chances=False))
    corrected = metrics["corrected_pass_rate"]

    assert found["kept"] == "recorded"
    assert corrected["value"] is None
    assert "nobody said how the labelled records were chosen" in corrected["reason"]


@pytest.mark.no_cover
def test_another_run_is_corrected_by_how_often_the_judge_errs(tmp_path: Path) -> None:
    """Labels of one run's responses say nothing about another's but what the judge is like."""
    others = other_responses(0.6)
    labels = [label(one) for one in Random(1).sample(RESPONSES, 300)]
    root = two_desks(tmp_path, labels, others)
    words = RANDOM
    done = run_many(root, [(*RUN, *JSON), words, (*OTHER_RUN, *JSON), OTHER_RUN])
    labelled, other = read(done[0])["run_id"], read(done[2])
    corrected = other["metrics"]["corrected_pass_rate"]
    rate = sum(one.is_good for one in others) / COUNT

    assert (corrected["method"], corrected["basis"]) == ("rogan-gladen", "labels of another run")
    assert corrected["labelled_runs"] == [labelled]
    assert corrected["low"] <= rate <= corrected["high"]
    assert f"300 labels of {labelled}" in done[3].stdout
    assert f"assumes the judge errs on this run as on {labelled}" in done[3].stdout


@pytest.mark.no_cover
@pytest.mark.parametrize("tnr", [0.8, 0.2])
def test_a_run_with_labels_of_its_own_is_checked_for_drift(tmp_path: Path, tnr: float) -> None:
    others = other_responses(0.6, tnr=tnr)
    labels = [label(one) for one in Random(1).sample(RESPONSES, 200)]
    own = [label(one) for one in Random(2).sample(others, 200)]
    root = two_desks(tmp_path, labels, others)
    write_rows(root / "own.jsonl", own)
    words = ("--run", "latest", *ALL, "--design", "random")
    again = ("judge", "validate", REF, "--labels", "own.jsonl", *words)
    done = run_many(root, [RUN, (*VALIDATE, *words), OTHER_RUN, (*again, *JSON), again])
    run = read(done[3])["runs"][0]["corrected"]
    shown = run_many(root, [("show", "latest")])[0].stdout

    assert (run["basis"], run["labels"]) == ("own labels", 200)
    assert run["drift"]["is_drifted"] is (tnr == 0.2)
    assert run["drift"]["tnr"]["here"] == run["tnr"]["value"]
    direction = "more lenient" if tnr == 0.2 else None
    assert run["drift"]["direction"] == direction
    word = f"the judge has drifted and is {direction}" if direction else "no drift found"
    assert f"{word} since the labels of 20" in done[4].stdout
    assert ("the judge has drifted" in shown) is (tnr == 0.2)


@pytest.mark.no_cover
def test_labels_of_runs_that_differ_are_not_pooled(tmp_path: Path) -> None:
    """The judge fails 80 % of the bad answers of the first run, and 20 % of the second's."""
    others = other_responses(0.6, tnr=0.2)
    root = two_desks(tmp_path, [], others)
    first, second = (
        read(one)["run_id"] for one in run_many(root, [(*RUN, *JSON), (*OTHER_RUN, *JSON)])
    )
    labels = [label(one, run_id=first) for one in Random(1).sample(RESPONSES, 200)]
    labels += [label(one, run_id=second) for one in Random(2).sample(others, 200)]
    write_rows(root / "labels.jsonl", labels)
    words = (*VALIDATE, "--run", first, "--run", second, *ALL, "--design", "random")
    done = run_many(
        root,
        [
            (*words, *JSON),
            (*words, "--fail-under", "0.1"),
            ("show", second),
            (*RUN, "--require-validated"),
        ],
    )
    found = read(done[0])

    assert [one.code for one in done] == [0, 1, 0, 2]
    assert (found["kept"], found["tnr"]["value"]) == ("recorded", None)
    assert found["tpr"]["value"] is not None
    assert list(found["differing_rates"]) == ["tnr"]
    assert found["rates_by_run"][first]["tnr"]["value"] > 0.7
    assert found["rates_by_run"][second]["tnr"]["value"] < 0.3
    said = done[1].stdout
    assert "TNR        not pooled, because the runs differ (p < 0.001)" in said
    assert f"             {second}  TPR " in said
    assert "the labelled runs differ in TNR, and reach no bound together" in said
    why = "TNR differs between the labelled runs (p < 0.01), so that the labels say nothing about"
    assert why in said
    # Each run still has labels of its own.
    assert [one["corrected"]["basis"] for one in found["runs"]] == ["own labels"] * 2
    assert "  corrected  " in done[2].stdout
    assert f"judge/right@1.0.0 is not validated by its labels: {why}" in done[3].stderr


@pytest.mark.no_cover
def test_the_history_of_a_judge_shows_runs_that_differ(tmp_path: Path) -> None:
    labels = [label(one) for one in Random(1).sample(RESPONSES, 200)]
    root = two_desks(tmp_path, labels, other_responses(0.3))
    words = RANDOM
    done = run_many(root, [(*OTHER_RUN, *JSON), (*RUN, *JSON), (*words, *JSON), words])
    history = read(done[2])["history"]

    assert [row["run_id"] for row in history] == [read(one)["run_id"] for one in done[:2]]
    assert [row["unscored_share"] for row in history] == [0, 0]
    # other datasets and targets have rates of their own
    assert [row["unlike_earlier"] for row in history] == [[], []]


def test_the_history_of_a_judge_marks_a_run_that_differs(tmp_path: Path) -> None:
    """The same dataset and target: the questions of the second day are easier."""
    labels = [label(one) for one in Random(1).sample(RESPONSES, 200)]
    others = other_responses(0.3)
    root = two_desks(tmp_path, labels, others)
    write_dataset(root / "desk.yaml", others)
    first = read(run_many(root, [(*RUN, *JSON)])[0])["run_id"]
    write_dataset(root / "desk.yaml", RESPONSES)
    done = run_many(root, [(*RUN, *JSON), (*RANDOM, *JSON), RANDOM])
    history = read(done[1])["history"]

    assert [row["run_id"] for row in history] == [first, read(done[0])["run_id"]]
    assert [row["unlike_earlier"] for row in history] == [[], ["passed"]]
    before = history[0]
    assert history[1]["earlier"]["passed"] == before["passed"]
    assert (
        "  differs from all earlier runs of its dataset and target together: "
        f"{100 * before['pass_share']:.1f} % passed ({before['passed']} of {COUNT} scored records)"
        " (p < 0.001)"
    ) in done[2].stdout
    assert f"0.0 % unscored (0 of {COUNT} judged responses)" in done[2].stdout


SMALL = drawn(60, 0.6, seed=4)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small desk that was run once."""
    root = desk(tmp_path_factory.mktemp("desk"), [label(one) for one in SMALL], SMALL)
    assert run_many(root, [RUN])[0].code == 0
    return root


def test_a_judge_is_told_of_once_until_it_is_validated_and_strict_runs_with_it(
    tmp_path: Path,
) -> None:
    root = desk(tmp_path, [label(one) for one in SMALL], SMALL)
    strict = (*RUN, "--strict")
    words = RANDOM
    done = run_many(root, [RUN])
    done += run_many(root, [strict])
    done += run_many(root, [words])
    done += run_many(root, [strict])

    assert done[0].stderr.count("judge/right@1.0.0 has never been validated") == 1
    assert "uncorrected  judge/right@1.0.0 has never been validated" in done[0].stdout
    assert done[1].code == 0
    assert done[1].stderr.count("judge/right@1.0.0 has never been validated") == 1
    assert done[2].code == 0
    assert done[3].code == 0, done[3].stderr
    assert "validated" not in done[3].stderr
    assert "corrected  " in done[3].stdout


@pytest.mark.parametrize(
    ("file", "old", "new", "why"),
    [
        ("judges/right.yaml", "Is this right?", "Is that right?", "another instrument"),
        ("steelyard.yaml", "{target: judge}", "{target: judge, samples: 2}", "over 2 samples"),
        (
            "rubrics/quality.yaml",
            "judge/right@1.0.0}",
            "judge/right@1.0.0, threshold: 0.5}",
            "0.5",
        ),
    ],
)
def test_another_word_model_or_threshold_is_another_judge(
    tmp_path: Path, file: str, old: str, new: str, why: str
) -> None:
    root = desk(tmp_path, [label(one) for one in SMALL], SMALL)
    done = run_many(root, [RUN, RANDOM])
    assert done[1].code == 0, done[1].stderr
    text = (root / file).read_text(encoding="utf-8")
    (root / file).write_text(text.replace(old, new), encoding="utf-8")
    refused = run_many(root, [(*RUN, "--strict")])[0]

    assert refused.code == 2
    assert why in refused.stderr


def test_cases_of_another_domain_are_out_of_scope(tmp_path: Path) -> None:
    loans = [one for one in SMALL if one.bundle == "loans"]
    root = desk(tmp_path, [label(one) for one in loans], SMALL)
    words = RANDOM
    done = run_many(root, [RUN, words, RUN])
    strict = run_many(root, [(*RUN, "--strict")])[0]

    assert "applies to loans" in done[1].stdout
    assert "has not been validated for 'fees'; it has for loans" in done[2].stderr
    assert strict.code == 2


def test_splits_are_kept_apart_and_reads_of_test_are_counted(tmp_path: Path) -> None:
    root = desk(tmp_path, [label(one) for one in SMALL], SMALL)
    words = (*VALIDATE, "--run", "latest", "--no-canaries", "--design", "random", *JSON)
    done = run_many(root, [RUN, (*words, "--split", "dev"), words, words, (*words, "--seed", "7")])
    dev, test, again, reseeded = map(read, done[1:])

    assert (dev["test_reads"], dev["kept"]) == (None, "not recorded")
    assert (test["test_reads"], test["kept"], test["split"]) == (1, "recorded", "test")
    assert (again["test_reads"], again["kept"]) == (2, "unchanged")
    assert dev["sample_size"] + test["sample_size"] + test["splits"]["train"] == 60
    assert reseeded["splits"] != test["splits"]
    assert reseeded["kept"] == "recorded"


def test_the_validation_is_written_into_the_judges_file(tmp_path: Path) -> None:
    root = desk(tmp_path, [label(one) for one in SMALL], SMALL)
    words = (*RANDOM, "--write")
    done = run_many(root, [RUN, words, ("validate", "judges", "--strict")])
    text = (root / "judges" / "right.yaml").read_text(encoding="utf-8")
    for path in sorted((root / ".steelyard" / "registry").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    strict = run_many(root, [(*RUN, "--strict", *JSON)])[0]

    assert [one.code for one in done] == [0, 0, 0], done[2].stdout
    assert "written into judges/right.yaml" in done[1].stdout
    assert text.startswith("# What people are asked as well.\nid: right\n")
    assert strict.code == 0, strict.stderr
    # Without the labels themselves nothing is corrected.
    reason = read(strict)["metrics"]["corrected_pass_rate"]["reason"]
    assert "says its file; a corrected rate needs the labels" in reason


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--run", "latest", "--check", "tone"), "decides nothing in the run"),
        (("--run", "latest", "--rubric", "rubric/other@1.0.0", *ALL), "no labelled response"),
        (("--dataset", "desk.yaml", "--responses", "none.jsonl"), "cannot read"),
    ],
)
def test_what_cannot_be_validated_is_told(small: Path, words: tuple[str, ...], said: str) -> None:
    done = run_many(small, [(*VALIDATE, *words)])[0]

    assert done.code in {1, 2}
    assert said in done.stderr + done.stdout


QUESTIONS = """\
name: Desk
version: desk-v1
questions:
  - {key: grade, label: How good is it?, type: score, scale: {min: 1, max: 5}}
"""


def graded(one: Response, **answers: object) -> dict[str, Any]:
    """A label with answers to the questions above."""
    row = label(one, rubric="rubric/desk-v1", answers={"trace": answers})
    return {name: value for name, value in row.items() if name != "passed"}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([label(one, rubric="rubric/other@1.0.0") for one in SMALL], "pass --rubric rubric/other"),
        ([label(one, rubric="rubric/quality@2.0.0") for one in SMALL], "about 'rubric/quality@2"),
        ([label(one, rubric="politeness") for one in SMALL], "the labels are about 'politeness'"),
        ([graded(one, grade=4) for one in SMALL], "the labels are about 'rubric/desk-v1', and"),
        ([graded(one, grade=7) for one in SMALL], "labels.jsonl:1: trace.grade must lie on the"),
        ([graded(one, tone=1) for one in SMALL], "labels.jsonl:1: trace.tone is no question of"),
        ([label(one, passed="yes") for one in SMALL], "labels.jsonl:1: passed must be true or"),
    ],
)
def test_labels_of_something_else_are_no_labels_of_the_judge(
    small: Path, tmp_path: Path, rows: list[dict[str, Any]], said: str
) -> None:
    root = copied_desk(small, tmp_path, rows)
    (root / "rubrics" / "desk.yaml").write_text(QUESTIONS, encoding="utf-8")
    done = run_many(root, [RANDOM])[0]

    assert done.code == 2
    assert said in done.stderr


def test_labels_of_another_name_count_where_a_user_says_so(small: Path, tmp_path: Path) -> None:
    root = copied_desk(small, tmp_path, [label(one, rubric="correct") for one in SMALL])
    done = run_many(root, [(*RANDOM, "--rubric", "correct")])[0]

    assert done.code == 0, done.stderr
    assert "against one person about correct (labels.jsonl)" in done.stdout


def test_labels_under_another_content_of_the_rubric_are_left_out_and_counted(
    small: Path, tmp_path: Path
) -> None:
    old = {"rubric_sha256": "0" * 64}
    rows = [label(one, **(old if one.number < 20 else {})) for one in SMALL]
    root = copied_desk(small, tmp_path, rows)
    done, as_json = run_many(root, [RANDOM, (*RANDOM, *JSON)])

    assert "60 in all, left out: 20 given under other content of the rubric" in done.stdout
    assert (read(as_json)["sample_size"], read(as_json)["left_out"]["other_content"]) == (40, 20)


def test_a_judge_that_leaves_too_much_unscored_is_refused(tmp_path: Path) -> None:
    says = {one.name: reply("cannot_judge") for one in SMALL[:2]}
    root = desk(tmp_path, [label(one) for one in SMALL], SMALL)
    write_judged_desk(
        root, SMALL, says=lambda one: says.get(one.name) or reply(int(one.is_passed))
    )
    done = run_many(
        root,
        [
            (*RUN, "--allow-failures", "10%"),
            (*VALIDATE_LATEST, *JSON),
            VALIDATE_LATEST,
        ],
    )
    found = read(done[1])

    assert (found["valid"], found["kept"], done[1].code) == (False, "refusal recorded", 1)
    assert found["left_out"]["unscored"] == 2
    assert "has no score for 2 of 60 labelled responses (3.3 %)" in found["refusals"][0]
    assert "refused" in done[2].stdout


def test_only_blind_labels_count_and_majorities_decide(tmp_path: Path) -> None:
    people = [label(one, annotator=name) for one in SMALL[:50] for name in ("ann", "bob", "cyd")]
    for row in people[:6:3]:  # ann is wrong about two, and outvoted
        row["passed"] = not row["passed"]
    tied = [label(SMALL[50], passed=True), label(SMALL[50], passed=False, annotator="bob")]
    seen = [label(one, exposure="suggested", passed=one.is_passed) for one in SMALL[51:]]
    root = desk(tmp_path, [*people, *tied, *seen], SMALL)
    words = RANDOM
    done = run_many(root, [RUN, (*words, *JSON), words])
    found = read(done[1])

    assert found["tp"] == sum(one.is_good and one.is_passed for one in SMALL[:50])
    assert (found["sample_size"], found["annotators"]) == (50, 3)
    assert (found["left_out"]["not_blind"], found["left_out"]["ties"]) == (9, 1)
    assert "9 not blind" in done[2].stdout


@pytest.mark.no_cover
def test_comparisons_and_reports_of_earlier_runs_know_what_was_found_out_later(
    tmp_path: Path,
) -> None:
    root = desk(tmp_path, [label(one) for one in SMALL], SMALL)
    done = run_many(root, [(*RUN, *JSON), (*RUN, *JSON)])
    first, second = (read(one)["run_id"] for one in done)
    words = (*VALIDATE, "--run", first, *ALL, "--design", "random")
    told = run_many(
        root,
        [
            ("compare", first, second),
            words,
            ("compare", first, second),
            ("compare", first, second, *JSON),
            ("show", first),
            ("show", first, *JSON),
            ("report", first, "-o", "report.html"),
            ("compare", first, second, "--format", "html", "-o", "compared.html"),
        ],
    )
    page = (root / "report.html").read_text(encoding="utf-8")

    assert "uncorrected A: judge/right@1.0.0 has never been validated" in told[0].stdout
    assert "verdict    no difference detectable" in told[2].stdout
    assert read(told[3])["corrected"]["value"] == 0
    assert "validated 20" in told[4].stdout
    assert "after this run" in told[4].stdout
    assert read(told[5])["metrics"]["corrected_pass_rate"]["value"] is None
    assert "post-stratified by verdict, " in page
    assert "Corrected by what people said, " in (root / "compared.html").read_text("utf-8")
