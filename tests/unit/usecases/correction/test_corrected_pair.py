"""Two corrected rates over common records, and their difference."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fakes.judged_runs import a_row, a_score, write_run
from fakes.validations import a_validation, an_item
from steelyard.model.statistics.validation import JudgeValidation
from steelyard.stats.post_stratification import PAIRED
from steelyard.usecases.correction.corrected_pair import (
    CorrectedPair,
    LabelledVerdicts,
    corrected_pair,
    labelled_verdicts,
)
from steelyard.usecases.correction.judged_rows import JudgedRows

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def rows(count: int, failed: int, **more: Any) -> list[dict[str, Any]]:
    return [a_row(index, index >= failed, **more) for index in range(count)]


def labels(folder: Path, count: int, failed: int, **more: Any) -> JudgeValidation:
    """Labels of every fifth response; the judge is wrong about every fifth of them."""
    read = JudgedRows(folder)
    for _ in read:
        pass
    items = tuple(
        an_item(n, is_good=(n >= failed) != (n % 25 == 20), is_passed=n >= failed)
        for n in range(0, count, 5)
    )
    known: dict[str, Any] = {"items": items, "populations": {"run_1": read.population}, **more}
    return a_validation(**known)


def labelled(folder: Path, count: int, failed: int, **more: Any) -> LabelledVerdicts:
    write_run(folder, rows(count, failed, **more))
    found = labelled_verdicts(folder, [labels(folder, count, failed)], NOW)
    assert isinstance(found, LabelledVerdicts)
    return found


def paired(a: LabelledVerdicts, b: LabelledVerdicts, pairs: Any) -> CorrectedPair:
    found = corrected_pair(a, b, pairs)
    assert isinstance(found, CorrectedPair)
    return found


def test_the_same_responses_on_fewer_records_do_not_differ(tmp_path: Path) -> None:
    """B is the first 200 records of A; the rest of A, which all pass, is left out."""
    a = labelled(tmp_path / "a", 600, 100)
    b = labelled(tmp_path / "b", 200, 100)
    found = paired(a, b, [(n, n) for n in range(200)])

    assert found.difference.value == 0
    assert (found.a.value, found.a.n) == (found.b.value, 40)
    assert (found.difference.method, found.difference.n) == (PAIRED, 40)


def test_a_better_run_is_found(tmp_path: Path) -> None:
    a = labelled(tmp_path / "a", 600, 400)
    b = labelled(tmp_path / "b", 600, 100)
    found = paired(a, b, [(n, n) for n in range(600)])

    assert found.difference.low is not None
    assert found.difference.low > 0.15


def test_repeats_and_conversations_are_known(tmp_path: Path) -> None:
    single = [row | {"cluster": str(row["index"] // 5)} for row in rows(500, 200)]
    repeated = [row | {"repeat": repeat} for row in single for repeat in (0, 1)]
    found: list[LabelledVerdicts] = []
    for name, made in (("a", single), ("b", repeated)):
        folder = write_run(tmp_path / name, made)
        one = labelled_verdicts(folder, [labels(folder, 500, 200)], NOW)
        assert isinstance(one, LabelledVerdicts)
        found.append(one)
    pair = paired(found[0], found[1], [(n, n) for n in range(500)])

    assert pair.difference.value == pytest.approx(0)


def test_a_subset_with_too_few_labels_has_no_difference(tmp_path: Path) -> None:
    a = labelled(tmp_path / "a", 300, 100)

    assert "4 labels of these responses are too few" in str(
        corrected_pair(a, a, [(n, n) for n in range(20)])
    )
    assert "nothing was judged" in str(corrected_pair(a, a, []))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"populations": {"run_1": "other"}}, "has no labels of its own"),
        ({"design": "by_label"}, "labels balanced by class, which cannot be compared"),
        ({"design": None}, "nobody said how"),
        ({"fingerprints": ("other",)}, "another instrument"),
    ],
)
def test_a_run_without_labels_that_carry_it_says_why(
    tmp_path: Path, more: dict[str, Any], said: str
) -> None:
    folder = write_run(tmp_path / "r", rows(300, 100))

    assert said in str(labelled_verdicts(folder, [labels(folder, 300, 100, **more)], NOW))


def test_a_run_that_no_judge_alone_decides_has_none(tmp_path: Path) -> None:
    plain = write_run(tmp_path / "p", rows(3, 1, evaluator_scores=[a_score(True, judge=None)]))
    mixed = rows(30, 10)
    mixed[5]["passed"] = True
    folder = write_run(tmp_path / "m", mixed)

    assert labelled_verdicts(plain, [], NOW) is None
    assert "decide with it" in str(labelled_verdicts(folder, [], NOW))
