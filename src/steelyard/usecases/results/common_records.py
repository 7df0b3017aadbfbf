"""The common records of two runs, and why others cannot be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from steelyard.model.statistics.comparison import Mismatch
from steelyard.usecases.results.paired_rows import PairedRecord, Records

_Pair: TypeAlias = tuple[PairedRecord, PairedRecord]


class CommonRecords(NamedTuple):
    """The same records in A and B."""

    pairs: list[_Pair]
    """If only one run skipped a check, its score is not comparable: it
    counts as missing."""
    blanked: tuple[int, int]
    """The number of those in A, and in B."""
    skipped: dict[str, tuple[int, int]]
    """The number of those by skipped check, only in A and only in B."""
    changed: int
    """The number of records with the same id in both runs but other content."""
    invalid: int
    """The number of records of A that are invalid in B."""

    @property
    def mismatches(self) -> Iterator[Mismatch]:
        """The checks that graded records of only one run."""
        for name, counts in sorted(self.skipped.items()):
            a, b = (f"skipped for {one:,} record(s) that the other run grades" for one in counts)
            yield Mismatch(what=f"check {name}", a=a, b=b, is_serious=False)


def common_records(a: Records, b: Records) -> CommonRecords:
    """Pairs with the same content; for a record that is invalid in one run, with the same id.

    Their order does not depend on the order of the runs.
    """
    keys = a.keys() & b.keys()
    known = [(a[key], b[key]) for key in sorted(keys)]
    left_a, left_b = _left(a, keys), _left(b, keys)
    same_id = [(left_a[name], left_b[name]) for name in sorted(left_a.keys() & left_b.keys())]
    invalid = [pair for pair in same_id if pair[0].is_invalid != pair[1].is_invalid]
    differing = [pair for pair in known if _differ(pair)]
    fewer = sum(map(_is_fewer_in_a, differing))
    return CommonRecords(
        pairs=[*(map(_alike, known) if differing else known), *invalid],
        blanked=(fewer, len(differing) - fewer),
        skipped=_skipped(differing),
        changed=sum(not (one.is_invalid or other.is_invalid) for one, other in same_id),
        invalid=sum(other.is_invalid for _, other in invalid),
    )


def _left(records: Records, common: set[str]) -> dict[str, PairedRecord]:
    """The records missing in the other run, by id; the first of several with one id."""
    found: dict[str, PairedRecord] = {}
    if len(common) == len(records):
        return found
    for key, record in records.items():
        if key not in common and record.record_id is not None:
            found.setdefault(record.record_id, record)
    return found


def _differ(pair: _Pair) -> bool:
    """Whether different checks graded them, in every repeat or in any."""
    a, b = pair
    return bool(a.scored and b.scored) and (a.always != b.always or a.ever != b.ever)


def _is_fewer_in_a(pair: _Pair) -> bool:
    a, b = pair
    return (len(a.always), len(a.ever)) < (len(b.always), len(b.ever))


def _alike(pair: _Pair) -> _Pair:
    """Both records; the one graded by fewer checks, or else B, loses its score."""
    if not _differ(pair):
        return pair
    a, b = pair
    return (without_score(a), b) if _is_fewer_in_a(pair) else (a, without_score(b))


def without_score(record: PairedRecord) -> PairedRecord:
    """The same record in a run that has no score for it."""
    return replace(record, scored=0, passes=0, total=0.0)


def _skipped(differing: list[_Pair]) -> dict[str, tuple[int, int]]:
    in_a, in_b = Counter[str](), Counter[str]()
    for a, b in differing:
        for name in a.ever | b.ever:
            in_a[name] += _graded(a, name) < _graded(b, name)
            in_b[name] += _graded(b, name) < _graded(a, name)
    return {name: (in_a[name], in_b[name]) for name in in_a if in_a[name] or in_b[name]}


def _graded(record: PairedRecord, check: str) -> int:
    """2 if a check graded every repeat, 1 if some, 0 if none."""
    return (check in record.ever) + (check in record.always)
