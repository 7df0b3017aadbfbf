"""The files of an eval, which the target is shown before the prompt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from steelyard.formats.json_fields import text_field
from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import (
    Content,
    ContentBlock,
    FileBlock,
    Message,
    TextBlock,
    UnshownBlock,
)
from steelyard.ports import FileFault, Files

FILES = "files"
# A file that is there, and is no text: it cannot be shown, and the prompt says so.
_NOT_SHOWN = {"invalid_encoding", "record_too_large", "unreadable_file"}


def input_message(row: JsonObject, files: Files) -> Message:
    """What the target is asked: the files, then the prompt."""
    prompt = text_field(row, "prompt")
    shown = tuple(_block(cast(str, path), files) for path in _listed(row))
    content: Content = (*shown, TextBlock(text=prompt)) if shown else prompt
    return Message(role="user", content=content)


def prompt_of(message: Message) -> str:
    """The prompt alone, without the files before it."""
    if isinstance(message.content, tuple):
        return cast(TextBlock, message.content[-1]).text
    return cast(str, message.content)


def file_problems(row: JsonObject, files: Files) -> Iterator[Problem]:
    """Files that are not there, and, as warnings, those that cannot be shown."""
    for index, path in enumerate(_listed(row)):
        found = files.read(cast(str, path))
        if isinstance(found, FileFault):
            is_error = found.code not in _NOT_SHOWN
            yield Problem(
                code=found.code,
                message=f"{{}}: {found.message}{'' if is_error else '; it is not shown'}",
                path=(FILES, index),
                hint=found.hint,
                severity="error" if is_error else "warning",
            )


def _listed(row: JsonObject) -> list[JsonValue]:
    return cast(list[JsonValue], row.get(FILES, []))


def _block(path: str, files: Files) -> ContentBlock:
    found = files.read(path)
    if isinstance(found, FileFault):
        return UnshownBlock(text=f"[file {path}: not shown]")
    return FileBlock(value=path, path=found.path, text=found.text)
