"""The prompts of eval cases: which names they may show, and what else stands in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from steelyard.formats.names import did_you_mean
from steelyard.formats.problem import Problem
from steelyard.model.json_value import Path

VARIABLES = (
    *("candidate_answer", "expected_messages", "question", "expected_outcome"),
    *("reference_answer", "input_messages", "output_messages"),
    *("input", "output", "criteria", "expected_output"),
)
"""The names of both dialects."""
RESULTS = "EVALUATOR_RESULTS_JSON"
"""What the prompt of an aggregator may show beside them."""
ANSWERS = ("candidate_answer", "output_messages", "output")
"""What shows the answer to a judge."""
_TAG = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_ANY_TAG = re.compile(r"\{\{[{&#^/>]?\s*([A-Za-z_][A-Za-z0-9_.-]*)[^{}]*\}\}")
_BRACES = re.compile(r"\{(?=\{)")


def names_in(prompt: str) -> list[str]:
    """Every name that a prompt has between double braces, each once."""
    return list(dict.fromkeys(_TAG.findall(prompt)))


def prompt_problems(prompt: str, known: Iterable[str], path: Path) -> Iterator[Problem]:
    """The names that nothing fills: the judge reads them as text."""
    names = tuple(known)
    filled = {tag[0] for tag in _TAG.finditer(prompt) if tag[1] in names}
    unfilled = (tag[1] for tag in _ANY_TAG.finditer(prompt) if tag[0] not in filled)
    for name in dict.fromkeys(unfilled):
        yield Problem(
            code="unknown_field",
            message=f"{{}} shows '{name}', which nothing fills; the judge reads it as text",
            path=path,
            hint=did_you_mean(name, names) or f"known are {', '.join(names)}",
            severity="warning",
        )


def as_template(prompt: str, known: Iterable[str]) -> str:
    """The prompt as a template in which nothing but its variables is filled in.

    Other double braces are text in such prompts; a space keeps them apart.
    """
    names = set(known)
    parts: list[str] = []
    place = 0
    for tag in _TAG.finditer(prompt):
        if tag[1] in names:
            before = _split_braces(prompt[place : tag.start()])
            parts += [before, " " if before.endswith("{") else "", f"{{{{{tag[1]}}}}}"]
            place = tag.end()
    return "".join([*parts, _split_braces(prompt[place:])])


def _split_braces(text: str) -> str:
    return _BRACES.sub("{ ", text)
