"""What the assertions of one case may draw on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.usecases.convert.promptfoo.source import ConfigFiles, Render


class ProgramFolder(NamedTuple):
    """Where programs of a project are, seen from the folder of the cases."""

    folder: str


class AssertionContext(NamedTuple):
    """What the assertions of one case may draw on."""

    render: Render
    source: ConfigFiles
    values: JsonObject
    judge: Callable[[JsonValue], str]
    """The target that a provider stands for, by name; ParseError where there is none."""
    programs: ProgramFolder | None
    """How programs are started; None while they are not allowed."""
    options: JsonObject
    templates: JsonObject
    providers: tuple[str, ...] = ()
    """The ids of the providers that are asked."""
    is_mean: bool = False
    """Whether the scores of the assertions count, as under a threshold, not only their passes."""
