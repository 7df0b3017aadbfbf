"""One case on its way into another contract: what stands elsewhere there, and what is lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from steelyard.contracts.contract import Contract
from steelyard.model.case import Case
from steelyard.model.conversion import Change, Refusal
from steelyard.model.evaluator import UNGRADED, Evaluator
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import FileBlock, Message, OtherBlock
from steelyard.model.unsent import NOTHING, unsent

# What a reader sets where a file says nothing; to lose it is to lose nothing.
_DEFAULTS = {"target": ("default",), "evaluator": ("llm_judge", UNGRADED)}


class Way(NamedTuple):
    """From which contract to which, and what the dataset is called there."""

    source: Contract
    to: Contract
    dataset: str


class Fitted(NamedTuple):
    """A case that a contract can hold, and what became of its fields."""

    case: Case
    changes: tuple[Change, ...] = ()


Fit = Fitted | Refusal


class Carrier:
    """Collects, for one case, what becomes of its fields in the other contract."""

    def __init__(self, case: Case, way: Way) -> None:
        self.case = case
        self.changes: list[Change] = []
        self.metadata: JsonObject = dict(case.metadata)
        self._way = way
        self._to = way.to.name

    def lose(self, field: str, value: object, message: str = "") -> None:
        """Say that a field is lost, unless it holds nothing."""
        if value and value not in _DEFAULTS.get(field, ()):
            self.changes.append(Change(field, message or f"{self._to} has no place for it"))

    def move(self, field: str, message: str) -> None:
        """Say that a field stands elsewhere."""
        self.changes.append(Change(field, message, is_lost=False))

    def keep(self, field: str, value: JsonValue) -> None:
        """Keep in metadata what describes a case but neither asks nor grades."""
        if value in (None, "", [], {}):
            return
        if field not in self.metadata:
            self.metadata[field] = value
            self.move(field, "kept in metadata")
        elif self.metadata[field] != value:
            self.lose(field, value, f"metadata has a '{field}' of its own")

    def keep_extra(self) -> None:
        """Keep in metadata what the case carries beyond the fields of its contract."""
        source = self._way.source
        for field, value in self.case.extra.items():
            if field in source.own_workings:
                self.lose(field, value)
            elif field == "metadata" and isinstance(value, dict):
                self.metadata = {**value, **self.metadata}
            elif field not in source.writing_aids:
                self.keep(field, value)
        if self.case.dataset != self._way.dataset:
            self.keep("dataset", self.case.dataset)

    def keep_labels(self, *fields: str) -> None:
        """Keep in metadata those of the descriptive fields that the contract lacks."""
        values: Mapping[str, JsonValue] = {
            "tags": list(self.case.tags),
            "conversation_id": self.case.conversation_id,
            "task_type": self.case.task_type,
            "bundle": self.case.bundle,
        }
        for field in fields:
            self.keep(field, values[field])

    def lose_grading(self, evaluators: tuple[Evaluator, ...]) -> None:
        """Say that evaluators, and which target answers, are lost."""
        for kind in dict.fromkeys(evaluator.type for evaluator in evaluators):
            self.lose(f"evaluators: {kind}", value=True)
        self.lose("evaluator", self.case.evaluator)
        self.lose("target", self.case.target)

    def texts_only(self, messages: tuple[Message, ...], field: str) -> tuple[Message, ...]:
        """The messages with nothing but a role and a text each."""
        for message in messages:
            self.lose(f"{field}.tool_calls", message.tool_calls)
            self.lose(f"{field}.name", message.name)
            for name in message.extra:
                self.lose(f"{field}.{name}", value=True)
            for block in message.blocks:
                if isinstance(block, FileBlock):
                    self.move(f"{field}: file", "the text of the file stands in its place")
                elif isinstance(block, OtherBlock) and isinstance(message.content, tuple):
                    self.lose(f"{field}: {block.data.get('type', 'block')}", value=True)
        return tuple(Message(role=message.role, content=message.text) for message in messages)

    def answers(self) -> tuple[str, ...]:
        """The reference answers; a text of the last expected message is one."""
        if self.case.expected_messages:
            self.texts_only(self.case.expected_messages, "expected_messages")
            earlier = self.case.expected_messages[:-1]
            self.lose("expected_messages", earlier, "only the last one is a reference answer")
        return self.case.answers

    def first_answer(self) -> tuple[str, ...]:
        """The one reference answer that the contract holds."""
        answers = self.answers()
        self.lose("reference_answers", answers[1:], f"{self._to} holds one answer, the first")
        return answers[:1]

    def lose_expected(self, *held: str) -> None:
        """Say that the expectations that the contract does not know are lost."""
        for name in self.case.expected:
            field = name if name.startswith("expected") else f"expected.{name}"
            self.lose(field, name not in held)


def wordless(case: Case, to: str) -> Refusal | None:
    """Why a contract of texts cannot hold a question: it has a part that no text stands for."""
    parts = [one.what for one in unsent(case.input_messages, NOTHING) if len(one.path) > 1]
    if not parts:
        return None
    listed = " and ".join(dict.fromkeys(parts))
    return Refusal("left_out", f"the question holds {listed}, and {to} asks with text alone")


def one_prompt(carrier: Carrier, to: str) -> str | Refusal:
    """The text that a contract with one prompt asks; a conversation is more than that."""
    case = carrier.case
    if (refused := wordless(case, to)) is not None:
        return refused
    beside = [name for name in ("context", "attachments", "choices") if getattr(case, name)]
    if beside:
        reason = f"the question needs its {' and '.join(beside)}, and {to} has one prompt alone"
        return Refusal("left_out", f"{reason}; `flatten` puts all into it")
    if len(case.input_messages) != 1 or case.input_messages[0].role != "user":
        reason = f"a conversation, and {to} has one prompt alone"
        return Refusal("left_out", f"{reason}; `flatten` puts all into it")
    message = carrier.texts_only(case.input_messages, "input_messages")[0]
    if not message.text.strip():
        return Refusal("left_out", "nothing is asked: the message has no text")
    return message.text
