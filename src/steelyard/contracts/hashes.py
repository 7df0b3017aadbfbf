"""The hashes of the files that a case shows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from steelyard.model.case import Case
from steelyard.model.evaluator import Evaluator
from steelyard.model.json_value import JsonValue
from steelyard.model.message import FileBlock, ImageBlock


def file_hashes(case: Case) -> dict[str, JsonValue]:
    """The hash of the text of every file that a case loads: by the reference as written, and
    of a prompt file by its place among the evaluators."""
    hashes: dict[str, JsonValue] = {}
    for message in (*case.input_messages, *case.expected_messages):
        if isinstance(message.content, tuple):
            for block in message.content:
                if isinstance(block, FileBlock):
                    hashes[block.value] = _sha256(block.text)
                elif isinstance(block, ImageBlock) and block.file:
                    hashes[block.file] = block.sha256
    # Most evaluators have none, and a generator for each of them is not for nothing.
    for evaluator in case.evaluators:
        if evaluator.prompt_path or evaluator.members:
            hashes.update(_prompt_hashes(case.evaluators))
            break
    for document in case.attachments:
        if document.text is not None:
            hashes[document.path] = _sha256(document.text)
    return hashes


def _prompt_hashes(evaluators: tuple[Evaluator, ...], path: str = "") -> Iterator[tuple[str, str]]:
    """The prompt files by their place, because two evaluators may have one name."""
    for index, evaluator in enumerate(evaluators):
        place = f"{path}evaluators[{index}]."
        if evaluator.prompt_path and evaluator.prompt is not None:
            yield f"{place}prompt", _sha256(evaluator.prompt)
        yield from _prompt_hashes(evaluator.members, place)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
