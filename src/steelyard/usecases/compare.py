"""Compare runs: whether they may be compared, and then whether one is better."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from statistics import pstdev
from typing import NamedTuple, TypeAlias, cast

from steelyard.errors import UsageError
from steelyard.model.comparison import (
    LEVEL,
    Answer,
    Comparison,
    Difference,
    Dropped,
    Mismatch,
    Moved,
    Side,
    SliceDifference,
)
from steelyard.model.json_value import JsonObject
from steelyard.reports.correction import correction_of, is_corrected
from steelyard.reports.run_text import RunView
from steelyard.stats.independent import difference
from steelyard.stats.intervals import Interval
from steelyard.stats.multiplicity import adjusted
from steelyard.stats.paired import mcnemar, paired_difference
from steelyard.stats.power import pairs_for_passes, pairs_for_scores
from steelyard.usecases.paired_rows import Record, read_records
from steelyard.usecases.read_run import read_run

SETTINGS = ("temperature", "top_p", "max_new_tokens", "seed")


Today: TypeAlias = Callable[[RunView], RunView]
"""A finished run with what is known of it by now."""


def as_they_are(view: RunView) -> RunView:
    """What the artifacts say, and no more."""
    return view


class Pair(NamedTuple):
    """One record in both runs."""

    a: Record
    b: Record

    @property
    def passed(self) -> float:
        """How much more often B passes."""
        return self.b.passed - self.a.passed

    @property
    def scored(self) -> float:
        """How much more B scores."""
        return self.b.score - self.a.score


def compare(
    first: Path, second: Path, *, strict: bool = False, today: Today = as_they_are
) -> Comparison:
    """What can be said about B against A, over the records that both have scored.

    `today` adds to a run what was found out about its judge afterwards.
    """
    views = today(read_run(first)), today(read_run(second))
    mismatches = tuple(mismatches_of(*(view.manifest for view in views)))
    serious = [found for found in mismatches if found.is_serious]
    if strict and serious:
        said = "; ".join(f"{found.what}: {found.a} and {found.b}" for found in serious)
        raise UsageError(f"strict: these runs do not measure the same: {said}")
    records = read_records(first), read_records(second)
    common = [key for key in records[0] if key in records[1]]
    if not common:
        raise UsageError(
            f"{views[0].run_id} and {views[1].run_id} have no record in common; "
            "records are the same where their content is"
        )
    both = [Pair(records[0][key], records[1][key]) for key in common]
    return _compared(views, (len(records[0]), len(records[1])), both, mismatches)


def compare_all(
    folders: Sequence[Path], *, strict: bool = False, today: Today = as_they_are
) -> list[Comparison]:
    """Every pair of several runs, the earlier named as A."""
    pairs = combinations(folders, 2)
    return [compare(one, other, strict=strict, today=today) for one, other in pairs]


def mismatches_of(a: JsonObject, b: JsonObject) -> Iterator[Mismatch]:
    """What the manifests say that differs, beside the targets."""
    versions = [_rubrics(manifest) for manifest in (a, b)]
    if versions[0] != versions[1]:
        majors = [{_major(name) for name in found} for found in versions]
        texts = [", ".join(sorted(found)) or "nothing" for found in versions]
        yield Mismatch(what="rubric", a=texts[0], b=texts[1], is_serious=majors[0] != majors[1])
    judges = [_judges(manifest) for manifest in (a, b)]
    if judges[0] != judges[1]:
        texts = [", ".join(sorted(found)) or "none" for found in judges]
        yield Mismatch(what="judge", a=texts[0], b=texts[1])
    for name in SETTINGS:
        if a.get(name) != b.get(name):
            yield Mismatch(what=name, a=str(a.get(name)), b=str(b.get(name)), is_serious=False)


def _rubrics(manifest: JsonObject) -> set[str]:
    return {cast(str, one["rubric"]) for one in cast(list[JsonObject], manifest["rubrics"])}


def _major(name: str) -> str:
    return name.partition(".")[0]


def _judges(manifest: JsonObject) -> set[str]:
    """The judges by fingerprint: the same template with another model is another judge."""
    found: set[str] = set()
    for one in cast(list[JsonObject], manifest["judges"]):
        prints = cast("list[str]", one.get("fingerprints") or [])
        found.update(f"{one['judge']} ({mark[:12]})" for mark in prints)
    return found


def _compared(
    views: tuple[RunView, RunView],
    sizes: tuple[int, int],
    common: list[Pair],
    mismatches: tuple[Mismatch, ...],
) -> Comparison:
    pairs = [pair for pair in common if pair.a.is_scored and pair.b.is_scored]
    only_a = sum(not pair.a.is_scored and pair.b.is_scored for pair in common)
    only_b = sum(pair.a.is_scored and not pair.b.is_scored for pair in common)
    passes, scores = passes_of(pairs), _scores_of(pairs)
    answer = _answer(passes)
    moved = [_moved(pair) for pair in pairs if pair.passed]
    return Comparison(
        a=_side(views[0], sizes[0], [pair.a for pair in pairs]),
        b=_side(views[1], sizes[1], [pair.b for pair in pairs]),
        mismatches=mismatches,
        dropped=Dropped(
            only_in_a=sizes[0] - len(common),
            only_in_b=sizes[1] - len(common),
            no_score_in_a=only_a,
            no_score_in_b=only_b,
            no_score_in_both=len(common) - len(pairs) - only_a - only_b,
        ),
        missing_p=mcnemar(only_a, only_b),
        passes=passes,
        scores=scores,
        answer=answer,
        more_records=_more(pairs) if answer == "no difference detectable" else None,
        improvements=tuple(one for is_gain, one in moved if is_gain),
        regressions=tuple(one for is_gain, one in moved if not is_gain),
        slices=tuple(slices_of(pairs)),
        corrected=_corrected(*(correction_of(view.metrics) for view in views)),
    )


def _corrected(a: JsonObject | None, b: JsonObject | None) -> Difference | None:
    """The difference that people would see; the runs count as estimated apart."""
    if a is None or b is None or not is_corrected(a) or not is_corrected(b):
        return None
    found = difference(_interval(a), _interval(b))
    return Difference(
        value=found.value, low=found.low, high=found.high, method=found.method, n=found.n
    )


def _interval(row: JsonObject) -> Interval:
    value, low, high = (cast(float, row[name]) for name in ("value", "low", "high"))
    return Interval(value, low, high, cast(str, row["method"]), cast(int, row["n"]))


def _side(view: RunView, records: int, scored: list[Record]) -> Side:
    n = len(scored)
    return Side(
        run_id=view.run_id,
        title=view.title,
        records=records,
        rate=sum(record.passed for record in scored) / n if n else None,
        score=sum(record.score for record in scored) / n if n else None,
        corrected=correction_of(view.metrics),
    )


def passes_of(pairs: Sequence[Pair]) -> Difference:
    """The difference of pass rates.

    McNemar's exact test where every record is one pass or fail; where repeats or conversations
    make records alike, the randomisation test that it is a case of.
    """
    return _difference([pair.passed for pair in pairs], _clusters(pairs))


def _scores_of(pairs: Sequence[Pair]) -> Difference:
    return _difference([pair.scored for pair in pairs], _clusters(pairs))


def _difference(values: Sequence[float], clusters: Sequence[int] | None) -> Difference:
    found = paired_difference(values, clusters)
    interval = found.interval
    return Difference(
        value=interval.value,
        low=interval.low,
        high=interval.high,
        method=interval.method,
        n=interval.n,
        p_value=found.p_value,
        test=found.test,
    )


def _discordant(pairs: Sequence[Pair]) -> tuple[int, int]:
    return sum(pair.passed > 0 for pair in pairs), sum(pair.passed < 0 for pair in pairs)


def _clusters(pairs: Sequence[Pair]) -> list[int] | None:
    """A number for each conversation; None where every record stands for itself."""
    if all(pair.a.cluster is None for pair in pairs):
        return None
    numbers: dict[str, int] = {}
    return [
        -1 - place if pair.a.cluster is None else numbers.setdefault(pair.a.cluster, len(numbers))
        for place, pair in enumerate(pairs)
    ]


def _answer(passes: Difference) -> Answer:
    if passes.p_value is None or passes.value is None or passes.p_value > LEVEL:
        return "no difference detectable"
    return "better" if passes.value > 0 else "worse"


def _more(pairs: Sequence[Pair]) -> int | None:
    """How many more records would settle a difference as large as the one seen."""
    if not pairs:
        return None
    if all(pair.passed in {-1, 0, 1} for pair in pairs):
        needed = pairs_for_passes(*_discordant(pairs), len(pairs))
    else:
        shifts = [pair.passed for pair in pairs]
        needed = pairs_for_scores(sum(shifts) / len(shifts), pstdev(shifts))
    return None if needed is None else max(1, needed - len(pairs))


def _moved(pair: Pair) -> tuple[bool, Moved]:
    is_gain = pair.passed > 0
    worse = pair.a if is_gain else pair.b
    return is_gain, Moved(
        index=pair.b.index,
        record_id=pair.b.record_id,
        score_a=pair.a.score,
        score_b=pair.b.score,
        reason=worse.reason,
    )


def slices_of(pairs: Sequence[Pair]) -> Iterator[SliceDifference]:
    """Each slice on its own, under p-values that hold for all of them."""
    members: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        for name, values in pair.a.slices.items():
            for value in values:
                members.setdefault((name, value), []).append(pair)
    names = sorted(members)
    found = [passes_of(members[name]) for name in names]
    held = adjusted([cast(float, one.p_value) for one in found])
    for (name, value), passes, p_value in zip(names, found, held, strict=True):
        yield SliceDifference(slice=name, value=value, passes=passes, adjusted_p=p_value)
