"""Judges that say what a test has written down for them, without an engine."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from steelyard.errors import TargetError
from steelyard.judging.asking import ask_for
from steelyard.judging.fingerprint import fingerprint
from steelyard.judging.questions_asked import Answered, AskedQuestion
from steelyard.model.case import Case
from steelyard.model.json_value import JsonValue
from steelyard.model.judge import Judge
from steelyard.model.judgement import JudgeCall, Reply
from steelyard.model.message import Message
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import JudgedCheck
from steelyard.model.trace import Trace

Line: TypeAlias = str | Reply | TargetError
Script: TypeAlias = Callable[[JudgeCall], Line]


def said(text: str = "", **more: Any) -> Reply:
    """A reply with a text, and with whatever else a test is about."""
    return replace(Reply(text=text, fingerprint="", target="scripted"), **more)


def answer(
    value: JsonValue, *, key: str = "score", evidence: str = "", reasoning: str = ""
) -> str:
    """A reply in the form that is asked for."""
    parts = {"evidence": evidence, "reasoning": reasoning, "value": value}
    return json.dumps({"answers": {key: parts}})


def in_turn(*lines: Line) -> Script:
    """A judge that says these things one after the other, and the last for ever."""
    left = list(lines)

    def script(_call: JudgeCall) -> Line:
        return left.pop(0) if len(left) > 1 else left[0]

    return script


@dataclass(frozen=True, slots=True)
class ScriptedAsker:
    """Carries calls to a script; what was said once is said again, as the engine does it."""

    script: Script
    check: str = ""
    calls: list[JudgeCall] = field(default_factory=list[JudgeCall])
    """Every call that reached the script."""
    kept: dict[str, Line] = field(default_factory=dict[str, Line])

    def within(self, check: str) -> ScriptedAsker:
        """The same script for one check."""
        name = f"{self.check}/{check}" if self.check else check
        return replace(self, check=name)

    def secret(self, what: str) -> bytes:
        """Nothing that a test could not foretell."""
        return hashlib.sha256(f"{self.check} {what}".encode()).digest()

    async def ask(self, call: JudgeCall) -> Reply:
        """What the script says; an error that is written in it is raised."""
        parts = (call.judge.name, call.item, call.turn, call.sample, call.round, call.target)
        key = f"{self.check} {parts}"
        if key not in self.kept:
            self.calls.append(call)
            self.kept[key] = self.script(call)
        line = self.kept[key]
        await asyncio.sleep(0)
        if isinstance(line, TargetError):
            raise line
        reply = said(line) if isinstance(line, str) else line
        return replace(reply, fingerprint=fingerprint(call.identity, reply.model, {}))


def asker_saying(*lines: Line) -> ScriptedAsker:
    """An asker whose judge says these things in turn."""
    return ScriptedAsker(in_turn(*lines))


def asked_for(asker: ScriptedAsker, question: AskedQuestion) -> Answered:
    """What comes of a question, for tests that are not async."""
    return asyncio.run(ask_for(asker, question))


def judged(
    check: JudgedCheck, asker: ScriptedAsker, text: str = "Paris", case: Case | None = None
) -> Outcome:
    """What a check finds in an answer."""
    trace = Trace(messages=(Message(role="assistant", content=text),))
    return asyncio.run(check.ask(trace, case or a_case(), asker))


def a_case(question: str = "What is the capital of France?") -> Case:
    """A case with one question and one right answer."""
    return Case(
        id="q1",
        input_messages=(Message(role="user", content=question),),
        reference_answers=("Paris",),
    )


def a_judge(template: str = "Q: {{ input }}\nA: {{ output }}", **more: Any) -> Judge:
    """A judge with a short template."""
    return replace(Judge(id="short", version="1.0.0", template=template), **more)
