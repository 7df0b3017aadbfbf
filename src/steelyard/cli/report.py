"""`steelyard report`: write a run as one HTML file, or in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.arguments import FinishedRunName
from steelyard.cli.report_files import (
    OutFile,
    OutOption,
    ReportFormat,
    out_files,
    write_report,
)
from steelyard.cli.server.server_runs import ServerOption, readable_runs
from steelyard.cli.show import stored_reports
from steelyard.cli.terminal import show, show_json

_PAGE = Path("report.html")
_MESSAGES = (ReportFormat.text, ReportFormat.json)


def command(
    run: FinishedRunName,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write; default report.html."),
    ] = None,
    out: OutOption = None,
    report_format: Annotated[
        ReportFormat,
        typer.Option(
            "--format",
            help="html, markdown or junit: format of the report; text or json: of the message.",
        ),
    ] = ReportFormat.text,
    server: ServerOption = None,
) -> None:
    """Write a self-contained HTML report of a run."""
    files = _files(output, report_format, out_files(out))
    with readable_runs(server, [run]) as (project, (name,)):
        reports = stored_reports(project, project.run_folder(name))
        (view,) = reports.views
        _warn_of_pruned(Path(view.folder))
        for one in files:
            write_report(one.path, reports.rendered(one.format))
        if report_format not in _MESSAGES and output is None:
            show(reports.rendered(report_format).encode("utf-8", "backslashreplace"))
    if report_format is ReportFormat.json:
        main = output or (None if out else _PAGE)
        others = {"written": [str(one.path) for one in files]} if out else {}
        show_json({"run_id": view.run_id, "report": main and str(main), **others})
        return
    for one in files:
        text = f"wrote {one.path}"
        show(text) if report_format is ReportFormat.text else typer.echo(text, err=True)


def _files(
    output: Path | None, report_format: ReportFormat, named: tuple[OutFile, ...]
) -> tuple[OutFile, ...]:
    """All files to write; a page by default."""
    if report_format in _MESSAGES:
        page = output or (None if named else _PAGE)
        return (OutFile(ReportFormat.html, page), *named) if page else named
    return (OutFile(report_format, output), *named) if output else named


def _warn_of_pruned(folder: Path) -> None:
    from steelyard.results.predictions import PREDICTIONS
    from steelyard.usecases.results.pruned_files import pruned_on

    if day := pruned_on(folder, PREDICTIONS):
        typer.echo(f"the records were pruned on {day}; the report has only the numbers", err=True)
