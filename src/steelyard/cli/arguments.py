"""Arguments that several commands take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Any, TypeAlias

import typer

from steelyard.errors import InvalidError


class OutputFormat(StrEnum):
    """The output formats of most commands."""

    text = "text"
    json = "json"


_FINISHED_RUN = typer.Argument(
    metavar="RUN", help="A run's id, a prefix, latest, latest~1, or its folder."
)
FinishedRunName: TypeAlias = Annotated[str, _FINISHED_RUN]
AnyFinishedRun: TypeAlias = Annotated[str | None, _FINISHED_RUN]
RunName: TypeAlias = Annotated[
    str, typer.Argument(metavar="RUN", help="A run's id, a prefix, latest, or latest~1.")
]


def refuse_empty(command: Any, words: Sequence[str]) -> None:
    """Refuse an empty text for an option or argument: it would count as not given, or as `.`."""
    for name, value in _given(words):
        if not value.strip():
            raise InvalidError(
                f"{name or 'an argument'} is empty; {_remedy(command, words, name)}"
            )


def _given(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Every value, with the option that it may stand after."""
    for before, word in pairwise(("", *words)):
        name, is_joined, value = word.partition("=")
        if word.startswith("--") and is_joined:
            yield name, value
        else:
            yield before if before.startswith("-") and "=" not in before else "", word


def _remedy(command: Any, words: Sequence[str], name: str) -> str:
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    found = next((one for one in command.params if name in one.opts), None)
    if found is None or found.help is None:
        return "leave it out, or name what is meant"
    return f"{'' if found.required else 'leave it out, or '}give a value: {found.help}"


def column_names(names: list[str]) -> dict[str, str]:
    """The columns of `--map FIELD=COLUMN`, by field."""
    pairs: dict[str, str] = {}
    for given in names:
        field, equals, column = given.partition("=")
        if not (field and equals and column):
            raise InvalidError(f"--map {given}: write FIELD=COLUMN, such as input=question")
        if field in pairs:
            raise InvalidError(f"--map {given}: '{field}' is filled by '{pairs[field]}' already")
        pairs[field] = column
    return pairs
