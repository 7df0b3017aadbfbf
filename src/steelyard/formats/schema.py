"""A JSON Schema as the one statement of a contract's rules.

The schema runs in a compiled validator. Its errors become problems with our codes, paths and
messages. From the same schema a closed twin is derived that refuses every unknown name: a value
that passes the twin has no problem of any kind, which makes the common case one C call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any, cast

import jsonschema_rs

from steelyard.formats.encoding import flaws
from steelyard.formats.json_text import MAX_DEPTH
from steelyard.formats.names import did_you_mean
from steelyard.formats.problem import Problem, path_order
from steelyard.formats.schema_names import UnknownName, closed, unknown_names
from steelyard.formats.schema_shapes import Shapes
from steelyard.model.json_value import JsonObject, JsonValue, Path, path_text

_ARTICLES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "an array",
    "object": "an object",
    "null": "null",
}
_SHOWN_OPTIONS = 8
BLANK = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What the pattern `\\S` takes for white space; Python takes other characters for it."""

MAX_PROBLEMS = 1000
"""The most problems of one value that are listed."""
_TOO_MANY = Problem(
    code="value_out_of_range",
    message=f"{{}} has more than {MAX_PROBLEMS:,} problems; the first of them are listed",
)


class Schema:
    """Checks values against one (sub)schema of a published document."""

    def __init__(self, document: JsonObject, pointer: str = "#") -> None:
        self.document = document
        self._start: JsonObject = document
        if pointer != "#":
            self._start = {"$ref": pointer, "$defs": document["$defs"]}
        self._closed = _compiled(closed(self._start))
        self._shapes = Shapes(self._start)

    @cached_property
    def _validator(self) -> jsonschema_rs.Draft202012Validator:
        """Compiled for the first value that has a problem."""
        return _compiled(self._start)

    def is_clean(self, value: JsonValue) -> bool:
        """Whether a value has no problem at all; fast, for the common case."""
        try:
            return self._closed.is_valid(value)
        except ValueError:  # a lone surrogate, or nested deeper than the validator follows
            return False

    def problems(self, value: JsonValue) -> list[Problem]:
        """Everything wrong with a value, in path order; unknown names are warnings."""
        try:
            errors = islice(self._validator.iter_errors(value), MAX_PROBLEMS + 1)
            found = [self._problem(error, value) for error in errors]
            unknown = self._shapes.problems(value, self._unknown_fields)
        except UnicodeEncodeError:
            return _surrogates(value)
        except (ValueError, RecursionError):
            message = f"{{}} is nested deeper than {MAX_DEPTH} levels"
            return [Problem(code="value_out_of_range", message=message)]
        if not found and not unknown:
            return []
        listed = [problem for group in found for problem in group]
        flat = list(_without_followers(listed[: MAX_PROBLEMS + 1]))
        ordered = sorted([*flat, *unknown], key=path_order)
        return [*ordered[:MAX_PROBLEMS], _TOO_MANY] if len(ordered) > MAX_PROBLEMS else ordered

    def _problem(self, error: jsonschema_rs.ValidationError, value: JsonValue) -> list[Problem]:
        path = tuple(error.instance_path)
        kind: Any = error.kind
        name = cast(str, kind.name)
        if name == "additionalProperties":
            known = self._known_at(path, value)
            return [_unsupported((*path, extra), extra, known) for extra in kind.unexpected]
        if name == "required":
            return [_missing((*path, kind.property))]
        rule = self._rule(error.schema_path[:-1])
        if "x-located" in rule and name in {"anyOf", "not", "uniqueItems"}:
            return []  # the reader says where the rule is broken
        if name in {"anyOf", "not"}:
            return [_annotated(rule, path)]
        return [_PROBLEMS[name](path, kind, error.instance)]

    def _rule(self, schema_path: list[str | int]) -> JsonObject:
        """The part of the schema that an error comes from."""
        node: Any = self._start
        for part in schema_path:
            node = node[part]
        return cast(JsonObject, node)

    def _known_at(self, path: Path, value: JsonValue) -> frozenset[str]:
        known = {unknown.path: unknown.known for unknown in unknown_names(self._start, value)}
        return known.get(path, frozenset())

    def _unknown_fields(self, value: JsonValue) -> list[Problem]:
        return list(islice(self._each_unknown_field(value), MAX_PROBLEMS + 1))

    def _each_unknown_field(self, value: JsonValue) -> Iterator[Problem]:
        for unknown in unknown_names(self._start, value, only_open=True):
            hint = _whose(unknown) or did_you_mean(unknown.name, unknown.known)
            if hint or unknown.is_owned:
                yield Problem(
                    code="unknown_field",
                    message=f"unknown field '{unknown.name}'",
                    path=(*unknown.path, unknown.name),
                    hint=hint or f"known here: {_joined(sorted(unknown.known), ' and ')}",
                    severity="warning",
                )


def _whose(unknown: UnknownName) -> str | None:
    """The hint for a name that other kinds know."""
    if not unknown.owners:
        return None
    return f"'{unknown.name}' is a setting of {_joined([*unknown.owners])}"


def _compiled(schema: JsonObject) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(
        schema, retriever=_refuse, pattern_options=jsonschema_rs.RegexOptions()
    )


def _refuse(uri: str) -> None:
    raise ValueError(f"a schema may not refer to {uri}: nothing is fetched")


def _surrogates(value: JsonValue) -> list[Problem]:
    message = "{} has an unpaired surrogate code point"
    return [
        Problem(code="invalid_encoding", message=message, path=path)
        for path, flaw in flaws(value)
        if flaw == "surrogate"
    ]


def _without_followers(problems: list[Problem]) -> Iterator[Problem]:
    """The problems without those that follow from another one.

    A value of the wrong type is not also reported as a wrong value, nor are the parts of an
    unsupported field.
    """
    mistyped = {problem.path for problem in problems if problem.code == "invalid_field_type"}
    unwanted = {problem.path for problem in problems if problem.code == "unsupported_field"}
    for problem in problems:
        is_follower = problem.code == "invalid_enum_value" and problem.path in mistyped
        places = (problem.path[:length] for length in range(1, len(problem.path) + 1))
        is_idle = problem.code != "unsupported_field" and any(at in unwanted for at in places)
        if not (is_follower or is_idle):
            yield problem


def _missing(path: Path) -> Problem:
    return Problem(code="missing_required_field", message="missing {}", path=path)


def _unsupported(path: Path, name: str, known: frozenset[str]) -> Problem:
    return Problem(
        code="unsupported_field",
        message="{} is not a field of this contract",
        path=path,
        hint=did_you_mean(name, known),
    )


def _annotated(rule: JsonObject, path: Path) -> Problem:
    """A rule that says in `x-missing`, `x-conflict`, `x-either`, `x-later` or `x-instead` what its
    failure means."""
    if "x-missing" in rule:
        return _missing((*path, cast(str, rule["x-missing"])))
    if "x-conflict" in rule:
        first, second = cast(list[str], rule["x-conflict"])
        return Problem(
            code="conflicting_fields",
            message=f"{{}} is another spelling of {first}; keep one of them",
            path=(*path, second),
        )
    if "x-either" in rule:
        first, second = cast(list[str], rule["x-either"])
        return _beside(first, (*path, second), is_error="x-severity" not in rule)
    if "x-later" in rule:
        hint = "only files that list their cases under 'tests' have it"
        at = (*path, cast(str, rule["x-later"]))
        return Problem(code="unsupported_field", message="{} is not supported", path=at, hint=hint)
    return _instead(path, cast(str, rule["x-instead"]), is_error="x-severity" not in rule)


def _beside(first: str, path: Path, *, is_error: bool) -> Problem:
    """A field that stands beside another of its purpose; where one goes first, it is not read."""
    beside = f"{{}} stands beside {first}; keep one of them"
    return Problem(
        code="conflicting_fields",
        message=beside if is_error else f"{{}} has no effect beside {first}",
        path=path,
        severity="error" if is_error else "warning",
    )


def _instead(path: Path, hint: str, *, is_error: bool) -> Problem:
    """A field that another has replaced; one that only says how to run spoils nothing."""
    if is_error:
        message = "{} is not supported"
        return Problem(code="unsupported_field", message=message, path=path, hint=hint)
    message = "{} is not taken from files"
    return Problem(code="ignored_field", message=message, path=path, hint=hint, severity="warning")


def _wrong_type(path: Path, kind: Any, _value: object) -> Problem:
    names = [_ARTICLES[name] for name in cast(list[str], kind.types)]
    return Problem(code="invalid_field_type", message=f"{{}} must be {_joined(names)}", path=path)


def _not_allowed(path: Path, kind: Any, value: object) -> Problem:
    options = cast(list[object], kind.options)
    shown = [one if isinstance(one, str) else _shown(one) for one in options[:_SHOWN_OPTIONS]]
    if len(options) > _SHOWN_OPTIONS:
        shown.append(f"{len(options) - _SHOWN_OPTIONS} more")
    texts = [option for option in options if isinstance(option, str)]
    return Problem(
        code="invalid_enum_value",
        message=f"{{}} must be {_joined(shown)}, not {_shown(value)}",
        path=path,
        hint=did_you_mean(value, texts) if isinstance(value, str) else None,
    )


def _not_constant(path: Path, kind: Any, value: object) -> Problem:
    message = f"{{}} must be {_shown(kind.expected_value)}, not {_shown(value)}"
    return Problem(code="invalid_enum_value", message=message, path=path)


def _ranged(text: str, code: str = "value_out_of_range") -> Callable[[Path, Any, object], Problem]:
    def problem(path: Path, kind: Any, _value: object) -> Problem:
        message = f"{{}} {text}".replace("#", f"{kind.limit:,}")
        return Problem(code=code, message=message, path=path)

    return problem


def _off_pattern(path: Path, kind: Any, value: object) -> Problem:
    blank = isinstance(value, str) and not value.strip(BLANK)
    message = "{} must not be blank" if blank else f"{{}} must match {kind.pattern}"
    return Problem(code="value_out_of_range", message=message, path=path)


def _repeated(path: Path, _kind: Any, _value: object) -> Problem:
    message = "{} must not have the same item twice"
    return Problem(code="value_out_of_range", message=message, path=path)


_PROBLEMS: dict[str, Callable[[Path, Any, object], Problem]] = {
    "type": _wrong_type,
    "enum": _not_allowed,
    "const": _not_constant,
    "pattern": _off_pattern,
    "minLength": _ranged("must have at least # character(s)"),
    "maxLength": _ranged("must have at most # characters", "string_too_long"),
    "minItems": _ranged("must have at least # item(s)"),
    "maxItems": _ranged("must have at most # items"),
    "uniqueItems": _repeated,
    "minProperties": _ranged("must have at least # field(s)"),
    "minimum": _ranged("must be at least #"),
    "maximum": _ranged("must be at most #"),
    "exclusiveMinimum": _ranged("must be more than #"),
}


def _joined(words: list[str], last: str = " or ") -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + last + words[-1]


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."


def spoken(problem: Problem) -> str:
    """The message with its `{}` filled by the path inside the record."""
    # Only the first: what follows may be a value that was quoted.
    return problem.message.replace("{}", path_text(problem.path) or "the value", 1)
