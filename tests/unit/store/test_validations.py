"""Validations on disk: every one is kept, each once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fakes.validations import a_validation, an_item
from steelyard.errors import UnreadableFileError
from steelyard.model.statistics.validation import CanaryTally, LeftOut, SliceCounts
from steelyard.store.validations import ValidationFolder, project_validations

WHOLE = a_validation(
    items=(an_item(0), an_item(3, is_good=False, inclusion_prob=0.25, slices=(("tags", "ü"),))),
    populations={"run_1": "about"},
    left_out=LeftOut(ties=2, not_blind=1),
    applicable_to=("fees",),
    slices=(SliceCounts(slice="tags", value="a", counts=a_validation().counts),),
    canaries=CanaryTally(asked=3, passed=1, unscored=1, passed_ids=("praise",)),
)


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    kept = project_validations(tmp_path)

    assert kept.all() == ()
    assert kept.add(WHOLE)
    assert kept.all() == (WHOLE,)


def test_the_last_validation_of_a_judge_has_a_time(tmp_path: Path) -> None:
    kept = ValidationFolder(tmp_path)
    for day, seed in (("2026-05-20", 1), ("2026-05-02", 2)):
        kept.add(replace(WHOLE, validated_at=day, seed=seed))

    assert kept.last_validated(WHOLE.judge) == "2026-05-20"
    assert kept.last_validated("judge/other@1.0.0") is None


def test_a_refusal_is_no_time_of_a_validation(tmp_path: Path) -> None:
    kept = ValidationFolder(tmp_path)
    kept.add(WHOLE)
    kept.add(replace(WHOLE, validated_at="2026-06-01", refusals=("why",)))

    assert kept.last_validated(WHOLE.judge) == WHOLE.validated_at


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2026-05-20T10:00:00+02:00", "2026-05-20T09:00:00+00:00"),
        ("2026-05-20", "2026-05-20T00:00:00Z"),
        ("2026-05-20", "2026-05-20"),
    ],
)
@pytest.mark.parametrize("labels", ["a", "b", "c"])
def test_the_latest_instant_comes_last_and_of_equal_ones_the_last_recorded(
    tmp_path: Path, first: str, second: str, labels: str
) -> None:
    kept = ValidationFolder(tmp_path)
    kept.add(replace(WHOLE, validated_at=first, label_set_sha256="b", seed=1))
    kept.add(replace(WHOLE, validated_at=second, label_set_sha256=labels, seed=2))

    assert [one.seed for one in kept.all()] == [1, 2]


def test_a_comparison_is_kept_again_after_another_one(tmp_path: Path) -> None:
    """The newest counts: what holds again must be the newest again."""
    kept = ValidationFolder(tmp_path)
    refused = replace(WHOLE, label_set_sha256="others", refusals=("why",))

    assert [kept.add(one) for one in (WHOLE, refused, WHOLE, WHOLE)] == [True, True, True, False]
    assert [one.refusals for one in kept.all()] == [(), ("why",), ()]


def test_the_same_comparison_is_kept_once(tmp_path: Path) -> None:
    kept = ValidationFolder(tmp_path)
    kept.add(WHOLE)

    assert not kept.add(replace(WHOLE, validated_at="2026-06-01"))
    assert len(kept.all()) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprints": ("other",)},
        {"rule": "llm_judge at 0.5"},
        {"label_set_sha256": "others"},
        {"items": (an_item(0),)},
        {"design": "by_label"},
        {"split": "test"},
        {"seed": 1},
    ],
)
def test_anything_else_is_another_validation_and_the_newest_comes_last(
    tmp_path: Path, change: dict[str, object]
) -> None:
    kept = ValidationFolder(tmp_path)
    newer = replace(WHOLE, validated_at="2026-06-01", **change)
    kept.add(newer)

    assert kept.add(WHOLE)
    assert kept.all() == (WHOLE, newer)


def test_reads_of_test_labels_are_counted_over_all_versions_of_a_judge(tmp_path: Path) -> None:
    kept = ValidationFolder(tmp_path)
    counts = [
        kept.read_test(name, "now") for name in ("judge/a@1.0.0", "judge/a@2.0.0", "judge/b@1.0.0")
    ]

    assert counts == [1, 2, 1]
    assert [kept.test_reads(f"judge/{name}@3.0.0") for name in "abc"] == [2, 1, 0]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"judge": 1}'])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "validations" / "a" / "b" / "000001.json"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")

    with pytest.raises(UnreadableFileError, match="is damaged"):
        ValidationFolder(tmp_path).all()


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "validations" / "a" / "b" / "000001.json").mkdir(parents=True)

    with pytest.raises(UnreadableFileError, match="cannot read"):
        ValidationFolder(tmp_path).all()
