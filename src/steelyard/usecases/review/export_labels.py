"""Export labels as rows that can be imported again."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.errors import NotFoundError
from steelyard.formats.json_fields import text_field
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.annotation import Wanted
from steelyard.usecases.review.labels import KnownRubrics
from steelyard.usecases.review.ports import ReviewPorts
from steelyard.usecases.review.reviewed_runs import response_runs


def export_labels(
    ports: ReviewPorts, wanted: Wanted, *, run: str | None = None, with_history: bool = False
) -> Iterator[JsonObject]:
    """The wanted rows; with history, also those that were replaced or withdrawn, with their time.

    `run` limits them to the labels of that run.
    """
    chosen = narrowed(ports, wanted, run)
    is_empty = True
    for revision in ports.annotations.all(chosen, with_history=with_history):
        is_empty = False
        more: JsonObject = {"revision": revision.number, "kept_at": revision.at}
        if revision.is_withdrawn:
            more["withdrawn"] = True
        yield {**revision.row, **more} if with_history else revision.row
    if is_empty:
        raise NotFoundError(f"no label fits; {what_there_is(ports)}")


def narrowed(ports: ReviewPorts, wanted: Wanted, run: str | None) -> Wanted:
    """The filter with the full reference of the rubric and the id of the run."""
    rubric = wanted.rubric
    if rubric is not None:
        rubric = KnownRubrics(ports.references).whole_name(rubric)
    runs = response_runs(ports.run_folder(run))[:1] if run is not None else None
    return Wanted(rubric=rubric, runs=runs, annotator=wanted.annotator)


def what_there_is(ports: ReviewPorts) -> str:
    """A hint if no label is found: the rubrics with labels, or how to import some."""
    kept = ports.annotations.all(Wanted())
    names = sorted({text_field(revision.row, "rubric") for revision in kept})
    if not names:
        return "`steelyard review import` brings labels in"
    return f"there are labels under {', '.join(names)}"
