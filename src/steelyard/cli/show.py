"""`steelyard show`: show a run, or one record of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from steelyard.cli.arguments import FinishedRunName
from steelyard.cli.report_files import (
    FormatOption,
    OutFile,
    OutOption,
    ReportFormat,
    out_files,
    refuse_reports,
)
from steelyard.cli.run_output import RunReports
from steelyard.cli.server.server_runs import (
    ServerOption,
    readable_runs,
    remote_status,
    unfinished_run,
)
from steelyard.cli.terminal import painter, show, show_json

if TYPE_CHECKING:
    from pathlib import Path

    from steelyard.client.remote import RemoteRun
    from steelyard.model.json_value import JsonObject
    from steelyard.project import Project
    from steelyard.reports.findings import Paint
    from steelyard.reports.run.run_text import RunView
    from steelyard.results.attempts import Attempt
    from steelyard.results.failures import Failure
    from steelyard.results.predictions import Prediction
    from steelyard.results.projections import GradedPrediction
    from steelyard.results.records import RecordView
    from steelyard.results.stored_run import StoredRun

_SHOWN = 15


def command(  # noqa: PLR0917 - one parameter for each option
    run: FinishedRunName,
    record: Annotated[
        str | None, typer.Argument(metavar="[RECORD]", help="A record's id or index.")
    ] = None,
    out: OutOption = None,
    output: FormatOption = ReportFormat.text,
    blind: Annotated[
        bool,
        typer.Option(
            "--blind",
            help="Show a record as people who label it see it: without verdict and checks.",
        ),
    ] = False,
    server: ServerOption = None,
) -> None:
    """Show the metrics and failures of a run, or one record."""
    from steelyard.errors import InvalidError
    from steelyard.usecases.results.find_run import find_unfinished, records_of
    from steelyard.usecases.results.records import show_record

    if blind and record is None:
        raise InvalidError("--blind shows one record; name it after the run")
    files = out_files(out)
    if record is not None:
        refuse_reports(files, output, "one record is shown as text or json; leave it out")
    if server is not None and record is None and (remote := unfinished_run(server, run)):
        refuse_reports(files, output, f"{remote.run_id} is {remote_status(remote)}")
        _show_remote(remote, output)
        return
    with readable_runs(server, [run]) as (project, (name,)):
        ports = project.result_ports()
        if record is not None:
            found = show_record(records_of(ports, name), record)
            if blind:
                _show_blind(found, output)
            else:
                _show_record(found, record, output)
        elif unfinished := find_unfinished(ports, name):
            refuse_reports(files, output, f"{unfinished.run_id} is not finished")
            _show_unfinished(project, unfinished, output)
        else:
            _show_run(project, project.run_folder(name), output, files)


def _show_remote(run: RemoteRun, output: ReportFormat) -> None:
    """Show how far a run on a server has come."""
    from msgspec import to_builtins

    if output is ReportFormat.json:
        show_json({**to_builtins(run), "is_finished": False})
        return
    done = run.progress
    of = "" if done.total is None else f" of {done.total}"
    show(painter()(f"{run.run_id} is {remote_status(run)}", "warning"))
    show(f"  records    {done.done}{of} done, {done.failed} without a score")
    if run.unresumable:
        show(f"  stopped    {run.unresumable}")


def _show_unfinished(project: Project, stored: StoredRun, output: ReportFormat) -> None:
    from steelyard.reports.run.run_text import run_lines
    from steelyard.usecases.runs.unfinished import read_unfinished

    standing = project.standing(stored)
    run = read_unfinished(project.store, stored, standing)
    view = run.view
    if output is ReportFormat.json:
        known = _known(view, view.manifest.json())
        show_json({**known, "is_finished": False, **standing.json()})
        return
    paint = painter()
    show(paint(run.progress_text, "warning"))
    for line in run_lines(view, paint):
        show(line)


def _show_run(
    project: Project, folder: Path, output: ReportFormat, files: Sequence[OutFile]
) -> None:
    from steelyard.cli.pairwise import pairwise_of
    from steelyard.reports.run.run_text import run_lines

    reports = stored_reports(project, folder)
    if output is not ReportFormat.text or files:
        reports.put(output, files, in_summary=False)
    if output is not ReportFormat.text:
        return
    (today,) = reports.views
    paint = painter()
    if pairwise := pairwise_of(today):
        for line in pairwise.lines(paint):
            show(line)
        return
    ungraded = today.metrics.skipped_records - today.metrics.cancelled_records
    failed = _failed(today, ungraded, paint)
    for line in (*run_lines(today, paint), *failed):
        show(line)


def stored_reports(project: Project, folder: Path) -> RunReports:
    """A finished run in every format, with current validations of its judges."""
    from steelyard.usecases.correction.current_view import current_view
    from steelyard.usecases.results.read_run import read_run

    view = read_run(folder)
    today = current_view(view, project.validations.all(), project.clock.now())
    return RunReports(views=[today], row=_row(view, folder))


def _row(view: RunView, folder: Path) -> dict[str, Any]:
    """The JSON object of a finished run, as it was sealed."""
    from steelyard.cli.pairwise import pairwise_of
    from steelyard.usecases.results.read_run import manifest_json
    from steelyard.usecases.runs.ownership import Standing

    pairwise = pairwise_of(view)
    return {
        **_known(view, manifest_json(folder)),
        "is_finished": True,
        **Standing(text=view.manifest.status).json(),
        **_labels(folder),
        **(pairwise.row() if pairwise else {}),
    }


def _known(view: RunView, manifest: JsonObject) -> dict[str, Any]:
    from steelyard.results.metrics import slices_json

    metrics = view.metrics.json()
    return {"manifest": manifest, "metrics": metrics, **slices_json(view.slices)}


def _labels(folder: Path) -> dict[str, Any]:
    """Number of records without a score by label; empty if pruned."""
    from steelyard.results.failures import FAILURES
    from steelyard.usecases.results.pruned_files import pruned_on
    from steelyard.usecases.results.read_run import failures_of

    if pruned_on(folder, FAILURES):
        return {}
    return {"failures": dict(failures_of(folder, ()).counts.most_common())}


def _failed(view: RunView, ungraded: int, paint: Paint) -> Iterator[str]:
    """The first records that did not pass; of answers that must fail, those that did."""
    from pathlib import Path

    from steelyard.results.predictions import PREDICTIONS
    from steelyard.results.projections import read_graded
    from steelyard.usecases.results.pruned_files import pruned_on
    from steelyard.usecases.results.read_run import decoded_rows, failures_of

    folder, is_wrong = Path(view.folder), view.is_of_canaries
    if day := pruned_on(folder, PREDICTIONS):
        yield f"\nthe records were pruned on {day}"
        return
    rows = decoded_rows(folder, PREDICTIONS, read_graded)
    shown = list(islice((row for row in rows if row.is_passed is is_wrong), _SHOWN + 1))
    failures = failures_of(folder, {row.place for row in shown})
    if ungraded:
        yield f"  no score   {ungraded:,} skipped"
    if shown:
        yield "\npassed, though they must fail:" if is_wrong else "\nnot passed:"
    for row in shown[:_SHOWN]:
        is_fail = row.status == "evaluated"
        verdict = "pass" if row.is_passed else "fail"
        status = verdict if is_fail else _status_text(row, failures.rows.get(row.place))
        word = paint(status, "error" if is_fail else "warning")
        name = _name(row, is_repeated=view.is_repeated)
        yield f"  {name}  {word}  {_line(row.reason)}"
    if len(shown) > _SHOWN:
        yield "  … and more; `steelyard export` gives all"


def _show_record(found: RecordView, record: str, output: ReportFormat) -> None:
    from steelyard.cli.judgements import judgement_lines

    rows, attempts, failures, judged = found
    if output is ReportFormat.json:
        parts = {"records": rows, "attempts": attempts, "failures": failures.values()}
        listed = {name: [row.json() for row in found] for name, found in parts.items()}
        show_json({**listed, "judgements": judged})
        return
    paint, is_repeated = painter(), _is_repeated(found)
    for row in rows:
        name = _name(row, is_repeated=is_repeated)
        for line in _record(row, name, failures.get(row.place), paint):
            show(line)
    if not rows:
        show(f"{_line(record)}  {paint('no result yet', 'warning')}")
    for row in judged:
        for line in judgement_lines(row):
            show(line)
    for attempt in attempts:
        show(_attempt(attempt, is_repeated=is_repeated))


def _is_repeated(found: RecordView) -> bool:
    """Whether a record was asked several times, as far as it has come."""
    return len(found.rows) > 1 or any(one.repeat for one in (*found.rows, *found.attempts))


def _show_blind(found: RecordView, output: ReportFormat) -> None:
    """Show what was asked and answered, as somebody who labels it may see it."""
    if output is ReportFormat.json:
        names = ("index", "record_id", "repeat", "request", "model_response", "trace", "expected")
        show_json({"records": [{name: row.json()[name] for name in names} for row in found.rows]})
        return
    paint = painter()
    for row in found.rows:
        show(_name(row, is_repeated=_is_repeated(found)))
        for line in (*_conversation(row, paint), *_expected(row, paint)):
            show(line)


def _conversation(row: Prediction, paint: Paint) -> Iterator[str]:
    yield from _asked(row, paint)
    for message in (row.trace or {}).get("messages", []):
        yield from _message(message, paint)


def _record(row: Prediction, name: str, failure: Failure | None, paint: Paint) -> Iterator[str]:
    passed = {
        True: paint("pass", "good"),
        False: paint("fail", "error"),
        None: paint(_status_text(row, failure), "warning"),
    }
    score = "" if row.score is None else f"  score {row.score:.3f}"
    reason = "" if row.passed is not None else f"  {_line(row.reason)}"
    yield f"{name}  {passed[row.passed]}{score}{reason}"
    yield from _conversation(row, paint)
    yield from _expected(row, paint)
    for found in row.evaluator_scores:
        word = passed[found.passed] if found.status == "scored" else found.status
        about = _line(f"{found.check} ({found.kind})")
        yield f"  check {about}: {word}, {_line(found.reason)}"


def _asked(row: Prediction, paint: Paint) -> Iterator[str]:
    """The messages of the request, sent or not, that the trace does not repeat."""
    request = row.request or {}
    said = [_said(one) for one in (row.trace or {}).get("messages", [])]
    asked = [one for one in request.get("messages", []) if _said(one) not in said]
    if asked and not request["sent"]:
        yield f"  {paint('not sent; this would have been asked:', 'quiet')}"
    for message in asked:
        yield from _message(message, paint)


def _said(message: dict[str, Any]) -> tuple[Any, Any]:
    return message["role"], message.get("content")


def _expected(row: Prediction, paint: Paint) -> Iterator[str]:
    from steelyard.reports.asked_text import expected_lines

    for word, text in expected_lines(row.expected or {}):
        yield from _message({"role": f"expected {word}", "content": text}, paint)


def _message(message: dict[str, Any], paint: Paint) -> Iterator[str]:
    content: Any = message.get("content")
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    first, *rest = [_line(line) for line in text.split("\n")] if content is not None else [""]
    yield f"  {paint(message['role'], 'title')}: {first}"
    yield from (f"    {line}" for line in rest)
    for call in cast(list[dict[str, Any]], message.get("tool_calls", [])):
        given = json.dumps(call.get("input"), ensure_ascii=False)
        result = json.dumps(call.get("output"), ensure_ascii=False)
        used = f"{call['tool']}({given}) → {result}"
        yield f"    {_line(used)}"


def _attempt(attempt: Attempt, *, is_repeated: bool) -> str:
    from steelyard.cli.judgements import call_name

    repeat = f" of repeat {attempt.repeat or 0}" if is_repeated else ""
    outcome = "answered"
    if attempt.error_code:
        outcome = _line(f"{attempt.error_code}: {attempt.message or ''}").rstrip(": ")
    wait = attempt.retry_in_s
    again = "" if wait is None else f", tried again after {wait:g} s"
    of = "" if attempt.call == "target" else f" of {call_name(attempt.json())}"
    return f"  attempt {attempt.attempt}{of}{repeat} at {attempt.at}: {outcome}{again}"


def _status_text(row: Prediction | GradedPrediction, failure: Failure | None) -> str:
    """The status, with its failure label if that differs."""
    label = failure.label if failure else row.status
    return row.status if label == row.status else _line(f"{row.status}: {label}")


def _name(row: Prediction | GradedPrediction, *, is_repeated: bool) -> str:
    repeat = f" (repeat {row.repeat})" if row.repeat or is_repeated else ""
    return _line(row.record_id or f"record {row.index}") + repeat


def _line(text: object) -> str:
    """Untrusted text on one line, without terminal control characters."""
    from steelyard.reports.findings import printable

    return printable(str(text or ""))
