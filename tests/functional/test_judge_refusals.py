"""Labels that cannot carry a corrected rate, and judges that must not be relied on."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from fakes.judged_desk import (
    JSON,
    RANDOM,
    RUN,
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

RESPONSES = drawn(400, 0.7, seed=5)
pytestmark = pytest.mark.trials


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The desk with all responses, after one run."""
    root = labelled_desk(tmp_path_factory.mktemp("large"), RESPONSES, [])
    assert run_many(root, [RUN])[0].code == 0
    return root


def test_a_judge_worse_than_a_coin_is_refused_and_never_used(tmp_path: Path) -> None:
    """TPR 23.8 %, TNR 21.1 %."""
    responses = drawn(200, 0.6, tpr=0.24, tnr=0.21, seed=3)
    root = labelled_desk(tmp_path, responses, [label(one) for one in responses])
    done = run_many(root, [RUN, (*RANDOM, *JSON), RANDOM, (*RUN, *JSON)])
    found = read(done[1])

    assert (done[1].code, found["kept"], found["valid"]) == (1, "refusal recorded", False)
    assert "the judge is no better than a coin" in found["refusals"][0]
    assert "refused    TPR" in done[2].stdout
    reason = read(done[3])["metrics"]["corrected_pass_rate"]["reason"]
    assert "was refused by its newest validation" in reason


def test_a_refusal_ends_an_older_validation_until_a_newer_one_is_good(tmp_path: Path) -> None:
    """People change their minds about the same responses, and back."""
    responses = drawn(120, 0.6, seed=3)
    truth = [label(one) for one in responses]
    wrong = [label(one, passed=not one.is_good) for one in responses]
    root = labelled_desk(tmp_path, responses, truth)
    first, second = (read(one)["run_id"] for one in run_many(root, [(*RUN, *JSON)] * 2))
    assert run_many(root, [RANDOM])[0].code == 0
    commands = [("show", first), ("compare", first, second), RUN, (*RUN, "--strict")]
    before = run_many(root, commands)
    write_rows(root / "labels.jsonl", wrong)
    refused = run_many(root, [RANDOM])[0]
    after = run_many(root, commands)
    write_rows(root / "labels.jsonl", truth)
    again = run_many(root, [RANDOM, *commands])

    assert [one.code for one in before] == [0] * 4
    assert refused.code == 1
    assert "the refusal is recorded in the registry" in refused.stdout
    assert [one.code for one in after] == [0, 0, 0, 2]
    for one in after:
        assert "judge/right@1.0.0 was refused by its newest validation (20" in (
            one.stdout + one.stderr
        )
        assert "  corrected  " not in one.stdout
    assert [one.code for one in again] == [0] * 5
    earlier = [line for line in again[0].stdout.splitlines() if line.startswith("  earlier ")]
    assert ["no better than a coin" in line for line in earlier] == [False, True]
    assert " validation  TPR 88.5 %" in earlier[0]
    assert "recorded in the registry" in again[0].stdout
    for one in (*before, *again[1:]):
        assert "refused" not in one.stdout + one.stderr
        assert "  corrected  " in one.stdout


def test_a_recorded_validation_of_such_a_judge_is_not_used_and_strict_refuses_it(
    tmp_path: Path,
) -> None:
    responses = drawn(200, 0.6, seed=3)
    root = labelled_desk(tmp_path, responses, [label(one) for one in responses])
    assert [one.code for one in run_many(root, [RUN, RANDOM])] == [0, 0]
    path = next((root / ".steelyard" / "registry" / "validations").glob("*/*/*.json"))
    kept = json.loads(path.read_text(encoding="utf-8"))
    for item in kept["items"]:
        item["is_passed"] = not item["is_passed"]
    path.chmod(0o644)
    path.write_text(json.dumps(kept), encoding="utf-8")
    done = run_many(root, [(*RUN, *JSON), (*RUN, "--strict")])

    reason = read(done[0])["metrics"]["corrected_pass_rate"]["reason"]
    assert "the judge is no better than a coin" in reason
    assert done[1].code == 2
    assert "strict: judge/right@1.0.0 was refused by its newest validation" in done[1].stderr


@pytest.mark.parametrize(
    "design",
    [
        "random",
        *(pytest.param(one, marks=pytest.mark.trials) for one in ("by_label", "by_verdict")),
    ],
)
def test_eight_labels_correct_nothing(large: Path, tmp_path: Path, design: str) -> None:
    groups = ([one for one in RESPONSES if one.is_good is good] for good in (True, False))
    labels = [label(one) for group in groups for one in group[:4]]
    root = copied_desk(large, tmp_path, labels)
    done = run_many(root, [(*VALIDATE_LATEST, "--design", design, *JSON), RUN])
    corrected = read(done[0])["runs"][0]["corrected"]

    assert corrected["value"] is None
    assert "8 labels" in corrected["reason"]
    assert "at least 10 are needed" in corrected["reason"]
    assert "uncorrected  judge/right@1.0.0: 8 labels" in done[1].stdout


def test_labels_that_are_not_random_are_refused(large: Path, tmp_path: Path) -> None:
    """The judge passes about 70 % of the run, and 25 % of the labelled responses."""
    passed = [one for one in RESPONSES if one.is_passed]
    failed = [one for one in RESPONSES if not one.is_passed]
    labels = [label(one) for one in (*passed[:20], *failed[:60])]
    root = copied_desk(large, tmp_path, labels)
    (done,) = run_many(root, [(*RANDOM, *JSON)])
    found = read(done)

    assert (done.code, found["kept"]) == (1, "refusal recorded")
    assert "and 25.0 % of the labelled responses (p < 0.001)" in found["refusals"][0]


def test_a_rate_that_the_labels_do_not_allow_is_refused(tmp_path: Path) -> None:
    """The judge passes all but a few responses, and half of the labelled good ones."""
    rare = [Response(f"q{number}", number, True, number % 20 > 0) for number in range(300)]
    half = [
        Response(f"q{number}", number, number % 2 > 0, number % 4 == 1)
        for number in range(300, 400)
    ]
    root = labelled_desk(tmp_path, [*rare, *half], [label(one) for one in half])
    done = run_many(root, [RUN, (*VALIDATE_LATEST, "--design", "by_label", *JSON)])
    found = read(done[1])

    assert done[1].code == 1
    assert "which TPR 50.0 % and TNR 100.0 % do not allow (p < 0.001)" in found["refusals"][0]


def test_a_perfect_looking_correction_has_a_width(tmp_path: Path) -> None:
    responses = [Response(f"q{number}", number, number % 25 > 0, True) for number in range(100)]
    labels = [label(one) for one in responses if one.is_good][:20]
    failed = [Response(f"f{number}", number, False, False) for number in range(10)]
    root = labelled_desk(tmp_path, [*responses, *failed], [*labels, *map(label, failed)])
    done = run_many(root, [RUN, (*VALIDATE_LATEST, "--design", "by_label", *JSON)])
    corrected = read(done[1])["runs"][0]["corrected"]

    assert corrected["low"] < corrected["value"] <= corrected["high"]
    assert corrected["high"] - corrected["low"] > 0.02


def test_labels_of_whole_conversations_are_worth_fewer(tmp_path: Path) -> None:
    """Twenty conversations of five, in which all responses are alike."""
    random = Random(4)
    kinds = [random.random() < 0.7 for _ in range(80)]
    wrong = [random.random() < 0.15 for _ in range(80)]
    responses = [
        Response(f"q{n}", n, kinds[n // 5], kinds[n // 5] != wrong[n // 5]) for n in range(400)
    ]
    root = labelled_desk(tmp_path, responses, [label(one) for one in responses[:100]])
    alone = read(run_many(root, [RUN, (*RANDOM, *JSON)])[1])
    cases = (
        {"id": one.name, "input": "?", "criteria": "-", "conversation_id": f"c{one.number // 5}"}
        for one in responses
    )
    write_rows(root / "cases.jsonl", cases)
    grouped = read(run_many(root, [("run", "cases.jsonl", *RUN[2:]), (*RANDOM, *JSON)])[1])
    widths = [
        one["runs"][0]["corrected"]["high"] - one["runs"][0]["corrected"]["low"]
        for one in (alone, grouped)
    ]

    assert widths[1] > 1.7 * widths[0]
    assert grouped["tpr"]["low"] < alone["tpr"]["low"] - 0.05
    assert grouped["tpr"]["n_effective"] <= grouped["tpr"]["clusters"]


def test_labels_of_all_repeats_are_worth_fewer(tmp_path: Path) -> None:
    responses = drawn(120, 0.7, seed=6)
    labels = [label(one, repeat=repeat) for one in responses[:20] for repeat in range(3)]
    root = labelled_desk(tmp_path, responses, labels)
    for name, text in (("responses", "response_text"), ("replies", "response_text")):
        path = root / f"{name}.jsonl"
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        write_rows(path, [row | {"repeat": k} for row in rows for k in range(3) if row[text]])
    done = run_many(root, [(*RUN, "--repeat", "3"), (*RANDOM, *JSON)])
    found = read(done[1])
    corrected = found["runs"][0]["corrected"]

    assert (corrected["n"], corrected["labels"]) == (120, 60)
    assert found["tpr"]["clusters"] < found["tpr"]["n"]
    # twenty records, however often each was answered alike
    assert corrected["high"] - corrected["low"] > 0.2


def test_recorded_judges_with_other_replies_are_other_judges(large: Path, tmp_path: Path) -> None:
    root = copied_desk(large, tmp_path, [label(one) for one in RESPONSES[:100]])
    assert run_many(root, [RANDOM])[0].code == 0
    write_judged_desk(root, RESPONSES, says=lambda one: reply(int(not one.is_passed)))
    done = run_many(root, [(*RUN, *JSON), (*RUN, "--strict")])

    reason = read(done[0])["metrics"]["corrected_pass_rate"]["reason"]
    assert "was validated as another instrument" in reason
    assert "its file of recorded replies or its program was not the same" in reason
    assert done[1].code == 2


def test_a_validation_says_how_many_labels_give_five_points(large: Path, tmp_path: Path) -> None:
    root = copied_desk(large, tmp_path, [label(one) for one in RESPONSES[:100]])
    done = run_many(root, [(*RANDOM, *JSON), RANDOM])
    corrected = read(done[0])["runs"][0]["corrected"]
    half = (corrected["high"] - corrected["low"]) / 2

    assert half > 0.05
    assert corrected["labels_for_5_points"] > 100
    assert (
        f"about {corrected['labels_for_5_points']:,} labels of this run would give"
        in done[1].stdout
    )


SUITES = """\
suites:
  loose: {dataset: desk.yaml, target: desk, rubric: rubric/quality@1.0.0, require_validated: true}
  tight:
    {dataset: desk.yaml, target: desk, rubric: rubric/quality@1.0.0,
     require_validated: {tpr: 0.8, tnr: 0.99, sample_size: 500}}
  met:
    {dataset: desk.yaml, target: desk, rubric: rubric/quality@1.0.0,
     require_validated: {tpr: 0.8, tnr: 0.6, sample_size: 100}}
"""


def test_a_suite_can_require_validated_judges(tmp_path: Path) -> None:
    root = labelled_desk(tmp_path, RESPONSES, [label(one) for one in RESPONSES])
    settings = (root / "steelyard.yaml").read_text(encoding="utf-8")
    (root / "steelyard.yaml").write_text(settings + SUITES, encoding="utf-8")
    write_dataset(root / "desk.yaml", RESPONSES)
    done = run_many(
        root,
        [
            ("run", "--suite", "loose"),
            (*RUN, "--require-validated"),
            RUN,
            RANDOM,
            ("run", "--suite", "loose"),
            ("run", "--suite", "tight"),
            ("run", "--suite", "met"),
        ],
    )

    assert [one.code for one in done] == [2, 2, 0, 0, 0, 2, 0]
    for refused in done[:2]:
        assert "require_validated: judge/right@1.0.0 has never been validated" in refused.stderr
    assert "the lower bound of its TNR is" in done[5].stderr
    assert "below 99.0 % and it rests on 400 labels, not 500" in done[5].stderr


@pytest.mark.parametrize(
    ("chance", "said"),
    [
        ("0", "inclusion_prob must be at least 1e-09"),
        ("-0.5", "inclusion_prob must be at least 1e-09"),
        ("1.5", "inclusion_prob must be at most 1"),
        ("NaN", "invalid JSON"),
        ('"half"', "inclusion_prob must be null or a number"),
    ],
)
def test_an_impossible_chance_is_refused_with_its_line(
    large: Path, tmp_path: Path, chance: str, said: str
) -> None:
    labels = [label(one, inclusion_prob=0.25) for one in RESPONSES[:100]]
    root = copied_desk(large, tmp_path, labels)
    lines = (root / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    lines[3] = lines[3].replace("0.25", chance)
    (root / "labels.jsonl").write_text("\n".join(lines), encoding="utf-8")
    validated, imported = run_many(root, [RANDOM, ("review", "import", "labels.jsonl")])

    assert (validated.code, imported.code) == (2, 1)
    assert f"labels.jsonl:4: {said}" in validated.stderr
    assert f"labels.jsonl:4: error: {said}" in imported.stdout


@pytest.mark.parametrize(
    ("design", "chances", "said"),
    [
        ("random", (0.25, 0.5), "different inclusion probabilities within one run"),
        ("by_verdict", (0.25, 0.5), "inclusion probabilities within one verdict of the judge"),
        ("by_label", (0.25, 0.5), "inclusion probabilities within one class (good or bad)"),
        ("random", (0.9, 0.9), "imply about 111 responses, and the run has 400"),
        (None, (0.01, 0.01), "imply about 10,000 responses, and the run has 400"),
        (None, (0.25, None), "50 of 100 labels have no inclusion_prob, and nobody said how"),
    ],
)
def test_chances_that_do_not_fit_the_design_or_the_run_are_told(
    large: Path,
    tmp_path: Path,
    design: str | None,
    chances: tuple[float, float | None],
    said: str,
) -> None:
    """A hundred of 400 responses are labelled."""
    labels = [
        label(one, inclusion_prob=chances[place % 2]) for place, one in enumerate(RESPONSES[:100])
    ]
    root = copied_desk(large, tmp_path, labels)
    words = ("--design", design) if design else ()
    (done,) = run_many(root, [(*VALIDATE_LATEST, *words, "--fail-under", "0.1")])

    assert done.code == 1
    assert said in done.stdout
