"""What the page of a record shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec

from steelyard.api.resources.records import record_body
from steelyard.reports.marking import Quotation
from steelyard.reports.record.check_view import CheckView, check_views, judges_of, quotations
from steelyard.reports.record.judgement_view import JudgementView, judgement_views
from steelyard.reports.record.people_view import PeopleView, people_view
from steelyard.reports.record.record_view import (
    Expectation,
    NoScore,
    RepeatView,
    expectations,
    redactions,
    repeat_views,
    repeated_checks,
    tags_of,
    why_no_score,
)
from steelyard.reports.record.timelines import Timeline, attempt_timeline, span_timeline
from steelyard.reports.record.trace_view import MessagePiece, TraceView, question_of, trace_view
from steelyard.reports.verdict_words import VerdictWord, row_word
from steelyard.results.list_place import ListPlace
from steelyard.results.predictions import Prediction
from steelyard.results.records import Count, Place, RecordView
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.review.shown_record import ShownRecord
from steelyard.web.page import Context
from steelyard.web.records.record_address import RecordFilters
from steelyard.web.records.record_filters import list_words, listed_by
from steelyard.web.rendering import query_text, segment

MOST_JSON = 400_000
"""The most characters of JSON that a page holds; the API has all of it."""
MOST_JUDGEMENTS = 60
_IMPLICIT = "rubric/implicit"


class RecordPageQuery(msgspec.Struct, frozen=True):
    """What the address of a record says."""

    repeat: Count | None = None
    view: str = ""
    """`raw` for texts as they are."""
    part: Count | None = None
    """The messages of a long trace that are shown, a hundred each."""
    tab: str = ""
    """`json` for all that is stored."""
    listed: str = msgspec.field(name="from", default="")
    """The query of the run page from which the record was opened."""
    added: str = ""
    """The dataset that the record was added to."""
    carried: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordAddress:
    """The addresses of a record and what belongs to it, with the state that they keep."""

    run_id: str
    index: int
    query: RecordPageQuery

    @property
    def listed(self) -> RecordFilters:
        """The list that the record was opened from."""
        return listed_by(self.query.listed)

    @property
    def list_words(self) -> str:
        """Which list that is."""
        return list_words(self.listed)

    @property
    def run(self) -> str:
        """The run page, as it was left."""
        listed = f"?{self.query.listed}" if self.query.listed else ""
        return f"/runs/{segment(self.run_id)}{listed}"

    def record(self, place: Place) -> str:
        """Another record of the same list."""
        index, repeat = place
        state = {"repeat": repeat or None, "view": self.query.view or None}
        kept = query_text({**state, "from": self.query.listed or None})
        return f"/runs/{segment(self.run_id)}/records/{index}{kept}"

    def here(self, **changes: Any) -> str:
        """This page with another state."""
        query = self.query
        kept: dict[str, Any] = {
            "repeat": query.repeat,
            "view": query.view or None,
            "part": query.part,
            "tab": query.tab or None,
            "from": query.listed or None,
        }
        return (
            f"/runs/{segment(self.run_id)}/records/{self.index}{query_text({**kept, **changes})}"
        )

    def turn(self, number: int) -> str:
        """A turn of the trace, in the part of it where it is."""
        return f"#turn-{number}"

    def review(self, repeat: int) -> str:
        """The form that sends this record to people."""
        kept = query_text({"record": f"{self.index}.{repeat}"})
        return f"/runs/{segment(self.run_id)}/review{kept}"

    def api(self, repeat: int) -> str:
        """The same as JSON."""
        kept = query_text({"repeat": repeat or None})
        return f"/v1/runs/{segment(self.run_id)}/records/{self.index}{kept}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordParts:
    """What page and panel have in common."""

    row: Prediction
    word: VerdictWord
    checks: tuple[CheckView, ...]
    people: PeopleView
    expected: tuple[Expectation, ...]
    no_score: NoScore | None
    question: tuple[MessagePiece, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelContext(Context):
    """A record beside the list in which it is."""

    template: ClassVar[str] = "record_panel.html"
    run: StoredRun
    address: RecordAddress
    parts: RecordParts
    repeats: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingContext(Context):
    """A record that has no result yet."""

    template: ClassVar[str] = "record_pending.html"
    run: StoredRun
    address: RecordAddress
    attempts: Timeline | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddForm:
    """The form that adds a record to a dataset."""

    drafts: tuple[str, ...] = ()
    """The references of datasets that can still be changed."""
    name: str = ""
    into: str = ""
    error: str = ""
    added: str = ""
    """The dataset that the record is in now."""
    carried: tuple[str, ...] = ()
    """What was carried over, and what was not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordContext(Context):
    """All that is known of a record."""

    template: ClassVar[str] = "record.html"
    run: StoredRun
    address: RecordAddress
    place: ListPlace
    parts: RecordParts
    rubrics: tuple[str, ...]
    trace: TraceView
    is_raw: bool
    said: Mapping[int, Sequence[Any]]
    quotes: Mapping[int, tuple[Quotation, ...]]
    unvalidated: frozenset[str]
    """Judges that were never compared with people."""
    judgements: tuple[JudgementView, ...]
    hidden_judgements: int
    attempts: Timeline | None
    spans: Timeline | None
    repeats: tuple[RepeatView, ...]
    redacted: Mapping[str, int]
    raw_json: str = ""
    is_json_cut: bool = False
    add: AddForm = field(default_factory=AddForm)

    @property
    def source(self) -> tuple[str, ...]:
        """The files of the dataset."""
        setup = self.run.plan.setup if self.run.plan else None
        return tuple(setup.source) if setup else ()

    @property
    def repeated_checks(self) -> tuple[str, ...]:
        """The names of all checks that have graded one of the repeats."""
        return repeated_checks(self.repeats)

    def link_turn(self, turn: int) -> str:
        """The address of a turn, in the part of the trace where it is."""
        part = self.trace.part_of(turn)
        page = "" if part == self.trace.part else self.address.here(part=part)
        return f"{page}#turn-{turn}"


def parts_of(shown: ShownRecord, row: Prediction) -> RecordParts:
    """What page and panel have in common."""
    checks = check_views(row.evaluator_scores, shown.questions)
    return RecordParts(
        row=row,
        word=row_word(row),
        checks=checks,
        people=people_view(checks, shown.labels, shown.questions, passed=row.passed),
        expected=tuple(expectations(row.expected)),
        no_score=why_no_score(row, shown.failure),
        question=question_of(row),
        tags=tags_of(row),
    )


def record_context(
    shown: ShownRecord, address: RecordAddress, place: ListPlace, add: AddForm
) -> RecordContext:
    """The whole page of a record that has a result."""
    row = shown.row
    assert row
    query, parts = address.query, parts_of(shown, row)
    trace = trace_view(row, query.part)
    judged = judgement_views(shown.view.judgements, row.repeat)
    attempts = [one for one in shown.view.attempts if (one.repeat or 0) == row.repeat]
    raw = _raw_json(shown.view, row) if query.tab == "json" else ""
    rows = shown.view.rows
    turns = {one.turn for one in trace.messages if one.turn}
    return RecordContext(
        title=title_of(row),
        run=shown.run,
        address=address,
        place=place,
        parts=parts,
        rubrics=tuple(one for one in shown.rubrics if not one.startswith(_IMPLICIT)),
        trace=trace,
        is_raw=query.view == "raw",
        said={turn: found for turn, found in parts.people.turns.items() if turn in turns},
        quotes={0: quotations(parts.checks)} | {t: quotations(parts.checks, t) for t in turns},
        unvalidated=frozenset(judges_of(parts.checks)) - shown.validated,
        judgements=judged[:MOST_JUDGEMENTS],
        hidden_judgements=max(0, len(judged) - MOST_JUDGEMENTS),
        attempts=attempt_timeline(attempts, row.response_source),
        spans=span_timeline(row.trace),
        repeats=tuple(repeat_views(rows, row)) if len(rows) > 1 else (),
        redacted=redactions(row),
        raw_json=raw[:MOST_JSON],
        is_json_cut=len(raw) > MOST_JSON,
        add=add,
    )


def title_of(row: Prediction) -> str:
    """The id of a record, or its index."""
    return row.record_id or f"record {row.index}"


def _raw_json(view: RecordView, row: Prediction) -> str:
    data = msgspec.json.encode(record_body(view, row))
    return msgspec.json.format(data, indent=2).decode()
