"""`steelyard review judge`: let a judge answer the items of a review queue."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.local_run import run_derived
from steelyard.cli.opening import opened
from steelyard.cli.report_files import FormatOption, OutOption, ReportFormat


def command(
    queue: Annotated[str, typer.Argument(metavar="QUEUE", help="The id of a review queue.")],
    judge: Annotated[
        str | None,
        typer.Option(metavar="REF", help="Judge; default: the project's judge of questions."),
    ] = None,
    out: OutOption = None,
    output: FormatOption = ReportFormat.text,
) -> None:
    """Let a judge answer the items of a queue, in a new run."""
    from steelyard.usecases.judges.judge_queue import (
        JudgementRequest,
        attach_judgement,
        judgement_options,
    )

    project = opened()
    queues = project.queue_ports()
    options = judgement_options(queues, JudgementRequest(queue_id=queue, judge=judge))
    run_derived(
        project,
        options,
        output,
        out,
        began=lambda run_id: attach_judgement(queues, queue, run_id),
    )
