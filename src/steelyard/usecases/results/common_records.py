"""The records that two runs have in common, and what keeps others from being compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from steelyard.model.statistics.comparison import Mismatch
from steelyard.usecases.results.paired_rows import PairedRecord, Records

_Pair: TypeAlias = tuple[PairedRecord, PairedRecord]


class CommonRecords(NamedTuple):
    """Records of A and B that are the same."""

    pairs: list[_Pair]
    """Where one run skipped a check that the other did not, its score says something else: it
    counts as missing."""
    blanked: tuple[int, int]
    """How many of those there are in A, and in B."""
    skipped: dict[str, tuple[int, int]]
    """How many of those each check skipped in A alone, and in B alone."""
    changed: int
    """How many records have the same id in both runs, and other content."""
    invalid: int
    """How many records of A are invalid in B."""

    @property
    def mismatches(self) -> Iterator[Mismatch]:
        """The checks that graded records of one run alone."""
        for name, counts in sorted(self.skipped.items()):
            a, b = (f"skipped for {one:,} record(s) that the other run grades" for one in counts)
            yield Mismatch(what=f"check {name}", a=a, b=b, is_serious=False)


def common_records(a: Records, b: Records) -> CommonRecords:
    """The same content in both; and of a record that is invalid in one run, the same id.

    In an order that does not depend on which run comes first.
    """
    keys = sorted(a.keys() & b.keys())
    known = [(a[key], b[key]) for key in keys]
    left_a, left_b = _left(a, b), _left(b, a)
    same_id = [(left_a[name], left_b[name]) for name in sorted(left_a.keys() & left_b.keys())]
    invalid = [pair for pair in same_id if pair[0].is_invalid != pair[1].is_invalid]
    differing = [pair for pair in known if _differ(pair)]
    fewer = sum(map(_is_fewer_in_a, differing))
    return CommonRecords(
        pairs=[*map(_alike, known), *invalid],
        blanked=(fewer, len(differing) - fewer),
        skipped=_skipped(differing),
        changed=sum(not (one.is_invalid or other.is_invalid) for one, other in same_id),
        invalid=sum(other.is_invalid for _, other in invalid),
    )


def _left(records: Records, others: Records) -> dict[str, PairedRecord]:
    """The records that the other run has not, by id; the first of those with one id."""
    found: dict[str, PairedRecord] = {}
    for key, record in records.items():
        if key not in others and record.record_id is not None:
            found.setdefault(record.record_id, record)
    return found


def _differ(pair: _Pair) -> bool:
    """Whether other checks graded them: in every repeat, or in any."""
    a, b = pair
    return bool(a.scored and b.scored) and (a.always, a.ever) != (b.always, b.ever)


def _is_fewer_in_a(pair: _Pair) -> bool:
    a, b = pair
    return (len(a.always), len(a.ever)) < (len(b.always), len(b.ever))


def _alike(pair: _Pair) -> _Pair:
    """The two; the one that fewer checks graded without its score, B where neither has fewer."""
    if not _differ(pair):
        return pair
    a, b = pair
    return (_unscored(a), b) if _is_fewer_in_a(pair) else (a, _unscored(b))


def _unscored(record: PairedRecord) -> PairedRecord:
    return replace(record, scored=0, passes=0, total=0.0)


def _skipped(differing: list[_Pair]) -> dict[str, tuple[int, int]]:
    in_a, in_b = Counter[str](), Counter[str]()
    for a, b in differing:
        for name in a.ever | b.ever:
            in_a[name] += _graded(a, name) < _graded(b, name)
            in_b[name] += _graded(b, name) < _graded(a, name)
    return {name: (in_a[name], in_b[name]) for name in in_a if in_a[name] or in_b[name]}


def _graded(record: PairedRecord, check: str) -> int:
    """2 where a check graded every repeat, 1 where some, 0 where none."""
    return (check in record.ever) + (check in record.always)
