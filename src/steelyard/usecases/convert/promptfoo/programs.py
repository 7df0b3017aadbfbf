"""Assertions in JavaScript and Python, as programs that grade an answer."""

from __future__ import annotations

import re

from steelyard.contracts.importers.source_row import wrong
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.usecases.convert.promptfoo.context import AssertionContext
from steelyard.usecases.convert.promptfoo.source import SCHEME, ConfigPlace, listed, objects

PROGRAMS = ("javascript", "python")
RUNNERS = {"javascript": "promptfoo_javascript.cjs", "python": "promptfoo_python.py"}
"""The programs that run the code of an assertion; they stand beside the cases."""
_COMMANDS = {"javascript": "node", "python": "python3"}
_FUNCTION = re.compile(r"(?P<path>.+\.\w+):(?P<function>\w+)")
_REFUSED = (
    "it is a program; put `allow: {commands: true}` into steelyard.yaml beside the output and "
    "convert again"
)

MARKUP = ("is-xml",)
_XML = """\
import xml.etree.ElementTree as ElementTree
try:
    root = ElementTree.fromstring(output.strip())
except ElementTree.ParseError as error:
    return {"pass": False, "reason": f"is not XML: {error}"}
def found(path):
    first, _, rest = path.partition(".")
    return root.tag == first and (not rest or root.find(rest.replace(".", "/")) is not None)
missing = [path for path in context["config"]["required"] if not found(path)]
return {"pass": not missing, "reason": f"lacks {missing}" if missing else "is XML"}
"""


def program(
    kind: str,
    entry: JsonObject,
    grading: AssertionContext,
    place: ConfigPlace,
    changes: list[Change],
) -> JsonObject:
    """The code judge that runs an assertion's code."""
    code = entry.get("value")
    if not isinstance(code, str) or not code.strip():
        raise wrong("its value must be code, or the path of a file with it")
    config: JsonObject = {"vars": grading.values, **_code(code, grading)}
    if isinstance(entry.get("config"), dict):
        config["config"] = entry["config"]
    threshold = entry.get("threshold")
    if isinstance(threshold, int | float) and not isinstance(threshold, bool):
        config["threshold"] = threshold
    changes.append(place.replaced(f"{_COMMANDS[kind]} runs it, through {RUNNERS[kind]}"))
    return _judge(kind, kind, config)


def transformed(
    kind: str, evaluator: JsonObject, transforms: list[JsonValue], grading: AssertionContext
) -> JsonObject:
    """The code judge that changes the answer with programs, then looks for the same."""
    steps: list[JsonValue] = []
    for transform in transforms:
        if not isinstance(transform, str) or re.search(r"\.py(:\w+)?$", transform):
            raise wrong("only a transform in JavaScript is carried over")
        steps.append(_code(transform, grading))
    config: JsonObject = {"vars": grading.values, "transforms": steps}
    if kind == "javascript":
        config = {**objects(evaluator["config"]), **config}
    elif evaluator["type"] not in {kind, kind.replace("-", "_")}:
        raise wrong("a schema is not looked at after a transform")
    else:
        config["look_for"] = {"type": kind, "value": evaluator.get("value")}
    return _judge("javascript", kind, config)


def markup(entry: JsonObject, grading: AssertionContext) -> JsonObject:
    """The code judge that parses XML, and finds the elements that must be there."""
    if grading.programs is None:
        raise wrong(_REFUSED)
    value = entry.get("value")
    stated = value.get("requiredElements") if isinstance(value, dict) else value
    names = stated.split(",") if isinstance(stated, str) else listed(stated)
    wanted: list[JsonValue] = [str(name).strip() for name in names]
    config: JsonObject = {"vars": {}, "code": _XML, "config": {"required": wanted}}
    return _judge("python", "is-xml", config)


def _code(code: str, grading: AssertionContext) -> JsonObject:
    """Code as the runners take it: a text, or a file with the name of a function."""
    if grading.programs is None:
        raise wrong(_REFUSED)
    if not code.startswith(SCHEME):
        return {"code": code}
    path = code.removeprefix(SCHEME)
    made: JsonObject = {}
    if found := _FUNCTION.fullmatch(path):
        path, made["function"] = found["path"], found["function"]
    grading.source.require(path)
    return {**made, "file": f"{grading.programs.folder}{path}"}


def _judge(kind: str, name: str, config: JsonObject) -> JsonObject:
    script: list[JsonValue] = [_COMMANDS[kind], RUNNERS[kind]]
    return {"name": name, "type": "code_judge", "script": script, "config": config}
