"""`nearest`: answers like the most similar question that a file knows.

A baseline without a model: what it gets right needs no understanding.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from steelyard.errors import TargetError
from steelyard.model.json_value import JsonObject
from steelyard.model.message import Message, ToolCall
from steelyard.model.trace import Trace
from steelyard.ports import Request
from steelyard.targets.providers import Provider
from steelyard.targets.target_settings import TargetSettings

AT_LEAST = 0.25


class NearestTarget:
    """Looks a question up by the words that it shares with known ones."""

    def __init__(self, name: str, known: Mapping[str, str], at_least: float = AT_LEAST) -> None:
        self.name = name
        self._known = [(_words(question), question, known[question]) for question in known]
        self._at_least = at_least

    def described(self) -> JsonObject:
        """Its settings, which each run keeps: no secrets."""
        return {"provider": "nearest", "known": len(self._known), "at_least": self._at_least}

    async def ask(self, request: Request) -> Trace:
        """The answer of one record; one that cannot be given is a TargetError with a code."""
        asked = _words(_last_question(request))
        likeness, question, answer = max(
            ((_likeness(asked, words), known, answer) for words, known, answer in self._known),
            default=(0.0, "", ""),
        )
        if likeness < self._at_least:
            raise TargetError("no_response", f"no known question is like '{request.case.id}'")
        found = ToolCall(tool="look_up", input=" ".join(sorted(asked)), output=question)
        return Trace(messages=(Message(role="assistant", content=answer, tool_calls=(found,)),))

    async def close(self) -> None:
        """Nothing to let go; called once, or more often."""


def make(given: TargetSettings) -> NearestTarget:
    """A target from its entry in steelyard.yaml; what is wrong there is said with its place."""
    path = given.root / given.needed("path")
    settings = given.object("settings")
    at_least = settings.get("at_least", AT_LEAST)
    if not isinstance(at_least, int | float) or not 0 <= at_least <= 1:
        raise given.wrong(f"settings.at_least must be a number from 0 to 1, not {at_least!r}")
    return NearestTarget(given.name, _read(given, path), float(at_least))


PROVIDER = Provider(make=make, takes=("path", "settings"))


def _read(given: TargetSettings, path: Path) -> dict[str, str]:
    try:
        known: object = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise given.wrong(f"cannot read the questions {path}: {error}") from None
    if not isinstance(known, dict):
        raise given.wrong(f"{path} must hold one object, from questions to answers")
    pairs = cast(dict[str, object], known).items()
    return {question: str(answer) for question, answer in pairs}


def _last_question(request: Request) -> str:
    said = [text for role, text in request.prompt.messages if role == "user"]
    return said[-1] if said else ""


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold()))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that both have."""
    return len(one & other) / len(one | other) if one | other else 0.0
