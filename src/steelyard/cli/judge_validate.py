"""`steelyard judge validate`: whether a judge agrees with people."""

from __future__ import annotations

from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.arguments import OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.running import ProgressLine, require_number, stoppable
from steelyard.cli.terminal import painter, show, show_json


class Design(StrEnum):
    """How the labelled records were chosen."""

    random = "random"
    by_label = "by_label"
    by_verdict = "by_verdict"


class SplitName(StrEnum):
    """Which labels are looked at."""

    dev = "dev"
    test = "test"
    all = "all"


def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    judge: Annotated[
        str,
        typer.Argument(
            metavar="REF", help="A judge; or a rubric, a check of which is validated as a whole."
        ),
    ],
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Labels; without it, the project's annotations."),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(metavar="RUN", help="The run whose verdicts are compared; may be repeated."),
    ] = None,
    dataset: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Ask the judge now: the dataset.")
    ] = None,
    responses: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Ask the judge now: the responses.")
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The check that the judge decides, if not clear."),
    ] = None,
    rubric: Annotated[
        str | None, typer.Option(metavar="REF", help="Only labels under this rubric.")
    ] = None,
    design: Annotated[
        Design | None, typer.Option(help="How the labelled records were chosen.")
    ] = None,
    split: Annotated[
        SplitName, typer.Option(help="Which labels: for tuning, those that count, or all.")
    ] = SplitName.test,
    seed: Annotated[int, typer.Option(help="The seed of the splits.")] = 0,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            callback=require_number,
            help="The score that passes when the judge is asked now.",
        ),
    ] = None,
    no_canaries: Annotated[
        bool, typer.Option("--no-canaries", help="Do not try answers that none should pass.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Write the validation into the judge's file.")
    ] = False,
    fail_under: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            callback=require_number,
            help="Exit with 1 if a lower bound of TPR or TNR is below.",
        ),
    ] = None,
    output: Annotated[
        OutputFormat, typer.Option("--format", help="How to print it.")
    ] = OutputFormat.text,
) -> None:
    """Compare a judge's verdicts with people's labels. What came of it is kept."""
    from steelyard.event_loop import run_async
    from steelyard.reports.judge_validation import validation_json, validation_lines
    from steelyard.usecases.judges.validate_judge import (
        ValidationRequest,
        plan_validation,
        validate_judge,
    )

    request = ValidationRequest(
        judge=judge,
        labels=labels,
        runs=tuple(run or ()),
        dataset=dataset,
        responses=responses,
        check=check,
        rubric=rubric,
        design=design.value if design else None,
        split=split.value,
        seed=seed,
        threshold=threshold,
        has_canaries=not no_canaries,
        is_written=write,
        fail_under=fail_under,
    )
    ports = opened(labels if labels and labels.is_file() else None).validation_ports()
    with closing(ports.run.repository):
        plan = plan_validation(ports, request)
        is_quiet = output is OutputFormat.json
        with stoppable([]), ProgressLine("judging", None, is_quiet=is_quiet) as progress:
            report = run_async(lambda: validate_judge(ports, plan, _ignore, progress.note))
    if output is OutputFormat.json:
        show_json(validation_json(report))
    else:
        for line in validation_lines(report, painter()):
            show(line)
    raise typer.Exit(0 if report.is_good else 1)


def _ignore(_run_id: str) -> None:
    """A run of a validation that stops is begun anew with it."""
