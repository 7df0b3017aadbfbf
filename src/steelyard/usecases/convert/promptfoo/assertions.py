"""Assertions of promptfoo as evaluators of eval cases."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from typing import NamedTuple

from steelyard.checks.regex import pattern_fault
from steelyard.contracts.importers.source_row import wrong
from steelyard.errors import ParseError
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.usecases.convert.promptfoo.context import AssertionContext
from steelyard.usecases.convert.promptfoo.formats import formats_in
from steelyard.usecases.convert.promptfoo.judged import JUDGED, judged
from steelyard.usecases.convert.promptfoo.patterns import SPACE, re2_pattern
from steelyard.usecases.convert.promptfoo.programs import (
    MARKUP,
    PROGRAMS,
    RUNNERS,
    markup,
    program,
    transformed,
)
from steelyard.usecases.convert.promptfoo.retrieval import RETRIEVAL, retrieval
from steelyard.usecases.convert.promptfoo.source import (
    ConfigPlace,
    Render,
    is_file,
    listed,
    objects,
)
from steelyard.usecases.convert.promptfoo.tool_calls import TOOL_CALLS, tool_calls

_TEXT = ("equals", "contains", "icontains", "starts-with", "regex")
_TEXTS = ("contains-any", "contains-all", "icontains-any", "icontains-all")
_LIMITS = {"latency": "threshold", "cost": "budget"}
_LENGTHS = {"min-length", "max-length", "word-count"}
_SETTINGS = {
    *("type", "value", "threshold", "weight", "metric", "provider", "rubricPrompt"),
    "transform",
}
_TOLD = {"reason", "description", "comment", "note", "notes", "name", "label", "id", "tags"}
_MOST = 1000
"""How often a pattern of RE2 may repeat a part."""
_SET = "assert-set"
_PARSED = "JSON.parse(output)"
_AFTER = {*_TEXT, *_TEXTS, "is-json", "javascript"}
"""What can be looked for in an answer that a program changed."""
_LENIENT = "what a lenient reader alone takes for JSON, as {a: 1,}, passes in promptfoo, not here"
_SHARES = {"contains-all", "icontains-all"}
"""What promptfoo scores 0 or 1, and the evaluator of the name by the share that is there."""

_FAMILIES: dict[
    str, Callable[[str, JsonObject, AssertionContext, ConfigPlace, list[Change]], JsonObject]
] = {
    **dict.fromkeys(JUDGED, judged),
    **dict.fromkeys(RETRIEVAL, retrieval),
    **dict.fromkeys(TOOL_CALLS, tool_calls),
    **dict.fromkeys(PROGRAMS, program),
}
"""Who makes the evaluators of the kinds that have a module of their own."""


class MappedAssertions(NamedTuple):
    """Evaluators, and what of the assertions did not come over as it was."""

    evaluators: list[JsonObject]
    changes: list[Change]
    lost: dict[ConfigPlace, str]
    """The type of each assertion that no evaluator stands for, by its place."""


def evaluators_of(
    entries: list[tuple[ConfigPlace, JsonValue]], grading: AssertionContext, threshold: JsonValue
) -> MappedAssertions:
    """The evaluators that the assertions of a test stand for.

    Without a threshold every assertion must pass; with one their weighted mean must reach it.
    """
    made = MappedAssertions([], [], {})
    counted = grading._replace(is_mean=threshold is not None)
    for place, entry in entries:
        _add(made, place, entry, counted)
    if threshold is None:
        deciding = [_deciding(evaluator) for evaluator in made.evaluators]
        return made._replace(evaluators=deciding)
    if not made.evaluators:
        return made
    mean = _mean("threshold", made.evaluators, _number(threshold, "threshold"))
    return made._replace(evaluators=[_deciding(mean)])


def _deciding(evaluator: JsonObject) -> JsonObject:
    """The evaluator as one that decides by passing, whatever its score.

    A score between 0 and 1 that passes would count as less than a pass in the mean of the case.
    """
    made = dict(evaluator)
    if "min_score" in made:
        frame = {name: made.pop(name) for name in ("weight", "negate") if name in made}
        made = {**_all(str(made["name"]), [made]), **frame}
    elif made["type"] == "code_judge":
        made["config"] = {**objects(made.get("config")), "binary": True}
    if made.get("weight") != 0:
        made["required"] = True
    return made


def _add(
    made: MappedAssertions, place: ConfigPlace, entry: JsonValue, grading: AssertionContext
) -> None:
    kind = str(entry.get("type")) if isinstance(entry, dict) else "assertion"
    named = ConfigPlace(place.file, f"{place.path} ({kind})")
    try:
        if isinstance(entry, dict) and isinstance(entry.get("$ref"), str):
            name = str(entry["$ref"]).rpartition("/")[2]
            entry = {**objects(grading.templates.get(name)), **entry}
            del entry["$ref"]
        evaluator = _evaluator(entry, grading, named, made.changes)
    except ParseError as why:
        made.changes.append(named.lost(why))
        made.lost[place] = str(objects(entry).get("type") or "assertion")
        return
    made.evaluators.append(evaluator)


def _evaluator(
    entry: JsonValue, grading: AssertionContext, place: ConfigPlace, changes: list[Change]
) -> JsonObject:
    if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
        raise wrong("an assertion must be an object with a type")
    written = str(entry["type"])
    kind = written.removeprefix("not-")
    transforms = _transforms(entry, kind, grading)
    evaluator = _made(kind, entry, grading, place, changes)
    if not transforms and (grading.is_mean or written != kind):
        evaluator = _whole(kind, evaluator)
    if transforms:
        evaluator = transformed(kind, evaluator, transforms, grading)
        changes.append(
            place.at("transform").replaced(f"node runs it, through {RUNNERS['javascript']}")
        )
    if isinstance(entry.get("metric"), str) and entry["metric"]:
        evaluator = {**evaluator, "name": grading.render(str(entry["metric"]))}
    weight = entry.get("weight")
    if isinstance(weight, int | float) and not isinstance(weight, bool):
        evaluator["weight"] = weight
    if written != kind:
        evaluator["negate"] = True
    own = {"assert"} if kind == _SET else {"config"} if kind in PROGRAMS else set[str]()
    unread = [name for name in entry if name not in _SETTINGS | own | _TOLD]
    if kind == "llm-rubric" and "config" in unread:
        unread.remove("config")
        changes.append(place.at("config").replaced("promptfoo gives it to programs alone"))
    if unread:
        # What it does to the verdict is not known: the rest may be the opposite of what is meant.
        raise wrong(f"no evaluator has a setting for {', '.join(map(repr, unread))}")
    return evaluator


def _whole(kind: str, evaluator: JsonObject) -> JsonObject:
    """The evaluator as one that scores 0 or 1, where it would score a share."""
    is_schema = kind in {"is-json", "equals"} and evaluator["type"] == "composite"
    if kind in _SHARES or is_schema or kind in TOOL_CALLS:
        name = str(evaluator.get("name", kind))
        return _all(name, [{**evaluator, "name": name}])
    return evaluator


def _transforms(entry: JsonObject, kind: str, grading: AssertionContext) -> list[JsonValue]:
    """The programs that change the answer before it is looked at, in their order."""
    stated = {
        f"{where}{name}": holder[name]
        for holder, where in ((grading.options, "options."), (entry, ""))
        for name in ("transform", "postprocess", "contextTransform")
        if holder.get(name) and kind != _SET
    }
    if kind == "is-json" and all(str(code).strip(" ;") == _PARSED for code in stated.values()):
        # What JSON says is the same whether it is looked at as a text or as a value.
        return []
    for name in stated:
        if not (grading.programs and name.endswith("transform") and kind in _AFTER):
            raise wrong(f"{name} changes the answer before it is looked at")
    return [*stated.values()]


def _made(
    kind: str,
    entry: JsonObject,
    grading: AssertionContext,
    place: ConfigPlace,
    changes: list[Change],
) -> JsonObject:
    if kind == _SET:
        return _assert_set(entry, grading, place, changes)
    if family := _FAMILIES.get(kind):
        return family(kind, entry, grading, place, changes)
    if kind in _TEXT:
        return _text(kind, entry, grading)
    if kind in _TEXTS:
        return {"type": kind, "value": _texts(_value(entry, grading), grading)}
    if kind in {"is-json", "contains-json"}:
        if kind == "contains-json":
            changes.append(place.replaced(_LENIENT))
        return _json(kind, _schema(entry, grading))
    if kind in _LIMITS:
        return {"type": kind, _LIMITS[kind]: _number(entry.get("threshold"), "threshold")}
    if kind in MARKUP:
        return markup(entry, grading)
    return _length(kind, entry)


def _text(kind: str, entry: JsonObject, grading: AssertionContext) -> JsonObject:
    value = _value(entry, grading)
    if kind == "equals" and isinstance(value, dict | list):
        return _json("is-json", {"const": value})
    text = "" if value == "" and kind == "equals" else _one(value, grading.render)
    if kind == "regex":
        text = re2_pattern(text)
        if fault := pattern_fault(text, ""):
            raise wrong(f"its pattern is none of RE2: {fault}")
    if kind == "starts-with" and not text.strip():
        raise wrong("its value is blank")
    return {"type": kind, "value": text}


def _texts(value: JsonValue, grading: AssertionContext) -> list[JsonValue]:
    if isinstance(value, str):
        value = [*next(csv.reader([grading.render(value)], skipinitialspace=True), list[str]())]
    texts = [_one(item, grading.render).strip() for item in listed(value)]
    if not texts or not all(texts):
        raise wrong("its value must be a list of texts")
    return [*texts]


def _schema(entry: JsonObject, grading: AssertionContext) -> JsonObject | None:
    value = entry.get("value")
    if value is None or value == "":
        return None
    if is_file(value):
        value = grading.source.value(str(value))
    elif isinstance(value, str):
        value = parse_yaml(grading.render(value).encode("utf-8", "surrogatepass")).value
    if not isinstance(value, dict):
        raise wrong("its value must be a JSON Schema")
    if formats := sorted(set(formats_in(value))):
        raise wrong(f"its schema asks for the format {', '.join(formats)}, which is not checked")
    return value


def _json(kind: str, schema: JsonObject | None) -> JsonObject:
    if kind == "contains-json":
        given: JsonObject = {"type": ["object", "array"]} if schema is None else schema
        return {"type": "json_schema", "schema": given, "anywhere": True}
    if schema is None:
        return {"type": "is-json"}
    members: list[JsonValue] = [
        {"name": "is_json", "type": "is_json"},
        {"name": "json_schema", "type": "json_schema", "schema": schema},
    ]
    return _all("json", members)


def _length(kind: str, entry: JsonObject) -> JsonObject:
    """Lengths as a pattern, which repeats a part so often."""
    if kind == "empty":
        return {"type": "regex", "value": f"^[{SPACE}]*$"}
    if kind not in _LENGTHS:
        raise wrong("no evaluator stands for it")
    value = entry.get("value", entry.get("threshold"))
    if kind == "word-count":
        least, most = _bounds(value)
        if max(least, most or 0) > _MOST:
            raise wrong(f"a pattern counts up to {_MOST:,} words")
        if least == 0:
            return _words(rf"^\s*(?:\S+(?:\s+|$)){{0,{most}}}$")
        upper = "" if most is None else most - 1
        return _words(rf"^\s*\S+(?:\s+\S+){{{least - 1},{upper}}}\s*$")
    count = int(_number(value, "value"))
    parts = f".{{{_MOST}}}" * (count // _MOST)
    if kind == "min-length":
        return {"type": "regex", "value": f"(?s)^{parts}.{{{count % _MOST},}}$"}
    shorter = f".{{0,{_MOST}}}" * (count // _MOST)
    return {"type": "regex", "value": f"(?s)^{shorter}.{{0,{count % _MOST}}}$"}


def _words(pattern: str) -> JsonObject:
    """A count of words, which end at the white space of JavaScript if the pattern stays small."""
    text = re2_pattern(pattern)
    return {"type": "regex", "value": pattern if pattern_fault(text, "") else text}


def _bounds(value: JsonValue) -> tuple[int, int | None]:
    if isinstance(value, dict):
        least, most = value.get("min"), value.get("max")
        if least is None and most is None:
            raise wrong("its value must have 'min' or 'max'")
        return (
            0 if least is None else int(_number(least, "min")),
            None if most is None else int(_number(most, "max")),
        )
    exactly = int(_number(value, "value"))
    return exactly, exactly


def _assert_set(
    entry: JsonObject, grading: AssertionContext, place: ConfigPlace, changes: list[Change]
) -> JsonObject:
    made = MappedAssertions([], changes, {})
    before = len(changes)
    threshold = entry.get("threshold")
    # What a set adds to a mean is the mean of its assertions, whether or not it passes.
    counted = grading._replace(is_mean=grading.is_mean or threshold is not None)
    for index, member in enumerate(listed(entry.get("assert"))):
        _add(
            made,
            ConfigPlace(place.file, place.path.removesuffix(f" ({_SET})")).at("assert", index),
            member,
            counted,
        )
    if not made.evaluators or any(change.is_lost for change in changes[before:]):
        raise wrong("a part of the set cannot be carried over, and the set means all of it")
    if not counted.is_mean:
        deciding = [one for one in made.evaluators if one.get("weight") != 0]
        if not deciding:
            raise wrong("assertions with the weight 0 never fail a set, and it has no other")
        return _all("set", [*_named([*deciding])])
    least = 1 if threshold is None else _number(threshold, "threshold")
    return _mean("set", made.evaluators, least)


def _all(name: str, members: list[JsonValue]) -> JsonObject:
    """A composite that passes when all of its members do."""
    aggregator: JsonObject = {"type": "threshold", "threshold": 1}
    return {"name": name, "type": "composite", "evaluators": members, "aggregator": aggregator}


def _mean(name: str, evaluators: list[JsonObject], threshold: float) -> JsonObject:
    """A composite that passes when the weighted mean of its members reaches a threshold."""
    members = _named([*evaluators])
    weights: JsonObject = {
        str(member["name"]): member.pop("weight") for member in members if "weight" in member
    }
    aggregator: JsonObject = {"type": "weighted_average"}
    if weights:
        aggregator["weights"] = weights
    return {
        "name": name,
        "type": "composite",
        "evaluators": [*members],
        "aggregator": aggregator,
        "min_score": threshold,
    }


def _named(members: list[JsonValue]) -> list[JsonObject]:
    """Members with a name each, by which weights find them."""
    made: list[JsonObject] = []
    for number, member in enumerate(members, start=1):
        row = objects(member)
        name = str(row.get("name") or row.get("type"))
        taken = {str(other["name"]) for other in made}
        made.append({**row, "name": f"{name}-{number}" if name in taken else name})
    return made


def _value(entry: JsonObject, grading: AssertionContext) -> JsonValue:
    value = entry.get("value")
    # promptfoo leaves the white space around the text of a file out.
    return grading.source.text(str(value)).strip() if is_file(value) else value


def _one(value: JsonValue, render: Render) -> str:
    if isinstance(value, bool):
        return json.dumps(value)
    if not isinstance(value, str | int | float):
        raise wrong("its value must be a text")
    text = render(value) if isinstance(value, str) else str(value)
    if not text:
        raise wrong("its value is empty")
    return text


def _number(value: JsonValue, name: str) -> float:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            raise wrong(f"its {name} must be a number, not {value!r}") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(f"its {name} must be a number")
    return value
