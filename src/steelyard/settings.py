"""The project file as one frozen object, read once."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib.resources import files
from typing import cast

from steelyard.errors import ConfigError, ParseError
from steelyard.formats.schema import Schema, spoken
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.json_value import Extra, JsonObject, no_extra

PROJECT_FILE = "steelyard.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a project says about itself; every field has a default."""

    guideline_patterns: tuple[str, ...] = ()
    allowed_folders: tuple[str, ...] = ()
    """Folders outside the project from which datasets may show files."""
    values: Extra = field(default_factory=no_extra)
    """The whole project file, checked."""


def parse_settings(data: bytes, name: str = PROJECT_FILE) -> Settings:
    """Read a project file; the first thing wrong with it is a ConfigError with its line."""
    try:
        located = parse_yaml(data)
    except ParseError as wrong:
        raise ConfigError(f"{name}:{wrong.line}: {wrong}") from None
    value = {} if located.value is None else located.value
    problems = Schema(project_schema()).problems(value)
    if problems:
        first = problems[0]
        if first.code == "missing_required_field":
            # It may only be misspelt; then the misspelling is the thing to say.
            beside = [one for one in problems if one.hint and one.path[:-1] == first.path[:-1]]
            first = next(iter(beside), first)
        hint = f" ({first.hint})" if first.hint else ""
        raise ConfigError(f"{name}:{located.lines.at(first.path)}: {spoken(first)}{hint}")
    values = cast(JsonObject, value)
    allow = cast(JsonObject, values.get("allow", {}))
    return Settings(
        guideline_patterns=tuple(cast(list[str], values.get("guideline_patterns", []))),
        allowed_folders=tuple(cast(list[str], allow.get("folders", []))),
        values=values,
    )


def project_schema() -> JsonObject:
    """The published schema of the project file."""
    return json.loads(files("steelyard").joinpath("project.schema.json").read_bytes())
