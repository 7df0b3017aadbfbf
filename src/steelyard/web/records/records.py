"""The page of a record, and its panel beside the records of a run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from starlette.responses import RedirectResponse, Response

from steelyard.api.errors import status_of
from steelyard.api.resources.records import record_index
from steelyard.api.result_notes import note_shown
from steelyard.api.shown_results import shown_list, shown_rows
from steelyard.errors import ConflictError, InvalidError, NotFoundError
from steelyard.reports.record.record_view import tags_of
from steelyard.reports.record.timelines import attempt_timeline
from steelyard.usecases.datasets.add_record import add_record, open_drafts
from steelyard.usecases.datasets.record_case import CARRIED, RecordOrigin
from steelyard.usecases.judges.people_verdicts import PeopleOfRun, people_verdicts
from steelyard.usecases.results.read_run import is_run_folder
from steelyard.usecases.results.records import place_in_list
from steelyard.usecases.review.shown_record import ShownRecord, shown_record
from steelyard.web.page import AnyPage, Context, Crumb, Visit, WebPage
from steelyard.web.records.record_context import (
    AddForm,
    PanelContext,
    PendingContext,
    RecordAddress,
    RecordPageQuery,
    parts_of,
    record_context,
    title_of,
)
from steelyard.web.records.record_filters import filter_of

RecordVisit = Visit[RecordPageQuery]


def _shown(visit: RecordVisit) -> tuple[ShownRecord, RecordAddress]:
    project = visit.project
    index = record_index(visit.path["index"])
    shown = shown_record(
        project.result_ports(),
        project.review_ports(),
        visit.path["run_id"],
        (index, visit.query.repeat),
        project.validations.all(),
    )
    note_shown(visit, shown_rows(shown.run.run_id, [index]))
    return shown, RecordAddress(run_id=shown.run.run_id, index=index, query=visit.query)


def _show(visit: RecordVisit, add: AddForm) -> Context:
    shown, address = _shown(visit)
    if shown.row is None:
        return _pending(shown, address)
    wanted = filter_of(address.listed, partial(_people, visit, shown))
    # Where it stands in a list, and beside what, says what the list itself would.
    note_shown(visit, shown_list(shown.run.run_id, wanted, shown.records, [shown.row.index]))
    place = place_in_list(shown.records, wanted, shown.row.place)
    context = record_context(shown, address, place, add)
    return replace(context, crumbs=_crumbs(shown, address))


def _people(visit: RecordVisit, shown: ShownRecord) -> PeopleOfRun | None:
    folder = visit.project.result_ports().run_folder(shown.run.run_id)
    if not is_run_folder(folder):
        return None
    return people_verdicts(visit.project.review_ports(), folder, shown.records)


def _page(visit: RecordVisit) -> Context:
    query = visit.query
    if not visit.identity.may("registry:write"):
        return _show(visit, AddForm())
    form = _form(visit)
    if query.added in form.drafts:
        form = replace(form, added=query.added, carried=_sentences(query.carried))
    return _show(visit, form)


def _form(visit: RecordVisit) -> AddForm:
    drafts = open_drafts(visit.project.registry_ports())
    return AddForm(drafts=tuple(one.reference for one in drafts))


def _sentences(carried: str) -> tuple[str, ...]:
    names = carried.split(",")
    return tuple(sentence for name, sentence in CARRIED.items() if name in names)


def _add(visit: RecordVisit) -> Context | Response:
    """Put the record into a dataset, and say so on its page."""
    shown, address = _shown(visit)
    into, name = (visit.form.get(field, "").strip() for field in ("into", "name"))
    if shown.row is None:
        raise ConflictError("the record has no result yet")
    plan = shown.run.plan
    origin = RecordOrigin(
        run_id=shown.run.run_id,
        dataset=plan.options.dataset if plan else None,
        row=shown.row,
        tags=tags_of(shown.row),
        redact=visit.project.redactor().whole,
    )
    ports = visit.project.registry_ports()
    try:
        made = add_record(ports, origin, into=into, name=name, caller=visit.caller)
    except (InvalidError, ConflictError, NotFoundError) as error:
        form = replace(_form(visit), into=into, name=name, error=visit.message(error))
        return replace(_show(visit, form), status=status_of(error))
    state = {"added": made.reference, "carried": ",".join(made.carried)}
    return RedirectResponse(address.here(**state), 303)


def _panel(visit: RecordVisit) -> Context:
    shown, address = _shown(visit)
    if shown.row is None:
        return _pending(shown, address)
    return PanelContext(
        title=title_of(shown.row),
        crumbs=_crumbs(shown, address),
        run=shown.run,
        address=address,
        parts=parts_of(shown, shown.row),
        repeats=len(shown.view.rows),
    )


def _pending(shown: ShownRecord, address: RecordAddress) -> PendingContext:
    attempts = shown.view.attempts
    name = next((one.record_id for one in attempts if one.record_id), None)
    return PendingContext(
        title=name or f"record {address.index}",
        crumbs=_crumbs(shown, address),
        run=shown.run,
        address=address,
        attempts=attempt_timeline(attempts, None),
    )


def _crumbs(shown: ShownRecord, address: RecordAddress) -> tuple[Crumb, ...]:
    run = shown.run
    name = f"{run.dataset} × {run.target}" if run.target else run.dataset
    return Crumb("Runs", "/runs"), Crumb(name or run.run_id, address.run)


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/runs/{run_id}/records/{index}",
        section="runs",
        scope="runs:read",
        show=_page,
        submit=_add,
        submit_scope="registry:write",
        query=RecordPageQuery,
    ),
    WebPage(
        path="/runs/{run_id}/records/{index}/panel",
        section="runs",
        scope="runs:read",
        show=_panel,
        query=RecordPageQuery,
    ),
)
