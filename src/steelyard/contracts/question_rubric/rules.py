"""What contract 3 asks of a rubric beyond what its schema can state."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from steelyard.contracts.offered_values import offered_problems
from steelyard.contracts.question_rubric.scales import (
    DIMENSION_SCALE,
    read_scale,
    scale_problems,
)
from steelyard.formats.encoding import flaws
from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonObject, JsonValue, Path
from steelyard.model.question_types import QUESTION_TYPES

_OTHER = re.compile(r"[^a-z0-9]+")
_LETTER = re.compile("[a-z]")


def rubric_problems(value: JsonValue) -> Iterator[Problem]:
    """What is wrong with a rubric of any shape, apart from what the schema says."""
    yield from _control_characters(value)
    if not isinstance(value, dict):
        return
    yield from scale_problems(value.get("scale"), ("scale",))
    if "questions" not in value:
        yield from _dimensions(value)
        return
    if "dimensions" in value:
        yield _ignored(("dimensions",), "beside questions")
    yield from _duplicates(value["questions"], "key", "question", ("questions",))
    for path, question in _objects(value["questions"], ("questions",)):
        yield from _question(question, path, has_scale="scale" in value)


def _control_characters(value: JsonValue) -> Iterator[Problem]:
    for path, flaw in flaws(value):
        if flaw == "control":
            message = "{} has a forbidden control character"
            yield Problem(code="invalid_encoding", message=message, path=path)


def plain_name(text: str, joint: str) -> str:
    """The letters a-z and the digits of a text, joined where anything else stood between them."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(character for character in parts if not unicodedata.combining(character))
    return _OTHER.sub(joint, bare).strip(joint)


def dimension_key(name: str, number: int) -> str:
    """The key of the question that a dimension becomes, the first of which has number 1."""
    plain = plain_name(name, "_")
    return plain if _LETTER.search(plain) else f"dimension_{number}"


def _question(question: JsonObject, path: Path, *, has_scale: bool) -> Iterator[Problem]:
    kind = QUESTION_TYPES.get(str(question.get("type")))
    if kind is None:
        return
    if kind.needs == "options":
        place = (*path, "options")
        yield from _duplicates(question.get("options"), "value", "option", place)
        yield from offered_problems(
            ((*at, "value"), option.get("value"))
            for at, option in _objects(question.get("options"), place)
        )
    if kind.needs == "scale":
        yield from scale_problems(question.get("scale"), (*path, "scale"))
        if not has_scale and "scale" not in question:
            yield Problem(
                code="missing_required_field",
                message="missing {}",
                path=(*path, "scale"),
                hint='give the question a scale, such as {"min": 0, "max": 5}, or the rubric one',
            )


def _dimensions(row: JsonObject) -> Iterator[Problem]:
    names = row.get("dimensions")
    seen: dict[str, str] = {}
    for index, name in enumerate(names if isinstance(names, list) else []):
        if not isinstance(name, str) or not name.strip():
            continue
        key, path = dimension_key(name, index + 1), ("dimensions", index)
        # Names without a Latin letter have their place as key, and are compared themselves.
        same = seen.get(key) or seen.get(_compared(name))
        if same:
            message = f"{{}} becomes the key '{key}' as '{same}' does"
            if key not in seen:
                message = f"{{}} says the same as '{same}'"
            yield Problem(code="duplicate_record_id", message=message, path=path)
        else:
            seen |= {key: name, _compared(name): name}
    scale = read_scale(row.get("scale"))
    if seen and scale and scale.values != DIMENSION_SCALE.values:
        yield _ignored(("scale",), f"by dimensions, whose scale is {DIMENSION_SCALE}")


def _compared(name: str) -> str:
    return unicodedata.normalize("NFKC", " ".join(name.split())).casefold()


def _duplicates(items: JsonValue, field: str, noun: str, path: Path) -> Iterator[Problem]:
    seen: set[str] = set()
    for place, item in _objects(items, path):
        name = item.get(field)
        if not isinstance(name, str):
            continue
        if name in seen:
            message = f"{{}} '{name}' is used by an earlier {noun}"
            yield Problem(code="duplicate_record_id", message=message, path=(*place, field))
        seen.add(name)


def _objects(items: JsonValue, path: Path) -> Iterator[tuple[Path, JsonObject]]:
    for index, item in enumerate(items if isinstance(items, list) else []):
        if isinstance(item, dict):
            yield (*path, index), item


def _ignored(path: Path, why: str) -> Problem:
    return Problem(
        code="ignored_field", message=f"{{}} is ignored {why}", path=path, severity="warning"
    )
