"""Send records of a run to people: one record, or those of the filtered list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import msgspec
from msgspec import structs
from starlette.responses import RedirectResponse, Response

from steelyard.api.errors import status_of
from steelyard.errors import ConflictError, InvalidError, RequestError
from steelyard.model.labels.queue import QueueSource, ReviewQueue
from steelyard.results.records import MAX_COUNT, Place
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.read_run import is_run_folder
from steelyard.usecases.results.records import list_places, show_record
from steelyard.usecases.results.sealed_files import stored_records
from steelyard.usecases.review.queues.add_items import add_items, queues_to_add_to
from steelyard.usecases.review.queues.create_queue import (
    MOST_REVIEWS,
    Fill,
    NewQueue,
    create_queue,
)
from steelyard.web.page import AnyPage, Context, Crumb, Visit, WebPage
from steelyard.web.records.record_address import BY_PEOPLE, RecordFilters
from steelyard.web.records.record_source import people_of_run
from steelyard.web.rendering import query_text, segment
from steelyard.web.review.queues import form_number
from steelyard.web.review.rubric_choice import RubricChoice, rubric_choice

MOST_PICKED = 1_000
"""Records that are sent at once: nobody picks more of them one by one."""
_Number = Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]


class PickQuery(RecordFilters, frozen=True, kw_only=True, rename={"begin": "from"}):
    """Which records are sent, and after that what became of them."""

    record: str | None = None
    """One record by its index, with its repeat after a dot, such as `12.0`."""
    queue: str | None = None
    """The queue that they were sent to."""
    added: _Number = 0
    known: _Number = 0
    left_out: _Number = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PickContext(Context):
    """The form that sends records to a queue."""

    template: ClassVar[str] = "review_pick.html"
    run: StoredRun
    back: str
    """The page that the records were picked on."""
    here: str
    name: str
    """The record, if it is one."""
    number: int | None
    """How many records; None where there are more than can be sent."""
    conditions: Sequence[tuple[str, str]]
    """What the filtered list is filtered by."""
    queues: Sequence[ReviewQueue]
    rubric: RubricChoice
    typed: Mapping[str, str]
    sent_to: ReviewQueue | None
    query: PickQuery
    problem: str = ""
    most: int = MOST_PICKED
    most_reviews: int = MOST_REVIEWS


def _show(visit: Visit[PickQuery]) -> PickContext:
    return _context(visit, {"reviews": "1"})


def _context(visit: Visit[PickQuery], typed: Mapping[str, str]) -> PickContext:
    project, query = visit.project, visit.query
    run = _run(visit)
    places = _places(visit, run)
    ports = project.queue_ports()
    listed = structs.replace(query, queue=None, added=0, known=0, left_out=0)
    here = f"/runs/{segment(run.run_id)}"
    back = f"{here}{_text(listed, record=None)}#records"
    if query.record is not None:
        index, repeat = places[0]
        back = f"{here}/records/{index}{query_text({'repeat': repeat or None})}"
    return PickContext(
        title="Send to review",
        crumbs=(
            Crumb("Runs", "/runs"),
            Crumb(f"{run.dataset} × {run.target or 'several targets'}", here),
        ),
        run=run,
        back=back,
        here=f"{here}/review{_text(listed)}",
        name=_name(visit, run, places[0]) if query.record is not None else "",
        number=len(places) if len(places) <= MOST_PICKED else None,
        conditions=[(name, _word(value)) for name, value in query.filters.items()],
        queues=queues_to_add_to(ports, run.run_id),
        rubric=rubric_choice(visit, run.run_id, typed),
        typed=typed,
        sent_to=ports.queues.find(query.queue) if query.queue else None,
        query=query,
    )


def _send(visit: Visit[PickQuery]) -> Context | Response:
    form = {name: value.strip() for name, value in visit.form.items()}
    run = _run(visit)
    try:
        found = _sent(visit, run, form)
    except RequestError as error:
        shown = _context(visit, form)
        return replace(shown, problem=visit.message(error), status=status_of(error))
    done = structs.replace(visit.query, **found)
    return RedirectResponse(f"/runs/{segment(run.run_id)}/review{_text(done)}", 303)


def _sent(
    visit: Visit[PickQuery], run: StoredRun, form: Mapping[str, str]
) -> dict[str, str | int]:
    """Add the records to a queue, or make one of them."""
    ports, places = visit.project.queue_ports(), tuple(_places(visit, run))
    if len(places) > MOST_PICKED:
        raise InvalidError(
            f"at most {MOST_PICKED:,} records are sent at once; narrow the filters, or have a "
            "queue drawn"
        )
    if into := form.get("into"):
        grown = add_items(ports, into, places, caller=visit.caller)
        return {
            "queue": into,
            "added": grown.added,
            "known": grown.known,
            "left_out": grown.left_out,
        }
    new = NewQueue(
        name=form.get("name", ""),
        source=QueueSource(kind="run", id=run.run_id),
        fill=Fill(by="picked", places=places),
        rubric=form.get("rubric") or None,
        reviews_required=form_number(form, "reviews"),
        instructions=form.get("instructions") or None,
    )
    made = create_queue(ports, new, caller=visit.caller)
    return {"queue": made.queue.queue_id, "added": made.items, "left_out": made.left_out}


def _run(visit: Visit[PickQuery]) -> StoredRun:
    run = visit.project.store.find(visit.path["run_id"])
    if not is_run_folder(visit.project.result_ports().run_folder(run.run_id)):
        raise ConflictError(f"{run.run_id} has not ended yet: people review finished runs")
    return run


def _places(visit: Visit[PickQuery], run: StoredRun) -> list[Place]:
    """The records to send, one more than can be sent at most."""
    project, query = visit.project, visit.query
    if query.record is not None:
        return [_place(query.record)]
    records = stored_records(project.result_ports(), run.run_id)
    people = people_of_run(project, run, records) if query.only in BY_PEOPLE else None
    return list_places(records, query.wanted(people), MOST_PICKED + 1)


def _place(text: str) -> Place:
    index, _, repeat = text.partition(".")
    if not all(one.isascii() and one.isdecimal() and len(one) < 19 for one in (index, repeat)):
        raise InvalidError(
            f"'record' must be an index with its repeat, such as 12.0, not '{text}'"
        )
    return int(index), int(repeat)


def _word(value: object) -> str:
    """The value of a filter as people read it."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _name(visit: Visit[PickQuery], run: StoredRun, place: Place) -> str:
    """The id of a record, or its index."""
    records = stored_records(visit.project.result_ports(), run.run_id)
    rows = show_record(records, *place).rows
    return (rows[0].record_id if rows else None) or f"record {place[0]}"


def _text(query: PickQuery, **changes: None) -> str:
    """What is picked, as the query of an address; not how the list is sorted."""
    shown = structs.replace(query, cursor=None, begin=1, cols=None, sort=None, slices=1)
    kept = structs.asdict(structs.replace(shown, **changes))
    plain = structs.asdict(PickQuery())
    given = {name: value for name, value in kept.items() if value != plain[name]}
    if "passed" in given:
        given["passed"] = str(given["passed"]).lower()
    return query_text(given)


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/runs/{run_id}/review",
        section="review",
        scope="registry:write",
        show=_show,
        submit=_send,
        query=PickQuery,
    ),
)
