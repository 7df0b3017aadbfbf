"""The case of a record: from the dataset that a run has read, or from what the run has kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from steelyard.contracts.reading import DatasetReading, Row
from steelyard.errors import RequestError
from steelyard.formats.json_hash import record_sha256
from steelyard.formats.json_text import compact
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import FileBlock, ImageBlock, Message
from steelyard.model.published import dataset_name
from steelyard.results.predictions import Prediction
from steelyard.usecases.datasets.open_dataset import open_dataset
from steelyard.usecases.datasets.published_datasets import Staged, find_dataset
from steelyard.usecases.registry.registry import RegistryPorts

DOCUMENT = "dataset_document"
Redact: TypeAlias = Callable[[JsonValue], bytes]
Carried: TypeAlias = Literal[
    "source", "request", "joined", "images", "answers", "criteria", "choices", "redacted"
]
"""What was carried over, or could not be; `CARRIED` has the sentences."""
CARRIED: dict[Carried, str] = {
    "source": "The case was carried over as its dataset has it, with what grades it.",
    "request": "The dataset that the run has read is not at hand or has changed: the case was "
    "made of what the run has kept, as a record of a dataset document.",
    "joined": "Several messages became one prompt, each under its role.",
    "images": "Images are left out.",
    "answers": "Only the first of several good answers is carried over.",
    "criteria": "Criteria are kept as metadata, and grade nothing.",
    "choices": "Correct choices are kept as metadata, and grade nothing.",
    "redacted": "What is redacted stays redacted.",
}
_PROMPT = 200_000
_MARK = b"[redacted"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCase:
    """A case to put into a dataset, and how it came about."""

    contract: str
    case: Case
    carried: tuple[Carried, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOrigin:
    """Where a record comes from."""

    run_id: str
    dataset: Path | None
    """The dataset that its run was told to read; None where that is not known."""
    row: Prediction
    tags: tuple[str, ...] = ()
    redact: Redact = field(default=compact)


def record_case(ports: RegistryPorts, origin: RecordOrigin) -> RecordCase:
    """The case as its dataset has it, if that still has the same one; else from the run."""
    return _from_source(ports, origin) or kept_case(origin)


def _from_source(ports: RegistryPorts, origin: RecordOrigin) -> RecordCase | None:
    """The case in the dataset of the run; None where it is gone, changed, or shows files.

    A dataset in the database has no files beside it.
    """
    try:
        reading = _reading(ports, origin.dataset) if origin.dataset else None
    except (RequestError, OSError):
        return None
    if reading is None:
        return None
    for row in reading.rows():
        if row.record_id == origin.row.record_id and row.is_accepted:
            case = reading.case(row)
            is_same = record_sha256(reading.hashed(row, case)) == origin.row.record_sha256
            return _redacted(reading, row, origin) if is_same and not _shows(case) else None
    return None


def _reading(ports: RegistryPorts, dataset: Path) -> DatasetReading | None:
    path, workspace = ports.root / dataset, ports.workspace
    if dataset_name(dataset.as_posix()):
        found = find_dataset(ports.registry, ports.saved, ports.root, dataset.as_posix())
        path, workspace = found.path, Staged(workspace, found.files)
    if not workspace.is_file(path):
        return None
    return open_dataset(workspace, path, catalog=ports.catalog, contracts=ports.contracts).reading


def _redacted(reading: DatasetReading, row: Row, origin: RecordOrigin) -> RecordCase:
    """The case without what no run of the project would have written down."""
    data = compact(row.value)
    cleaned = origin.redact(row.value)
    carried: tuple[Carried, ...] = ("source",)
    if cleaned != data or _MARK in data:
        carried = "source", "redacted"
    case = reading.case(row._replace(value=json.loads(cleaned), content=b""))
    return RecordCase(contract=reading.contract, case=case, carried=carried)


def _shows(case: Case) -> bool:
    """Whether a case shows files."""
    messages = (*case.input_messages, *case.expected_messages)
    blocks = [block for message in messages for block in message.blocks]
    return bool(case.attachments) or any(
        isinstance(block, FileBlock) or (isinstance(block, ImageBlock) and block.file)
        for block in blocks
    )


def kept_case(origin: RecordOrigin) -> RecordCase:
    """A record of a dataset document from what a run has kept of its own."""
    row = origin.row
    carried: list[Carried] = ["request"]
    prompt = _prompt(row, carried)
    expected = row.expected if isinstance(row.expected, dict) else {}
    answers = [one for one in expected.get("answers", []) if isinstance(one, str)]
    if len(answers) > 1:
        carried.append("answers")
    case = Case(
        id=(row.record_id or f"record-{row.index}")[:128],
        input_messages=(Message(role="user", content=prompt[:_PROMPT]),),
        reference_answers=tuple(answers[:1]),
        tags=origin.tags[:32],
        metadata=_metadata(origin, expected, carried),
    )
    if _MARK in json.dumps([prompt, row.expected]).encode():
        carried.append("redacted")
    return RecordCase(contract=DOCUMENT, case=case, carried=tuple(carried))


def _prompt(row: Prediction, carried: list[Carried]) -> str:
    """What was asked, as one text."""
    request: dict[str, Any] = row.request or {}
    messages: list[JsonObject] = request.get("messages") or []
    texts = [(str(one.get("role")), _text(one.get("content"), carried)) for one in messages]
    if len(texts) == 1:
        return texts[0][1]
    if texts:
        carried.append("joined")
    return "\n\n".join(f"{role}: {text}" for role, text in texts)


def _text(content: JsonValue, carried: list[Carried]) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else [content]
    if any(isinstance(block, dict) and block.get("type") == "image" for block in blocks):
        carried.append("images")
    return "\n".join(block for block in blocks if isinstance(block, str))


def _metadata(
    origin: RecordOrigin, expected: dict[str, Any], carried: list[Carried]
) -> JsonObject:
    """Where the record comes from, and what a dataset document has no field for."""
    found: JsonObject = {"from_run": origin.run_id, "from_record": origin.row.index}
    unused: tuple[Carried, ...] = ("criteria", "choices")
    for name in unused:
        if expected.get(name):
            found[name] = expected[name]
            carried.append(name)
    for name in ("outcome", "demands"):
        if expected.get(name):
            found[name] = expected[name]
    return found
