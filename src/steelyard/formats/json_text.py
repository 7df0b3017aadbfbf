"""JSON bytes to values: one fast parse, and a second look when it fails."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from steelyard.errors import ParseError
from steelyard.formats.encoding import without_surrogates
from steelyard.formats.problem import Problem
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject, JsonValue, Path

MAX_DEPTH = 200
MAX_NUMBER = int(sys.float_info.max)
"""A number beyond is held by no float, and so by no score, weight, time or price."""
_FENCE = b"```"
_BYTE = re.compile(r"\(byte (\d+)\)")
# A string, or a constant that stands outside of all strings.
_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|(NaN|-?Infinity)')
# What a number beyond all floats has at the least, once all of its digits are zeros: in full, and
# where one byte in so many is looked at.
_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_MANY_ZEROS = b"0" * len(str(MAX_NUMBER))
_SHORTEST = len(_MANY_ZEROS)
_STEP = 30
_SOME_ZEROS = b"0" * (_SHORTEST // _STEP)
_SHALLOW = 2 * MAX_DEPTH  # a text of so many bytes nests no deeper, as each level has two brackets
_NESTED = (dict, list)  # a union would be made anew for each value that is looked at
_decode = msgspec.json.Decoder().decode


class Unholdable(FrozenStruct, frozen=True):
    """Stands for a number that no parser can hold, until its path is known."""

    text: str


class SecondLook(FrozenStruct, frozen=True):
    """What a tolerant parse made of JSON that the fast parser refused."""

    value: JsonValue
    problems: tuple[Problem, ...]


def parse_json(data: bytes | msgspec.Raw) -> JsonValue:
    """Parse strictly and fast; any refusal, even for one odd string, is a ParseError."""
    return parse_json_counted(bytes(data))[0]


def parse_json_counted(data: bytes) -> tuple[JsonValue, int]:
    """The same value and the number of colons in its text, which reveals repeated keys."""
    try:
        value: JsonValue = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _parse_error(data, error) from None
    except RecursionError:
        raise too_deep() from None
    colons = data.count(b":")
    if len(data) > _SHALLOW and _may_be_deep(data, colons) and depth(value) > MAX_DEPTH:
        raise too_deep()
    if len(data) >= _SHORTEST and _has_unholdable(data, value):
        raise ParseError("a number is too large to hold", code="value_out_of_range")
    return value, colons


def parse_json_either_way(data: bytes) -> tuple[JsonValue, tuple[Problem, ...]]:
    """The value of a JSON text, and what is wrong with single texts and numbers in it.

    Where no look makes sense of it, the fast parser's ParseError says why.
    """
    try:
        return parse_json(data), ()
    except ParseError as wrong:
        try:
            look = parse_json_tolerantly(data)
        except ParseError:
            raise wrong from None
        return look.value, look.problems


def parse_json_tolerantly(data: bytes) -> SecondLook:
    """Parse JSON that holds lone surrogates or numbers out of range, and say where they are.

    Text that is not JSON even so is a ParseError.
    """
    try:
        parsed = _loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _parse_error(data, error) from None
    except json.JSONDecodeError as error:
        raise ParseError(
            f"{_lower(error.msg)} (column {error.colno})", line=error.lineno, code="invalid_json"
        ) from None
    except RecursionError:
        raise too_deep() from None
    if depth(parsed) > MAX_DEPTH:
        raise too_deep()
    problems: list[Problem] = []
    return SecondLook(_settle(parsed, (), problems), tuple(problems))


def compact(value: JsonValue) -> bytes:
    """The serialized form whose size the contracts limit: compact UTF-8 JSON."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def raw_members(data: bytes) -> dict[str, msgspec.Raw]:
    """The members of a top-level object, their values unparsed."""
    try:
        return msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    except msgspec.ValidationError:
        raise ParseError("the top level must be an object", code="invalid_field_type") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _parse_error(data, error) from None
    except RecursionError:
        raise too_deep() from None


def raw_items(raw: msgspec.Raw) -> list[msgspec.Raw] | None:
    """The items of an array, unparsed; None when it is something else."""
    try:
        return msgspec.json.decode(raw, type=list[msgspec.Raw])
    except msgspec.ValidationError:
        return None


def depth(value: JsonValue) -> int:
    """How deep a value nests: an object or array is one level, what it holds comes below."""
    level = 0
    layer = [value] if isinstance(value, _NESTED) else []
    while layer:
        level += 1
        layer = [
            child
            for item in layer
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, _NESTED)
        ]
    return level


def too_deep() -> ParseError:
    """The error for JSON that nests deeper than any real data."""
    return ParseError(f"nested deeper than {MAX_DEPTH} levels", code="invalid_json")


def _may_be_deep(data: bytes, colons: int) -> bool:
    """Whether there is enough for too much depth; spares most data the walk.

    Whatever an object holds has a colon before it, and an array has its bracket.
    """
    return data.count(b"[") + colons >= MAX_DEPTH


def _has_unholdable(data: bytes, value: JsonValue) -> bool:
    """Whether a number is beyond what can be held; only many digits in a row make one look."""
    return (
        data[::_STEP].translate(_AS_ZEROS).find(_SOME_ZEROS) >= 0  # `in` is slower by half
        and _MANY_ZEROS in data.translate(_AS_ZEROS)
        and any(map(_is_unholdable, _leaves(value)))
    )


def _is_unholdable(value: JsonValue) -> bool:
    return isinstance(value, int) and abs(value) > MAX_NUMBER


def _leaves(value: JsonValue) -> Iterator[JsonValue]:
    """All texts, numbers and the like of a value, however deep."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, dict | list):
            left.extend(item.values() if isinstance(item, dict) else item)
        else:
            yield item


def _loads(text: str) -> Any:
    def refuse(name: str) -> None:
        place = next(found.start(1) for found in _CONSTANT.finditer(text) if found[1])
        raise json.JSONDecodeError(f"the constant {name} is not JSON", text, place)

    return json.loads(text, parse_float=_float, parse_int=_int, parse_constant=refuse)


def _float(text: str) -> float | Unholdable:
    number = float(text)
    return Unholdable(text) if number in {float("inf"), float("-inf")} else number


def _int(text: str) -> int | Unholdable:
    # Beyond so many digits Python refuses to read one.
    number = int(text) if len(text) <= 4300 else None
    return Unholdable(text) if number is None or abs(number) > MAX_NUMBER else number


def _settle(parsed: Any, path: Path, problems: list[Problem]) -> JsonValue:
    if isinstance(parsed, Unholdable):
        problems.append(_number_problem(parsed.text, path))
        return None
    if isinstance(parsed, str):
        return _text(parsed, path, problems)
    if isinstance(parsed, list):
        items = cast(list[Any], parsed)
        return [_settle(item, (*path, index), problems) for index, item in enumerate(items)]
    if isinstance(parsed, dict):
        members = cast(dict[str, Any], parsed)
        settled: JsonObject = {}
        for written, item in members.items():
            key = without_surrogates(written)
            _text(written, (*path, key), problems)
            settled[key] = _settle(item, (*path, key), problems)
        return settled
    return cast(JsonValue, parsed)


def _text(text: str, path: Path, problems: list[Problem]) -> str:
    clean = without_surrogates(text)
    if clean != text:
        problems.append(
            Problem(
                code="invalid_encoding",
                message="{} has an unpaired surrogate code point",
                path=path,
            )
        )
    return clean


def _number_problem(text: str, path: Path) -> Problem:
    shown = text if len(text) <= 20 else f"{text[:17]}..."
    return Problem(
        code="value_out_of_range",
        message=f"{{}} is a number too large to hold: {shown}",
        path=path,
    )


def _parse_error(data: bytes, error: Exception) -> ParseError:
    if isinstance(error, UnicodeDecodeError):
        return ParseError("not UTF-8; save the file as UTF-8", code="invalid_encoding")
    message = str(error)
    found = _BYTE.search(message)
    place = int(found[1]) if found else len(data)
    line_start = data.rfind(b"\n", 0, place) + 1
    column = len(data[line_start:place].decode("utf-8", "replace")) + 1
    reason = _BYTE.sub("", message.removeprefix("JSON is malformed: ")).strip()
    if reason == "Input data was truncated":
        reason = "the text ends too early"
    if data[place : place + len(_FENCE)] == _FENCE and not data[:place].strip():
        reason = "the text begins with a code fence (```)"
    line = data.count(b"\n", 0, place) + 1
    return ParseError(f"{_lower(reason)} (column {column})", line=line, code="invalid_json")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
