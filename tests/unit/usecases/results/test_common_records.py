"""Which records of two runs are the same, and graded alike."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from steelyard.results.projections import SliceValues
from steelyard.usecases.results.common_records import common_records
from steelyard.usecases.results.compare import slice_members
from steelyard.usecases.results.paired_rows import PairedRecord, Records
from steelyard.usecases.results.record_pairs import RecordPairs


def record(name: str = "q", always: str = "x", ever: str = "", scored: int = 1) -> PairedRecord:
    return PairedRecord(
        index=0,
        record_id=name,
        cluster=None,
        slices={},
        tries=1,
        scored=scored,
        passes=scored,
        total=scored,
        always=frozenset(always),
        ever=frozenset(always + ever),
    )


def keyed(*records: tuple[str, PairedRecord]) -> Records:
    return dict(records)


@pytest.mark.parametrize(
    ("a", "b", "blanked", "skipped"),
    [
        (record(), record(), (0, 0), {}),
        (record(always="xy"), record(), (0, 1), {"y": (0, 1)}),
        (record(), record(always="xy"), (1, 0), {"y": (1, 0)}),
        (record(always="x"), record(always="y"), (0, 1), {"x": (0, 1), "y": (1, 0)}),
        (record(ever="y"), record(ever="y"), (0, 0), {}),
        (record(always="xy"), record(ever="y"), (0, 1), {"y": (0, 1)}),
        (record(always="xy"), record(scored=0, always=""), (0, 0), {}),
    ],
)
def test_a_record_that_other_checks_graded_has_no_score(
    a: PairedRecord, b: PairedRecord, blanked: tuple[int, int], skipped: dict[str, tuple[int, int]]
) -> None:
    found = common_records(keyed(("h", a)), keyed(("h", b)))
    ((first, second),) = found.pairs

    assert (found.blanked, found.skipped) == (blanked, skipped)
    assert (first.scored, second.scored) == (a.scored - blanked[0], b.scored - blanked[1])
    assert [one.what for one in found.mismatches] == [f"check {name}" for name in skipped]


def test_ids_tell_what_was_edited_and_what_is_invalid_now() -> None:
    spoiled = replace(record("spoiled", scored=0), is_invalid=True)
    a = keyed(("1", record("edited")), ("2", record("spoiled")), ("3", record("gone")))
    b = keyed(("4", record("edited")), ("5", spoiled), ("6", record("new")))
    there, back = common_records(a, b), common_records(b, a)

    assert (there.changed, there.invalid, back.changed, back.invalid) == (1, 1, 1, 0)
    assert [(one.record_id, two.scored) for one, two in there.pairs] == [("spoiled", 0)]
    assert [(one.scored, two.scored) for one, two in back.pairs] == [(0, 1)]


def test_records_that_share_their_slices_in_turn_keep_their_order() -> None:
    x: SliceValues = {"tags": ("x",)}
    y: SliceValues = {"tags": ("y",)}
    both: SliceValues = {"tags": ("x", "y")}
    redacted: SliceValues = {"tags": "no"}
    one: list[SliceValues] = [x, y, x, both, {}, y, redacted, x]
    other: list[SliceValues] = [x, y, x, both, {"team": ("a",)}, {"team": ("b",)}, redacted, y]
    a, b = (
        [PairedRecord(place, None, None, slices, tries=1) for place, slices in enumerate(run)]
        for run in (one, other)
    )

    found = slice_members(RecordPairs(zip(a, b, strict=True)))

    assert found == {
        ("tags", "x"): [0, 2, 3],
        ("tags", "y"): [1, 3, 5, 7],
        ("tags", "no"): [6],
        ("team", "a"): [4],
        ("team", "b"): [5],
    }
