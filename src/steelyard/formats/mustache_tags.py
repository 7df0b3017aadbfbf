"""What a template may say: Mustache with a short list of variables.

A template is checked here and not rendered. Partials, changes of delimiters and names that no
case can fill would only show when somebody is asked, so they are problems of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from steelyard.formats.names import did_you_mean
from steelyard.formats.problem import Problem

_OPEN = "{{"
_CLOSING = {"{": "}}}", "=": "=}}"}
_NAME = re.compile(r"[^\s{}.]+(\.[^\s{}.]+)*")


MAX_TAGS = 1000
"""More of them are a problem: to fill nested sections takes time in proportion to their square."""


class Tag(NamedTuple):
    """One tag: its sigil (nothing for a variable), what it names, and its line."""

    sigil: str
    name: str
    line: int


def template_problems(
    template: str, variables: tuple[str, ...], field: str = "template"
) -> list[Problem]:
    """Everything that is wrong with the template in a field, from top to bottom."""
    problems: list[Problem] = []
    opened: list[Tag] = []
    for number, tag in enumerate(_tags(template, problems)):
        if number == MAX_TAGS:
            return [replace(_wrong(tag, f"there are more than {MAX_TAGS:,} tags"), path=(field,))]
        if tag.sigil == "/":
            problems.extend(_closed(tag, opened))
            continue
        is_inside = any(other.sigil == "#" for other in opened)
        problems.extend(_tag_problems(tag, variables, is_inside=is_inside))
        if tag.sigil in {"#", "^"}:
            opened.append(tag)
    problems.extend(_wrong(tag, f"section '{tag.name}' is not closed") for tag in opened)
    return [replace(problem, path=(field,)) for problem in problems]


def names_in(template: str) -> frozenset[str]:
    """The variables that a template names, without what dots lead to."""
    return frozenset(tag.name.partition(".")[0] for tag in _tags(template, []) if tag.sigil != "!")


def sections_in(template: str) -> frozenset[str]:
    """The variables on which parts of a template depend, without what dots lead to."""
    tags = _tags(template, [])
    return frozenset(tag.name.partition(".")[0] for tag in tags if tag.sigil in {"#", "^"})


def _tags(template: str, problems: list[Problem]) -> Iterator[Tag]:
    """The tags in order; one that never ends is a problem and the last."""
    place = counted = 0
    line = 1
    while (start := template.find(_OPEN, place)) >= 0:
        line += template.count("\n", counted, start)
        counted = start
        inside = start + len(_OPEN)
        sigil = template[inside : inside + 1]
        sigil = sigil if sigil in set("{&#^/!>=") else ""
        closing = _CLOSING.get(sigil, "}}")
        end = template.find(closing, inside + len(sigil))
        if end < 0:
            problems.append(_wrong(Tag(sigil, "", line), f"a tag is not closed with {closing}"))
            return
        yield Tag(sigil, template[inside + len(sigil) : end].strip(), line)
        place = end + len(closing)


def _tag_problems(tag: Tag, variables: tuple[str, ...], *, is_inside: bool) -> Iterator[Problem]:
    if tag.sigil == "!":
        return
    if tag.sigil == ">":
        yield _wrong(tag, f"partial '{tag.name}' is not supported", "write the text out")
    elif tag.sigil == "=":
        yield _wrong(tag, "changing the delimiters is not supported", "write {{ and }}")
    elif tag.name == "." and is_inside and tag.sigil in {"", "{", "&"}:
        return
    elif not _NAME.fullmatch(tag.name):
        yield _wrong(tag, f"'{tag.name}' is not a name" if tag.name else "a tag is empty")
    elif tag.name.partition(".")[0] not in variables:
        name = tag.name.partition(".")[0]
        near = did_you_mean(name, variables)
        # In a section a name may be a member of its object.
        if near or not is_inside:
            yield _wrong(tag, f"unknown variable '{name}'", near or _known(variables))


def _known(variables: tuple[str, ...]) -> str:
    return f"known are {', '.join(variables)}"


def _closed(tag: Tag, opened: list[Tag]) -> Iterator[Problem]:
    if opened and opened[-1].name == tag.name:
        opened.pop()
    elif tag.name in [other.name for other in opened]:
        yield _wrong(tag, f"'{tag.name}' is closed before '{opened[-1].name}' in it is")
        while opened.pop().name != tag.name:
            pass
    else:
        yield _wrong(tag, f"section '{tag.name}' is closed and was not opened")


def _wrong(tag: Tag, reason: str, hint: str | None = None) -> Problem:
    message = f"{{}}, line {tag.line}: {reason}"
    return Problem(code="invalid_template", message=message, hint=hint)
