"""Nunjucks templates: filled in at once, or written as the template of a target."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from jinja2 import Template, TemplateError, Undefined, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from steelyard.contracts.importers.source_row import wrong
from steelyard.errors import ParseError
from steelyard.formats.json_text import parse_json
from steelyard.model.json_value import JsonObject, JsonValue

_VARIABLE = re.compile(r"\{\{-?\s*([A-Za-z_]\w*(?:\.\w+)*)\s*-?\}\}")
_MARKS = re.compile(r"\{\{|\{%|\{#")
_ENVIRONMENT = re.compile(r"\{\{[^}]*\benv\.")
_ROUNDS = 4
"""How often values that are templates themselves are filled in."""
_LONGEST = 4_000_000
_UNFILLED = (
    *(TemplateError, ParseError),
    *(ArithmeticError, TypeError, ValueError, AttributeError),
)


def is_template(text: str) -> bool:
    """Whether a text has something to fill in."""
    return bool(_MARKS.search(text))


def rendered(text: str, values: Mapping[str, JsonValue]) -> str:
    """The template filled in; what the values lack shows as nothing, as promptfoo shows it."""
    if not is_template(text):
        return text
    if _ENVIRONMENT.search(text):
        raise wrong(f"the template takes variables of the environment: {short(text)}")
    made = _template(text)
    try:
        filled = made.render(dict(values))
    except _UNFILLED as error:
        raise wrong(f"the template cannot be filled in ({error}): {short(text)}") from None
    if len(filled) > _LONGEST:
        raise wrong(f"the template makes a text of more than {_LONGEST:,} characters")
    return filled


def filled_values(values: JsonObject) -> JsonObject:
    """Values in which those that are templates themselves are filled in from the others."""
    made = dict(values)
    for _ in range(_ROUNDS):
        open_names = [
            name for name, text in made.items() if isinstance(text, str) and is_template(text)
        ]
        if not open_names:
            break
        filled = {name: _filled(str(made[name]), made) for name in open_names}
        if all(made[name] == text for name, text in filled.items()):
            break
        made.update(filled)
    return made


def _filled(text: str, values: JsonObject) -> str:
    """A value filled in; one that only looks like a template, as code may, stays as it is."""
    try:
        return rendered(text, values)
    except ParseError:
        return text


def names_in(text: str) -> list[str]:
    """The variables that a template takes, in the order of their names."""
    if not is_template(text):
        return []
    if _ENVIRONMENT.search(text):
        raise wrong(f"the template takes variables of the environment: {short(text)}")
    try:
        return sorted(meta.find_undeclared_variables(_environment().parse(text)))
    except TemplateError as error:
        raise wrong(f"the template cannot be read ({error}): {short(text)}") from None


def as_mustache(text: str, names: Mapping[str, str]) -> str | None:
    """The template in the names of a target's prompt; None where it does more than fill in."""
    if is_template(_VARIABLE.sub("", text)):
        return None

    def renamed(found: re.Match[str]) -> str:
        first, _, rest = found[1].partition(".")
        name = names.get(first, f"metadata.vars.{first}")
        return f"{{{{ {name}.{rest} }}}}" if rest else f"{{{{ {name} }}}}"

    return _VARIABLE.sub(renamed, text)


def short(text: str) -> str:
    """A text in quotes, its beginning where it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _shown(value: Any) -> Any:
    """Values as promptfoo shows them: no word for nothing, JSON for what is no text."""
    if value is None or isinstance(value, Undefined):
        return ""
    if isinstance(value, bool | dict | list):
        return json.dumps(value, ensure_ascii=False)
    return value


def _dump(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent or None)


def _load(value: Any) -> Any:
    return parse_json(str(value).encode("utf-8", "surrogatepass"))


def _members(value: Any) -> Any:
    return cast(JsonObject, value).items() if isinstance(value, dict) else value


class _Nunjucks(ImmutableSandboxedEnvironment):
    """Templates in which a loop with two names goes through the members of an object."""

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for loop in tree.find_all(nodes.For):
            if isinstance(loop.target, nodes.Tuple):
                loop.iter = nodes.Filter(
                    loop.iter, "members", [], [], None, None, lineno=loop.lineno
                )
        return tree


@lru_cache(maxsize=1)
def _environment() -> _Nunjucks:
    # The texts are prompts for a model, not pages.
    made = _Nunjucks(
        finalize=_shown,
        keep_trailing_newline=True,
        autoescape=False,
    )
    made.filters |= {"dump": _dump, "load": _load, "members": _members}
    return made


@lru_cache(maxsize=256)
def _template(text: str) -> Template:
    try:
        return _environment().from_string(text)
    except (TemplateError, RecursionError) as error:
        raise wrong(f"the template cannot be read ({error}): {short(text)}") from None
