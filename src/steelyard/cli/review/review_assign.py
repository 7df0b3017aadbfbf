"""`steelyard review assign`: draw records for people to label."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.arguments import FinishedRunName, OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.running import require_number
from steelyard.cli.terminal import show, show_json

if TYPE_CHECKING:
    from steelyard.model.labels.assignment import Assignment
    from steelyard.usecases.review.ports import ReviewPorts


class By(StrEnum):
    """Sampling methods."""

    random = "random"
    stratified = "stratified"
    verdict = "verdict"
    near_threshold = "near_threshold"
    jury_split = "jury_split"


class SheetFormat(StrEnum):
    """Forms of what people get to label."""

    jsonl = "jsonl"
    csv = "csv"
    md = "md"
    html = "html"


class Allocation(StrEnum):
    """How the sample is divided among strata."""

    proportional = "proportional"
    equal = "equal"


def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    run: FinishedRunName,
    count: Annotated[int, typer.Option(min=1, help="Number of records.")],
    by: Annotated[By, typer.Option(help="Sampling method.")] = By.random,
    by_slice: Annotated[
        str | None,
        typer.Option("--slice", help="Slice that defines the strata; default: the verdict."),
    ] = None,
    allocation: Annotated[
        Allocation, typer.Option(help="Records per stratum: proportional to its size, or equal.")
    ] = Allocation.proportional,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            callback=require_number,
            help="Score that passes; default: the rubric's.",
        ),
    ] = None,
    rubric: Annotated[
        str | None,
        typer.Option(metavar="REF", help="Rubric to answer; default: the run's."),
    ] = None,
    annotator: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Person who labels; may be given several times."),
    ] = None,
    new: Annotated[
        bool, typer.Option("--new", help="Leave out records that have a label for the rubric.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the sample.")] = 0,
    to: Annotated[
        SheetFormat,
        typer.Option(help="Form to write: rows of labels, a table, or pages to read and print."),
    ] = SheetFormat.jsonl,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; default stdout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    output_format: Annotated[OutputFormat, typer.Option("--format", help="Output format.")] = (
        OutputFormat.text
    ),
) -> None:
    """Draw records for people to label. A row for each is written, to be filled in."""
    from steelyard.errors import InvalidError
    from steelyard.model.labels.assignment import AssignmentChoice
    from steelyard.reports.judges.assignment import assignment_json, assignment_lines
    from steelyard.usecases.review.assign import AssignmentRequest, assign

    if by is not By.stratified and (by_slice or allocation is Allocation.equal):
        raise InvalidError("--slice and --allocation make strata; choose --by stratified")
    request = AssignmentRequest(
        run=run,
        choice=AssignmentChoice(
            count=count,
            by="stratified" if by is By.verdict else by.value,
            is_equal=by is By.verdict or allocation is Allocation.equal,
            seed=seed,
        ),
        rubric=rubric,
        slice=by_slice,
        threshold=threshold,
        is_new=new,
    )
    ports = opened().review_ports()
    found = assign(ports, request)
    has_rows = output is not None or output_format is OutputFormat.text
    if has_rows:
        _write(ports, run, found, to, (annotator or [], output, force))
    if output_format is OutputFormat.json:
        show_json({**assignment_json(found), "file": str(output) if output else None})
        return
    for line in assignment_lines(found):
        # Keep stdout to rows only.
        typer.echo(line, err=True) if output is None else show(line)


def _write(
    ports: ReviewPorts,
    run: str,
    found: Assignment,
    to: SheetFormat,
    where: tuple[list[str], Path | None, bool],
) -> None:
    """Write what people get; how records were chosen would tell them the verdict."""
    from steelyard.cli.review.label_files import write_lines, write_rows, write_table
    from steelyard.errors import InvalidError
    from steelyard.reports.html.sheet_text import sheet_html, sheet_markdown
    from steelyard.usecases.review.assign import stub_rows
    from steelyard.usecases.review.sheets import design_path, design_rows, make_sheet, sheet_csv

    annotators, output, force = where
    if to is SheetFormat.jsonl:
        write_rows(stub_rows(found, annotators), output, force=force)
        return
    if output is None and to is SheetFormat.csv:
        raise InvalidError(
            "--to csv writes two files, the table and how its records were chosen; name the "
            "table with -o FILE.csv"
        )
    sheet = make_sheet(ports, run, found, annotators)
    if to is SheetFormat.csv:
        assert output is not None
        write_rows(design_rows(found), design_path(output), force=force)
        write_table(sheet_csv(sheet), output, force=force)
        return
    lines = sheet_markdown(sheet) if to is SheetFormat.md else iter([sheet_html(sheet)])
    write_lines(lines, output, force=force)
