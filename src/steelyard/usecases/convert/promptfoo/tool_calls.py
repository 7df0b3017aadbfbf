"""Assertions about the tools that were called, as a trajectory of tool calls."""

from __future__ import annotations

import json

from steelyard.contracts.importers.source_row import wrong
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.usecases.convert.promptfoo.context import AssertionContext
from steelyard.usecases.convert.promptfoo.source import ConfigPlace, listed, objects

_SKILL = "skill-used"
TOOL_CALLS = (
    *("trajectory:tool-used", "trajectory:tool-args-match", "trajectory:tool-sequence"),
    _SKILL,
)
_TRACED = "promptfoo reads the spans of a trace; the tool calls of the answer are looked at"
_SKILLED = "looked at is whether the tool 'Skill' was called with that name"
_CLAUDE = ("anthropic:claude-agent-sdk", "anthropic:claude-code")
_KNOWN = {
    "trajectory:tool-used": {"name", "min"},
    "trajectory:tool-args-match": {"name", "args", "arguments", "mode"},
    "trajectory:tool-sequence": {"steps", "mode"},
}


def tool_calls(
    kind: str,
    entry: JsonObject,
    grading: AssertionContext,
    place: ConfigPlace,
    changes: list[Change],
) -> JsonObject:
    """The trajectory that is demanded; raises ParseError for what none can say."""
    value = _filled(entry.get("value"), grading)
    if kind == _SKILL:
        made = _skills(value, grading, is_negated=str(entry["type"]).startswith("not-"))
        how = _SKILLED
    else:
        stated = objects(value)
        if unknown := sorted(set(stated) - _KNOWN[kind]):
            raise wrong(f"a trajectory of tool calls has nothing for its {', '.join(unknown)}")
        made, how = _trajectory(kind, value, entry), _TRACED
    changes.append(place.replaced(how))
    return {"name": kind.replace(":", "-"), "type": "tool_trajectory", **made}


def _trajectory(kind: str, value: JsonValue, entry: JsonObject) -> JsonObject:
    stated = objects(value)
    if kind == "trajectory:tool-used":
        names = [stated["name"]] if "name" in stated else listed(value)
        if len(names) > 1 and str(entry["type"]).startswith("not-"):
            raise wrong("it forbids each of several tools, and a negated trajectory all of them")
        least = stated.get("min", 1)
        if not names or not isinstance(least, int) or least < 1:
            raise wrong("its value must name tools, with a 'min' of 1 or more")
        return {"mode": "any_order", "minimums": {_named(name): least for name in names}}
    if kind == "trajectory:tool-args-match":
        args = stated.get("args", stated.get("arguments"))
        is_exact = stated.get("mode") == "exact"
        if not isinstance(args, dict):
            raise wrong("its args must be an object")
        if not is_exact and any(isinstance(one, dict | list) for one in args.values()):
            raise wrong("only plain values of arguments are compared in part")
        call: JsonObject = {"tool": _named(stated.get("name")), "args": args}
        match = "exact" if is_exact else "superset"
        return {"mode": "superset", "expected": [call], "args_match": match}
    steps = listed(stated.get("steps") if isinstance(value, dict) else value)
    calls: list[JsonValue] = [{"tool": _named(_step(step))} for step in steps]
    if not calls:
        raise wrong("its value must name the tools in their order")
    return {"mode": "exact" if stated.get("mode") == "exact" else "in_order", "expected": calls}


def _skills(value: JsonValue, grading: AssertionContext, *, is_negated: bool) -> JsonObject:
    """Skills of Claude's agents, which are calls of one tool; others record no calls."""
    if not grading.providers or not all(one in _CLAUDE for one in grading.providers):
        raise wrong("only for agents of Claude is the use of a skill a tool call")
    skills = listed(value)
    if len(skills) > 1 and is_negated:
        raise wrong("it forbids each of several skills, and a negated trajectory all of them")
    calls: list[JsonValue] = [{"tool": "Skill", "args": {"skill": _named(one)}} for one in skills]
    if not calls:
        raise wrong("its value must name skills")
    return {"mode": "superset", "expected": calls, "args_match": "superset"}


def _step(step: JsonValue) -> JsonValue:
    stated = objects(step)
    return stated["name"] if set(stated) == {"name"} else step


def _named(name: JsonValue) -> str:
    if not isinstance(name, str) or not name.strip():
        raise wrong(f"a name is demanded, not {json.dumps(name)}")
    if any(mark in name for mark in "*?"):
        raise wrong(f"a trajectory of tool calls has names, and no pattern as {name!r}")
    return name.strip()


def _filled(value: JsonValue, grading: AssertionContext) -> JsonValue:
    if isinstance(value, str):
        return grading.render(value)
    if isinstance(value, list):
        return [_filled(one, grading) for one in value]
    if isinstance(value, dict):
        return {name: _filled(one, grading) for name, one in value.items()}
    return value
