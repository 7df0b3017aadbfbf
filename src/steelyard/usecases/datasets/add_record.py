"""Put a record of a run into a dataset of the database: a new one, or a draft."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from io import BytesIO

from steelyard.contracts.contract import Contract
from steelyard.contracts.reading import DatasetReading
from steelyard.errors import ConflictError, InvalidError, NotFoundError
from steelyard.model.audit import Caller
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.published import DATASET_ID
from steelyard.model.saved import SavedDefinition
from steelyard.usecases.datasets.create_definition import create_dataset
from steelyard.usecases.datasets.open_dataset import open_dataset
from steelyard.usecases.datasets.record_case import (
    DOCUMENT,
    Carried,
    RecordCase,
    RecordOrigin,
    kept_case,
    record_case,
)
from steelyard.usecases.datasets.uploads import SentFiles, Upload, validate_upload
from steelyard.usecases.datasets.validate import ValidateOptions
from steelyard.usecases.registry.registry import RegistryPorts

_FIRST_VERSION = "1"
_HASHED = "sha256-"
_LINES = ".jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedRecord:
    """What became of a record."""

    reference: str
    """The dataset that it is in now."""
    is_new: bool
    """Whether the dataset was made for it."""
    carried: tuple[Carried, ...]


def open_drafts(ports: RegistryPorts) -> list[SavedDefinition]:
    """The datasets of the database that can still be changed: not published, not archived."""
    fixed = {one.reference for one in ports.registry.all("dataset")}
    stored = ports.saved.all("dataset")
    return [one for one in stored if one.reference not in fixed and not one.archived_at]


def add_record(
    ports: RegistryPorts,
    origin: RecordOrigin,
    *,
    into: str = "",
    name: str = "",
    caller: Caller | None = None,
) -> AddedRecord:
    """Put a record into the draft `into`, or into a new dataset called `name`."""
    if into and name:
        raise InvalidError("choose a dataset or name a new one, not both")
    if not into:
        return _create(ports, origin, name.strip(), caller)
    draft = next((one for one in open_drafts(ports) if one.reference == into), None)
    if draft is None:
        raise NotFoundError(f"{into} is no dataset that can be changed")
    return _extend(ports, origin, draft, caller)


def _create(
    ports: RegistryPorts, origin: RecordOrigin, name: str, caller: Caller | None
) -> AddedRecord:
    if not name:
        raise InvalidError("name the new dataset, or choose one")
    if not DATASET_ID.fullmatch(name):
        raise InvalidError(
            f"'{name}' cannot be the name of a dataset; write letters, digits, _, - and dots, a "
            "letter or digit first"
        )
    known = (*ports.saved.all("dataset"), *ports.registry.all("dataset"))
    if any(one.id == name for one in known):
        raise ConflictError(f"there is a dataset '{name}' already; choose it, or another name")
    found = record_case(ports, origin)
    contract = ports.contracts[found.contract]
    dataset = Dataset(id=name, contract=contract.name, version=_FIRST_VERSION)
    made = replace(dataset, cases=(found.case,))
    extension = _extension(contract)
    data = contract.write(made, extension)
    return _keep(ports, f"{name}{extension}", data, found, caller)


def _extend(
    ports: RegistryPorts, origin: RecordOrigin, draft: SavedDefinition, caller: Caller | None
) -> AddedRecord:
    found = _fitting(ports, origin, draft)
    content = ports.saved.content(draft)
    upload = _upload(f"{draft.id}{draft.extension}", content)
    opened = open_dataset(
        *(SentFiles(upload), upload.path, "dataset", ports.catalog, ports.contracts)
    )
    if opened.reading is None:
        raise InvalidError(f"{draft.reference}: {opened.refusal}")
    cases = _cases(opened.reading, draft)
    if any(case.id == found.case.id for case in cases):
        raise ConflictError(f"{draft.reference} has a record '{found.case.id}' already")
    contract = ports.contracts[draft.contract]
    data = _with_case(
        contract, draft.extension, content, opened.reading.dataset(cases), found.case
    )
    version = None if draft.version and draft.version.startswith(_HASHED) else draft.version
    if draft not in open_drafts(ports):
        raise ConflictError(f"{draft.reference} was changed in the meantime; try again")
    made = _keep(ports, upload.name, data, found, caller, version=version)
    return replace(made, is_new=False)


def _fitting(ports: RegistryPorts, origin: RecordOrigin, draft: SavedDefinition) -> RecordCase:
    """The record in the contract of a draft."""
    found = record_case(ports, origin)
    if found.contract == draft.contract:
        return found
    if draft.contract == DOCUMENT:
        return kept_case(origin)
    raise ConflictError(
        f"{draft.reference} holds {draft.contract}, and this record comes as {found.contract}; "
        "choose a dataset of that contract or a dataset document, or name a new one"
    )


def _cases(reading: DatasetReading, draft: SavedDefinition) -> tuple[Case, ...]:
    rows = list(reading.rows())
    wrong = sum(not row.is_accepted for row in rows)
    if wrong:
        raise ConflictError(
            f"{draft.reference} has {wrong:,} invalid record(s), which would be lost; correct "
            "them first"
        )
    return tuple(reading.case(row) for row in rows)


def _with_case(
    contract: Contract, extension: str, content: bytes, dataset: Dataset, case: Case
) -> bytes:
    """The file with one more case; lines are added to, and documents are written again."""
    if extension == _LINES:
        lines = content if content.endswith(b"\n") or not content else content + b"\n"
        return lines + contract.write(replace(dataset, cases=(case,)), extension)
    return contract.write(replace(dataset, cases=(*dataset.cases, case)), extension)


def _keep(
    ports: RegistryPorts,
    name: str,
    data: bytes,
    found: RecordCase,
    caller: Caller | None,
    *,
    version: str | None = _FIRST_VERSION,
) -> AddedRecord:
    upload = _upload(name, data)
    report = validate_upload(ports, upload, ValidateOptions(kind="dataset"))
    wrong = next((one.message for one in report.findings if one.is_error), None)
    if wrong is not None:
        raise InvalidError(f"the record cannot be kept in {name}: {wrong}")
    made = create_dataset(ports, upload, version=version, caller=caller)
    assert made.saved
    return AddedRecord(reference=made.saved.reference, is_new=made.is_new, carried=found.carried)


def _upload(name: str, data: bytes) -> Upload:
    digest = hashlib.sha256(data).hexdigest()
    return Upload(name=name, open=lambda: BytesIO(data), size=len(data), sha256=digest)


def _extension(contract: Contract) -> str:
    """The usual form of a contract that stands in one file."""
    whole = [one for one in contract.extensions if one != _LINES or not contract.sidecar]
    return whole[0]
