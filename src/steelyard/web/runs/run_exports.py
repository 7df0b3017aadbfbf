"""A run as files: its records as CSV, and its single-file report."""

from __future__ import annotations

from starlette.responses import Response, StreamingResponse

from steelyard.api.result_notes import note_shown
from steelyard.api.shown_results import ShownResults
from steelyard.reports.html.run_html import run_html
from steelyard.results.predictions import PREDICTIONS
from steelyard.usecases.correction.current_view import current_view
from steelyard.usecases.results.exports.rows import export_csv, matching_predictions
from steelyard.usecases.results.pruned_files import pruned_on
from steelyard.usecases.results.read_run import read_predictions, read_run
from steelyard.usecases.results.sealed_files import sealed_folder, stored_records
from steelyard.web.page import PlainQuery, Visit
from steelyard.web.records.record_address import BY_PEOPLE, RecordFilters
from steelyard.web.records.record_source import people_of_run


def csv_of_run(visit: Visit[RecordFilters]) -> Response:
    """All records of the filters, with the columns of `steelyard export`."""
    project = visit.project
    run = project.store.find(visit.path["run_id"])
    records = stored_records(project.result_ports(), run.run_id)
    people = people_of_run(project, run, records) if visit.query.only in BY_PEOPLE else None
    note_shown(visit, ShownResults(run.run_id, None))
    rows = matching_predictions(records, visit.query.wanted(people))
    lines = export_csv(rows, list(records.counts().checks))
    return StreamingResponse(
        (line.encode("utf-8", "backslashreplace") for line in lines),
        media_type="text/csv; charset=utf-8",
        headers=attached(f"{run.run_id}.csv"),
    )


def report_of_run(visit: Visit[PlainQuery]) -> Response:
    """The single-file report, as a file to keep."""
    project = visit.project
    folder = sealed_folder(project.result_ports(), visit.path["run_id"])
    note_shown(visit, ShownResults(folder.name, None))
    project.run_folder(folder.name)  # refuses files that were changed
    view = current_view(read_run(folder), project.validations.all(), project.clock.now())
    rows = () if pruned_on(folder, PREDICTIONS) else read_predictions(folder)
    page = run_html(view, rows).encode("utf-8", "backslashreplace")
    return Response(
        page, media_type="text/html; charset=utf-8", headers=attached(f"{folder.name}.html")
    )


def attached(name: str) -> dict[str, str]:
    """The headers of a file to keep."""
    return {"content-disposition": f'attachment; filename="{name}"'}
