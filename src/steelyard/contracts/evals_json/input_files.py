"""The files of an eval, which the target is shown before the prompt."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.formats.json_fields import text_field, text_list
from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonObject
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
    shown = tuple(_block(path, files) for path in text_list(row, FILES))
    content: Content = (*shown, TextBlock(text=prompt)) if shown else prompt
    return Message(role="user", content=content)


def prompt_of(message: Message) -> str:
    """The prompt alone, without the files before it."""
    last = message.blocks[-1]
    assert isinstance(last, TextBlock)
    return last.text


def file_problems(row: JsonObject, files: Files) -> Iterator[Problem]:
    """Files that are not there, and, as warnings, those that cannot be shown."""
    for index, path in enumerate(text_list(row, FILES)):
        found = files.read(path)
        if isinstance(found, FileFault):
            is_error = found.code not in _NOT_SHOWN
            yield Problem(
                code=found.code,
                message=f"{{}}: {found.message}{'' if is_error else '; it is not shown'}",
                path=(FILES, index),
                hint=found.hint,
                severity="error" if is_error else "warning",
            )


def _block(path: str, files: Files) -> ContentBlock:
    found = files.read(path)
    if isinstance(found, FileFault):
        return UnshownBlock(text=f"[file {path}: not shown]")
    return FileBlock(value=path, path=found.path, text=found.text)
