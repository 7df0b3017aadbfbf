"""Mustache templates: names are filled once, from plain values, and unknown ones are errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, cast

from steelyard.errors import TemplateError
from steelyard.formats.encoding import without_surrogates
from steelyard.formats.mustache_tags import MAX_TAGS, sections_in
from steelyard.model.json_value import JsonValue

_VARIABLES = {"{": ("{{{", "}}}"), "&": ("{{&", "}}")}
_MORE = ("#", "^", "/", ">", "=", "!")
_BLANK = " \t\n\r\v\f"


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
    parts = _variables_of(template)
    if parts is not None:
        return _filled(parts, values, show)
    if "{{=" in template:
        raise TemplateError("the template changes the delimiters; write {{ and }}")
    if template.count("{{") > MAX_TAGS:
        raise TemplateError(f"the template has more than {MAX_TAGS:,} tags")
    import mstache  # noqa: PLC0415 - few runs have a template

    def look_up(scope: Any, scopes: Any, name: Any, default: Any) -> Any:
        if name == ".":
            return dict(values) if scope is values else scope
        nearest = [scope, *reversed(scopes)]
        return _found(nearest, cast(str, name), is_tested=default is None)

    def shown(value: Any, _text: bool) -> bytes:
        return without_surrogates(show(cast(JsonValue, value))).encode("utf-8")

    try:
        # Its types leave some of their parameters open.
        return cast(Callable[..., str], cast(Any, mstache).render)(
            without_surrogates(template),
            values,
            getter=look_up,
            stringify=shown,
            escape=_as_it_is,
            resolver=_no_partial,
        )
    except mstache.TokenException as error:
        raise TemplateError(f"the template is no Mustache: {error}") from None


@lru_cache
def _variables_of(template: str) -> tuple[str, ...] | None:
    """The texts of a template, with a name between each two; None where it has more than names.

    Most templates have no sections, and to walk through one then costs more than to fill it.
    """
    parts: list[str] = []
    place = 0
    while (start := template.find("{{", place)) >= 0:
        sigil = template[start + 2 : start + 3]
        opening, closing = _VARIABLES.get(sigil, ("{{", "}}"))
        end = template.find(closing, start + len(opening))
        name = template[start + len(opening) : end].strip(_BLANK)
        if end < 0 or sigil in _MORE or name == "." or len(parts) >= 2 * MAX_TAGS:
            return None
        parts += without_surrogates(template[place:start]), without_surrogates(name)
        place = end + len(closing)
    return (*parts, without_surrogates(template[place:]))


def _filled(
    parts: tuple[str, ...],
    values: Mapping[str, JsonValue],
    show: Callable[[JsonValue], str],
) -> str:
    filled = list(parts)
    for place in range(1, len(parts), 2):
        name = parts[place]
        is_there = "." not in name and name in values
        found = values[name] if is_there else _found([cast(JsonValue, values)], name)
        filled[place] = without_surrogates(show(found))
    return "".join(filled)


def missed_in(
    template: str, name: str, variables: Sequence[str], *, objects: Sequence[str] = ()
) -> str | None:
    """In which case the text of a variable does not stand in the result; None for in none.

    The template is rendered with a text of its own for the variable, and with and without each of
    the others on which a part depends. Those in `objects` may have members of any name.
    """
    tested = [one for one in variables if one in sections_in(template) and one != name]
    for there in product((True, False), repeat=len(tested)):
        absent = {one for one, is_there in zip(tested, there, strict=True) if not is_there}
        values: dict[str, Any] = {one: "" if one in absent else "text" for one in variables}
        for one in set(objects) - absent:
            values[one] = _AnyMember(variables)
        if not _is_shown(template, {**values, name: _CANARY}, may_fail=bool(absent)):
            return f"where there is no {', '.join(sorted(absent))}" if absent else "in any case"
    return None


_CANARY = "canary 7c1f4e"


class _AnyMember(dict[str, Any]):
    """An object that has every member, but for the names of the variables around it."""

    def __init__(self, variables: Sequence[str]) -> None:
        super().__init__(member="text")
        self._variables = frozenset(variables)

    def __contains__(self, name: object) -> bool:
        return name not in self._variables

    def __missing__(self, name: str) -> _AnyMember:
        return self


def _is_shown(template: str, values: dict[str, Any], *, may_fail: bool) -> bool:
    try:
        return _CANARY in rendered(template, values, _shown_text)
    except TemplateError:
        # Nobody is asked with a member of what is not there.
        if may_fail:
            return True
        raise


def _shown_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _found(scopes: Sequence[JsonValue], name: str, *, is_tested: bool = False) -> JsonValue:
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
