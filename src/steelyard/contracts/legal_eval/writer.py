"""Writes contract 1; what was read comes back unchanged."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import BinaryIO

from steelyard.contracts.legal_eval.contract import LEGAL_EVAL
from steelyard.errors import InvalidError
from steelyard.formats.json_text import compact
from steelyard.formats.jsonl import row_bytes
from steelyard.formats.schema import BLANK
from steelyard.model.case import Attachment, Case, Criterion
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import Message


def write_legal_eval(dataset: Dataset) -> bytes:
    """A dataset as JSONL, one row a case."""
    return b"".join(row_bytes(case_row(case)) for case in dataset.cases)


def lines_of(_name: str, rows: list[JsonObject]) -> Callable[[], BinaryIO]:
    """A file of these rows."""
    return partial(BytesIO, b"".join(compact(row) + b"\n" for row in rows))


def case_row(case: Case) -> JsonObject:
    """A case as one row; a case that this contract cannot hold is a RequestError."""
    row: JsonObject = {
        "schema_version": LEGAL_EVAL.schema_version,
        "id": case.id,
        "dataset": case.dataset,
        "task_type": case.task_type or _task_type(case),
        "prompt": case.extra.get("prompt") or _prompt(case),
    }
    if case.context:
        row["context"] = case.context
    if messages := _messages(case):
        row["messages"] = messages
    if case.attachments:
        row["attachments"] = [_attachment_row(attachment) for attachment in case.attachments]
    if case.metadata:
        row["metadata"] = dict(case.metadata)
    row.update(_expectations(case))
    for name, value in case.extra.items():
        if name != "prompt":
            row[name] = value
    return row


def _expectations(case: Case) -> JsonObject:
    """What a case is graded by."""
    row: JsonObject = {}
    if case.criteria:
        row["rubric"] = [_criterion_row(criterion) for criterion in case.criteria]
    if case.reference_answers:
        row["reference_answers"] = list(case.reference_answers)
    if case.choices:
        row["choices"] = [
            {"id": choice.id, "text": choice.text, **choice.extra} for choice in case.choices
        ]
    if case.correct_choice_ids:
        row["correct_choice_ids"] = list(case.correct_choice_ids)
    return row


def _task_type(case: Case) -> str:
    """The type of a case that another contract brought: by what it can be graded by."""
    if case.choices and case.correct_choice_ids:
        return "mcq"
    if case.criteria:
        return "rubric_qa"
    if case.reference_answers:
        return "reference_qa"
    raise InvalidError(
        f"case '{case.id}' has neither choices nor criteria nor a reference answer; "
        "one of them is needed in legal_eval"
    )


def _prompt(case: Case) -> str:
    asked = [message for message in case.input_messages if message.role == "user"]
    if not asked or not asked[-1].text.strip(BLANK):
        raise InvalidError(f"case '{case.id}' asks nothing: it has no user message with a text")
    return asked[-1].text


def _messages(case: Case) -> list[JsonValue]:
    """The conversation, where it is more than the prompt alone."""
    messages = case.input_messages
    if len(messages) == 1 and not messages[0].extra and "prompt" not in case.extra:
        return []
    return [_message_row(case, message) for message in messages]


def _message_row(case: Case, message: Message) -> JsonObject:
    if message.role == "tool":
        raise InvalidError(
            f"case '{case.id}' has a message of a tool, which legal_eval cannot hold"
        )
    return {"role": message.role, "content": message.text, **message.extra}


def _attachment_row(attachment: Attachment) -> JsonObject:
    row: JsonObject = {"path": attachment.path}
    if attachment.kind is not None:
        row["kind"] = attachment.kind
    if attachment.title is not None:
        row["title"] = attachment.title
    return {**row, **attachment.extra}


def _criterion_row(criterion: Criterion) -> JsonObject:
    row: JsonObject = {"id": criterion.id, "title": criterion.title}
    if criterion.description:
        row["description"] = criterion.description
    if criterion.weight != 1.0:
        row["weight"] = criterion.weight
    return {**row, **criterion.extra}
