"""Import a dataset from a text: check it, say what would mend it, save it once that is seen."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePosixPath

from steelyard.contracts.contract import EXTENSIONS
from steelyard.errors import ConflictError, RequestError
from steelyard.model.audit import Caller
from steelyard.model.saved import SavedDefinition
from steelyard.usecases.datasets.create_definition import create_dataset, named_dataset
from steelyard.usecases.datasets.mend_json import MendedText, mended_rows
from steelyard.usecases.datasets.plain_text import HEAD, is_table
from steelyard.usecases.datasets.uploads import (
    Upload,
    require_upload_name,
    validate_upload,
    with_lines,
)
from steelyard.usecases.datasets.validate import FileReport, ValidateOptions
from steelyard.usecases.registry.registry import RegistryPorts

_TEXTS = (".csv", ".tsv", ".txt", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetText:
    """A text that should be a dataset."""

    text: str
    name: str = ""
    """The name of its file; where it is empty, the text tells how it is read."""
    version: str = ""
    """The version, where the contract has none."""
    is_strict: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDataset:
    """A text as far as it is a dataset."""

    report: FileReport
    mended: MendedText | None = None
    """What would be right, where the text is almost a dataset."""
    reference: str | None = None
    """What it would be saved as; None where too much of it is wrong."""
    replaces: str | None = None
    """The draft whose place it would take."""
    problem: str = ""
    """Why it cannot be saved, where that is no finding in the text."""
    saved: SavedDefinition | None = None

    @property
    def can_be_saved(self) -> bool:
        """Whether enough of it is right."""
        return self.reference is not None and not self.problem

    @property
    def seen(self) -> str:
        """What a person has to be told before it is saved; empty where there is nothing."""
        told = (self.report.rejected, self.replaces)
        return json.dumps(told) if any(told) else ""


def check_dataset(ports: RegistryPorts, given: DatasetText) -> CheckedDataset:
    """Everything that is wrong with a text as a dataset, and what saving it would do."""
    upload = _upload(given)
    options = ValidateOptions(kind="dataset", strict=given.is_strict)
    report = with_lines(validate_upload(ports, upload, options), upload)
    made = CheckedDataset(report=report, mended=mended_rows(given.text))
    if not report.accepted or (given.is_strict and not report.is_valid):
        return made
    try:
        named = named_dataset(ports, upload, given.version or None)
    except RequestError as wrong:
        return replace(made, problem=str(wrong))
    if named is None:
        return made
    replaced = _replaced(ports, named.reference, upload)
    return replace(made, reference=named.reference, replaces=replaced)


def import_dataset(
    ports: RegistryPorts, given: DatasetText, *, seen: str = "", caller: Caller | None = None
) -> CheckedDataset:
    """Save a dataset; one with rejected records, or in the place of a draft, once that is seen."""
    checked = check_dataset(ports, given)
    if not checked.can_be_saved or checked.seen != seen:
        return checked
    try:
        made = create_dataset(
            *(ports, _upload(given)),
            version=given.version or None,
            strict=given.is_strict,
            caller=caller,
        )
    except ConflictError as wrong:
        return replace(checked, problem=str(wrong))
    return replace(checked, saved=made.saved)


def draft_text(ports: RegistryPorts, name: str) -> DatasetText | None:
    """The text of a saved dataset that is not published, to be changed; None for any other."""
    held = {one.reference for one in ports.registry.all("dataset")}
    for one in ports.saved.all("dataset"):
        if one.reference == name and one.reference not in held and not one.archived_at:
            text = ports.saved.content(one).decode("utf-8", "replace")
            version = "" if (one.version or "").startswith("sha256-") else one.version or ""
            return DatasetText(text=text, name=f"{one.id}{one.extension}", version=version)
    return None


def _upload(given: DatasetText) -> Upload:
    data = given.text.encode("utf-8", "surrogatepass")
    name = given.name or f"pasted{_extension(given.text)}"
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in EXTENSIONS and suffix in _TEXTS and is_table(data[:HEAD]):
        name = f"{name}{_extension(given.text)}"
    require_upload_name(name)
    digest = hashlib.sha256(data).hexdigest()
    return Upload(name, partial(io.BytesIO, data), len(data), digest)


def _extension(text: str) -> str:
    """How a text without a name is read: as JSON, as rows of JSON, or as YAML."""
    stripped = text.strip()
    if not stripped.startswith(("{", "[", '"')):
        return ".yaml"
    first, _, rest = stripped.partition("\n")
    try:
        json.loads(first)
    except ValueError:
        return ".json"
    return ".jsonl" if rest else ".json"


def _replaced(ports: RegistryPorts, reference: str, upload: Upload) -> str | None:
    """The draft with other content that has the same name."""
    for one in ports.saved.all("dataset"):
        if one.reference == reference and one.sha256 != upload.sha256:
            return reference
    return None
