"""The result of publishing a version, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from steelyard.engine.verdict_changes import ChangedVerdict, Graded, Shift
from steelyard.model.difference import Diff
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject
from steelyard.model.published import Bump, Published
from steelyard.reports.differences import diff_json, diff_lines
from steelyard.reports.findings import Paint, printable
from steelyard.reports.numbers import signed

Outcome: TypeAlias = Literal["published", "unchanged", "noted", "refused"]
_SHOWN = 20
_OUTCOMES: dict[Outcome, str] = {
    "published": "published",
    "unchanged": "is already published with the same content; nothing to do",
    "noted": "is already published with the same content; mutable fields updated",
    "refused": "not published",
}


class Publication(FrozenStruct, frozen=True, kw_only=True):
    """The result of publishing a version."""

    reference: str
    outcome: Outcome
    published: Published | None = None
    """The entry in the registry."""
    refusals: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    bump: Bump | None = None
    diff: Diff | None = None
    """The differences from the previous version."""
    shift: MeasuredShift | None = None
    """The change of scores, if it was tested."""


class MeasuredShift(FrozenStruct, frozen=True, kw_only=True):
    """The traces of a run, graded with the previous and the new version."""

    run_id: str
    old: str
    new: str
    old_run: str
    new_run: str
    shift: Shift


def publication_lines(publication: Publication, paint: Paint) -> Iterator[str]:
    """The outcome, then refusals, differences and warnings."""
    style = "error" if publication.outcome == "refused" else "good"
    published = publication.published
    sha256 = f"  sha256 {published.sha256[:12]}" if published else ""
    outcome = paint(_OUTCOMES[publication.outcome], style)
    yield f"{printable(publication.reference)}  {outcome}{sha256}"
    for refusal in publication.refusals:
        yield f"  {paint('refused', 'error')}  {printable(refusal)}"
    if publication.diff:
        bump = f" ({publication.bump})" if publication.bump else ""
        yield f"  since {publication.diff.old}{bump}:"
        yield from (f"  {line}" for line in diff_lines(publication.diff, paint))
    if publication.shift:
        yield from shift_lines(publication.shift, paint)
    for warning in publication.warnings:
        yield f"  {paint('warning', 'warning')}  {printable(warning)}"


def publication_json(publication: Publication) -> JsonObject:
    """The result as one JSON object."""
    published, diff = publication.published, publication.diff
    return {
        "reference": publication.reference,
        "outcome": publication.outcome,
        "sha256": published.sha256 if published else None,
        "published_at": published.published_at if published else None,
        "refusals": list(publication.refusals),
        "warnings": list(publication.warnings),
        "bump": publication.bump,
        "diff": diff_json(diff) if diff else None,
        "shift": shift_json(publication.shift) if publication.shift else None,
    }


def shift_lines(measured: MeasuredShift, paint: Paint) -> Iterator[str]:
    """The two tests with their denominators, and the first changed records."""
    shift, score = measured.shift, measured.shift.score
    moved_text = paint("moved", "error") if shift.has_moved else paint("did not move", "good")
    yield f"  scores {moved_text}: the traces of {measured.run_id}, graded by {measured.old}"
    yield f"  ({measured.old_run}) and by {measured.new} ({measured.new_run})"
    yield (
        f"    {len(shift.moved):,} of {shift.pairs + shift.unpaired:,} traces moved; "
        f"{shift.pairs:,} have a score in both"
    )
    yield (
        f"    passes  {shift.gained:,} gained, {shift.lost:,} lost "
        f"({shift.test}, p = {shift.p_value:.3g})"
    )
    appeared, vanished = shift.count("appeared"), shift.count("vanished")
    if appeared or vanished:
        yield f"    verdicts  {appeared:,} where there was none, {vanished:,} no longer there"
    if score.value is not None and score.low is not None and score.high is not None:
        yield (
            f"    score   {signed(score.value)} [{signed(score.low)}, {signed(score.high)}] "
            f"({score.method}, 95 %)"
        )
    for moved in shift.moved[:_SHOWN]:
        yield f"    {_name(moved)}  {_graded(moved.old)} → {_graded(moved.new)}"
    if len(shift.moved) > _SHOWN:
        yield f"    … and {len(shift.moved) - _SHOWN:,} more; --format json lists all"


def shift_json(measured: MeasuredShift) -> JsonObject:
    """The change as JSON, with every changed record."""
    shift, score = measured.shift, measured.shift.score
    return {
        "run_id": measured.run_id,
        "old": {"reference": measured.old, "run_id": measured.old_run},
        "new": {"reference": measured.new, "run_id": measured.new_run},
        "has_moved": shift.has_moved,
        "is_judged": shift.is_judged,
        "pairs": shift.pairs,
        "unpaired": shift.unpaired,
        "moved_count": len(shift.moved),
        "appeared": shift.count("appeared"),
        "vanished": shift.count("vanished"),
        "passes": {
            "gained": shift.gained,
            "lost": shift.lost,
            "p_value": shift.p_value,
            "method": shift.test,
        },
        "score": {
            "value": score.value,
            "low": score.low,
            "high": score.high,
            "method": score.method,
            "n": score.n,
        },
        "moved": [_moved_json(moved) for moved in shift.moved],
    }


def _moved_json(moved: ChangedVerdict) -> JsonObject:
    return {
        "index": moved.index,
        "record_id": moved.record_id,
        "repeat": moved.repeat,
        "old_status": moved.old.status,
        "new_status": moved.new.status,
        "old_score": moved.old.score,
        "new_score": moved.new.score,
        "old_passed": moved.old.passed,
        "new_passed": moved.new.passed,
    }


def _name(moved: ChangedVerdict) -> str:
    repeat = f" (repeat {moved.repeat})" if moved.repeat else ""
    return printable(moved.record_id or f"record {moved.index}") + repeat


def _graded(graded: Graded) -> str:
    if graded.score is None:
        return graded.status
    return f"{graded.score:.3f} {'pass' if graded.passed else 'fail'}"
