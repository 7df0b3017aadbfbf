"""What templates of judges may name, filled from a case and a trace."""

from __future__ import annotations

import json
from collections.abc import Sequence

from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import Message, ToolCall
from steelyard.model.trace import Trace

_ASKING = ("system", "user")
"""Who says what was there before the answer."""


def material(trace: Trace, case: Case, turn: int | None = None) -> JsonObject:
    """The variables that come from trace and case: `input`, `output`, `expected`, `context`.

    `turn` counts assistant messages from 1; `output` is then what was said in that one. With
    them come `criteria`, and the names that eval cases use for the same things, but `question`.
    """
    output = output_text(trace, turn)
    answers = "\n\n".join(case.answers)
    return {
        "input": _input(case),
        "output": output,
        "expected": _expected(case),
        "context": case.context,
        "criteria": _criteria(case),
        "candidate_answer": output,
        "reference_answer": answers,
        "expected_output": answers,
        "expected_outcome": case.expected_outcome,
        "input_messages": transcript(case.input_messages),
        "output_messages": transcript(trace.messages),
        "expected_messages": transcript(case.expected_messages),
    }


def quotable(trace: Trace, turn: int | None = None) -> str:
    """The text of a trace, or of one turn of it, in which quoted evidence must be found."""
    if turn is not None:
        return output_text(trace, turn)
    return "\n".join(_shown(message) for message in trace.messages)


def transcript(messages: Sequence[Message]) -> str:
    """A conversation as text: who said what, and which tools were called with what result."""
    return "\n\n".join(
        f"@[{message.role.capitalize()}]:\n{_shown(message)}" for message in messages
    )


def _input(case: Case) -> str:
    """What was asked: one message as it is, several with who said each."""
    if len(case.input_messages) == 1:
        return _shown(case.input_messages[0])
    return transcript(case.input_messages)


def output_text(trace: Trace, turn: int | None = None) -> str:
    """What was answered: the text alone where nothing else happened, else all of it."""
    if turn is not None:
        answers = [message for message in trace.messages if message.role == "assistant"]
        return _shown(answers[turn - 1])
    done = [message for message in trace.messages if message.role not in _ASKING]
    if len(done) == 1 and done[0] is trace.messages[-1] and done[0].role == "assistant":
        return _shown(done[0])
    return transcript(trace.messages)


def _expected(case: Case) -> JsonValue:
    """The answer that is expected; where only demands are known, those."""
    if case.answers:
        return "\n\nor:\n\n".join(case.answers)
    return dict(case.expected) or ""


def _criteria(case: Case) -> str:
    """What a good answer achieves, as the case says it."""
    listed = [f"- {one.title} {one.description}".rstrip() for one in case.criteria]
    return "\n".join([*([case.expected_outcome] if case.expected_outcome else []), *listed])


def _shown(message: Message) -> str:
    parts = [message.text, *(_call(call) for call in message.tool_calls)]
    return "\n".join(part for part in parts if part)


def _call(call: ToolCall) -> str:
    shown = f"[tool call] {call.tool} {_json(call.input)}"
    return shown if call.output is None else f"{shown}\n[tool result] {_json(call.output)}"


def _json(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
