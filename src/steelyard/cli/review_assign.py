"""`steelyard review assign`: which records people should label next."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.arguments import FinishedRunName, OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.terminal import show, show_json


class By(StrEnum):
    """How records are chosen."""

    random = "random"
    stratified = "stratified"
    near_threshold = "near_threshold"
    jury_split = "jury_split"


class Allocation(StrEnum):
    """How many records each stratum gives."""

    proportional = "proportional"
    equal = "equal"


def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    run: FinishedRunName,
    count: Annotated[int, typer.Option(min=1, help="How many records.")],
    by: Annotated[By, typer.Option(help="What makes a record likely to be chosen.")] = By.random,
    by_slice: Annotated[
        str | None,
        typer.Option("--slice", help="The slice that makes strata; else the verdict does."),
    ] = None,
    allocation: Annotated[
        Allocation, typer.Option(help="Whether strata give by their size, or equally many.")
    ] = Allocation.proportional,
    threshold: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="The score that passes; else the rubric's."),
    ] = None,
    rubric: Annotated[
        str | None,
        typer.Option(metavar="REF", help="What people shall answer; else what graded the run."),
    ] = None,
    annotator: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Who shall answer; may be given several times."),
    ] = None,
    new: Annotated[
        bool, typer.Option("--new", help="Leave out records with a label under the rubric.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, another sample.")] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file; without it, stdout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that exists.")] = False,
    told: Annotated[OutputFormat, typer.Option("--format", help="How to say what was chosen.")] = (
        OutputFormat.text
    ),
) -> None:
    """Draw records for people to label. A row is written for each to fill in."""
    from steelyard.cli.label_files import write_rows
    from steelyard.errors import InvalidError
    from steelyard.model.labels.assignment import AssignmentChoice
    from steelyard.reports.assignment import assignment_json, assignment_lines
    from steelyard.usecases.review.assign import AssignmentRequest, assign, stub_rows

    if by is not By.stratified and (by_slice or allocation is Allocation.equal):
        raise InvalidError("--slice and --allocation make strata; choose --by stratified")
    request = AssignmentRequest(
        run=run,
        choice=AssignmentChoice(
            count=count,
            by=by.value,
            is_equal=allocation is Allocation.equal,
            seed=seed,
        ),
        rubric=rubric,
        slice=by_slice,
        threshold=threshold,
        is_new=new,
    )
    found = assign(opened().review_ports(), request)
    is_told = output is not None or told is OutputFormat.text
    if is_told:
        write_rows(stub_rows(found, annotator or ()), output, force=force)
    if told is OutputFormat.json:
        show_json({**assignment_json(found), "file": str(output) if output else None})
        return
    for line in assignment_lines(found):
        # Rows on stdout stay rows alone.
        typer.echo(line, err=True) if output is None else show(line)
