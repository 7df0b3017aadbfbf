"""The rubric that people answer, as the form of a queue offers it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from steelyard.errors import NotFoundError
from steelyard.model.labels.queue import QueueSource
from steelyard.usecases.registry.look_up import list_definitions
from steelyard.web.page import Visit


class RubricChoice(NamedTuple):
    """The question rubrics that a new queue can have."""

    names: tuple[str, ...]
    graded: str
    """The one that graded the run; empty where checks did."""
    chosen: str


def rubric_choice(visit: Visit[Any], run_id: str, typed: Mapping[str, str]) -> RubricChoice:
    """What the form of a queue offers: the rubric of the run's judge before others."""
    listed = list_definitions(visit.project.registry_ports(), "rubric")
    names = tuple(
        f"rubric/{one.name}"
        for one in listed
        if one.contract == "question_rubric" and one.status != "archived"
    )
    found = _graded_by(visit, run_id)
    graded = found if found in names else ""
    chosen = typed.get("rubric", graded or next(iter(names), ""))
    return RubricChoice(names, graded, chosen)


def _graded_by(visit: Visit[Any], run_id: str) -> str:
    """The one rubric that graded a run, if there is that run."""
    try:
        source = visit.project.queue_ports().source(QueueSource(kind="run", id=run_id))
    except NotFoundError:
        return ""
    return source.default_rubric() or ""
