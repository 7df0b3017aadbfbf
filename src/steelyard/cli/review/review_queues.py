"""`steelyard review queues`: list the review queues of the project."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.arguments import OutputFormat
from steelyard.cli.opening import opened
from steelyard.cli.terminal import show, show_json


def command(
    output: Annotated[
        OutputFormat, typer.Option("--format", help="Output format.")
    ] = OutputFormat.text,
) -> None:
    """List review queues, newest first."""
    from steelyard.reports.findings import printable
    from steelyard.usecases.review.queues.queue_views import list_queues

    project = opened()
    # Nobody in particular: the terminal shows no progress of a person.
    found = list_queues(project.queue_ports(), "") if project.has_data() else []
    if output is OutputFormat.json:
        rows = [
            {
                "queue_id": one.queue.queue_id,
                "name": one.queue.name,
                "status": one.queue.status,
                "run_id": one.queue.source.id,
                "rubric": one.queue.rubric,
                "items": one.counts.items,
                "complete": one.counts.complete,
                "reviews": one.counts.reviews,
                "reviews_required": one.queue.reviews_required,
                "judged_in": list(one.queue.judged_by),
            }
            for one in found
        ]
        show_json({"data": rows})
        return
    if not found:
        show("no review queue yet; make one on the page /review of `steelyard serve`")
    for one in found:
        counts = f"{one.counts.complete:,} of {one.counts.items:,} items finished"
        closed = "  (closed)" if one.queue.status == "closed" else ""
        judged = f"  judged in {len(one.queue.judged_by)} run(s)" if one.queue.judged_by else ""
        show(printable(f"{one.queue.queue_id}  {one.queue.name}  {counts}{judged}{closed}"))
        show(printable(f"  {one.queue.rubric} about {one.queue.source.id}"))
