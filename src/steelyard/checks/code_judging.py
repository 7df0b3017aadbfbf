"""The input and output of a judging program: JSON in, JSON out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import cast

from steelyard.checks.programs import NotRun, ProgramCall, Programs, Ran
from steelyard.checks.text import clip
from steelyard.errors import ParseError
from steelyard.formats.encoding import without_bom
from steelyard.formats.json_text import parse_json
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import ContentBlock, FileBlock, Message, OtherBlock, ToolCall
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace

_VERDICTS = {"pass": True, "fail": False}
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingProgram:
    """A program with where it runs and what it may take."""

    script: str | tuple[str, ...]
    timeout_s: float
    threshold: float
    folder: str | None = None
    near: str | None = None

    @property
    def argv(self) -> tuple[str, ...]:
        """Its words; one text is a command for the shell."""
        return ("sh", "-c", self.script) if isinstance(self.script, str) else self.script

    def judge(self, programs: Programs, payload: JsonObject) -> Outcome:
        """What the program finds; one that fails, or says nothing that counts, is unscored."""
        ran = programs.run(self._call(json.dumps(payload, ensure_ascii=False, indent=2)))
        if isinstance(ran, NotRun):
            return Outcome.unscored(ran.reason)
        outcome = _outcome(ran, self.threshold)
        complaint = clip(ran.complaint, 500)
        if not complaint:
            return outcome
        return replace(outcome, details={**outcome.details, "stderr": complaint})

    def files(self, programs: Programs) -> Mapping[str, str]:
        """The sha256 of each file that the program consists of, by its path."""
        return programs.files(self._call(""))

    def _call(self, given: str) -> ProgramCall:
        return ProgramCall(self.argv, given, self.timeout_s, self.folder, self.near)


def payload_of(trace: Trace, case: Case) -> JsonObject:
    """The input of a program: a trace and its case, under the names of both dialects.

    Programs that are written with the kit of the format check what they are told: figures that
    are not known must be left out.
    """
    answers = case.answers
    expected: JsonValue = [message_of(message) for message in case.expected_messages]
    made: JsonValue = [message_of(message) for message in trace.messages]
    asked: JsonValue = [message_of(message) for message in case.input_messages]
    return {
        "question": question_of(case),
        "criteria": case.expected_outcome,
        "expected_outcome": case.expected_outcome,
        "expected_output": expected,
        "expected_messages": expected,
        "reference_answer": answers[0] if answers else "",
        "output": trace.response,
        "candidate_answer": trace.response,
        "messages": made,
        "output_messages": made,
        "guideline_files": list(case.guideline_paths),
        "input_files": list(case.file_paths),
        "input": asked,
        "input_messages": asked,
        "trace_summary": {**_summary(trace), **_figures(trace)},
        **_figures(trace),
        "metadata": dict(case.metadata),
    }


def question_of(case: Case) -> str:
    """All that the input says, in one text."""
    texts = (message.text.strip() for message in case.input_messages)
    return "\n\n".join(text for text in texts if text)


def message_of(message: Message) -> JsonObject:
    """A message as programs see it: with the texts of its files."""
    row: JsonObject = {"role": message.role}
    if message.name is not None:
        row["name"] = message.name
    if message.content is not None:
        row["content"] = _content(message)
    if message.tool_calls:
        row["tool_calls"] = [_call(call) for call in message.tool_calls]
    return row


def _call(call: ToolCall) -> JsonObject:
    stated: JsonObject = {
        "id": call.id,
        "tool": call.tool,
        "input": call.input,
        "output": call.output,
    }
    return _known(stated)


def _content(message: Message) -> JsonValue:
    content = message.content
    if isinstance(content, tuple):
        return [_block(block) for block in content]
    return content if isinstance(content, str) else dict(cast(JsonObject, content))


def _block(block: ContentBlock) -> JsonObject:
    if isinstance(block, OtherBlock):
        return dict(block.data)
    if isinstance(block, FileBlock):
        return {"type": "file", "value": block.value, "path": block.path, "text": block.text}
    return {"type": "text", "value": block.text, "text": block.text}


def _summary(trace: Trace) -> JsonObject:
    calls = [call for message in trace.messages for call in message.tool_calls]
    made: JsonObject = dict(Counter(call.tool for call in calls))
    return {
        "event_count": len(calls),
        "tool_names": [*sorted(made)],
        "tool_calls": made,
        "tool_calls_by_name": made,
        "error_count": sum(bool(call.extra.get("error")) for call in calls),
        "llm_call_count": sum(message.role == "assistant" for message in trace.messages),
    }


def _figures(trace: Trace) -> JsonObject:
    """What the answer took, as far as it is known."""
    usage = trace.usage
    tokens: JsonObject = {"input": usage.input_tokens, "output": usage.output_tokens}
    return _known(
        {
            "token_usage": None if None in tokens.values() else tokens,
            "cost_usd": trace.cost_usd,
            "duration_ms": trace.latency_ms,
        }
    )


def _known(figures: JsonObject) -> JsonObject:
    return {name: value for name, value in figures.items() if value is not None}


def _outcome(ran: Ran, threshold: float) -> Outcome:
    if ran.exit_code:
        output = clip(ran.complaint or ran.output, 200) or "without a word"
        return Outcome.unscored(f"the program exited with {ran.exit_code}: {output}")
    try:
        reply = parse_json(without_bom(ran.output.encode("utf-8", "replace")).strip())
    except ParseError as wrong:
        return Outcome.unscored(f"the program's output is not JSON: {wrong}; {_got(ran)}")
    if not isinstance(reply, dict):
        return Outcome.unscored(f"the program's output is no JSON object; {_got(ran)}")
    return _read(reply, threshold)


def _got(ran: Ran) -> str:
    return f"got {clip(ran.output)!r}"


def _read(reply: JsonObject, threshold: float) -> Outcome:
    """The score that a reply states, or else the share of its assertions that hold."""
    assertions = [
        one for one in _listed(reply, "assertions") if isinstance(one, dict) and "passed" in one
    ]
    score = reply.get("score")
    if score is None and assertions:
        score = sum(one["passed"] is True for one in assertions) / len(assertions)
    if isinstance(score, bool) or not isinstance(score, int | float) or not isfinite(score):
        return Outcome.unscored("the program's reply has no score")
    clipped = min(1.0, max(0.0, float(score)))
    hits = [*_texts(reply, "hits"), *_held(assertions, is_held=True)]
    misses = [*_texts(reply, "misses"), *_held(assertions, is_held=False)]
    verdict = _VERDICTS.get(str(reply.get("verdict")))
    details: JsonObject = {"hits": [*hits], "misses": [*misses]}
    if "details" in reply:
        details["details"] = reply["details"]
    if clipped != score:
        details["stated_score"] = score
    return Outcome(
        passed=clipped >= threshold if verdict is None else verdict,
        score=clipped,
        reason=_reason(reply, hits, misses, clipped),
        details=details,
    )


def _reason(reply: JsonObject, hits: list[str], misses: list[str], score: float) -> str:
    reasoning = reply.get("reasoning")
    if isinstance(reasoning, str) and reasoning.strip():
        return clip(reasoning, 300)
    reason = "; ".join(misses[:_SHOWN] or hits[:_SHOWN])
    return clip(reason, 300) or f"the program gave {score:g}"


def _listed(reply: JsonObject, name: str) -> list[JsonValue]:
    value = reply.get(name)
    return value if isinstance(value, list) else []


def _texts(reply: JsonObject, name: str) -> list[str]:
    return [text for text in _listed(reply, name) if isinstance(text, str) and text.strip()]


def _held(assertions: list[JsonObject], *, is_held: bool) -> list[str]:
    return [str(one.get("text", "")) for one in assertions if (one["passed"] is True) is is_held]
