"""Judges of many things at once: what they say about each criterion, statement or question."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from fakes.scripted_judges import Line, ScriptedAsker
from steelyard.errors import TargetError
from steelyard.model.judgement import JudgeCall

TIMEOUT = TargetError("timeout", "no answer in 60 s")


def deciding(decide: Callable[[JudgeCall, str], Any]) -> ScriptedAsker:
    """A judge that decides what to say under each key of a call; an error fails the call."""

    def script(call: JudgeCall) -> Line:
        said = {key: decide(call, key) for key in keys_of(call)}
        failed = [value for value in said.values() if isinstance(value, TargetError)]
        if failed:
            return failed[0]
        answers = {
            key: {"evidence": "", "reasoning": f"because of {key}", "value": value}
            for key, value in said.items()
        }
        return json.dumps({"answers": answers})

    return ScriptedAsker(script)


def by_item(values: Mapping[str, Any]) -> ScriptedAsker:
    """Says what is written for the criterion, statement or question of a call."""
    return deciding(lambda call, _: values.get(call.item or "", "cannot_judge"))


def by_key(values: Mapping[str, Any]) -> ScriptedAsker:
    """Says what is written under a key, as grouped calls need."""
    return deciding(lambda _, key: values.get(key, "cannot_judge"))


def keys_of(call: JudgeCall) -> list[str]:
    """The keys that a call asks for."""
    return list(cast(Any, call.schema)["properties"]["answers"]["properties"])


def shown(call: JudgeCall) -> str:
    """All that a judge was sent."""
    return "\n".join(text for _, text in call.messages)
