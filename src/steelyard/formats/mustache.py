"""Mustache templates: names are filled once, from plain values, and unknown ones are errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import mstache

from steelyard.errors import TemplateError
from steelyard.formats.encoding import without_surrogates
from steelyard.model.json_value import JsonValue

# Its types leave some of their parameters open.
_render = cast(Callable[..., str], cast(Any, mstache).render)


def as_text(value: JsonValue) -> str:
    """A text as it is, nothing for null, and anything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def rendered(
    template: str, values: Mapping[str, JsonValue], show: Callable[[JsonValue], str] = as_text
) -> str:
    """The template with its names filled in.

    A name is looked for in the object of the innermost section, then outwards; a dotted one leads
    into objects from there. Nothing is escaped, and what is filled in is never looked through
    again. A section may ask for a member that is not there; anything else that nothing fills,
    partials and other delimiters are a `TemplateError`.
    """
    if "{{=" in template:
        raise TemplateError("the template changes the delimiters; write {{ and }}")

    def look_up(scope: Any, scopes: Any, name: Any, default: Any) -> Any:
        if name == ".":
            return scope
        nearest = [scope, *reversed(scopes)]
        return _found(nearest, cast(str, name), is_tested=default is None)

    def shown(value: Any, _text: bool) -> bytes:
        return without_surrogates(show(cast(JsonValue, value))).encode("utf-8")

    try:
        return _render(
            without_surrogates(template),
            values,
            getter=look_up,
            stringify=shown,
            escape=_as_it_is,
            resolver=_no_partial,
        )
    except mstache.TokenException as error:
        raise TemplateError(f"the template is no Mustache: {error}") from None


def _found(scopes: Sequence[JsonValue], name: str, *, is_tested: bool) -> JsonValue:
    """What a name stands for in the scopes, the innermost first; the last is the top."""
    first, *rest = name.split(".")
    objects = [scope for scope in scopes if isinstance(scope, Mapping)]
    holder = next((scope for scope in objects if first in scope), None)
    if holder is not None:
        return _member(holder[first], rest, name, is_tested=is_tested)
    if is_tested and len(objects) > 1:
        return None
    known = ", ".join(dict.fromkeys(key for scope in objects for key in scope)) or "none"
    raise TemplateError(f"the template names '{name}', which nothing fills; known: {known}")


def _member(found: JsonValue, path: list[str], name: str, *, is_tested: bool) -> JsonValue:
    for part in path:
        if not isinstance(found, Mapping) or part not in found:
            if is_tested:
                return None
            raise TemplateError(f"the template names '{name}', which is not there")
        found = found[part]
    return found


def _as_it_is(text: bytes) -> bytes:
    return text


def _no_partial(name: Any) -> None:
    raise TemplateError(f"the template names the partial '{name}'; write the text out")
