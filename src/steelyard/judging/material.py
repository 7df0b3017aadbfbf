"""What templates of judges may name, filled from a case and a trace."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from steelyard.model.case import Case
from steelyard.model.json_value import Extra, JsonObject, JsonValue
from steelyard.model.message import Message, ToolCall
from steelyard.model.trace import Trace

_ASKING = ("system", "user")
"""Who says what was there before the answer."""


class Material(Mapping[str, JsonValue]):
    """The variables that come from trace and case, each made when a template first names it."""

    def __init__(
        self,
        about: tuple[Trace, Case, int | None],
        stated: Extra,
        hidden: Collection[str] = (),
    ) -> None:
        self._about = about
        self._made: JsonObject = {**stated}
        self._hidden = hidden

    def __getitem__(self, name: str) -> JsonValue:
        if name not in self._made:
            if name in self._hidden:
                raise KeyError(name)
            self._made[name] = _MAKERS[name](*self._about)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._made or (name in _MAKERS and name not in self._hidden)

    def __iter__(self) -> Iterator[str]:
        made = (name for name in _MAKERS if name not in self._hidden)
        return iter(dict.fromkeys((*made, *self._made)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def stating(self, values: Extra) -> Material:
        """The same with other values under these names."""
        return Material(self._about, {**self._made, **values}, self._hidden)

    def hiding(self, names: Collection[str]) -> Material:
        """The same without these names."""
        made = {name: value for name, value in self._made.items() if name not in names}
        return Material(self._about, made, {*self._hidden, *names})


def material(trace: Trace, case: Case, turn: int | None = None) -> Material:
    """The variables that come from trace and case: `input`, `output`, `expected`, `context`.

    `turn` counts assistant messages from 1; `output` is then what was said in that one. With
    them come `criteria`, and the names that eval cases use for the same things, but `question`.
    """
    return Material((trace, case, turn), {})


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


def _reference(_trace: Trace, case: Case, _turn: int | None) -> JsonValue:
    return "\n\n".join(case.answers)


def _output(trace: Trace, _case: Case, turn: int | None) -> JsonValue:
    return output_text(trace, turn)


_MAKERS: dict[str, Callable[[Trace, Case, int | None], JsonValue]] = {
    "input": lambda _, case, __: _input(case),
    "output": _output,
    "expected": lambda _, case, __: _expected(case),
    "context": lambda _, case, __: case.context,
    "criteria": lambda _, case, __: _criteria(case),
    "candidate_answer": _output,
    "reference_answer": _reference,
    "expected_output": _reference,
    "expected_outcome": lambda _, case, __: case.expected_outcome,
    "input_messages": lambda _, case, __: transcript(case.input_messages),
    "output_messages": lambda trace, _, __: transcript(trace.messages),
    "expected_messages": lambda _, case, __: transcript(case.expected_messages),
}
