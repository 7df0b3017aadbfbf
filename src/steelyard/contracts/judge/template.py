"""What a judge's template may name."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.errors import TemplateError
from steelyard.formats.mustache import missed_in
from steelyard.formats.mustache_tags import names_in
from steelyard.formats.problem import Problem
from steelyard.model.judge import COMPARED, Judge

VARIABLES = (
    *("input", "output", "expected", "context", "criteria", "rubric", "question"),
    *COMPARED,
)


_OBJECTS = ("expected", "criteria", "rubric", "question")
"""What may be more than a text."""


def is_pairwise(judge: Judge) -> bool:
    """Whether a judge compares two answers, and so cannot grade one."""
    return not names_in(judge.template).isdisjoint(COMPARED)


def answer_problems(template: str) -> Iterator[Problem]:
    """What is wrong with how a template shows the answer, or the two that it compares."""
    names = names_in(template)
    missing = [name for name in COMPARED if name not in names]
    if names.isdisjoint({"output", *COMPARED}):
        hint = "write {{ output }} where the answer belongs"
        yield _wrong("it does not show the judge the answer", hint)
    elif len(missing) != 1:
        yield from _unshown(template, names)
    if len(missing) == 1:
        (other,) = set(COMPARED) - set(missing)
        yield _wrong(f"it names {other} and not {missing[0]}", "a pairwise judge shows both")
    elif not missing and "output" in names:
        hint = f"name {COMPARED[0]} and {COMPARED[1]} alone"
        yield _wrong("a judge that compares two answers has no output", hint)


def _unshown(template: str, names: frozenset[str]) -> Iterator[Problem]:
    """An answer that is named and yet not always in the prompt."""
    for name in sorted(names & {"output", *COMPARED}):
        hint = f"write {{{{ {name} }}}} outside of sections, or in each of them"
        try:
            missed = missed_in(template, name, VARIABLES, objects=_OBJECTS)
        except TemplateError as error:
            yield _wrong(str(error), "write the name alone: it stands for a text")
            return
        if missed:
            yield _wrong(f"it does not show the judge {name} {missed}", hint)


def _wrong(reason: str, hint: str) -> Problem:
    message = f"{{}}: {reason}"
    return Problem(code="invalid_template", message=message, path=("template",), hint=hint)
