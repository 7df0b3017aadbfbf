"""Whether a run may rely on its judges: what the registry knows, and what a judge's file says."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from fakes.judged_desk import (
    ALL,
    JSON,
    JUDGE,
    RANDOM,
    REF,
    RUN,
    SETTINGS,
    VALIDATE_LATEST,
    drawn,
    label,
    labelled_desk,
    read,
    write_dataset,
    write_rows,
)
from fakes.many_commands import run_many
from steelyard.store.clock import SystemClock

pytestmark = pytest.mark.trials

RESPONSES = drawn(60, 0.6, seed=4)
STRICT, REQUIRED = (*RUN, "--strict"), (*RUN, "--require-validated")
JUDGE_FILE, RUBRIC_FILE = "judges/right.yaml", "rubrics/quality.yaml"


def day(ago: int) -> str:
    return (SystemClock().now() - timedelta(days=ago)).date().isoformat()


def block(ago: int) -> str:
    """The contract's five fields."""
    return (
        "validation:\n  tpr: 0.95\n  tnr: 0.9\n  validated_against: labels of the desk\n"
        f"  validated_at: {day(ago)}\n  sample_size: 200\n"
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A desk all of whose responses are labelled."""
    return labelled_desk(tmp_path, RESPONSES, map(label, RESPONSES))


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_four_labels_are_no_validation(tmp_path: Path) -> None:
    good = [one for one in RESPONSES if one.is_good and one.is_passed][:2]
    bad = [one for one in RESPONSES if not one.is_good and not one.is_passed][:2]
    root = labelled_desk(tmp_path, RESPONSES, map(label, (*good, *bad)))
    done = run_many(root, [RUN, RANDOM, ("show", "latest"), STRICT, REQUIRED])

    assert [one.code for one in done] == [0, 0, 0, 0, 2]
    assert "never been validated" not in "".join(one.stdout + one.stderr for one in done[1:])
    assert "uncorrected  judge/right@1.0.0: 4 labels of these responses" in done[2].stdout
    assert "a run that requires validated judges does not take it" in done[1].stdout
    said = "judge/right@1.0.0 is not validated by its labels: 4 labels are too few; at least 10"
    assert done[3].stderr.count(said) == 1
    assert f"require_validated: {said}" in done[4].stderr


def test_labels_of_which_nobody_says_how_they_were_chosen_reach_no_bound(root: Path) -> None:
    suite = (
        "suites:\n  desk: {dataset: desk.yaml, target: desk, rubric: rubric/quality@1.0.0, "
        "require_validated: {tpr: 0.1, tnr: 0.1}}\n"
    )
    (root / "steelyard.yaml").write_text(SETTINGS + suite, encoding="utf-8")
    before = (root / JUDGE_FILE).read_text(encoding="utf-8")
    unknown = (*VALIDATE_LATEST, "--write")
    gate = (*VALIDATE_LATEST, "--fail-under", "0.1")
    done = run_many(root, [RUN, unknown, gate, STRICT, REQUIRED, ("run", "--suite", "desk")])

    assert [one.code for one in done] == [0, 0, 1, 0, 2, 2]
    why = "nobody said how the labelled records were chosen (`design`)"
    here = why.replace("`design`", "--design")
    assert f"of the labelled sample only: {here}" in done[1].stdout
    assert "not written into the judge's file" in done[1].stdout
    assert (root / JUDGE_FILE).read_text(encoding="utf-8") == before
    assert f"too low    {here}: TPR and TNR are of the labelled sample only" in done[2].stdout
    for one in done[3:]:
        assert f"judge/right@1.0.0 is not validated by its labels: {why}" in one.stderr
    assert f"uncorrected  judge/right@1.0.0: {here}" in done[3].stdout


@pytest.mark.parametrize("where", ["rubric", "suite"])
def test_a_threshold_that_was_moved_is_named(root: Path, where: str) -> None:
    """Validated is the verdict at 0.7."""
    change(root / RUBRIC_FILE, "{combine: all_pass}", "{combine: weighted_avg}")
    suite = "suites:\n  desk: {dataset: desk.yaml, target: desk, rubric: rubric/quality@1.0.0}\n"
    (root / "steelyard.yaml").write_text(SETTINGS + suite, encoding="utf-8")
    run = ("run", "--suite", "desk")
    before = run_many(root, [run, RANDOM, (*run, "--require-validated")])
    if where == "suite":
        change(root / "steelyard.yaml", "@1.0.0}", "@1.0.0, pass_threshold: 0.5}")
    else:
        change(root / RUBRIC_FILE, "weighted_avg}", "weighted_avg, pass_threshold: 0.5}")
    after = run_many(root, [(*run, "--require-validated"), (*run, "--strict"), run])

    assert [one.code for one in before] == [0, 0, 0], before[2].stderr
    assert [one.code for one in after] == [2, 2, 0]
    for done in after:
        assert "was validated as 'llm_judge at 0.7', and decides here by" in done.stderr
        assert "'llm_judge at 0.7, rubric at 0.5'" in done.stderr


def test_a_fresh_validation_in_the_judges_file_serves_freshness_alone(root: Path) -> None:
    (root / JUDGE_FILE).write_text(JUDGE + block(10), encoding="utf-8")
    checked, strict, as_json = run_many(
        root, [("validate", "judges", "--strict"), STRICT, (*STRICT, *JSON)]
    )
    corrected = read(as_json)["metrics"]["corrected_pass_rate"]

    assert (checked.code, strict.code) == (0, 0), strict.stderr
    assert "never been validated" not in strict.stdout + strict.stderr
    assert corrected["value"] is None
    assert f"was validated on {day(10)}, says its file; a corrected rate" in corrected["reason"]


def test_the_minima_of_a_suite_need_labels(root: Path) -> None:
    (root / JUDGE_FILE).write_text(JUDGE + block(10), encoding="utf-8")
    suite = (
        "suites:\n  desk: {dataset: desk.yaml, target: desk, rubric: rubric/quality@1.0.0, "
        "require_validated: {tpr: 0.1}}\n"
    )
    (root / "steelyard.yaml").write_text(SETTINGS + suite, encoding="utf-8")
    done = run_many(root, [("run", "--suite", "desk")])[0]

    assert done.code == 2
    assert "says its file; what is required must be in the registry" in done.stderr


def test_a_new_validation_ends_staleness_though_the_file_says_otherwise(root: Path) -> None:
    (root / JUDGE_FILE).write_text(JUDGE + block(318), encoding="utf-8")
    commands = [STRICT, ("validate", "judges", "--strict")]
    before = run_many(root, commands)
    done = run_many(root, [RUN, RANDOM])
    after = run_many(root, commands)

    assert [one.code for one in before] == [2, 1]
    for one in before:
        assert "judge/right@1.0.0 was validated 318 days ago" in one.stdout + one.stderr
    assert [one.code for one in done] == [0, 0]
    assert [one.code for one in after] == [0, 0], after[0].stderr
    assert "318 days" not in "".join(one.stdout + one.stderr for one in after)


def test_a_date_in_the_future_is_an_error(root: Path) -> None:
    text = JUDGE + block(10).replace(day(10), "2099-01-01")
    (root / JUDGE_FILE).write_text(text, encoding="utf-8")
    checked, ran = run_many(root, [("validate", "judges"), RUN])

    assert (checked.code, ran.code) == (1, 2)
    for one in (checked, ran):
        assert "was validated in the future (2099-01-01)" in one.stdout + one.stderr


def test_writing_a_validation_keeps_what_the_author_wrote(root: Path) -> None:
    notes = "  notes: agreed with the desk\n"
    text = f"{JUDGE}{block(10)}{notes}applicable_to: [loans, fees, cards]\nowner: the desk\n"
    (root / JUDGE_FILE).write_text(text, encoding="utf-8")
    done = run_many(root, [RUN, (*RANDOM, "--write"), ("judge", "show", "right")])
    kept = (root / JUDGE_FILE).read_text(encoding="utf-8")

    assert [one.code for one in done] == [0, 0, 0]
    assert kept.startswith(JUDGE)
    for line in ("notes: agreed with the desk", "[loans, fees, cards]", "owner: the desk"):
        assert line in kept
    assert "sample_size: 60" in kept


def test_labels_are_of_the_run_that_they_were_given_for(root: Path) -> None:
    """A second run of the same recorded responses has no labels of its own."""
    first = read(run_many(root, [(*RUN, *JSON)])[0])["run_id"]
    _, again = run_many(root, [RANDOM, RUN])

    assert f"60 labels of these responses in {first}, 60 records" in again.stdout
    assert "labels of this run" not in again.stdout


def test_a_changed_judge_is_stale_also_under_a_new_version(root: Path) -> None:
    assert [one.code for one in run_many(root, [RUN, RANDOM])] == [0, 0]
    change(root / JUDGE_FILE, "version: 1.0.0", "version: 1.1.0")
    change(root / JUDGE_FILE, "Is this right?", "Is that right?")
    change(root / RUBRIC_FILE, "judge/right@1.0.0", "judge/right@1.1.0")
    write_dataset(root / "desk.yaml", RESPONSES)
    done = run_many(root, [STRICT])[0]

    assert done.code == 2
    assert "judge/right@1.0.0 was validated as another instrument" in done.stderr


def test_agreement_names_the_verdict_where_other_checks_decide_it_too(root: Path) -> None:
    """The answers are all too long, so that no record passes."""
    check = "  - {id: short, kind: format, format: text, max_chars: 1}\nscoring:"
    change(root / RUBRIC_FILE, "scoring:", check)
    run = read(run_many(root, [(*RUN, *JSON)])[0])["run_id"]
    write_rows(root / "labels.jsonl", (label(one, run_id=run) for one in RESPONSES))
    _, whole, alone = run_many(
        root,
        [
            ("review", "import", "labels.jsonl"),
            ("review", "agreement", run),
            ("review", "agreement", run, "--check", "right"),
        ],
    )

    assert "the verdict is that of right, short together; --check compares one" in whole.stdout
    assert "    verdict  60 items" in whole.stdout
    assert "judge" not in whole.stdout
    assert "compared with people  right, judge/right@1.0.0" in alone.stdout
    assert "    judge  60 items" in alone.stdout


def test_annotations_that_name_no_run_are_not_counted_as_this_runs(root: Path) -> None:
    """They were given for whatever run; labels of a file belong to the run that is named."""
    run = read(run_many(root, [(*RUN, *JSON)])[0])["run_id"]
    rows = [label(one, **({"run_id": run} if one.number < 40 else {})) for one in RESPONSES]
    write_rows(root / "labels.jsonl", rows)
    stored = ("judge", "validate", REF, "--run", run, *ALL, "--design", "random")
    _, kept, told, named = run_many(
        root, [("review", "import", "labels.jsonl"), (*stored, *JSON), stored, (*RANDOM, *JSON)]
    )

    assert read(kept)["sample_size"] == 40
    assert read(kept)["left_out"]["no_run"] == 20
    assert "60 in all, left out: 20 that name no run" in told.stdout
    assert read(named)["sample_size"] == 60
