"""`steelyard judge validate`: compare a judge with people's labels."""

from __future__ import annotations

from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.arguments import OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.running import ProgressLine, require_number, stoppable
from steelyard.cli.terminal import painter, show_json, show_report


class Design(StrEnum):
    """Sampling designs of the labelled records."""

    random = "random"
    by_label = "by_label"
    by_verdict = "by_verdict"


class SplitName(StrEnum):
    """Splits of the labels."""

    dev = "dev"
    test = "test"
    all = "all"


def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    judge: Annotated[
        str,
        typer.Argument(
            metavar="REF", help="A judge, or a rubric of which one check is validated as a whole."
        ),
    ],
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Labels; default: those stored in the project."),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RUN", help="Run whose verdicts are compared; may be given several times."
        ),
    ] = None,
    dataset: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Call the judge now: the dataset.")
    ] = None,
    responses: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Call the judge now: the responses.")
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Check of the judge, if it has several."),
    ] = None,
    rubric: Annotated[
        str | None, typer.Option(metavar="REF", help="Use only labels for this rubric.")
    ] = None,
    queue: Annotated[
        str | None, typer.Option(metavar="ID", help="Use only labels given in this review queue.")
    ] = None,
    design: Annotated[
        Design | None, typer.Option(help="How the labelled records were sampled.")
    ] = None,
    split: Annotated[
        SplitName, typer.Option(help="Labels to use: test, dev (for tuning, not recorded) or all.")
    ] = SplitName.test,
    seed: Annotated[int, typer.Option(help="Random seed of the splits.")] = 0,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            callback=require_number,
            help="Score that passes when the judge is called now.",
        ),
    ] = None,
    no_canaries: Annotated[
        bool,
        typer.Option(
            "--no-canaries", help="Do not test the judge with answers that it must fail."
        ),
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Write the validation to the judge's file.")
    ] = False,
    fail_under: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            callback=require_number,
            help="Exit 1 if the lower bound of TPR or TNR is below this value.",
        ),
    ] = None,
    output: Annotated[
        OutputFormat, typer.Option("--format", help="Output format.")
    ] = OutputFormat.text,
) -> None:
    """Compare a judge's verdicts with people's labels. The result is recorded."""
    from steelyard.event_loop import run_async
    from steelyard.reports.judges.judge_validation import validation_json, validation_lines
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
        queue=queue,
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
        show_report(validation_lines(report, painter()))
    raise typer.Exit(0 if report.is_good else 1)


def _ignore(_run_id: str) -> None:
    """The run of an interrupted validation is not resumed, so its id is not needed."""
