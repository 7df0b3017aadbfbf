"""The prompt of a case, and its stored form."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from steelyard.contracts.legal_eval.policies import Policies
from steelyard.contracts.legal_eval.prompting import policy_messages
from steelyard.contracts.message_rows import message_row
from steelyard.engine.prompt_template import PromptTemplate
from steelyard.engine.prompts import build_prompt, prompt_from
from steelyard.formats.json_hash import messages_sha256
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import FileBlock, ImageBlock
from steelyard.model.run import AskedContent, Asking
from steelyard.model.unsent import has_more_than_text, unsent, without
from steelyard.ports import Prompt, Turn
from steelyard.results.requests import LONG


def prompt_of(
    policies: Policies,
    template: PromptTemplate | None,
    case: Case,
    carries: frozenset[str] | None = None,
) -> Prompt:
    """The prompt of a case: by its policy if it has a task type, within the target's template.

    With `carries`, content that the target does not support is left out.
    """
    if carries is not None and has_more_than_text(case.input_messages):
        sent = without(case.input_messages, unsent(case.input_messages, carries))
        case = replace(case, input_messages=sent)
    if case.task_type is not None:
        messages = policy_messages(case, policies.of(case))
        if not template:
            return prompt_from(messages)
        case = replace(case, input_messages=messages, context="")
    return template.prompt(case) if template else build_prompt(case)


def asking_of(prompt: Prompt, case: Case) -> Asking:
    """The stored form of a prompt, with the expectations of its case."""
    turns = prompt.turns
    return Asking(
        messages=tuple(map(_kept, turns)) if turns else prompt.messages,
        sha256=_turns_sha256(turns) if turns else messages_sha256(prompt.messages),
        expected=expected_row(case),
        documents=tuple(_documents(case)) if len(prompt.text) >= LONG else (),
    )


def expected_row(case: Case) -> JsonObject | None:
    """What a good answer to a case would be, by kind; None where the case says nothing of it."""
    row: JsonObject = {}
    if answers := case.answers:
        row["answers"] = list(answers)
    if case.expected_outcome:
        row["outcome"] = case.expected_outcome
    if case.correct_choice_ids:
        row["choices"] = list(case.correct_choice_ids)
    if _expects_more(case):
        row["messages"] = [message_row(message) for message in case.expected_messages]
    if case.criteria or case.rubrics:
        row["criteria"] = _statements(case)
    if case.expected:
        row["demands"] = dict(case.expected)
    return row or None


def _expects_more(case: Case) -> bool:
    """Whether the expected messages hold more than the text of the last one."""
    expected = case.expected_messages
    if not expected or (len(expected) == 1 and isinstance(expected[0].content, str)):
        return bool(expected and expected[0].tool_calls)
    return True


def _statements(case: Case) -> list[JsonValue]:
    """The criteria and statements that the case brings, with the points of each."""
    criteria: list[JsonValue] = [
        {"id": one.id, "text": one.description or one.title, "weight": one.weight}
        for one in case.criteria
    ]
    statements: list[JsonValue] = [
        {"id": one.id, "text": one.description, "weight": one.weight} for one in case.rubrics
    ]
    return [*criteria, *statements]


def _kept(turn: Turn) -> tuple[str, AskedContent]:
    """A message with content other than text: images by hash, tool calls as sent."""
    calls: list[JsonObject] = [{"type": "tool_call", **call._asdict()} for call in turn.tools]
    return turn.role, (*(map(_part, turn.parts)), *calls)


def _part(part: str | ImageBlock) -> str | JsonObject:
    if isinstance(part, str):
        return part
    kept: JsonObject = {"type": "image", "sha256": part.sha256}
    if part.url:
        return kept | {"url": part.url}
    return kept | {"media_type": part.media_type, "size": len(part.content)}


def _turns_sha256(turns: Iterable[Turn]) -> str:
    return hashlib.sha256("\n".join(turn.canonical for turn in turns).encode()).hexdigest()


def _documents(case: Case) -> Iterator[str]:
    """The texts of files as included in a prompt, which many cases may share."""
    shown = (
        block.text.strip()
        for message in case.input_messages
        for block in message.blocks
        if isinstance(block, FileBlock)
    )
    attached = ((document.text or "").strip() for document in case.attachments)
    return (text for text in (*shown, *attached) if len(text) >= LONG)
