"""Messages of eval files to the model, with the text of the files they show."""

from __future__ import annotations

from steelyard.contracts.eval_cases.evaluators import fault_problem
from steelyard.contracts.image_blocks import ImageReader, is_image
from steelyard.contracts.message_rows import (
    BlockReader,
    beyond,
    read_block,
    read_blocks,
    read_message,
)
from steelyard.formats.json_fields import fields, text_field
from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonObject, JsonValue, Path
from steelyard.model.message import ContentBlock, FileBlock, Message, OtherBlock
from steelyard.model.unsent import named
from steelyard.ports import FileFault, Files


class MessageBuilder:
    """Builds messages; files that cannot be had are collected in `problems`."""

    def __init__(self, files: Files, problems: list[Problem], *, is_input: bool) -> None:
        self._files = files
        self._problems = problems
        self._images = ImageReader(files, problems)
        self._is_input = is_input
        """Whether files may be guidelines: those of a reference never are."""

    def messages(self, entries: list[JsonValue], path: Path) -> tuple[Message, ...]:
        """A list of messages."""
        return tuple(
            self.message(fields(entry), (*path, index)) for index, entry in enumerate(entries)
        )

    def message(self, entry: JsonObject, path: Path) -> Message:
        """One message."""
        return read_message(entry, self._block_reader((*path, "content")))

    def blocks(self, entries: list[JsonValue], path: Path) -> tuple[ContentBlock, ...]:
        """A list of content."""
        return read_blocks(entries, self._block_reader(path))

    def file_block(self, entry: JsonObject, path: Path) -> ContentBlock:
        """A block that shows a file."""
        if is_image(entry):
            return self._images.block(entry, path, path)
        value = text_field(entry, "value")
        found = self._files.read(value)
        if isinstance(found, FileFault):
            self._problems.append(fault_problem(found, path))
            return OtherBlock(data=entry)
        return FileBlock(
            value=value,
            path=found.path,
            text=found.text,
            guideline=found.is_guideline and self._is_input,
            extra=beyond(entry, {"type", "value"}),
        )

    def _block_reader(self, path: Path) -> BlockReader:
        def block(row: JsonObject, index: int) -> ContentBlock:
            if row["type"] == "file":
                return self.file_block(row, (*path, index, "value"))
            if is_image(row):
                return self._images.block(row, (*path, index))
            made = read_block(row)
            if self._is_input and isinstance(made, OtherBlock):
                self._warn(made, (*path, index))
            return made

        return block

    def _warn(self, block: OtherBlock, path: Path) -> None:
        """Recorded answers to it can be graded; a target cannot be asked."""
        self._problems.append(
            Problem(
                code="unsupported_field",
                message=f"{{}}: no target can be sent {named(block)}",
                path=path,
                severity="warning",
            )
        )
