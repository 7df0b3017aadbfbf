"""One row of a legal_eval file to a case."""

from __future__ import annotations

from typing import cast

from steelyard.contracts.legal_eval.attachments import AttachmentBuilder
from steelyard.contracts.message_rows import beyond
from steelyard.formats.json_fields import (
    number_field,
    object_field,
    object_list,
    text_field,
    text_list,
)
from steelyard.model.case import AnswerChoice, Case, Criterion, Place
from steelyard.model.json_value import JsonObject
from steelyard.model.message import Message, Role
from steelyard.ports import Files

FIELDS = (
    *("schema_version", "id", "dataset", "task_type", "prompt", "context", "messages"),
    *("attachments", "metadata", "rubric", "reference_answers", "choices", "correct_choice_ids"),
)
_NAMED = set(FIELDS)
_MESSAGE = {"role", "content"}
_CRITERION = {"id", "title", "description", "weight"}
_CHOICE = {"id", "text"}


def build_case(row: JsonObject, files: Files, place: Place) -> Case:
    """The case of a row whose shape has been checked."""
    listed = object_list(row, "attachments")
    attachments = AttachmentBuilder(files).attachments(listed) if listed else ()
    asked, prompt = _conversation(row)
    return Case(
        id=text_field(row, "id"),
        dataset=text_field(row, "dataset"),
        task_type=text_field(row, "task_type"),
        input_messages=asked,
        context=text_field(row, "context", ""),
        attachments=attachments,
        reference_answers=tuple(text_list(row, "reference_answers")),
        choices=tuple([_choice(choice) for choice in object_list(row, "choices")]),
        correct_choice_ids=tuple(text_list(row, "correct_choice_ids")),
        criteria=tuple([_criterion(item) for item in object_list(row, "rubric")]),
        metadata=object_field(row, "metadata"),
        extra={**prompt, **beyond(row, _NAMED)},
        place=place,
    )


def _conversation(row: JsonObject) -> tuple[tuple[Message, ...], JsonObject]:
    """The messages with the prompt as the last one, unless that says it already.

    A last turn that puts more before the prompt, such as a text to read, stands as it is; the
    prompt of the row is then kept beside it.
    """
    prompt, earlier = text_field(row, "prompt"), object_list(row, "messages")
    messages = tuple([_message(item) for item in earlier])
    last = messages[-1] if messages else None
    if last is None or last.role != "user" or not _ends_with(last.text, prompt):
        return (*messages, Message(role="user", content=prompt)), {}
    return messages, {} if last.text == prompt else {"prompt": prompt}


def _ends_with(text: str, prompt: str) -> bool:
    """Whether a turn ends with the prompt, white space aside."""
    stripped = prompt.strip()
    return text.endswith(prompt) or bool(stripped and text.rstrip().endswith(stripped))


def _message(row: JsonObject) -> Message:
    role, content = cast(Role, row["role"]), text_field(row, "content")
    return Message(role=role, content=content, extra=beyond(row, _MESSAGE))


def _choice(row: JsonObject) -> AnswerChoice:
    return AnswerChoice(text_field(row, "id"), text_field(row, "text"), beyond(row, _CHOICE))


def _criterion(row: JsonObject) -> Criterion:
    return Criterion(
        id=text_field(row, "id"),
        title=text_field(row, "title"),
        description=text_field(row, "description", ""),
        weight=float(number_field(row, "weight", 1.0)),
        extra=beyond(row, _CRITERION),
    )
