"""Create rubrics, judges and datasets in the store, from files that were sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from steelyard.contracts.definitions import (
    CHANGEABLE,
    definition_value,
    fixed_bytes,
    read_definition_file,
)
from steelyard.errors import ConflictError, InvalidError
from steelyard.model.audit import Caller
from steelyard.model.dataset import Dataset
from steelyard.model.definition import Content, Definition, reference_to
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.published import DATASET_ID, DATASET_VERSION, Published, PublishedKind
from steelyard.model.reference import Reference, ReferenceKind
from steelyard.model.saved import SavedDefinition
from steelyard.usecases.datasets.open_dataset import open_dataset
from steelyard.usecases.datasets.uploads import (
    SentFiles,
    Upload,
    validate_upload,
    with_lines,
)
from steelyard.usecases.datasets.validate import FileReport, ValidateOptions
from steelyard.usecases.registry.fix_published import PublishedFiles
from steelyard.usecases.registry.publish import BUILT_IN, contract_of, raw_value
from steelyard.usecases.registry.registry import RegistryPorts, SavedDefinitionChange
from steelyard.usecases.registry.resolution import clash_of

_MAX_NAME = 100
"""The most characters of an id or a version: they become names of folders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Creation:
    """What became of a file that was sent."""

    report: FileReport
    saved: SavedDefinition | None = None
    """What is kept; None where the findings speak against it."""
    is_new: bool = False
    """Whether there was nothing of that reference before."""
    status: str = "not published"
    sha256: str = ""
    """Of what the version fixes: of a rubric or judge, in one form however it is laid out."""


def create_definition(
    ports: RegistryPorts,
    kind: ReferenceKind,
    upload: Upload,
    *,
    strict: bool = False,
    caller: Caller | None = None,
) -> Creation:
    """Save a rubric or a judge; one that calls itself published or archived is so at once.

    A draft may be sent again with other content. The status of a published or archived version
    does not change. What cannot be read is not kept, and in strict mode nothing that has an error.
    """
    ports = ports.called_by(caller)
    options = ValidateOptions(kind=kind, strict=strict)
    report = with_lines(validate_upload(ports, upload, options), upload)
    if report.contract is None:
        return Creation(report=report)
    data = upload.data()
    content, _ = read_definition_file(data, upload.extension, f"{kind}s", ports.catalog)
    if content is None:
        return Creation(report=report)
    reference = reference_to(content)
    _require_short(reference.id, reference.version)
    _require_free(ports, reference, content)
    if strict and not report.is_valid:
        return Creation(report=report)
    proposed = _proposed(ports, upload, str(reference), contract_of(content))
    sent = Definition(path=proposed.source, shown=proposed.source, content=content, data=data)
    sha256 = content.sha256 or ""
    status = raw_value(sent).get("status")
    with ports.saved.changing(proposed) as change:
        held = _held(ports, proposed)
        _require_status(proposed.reference, status, held, change.before)
        if change.before and (held or change.before.archived_at) and _is_same(sent, change):
            made = Creation(report=report, saved=change.before, status=_status(change.before))
        else:
            made = _kept(ports, change, proposed, data, report)
        fixing = PublishedFiles(ports.registry, ports.references, ports.clock, change)
        fixed = fixing.fix_one(sent, ports.caller) or held
        if fixed and fixed.sha256 != sha256:
            raise _published_otherwise(proposed.reference)
        if status == "archived" and not fixed and made.status != "archived":
            change.archive(proposed, ports.entry("archive", proposed.reference))
            made = replace(made, status="archived")
    return replace(made, sha256=sha256, status=fixed.status if fixed else made.status)


def create_dataset(
    ports: RegistryPorts,
    upload: Upload,
    *,
    version: str | None = None,
    strict: bool = False,
    caller: Caller | None = None,
) -> Creation:
    """Save a dataset of any contract, as it was sent.

    Rejected records are no obstacle, unless there are no others or the mode is strict. Where the
    contract has no version and none is given, the version is made of the hash of the content.
    """
    ports = ports.called_by(caller)
    report = validate_upload(ports, upload, ValidateOptions(kind="dataset", strict=strict))
    if not report.accepted or (strict and not report.is_valid):
        return Creation(report=report)
    named = named_dataset(ports, upload, version)
    if named is None:
        return Creation(report=report)
    proposed = _proposed(ports, upload, named.reference, named.contract)
    data = upload.data()
    with ports.saved.changing(proposed) as change:
        made = _kept(ports, change, proposed, data, report)
        held = _held(ports, proposed)
        if held and held.sha256 != upload.sha256:
            raise _published_otherwise(named.reference)
    return replace(made, sha256=upload.sha256, status=held.status if held else made.status)


class NamedDataset(NamedTuple):
    """What a dataset that was sent is called."""

    reference: str
    contract: str


def named_dataset(
    ports: RegistryPorts, upload: Upload, version: str | None
) -> NamedDataset | None:
    """The name of a dataset, which must be free; None where it cannot be read."""
    opened = open_dataset(
        *(SentFiles(upload), upload.path, "dataset", ports.catalog, ports.contracts)
    )
    if opened.reading is None or opened.contract is None:
        return None
    reference = _dataset_reference(opened.reading.dataset(()), upload, version)
    for one in ports.registry.all("dataset"):
        if one.reference == reference and one.sha256 != upload.sha256:
            raise _published_otherwise(reference)
    return NamedDataset(reference, opened.contract)


def _held(ports: RegistryPorts, saved: SavedDefinition) -> Published | None:
    """What is published under the version of a saved definition."""
    held = ports.registry.all(saved.kind)
    return next((one for one in held if one.reference == saved.reference), None)


def _dataset_reference(dataset: Dataset, upload: Upload, given: str | None) -> str:
    if dataset.version and given and dataset.version != given:
        raise InvalidError(f"the dataset says that it is version {dataset.version}, not {given}")
    version = dataset.version or given or f"sha256-{upload.sha256[:12]}"
    _require_short(dataset.id, version)
    for what, text, allowed in (
        ("id", dataset.id, DATASET_ID),
        ("version", version, DATASET_VERSION),
    ):
        if not allowed.fullmatch(text):
            raise InvalidError(
                f"the dataset's {what} '{text}' cannot stand in a reference; write letters, "
                "digits, _, - and dots, a letter or digit first"
            )
    return f"dataset/{dataset.id}@{version}"


def _require_short(*names: str | None) -> None:
    for name in names:
        if name and len(name) > _MAX_NAME:
            raise InvalidError(f"'{name[:20]}…' has more than {_MAX_NAME} characters")


def _require_free(ports: RegistryPorts, reference: Reference, content: Content) -> None:
    """Refuse a name that a file of the project, a built-in judge or a published version has."""
    known = [one for one in ports.references.known(reference.kind) if one.content]
    named = [(reference_to(one.content), one) for one in known if one.content]
    for other, one in named:
        if one.path.startswith(BUILT_IN) and other.id == reference.id:
            raise ConflictError(f"{other} comes with Steelyard; take another id")
        if other != reference:
            continue
        if one.is_published:
            if one.content and one.content.sha256 != content.sha256:
                raise _published_otherwise(str(reference))
        elif one.data is None:
            raise ConflictError(f"{reference} is {one.shown}, which is changed there alone")
    sent = Definition(path="", shown=str(reference), content=content)
    if clash := clash_of([sent, *(one for other, one in named if other.id == reference.id)]):
        raise ConflictError(clash.message)


def _require_status(
    reference: str, sent: JsonValue, held: Published | None, before: SavedDefinition | None
) -> None:
    """Refuse a status that would publish what is archived, or archive what is published."""
    is_archived = held.status == "archived" if held else bool(before and before.archived_at)
    if is_archived and sent == "published":
        raise ConflictError(f"{reference} is archived, which is for good; publish a new version")
    if held and not is_archived and sent == "archived":
        raise ConflictError(
            f"{reference} is published, and the status of a file that is sent does not change "
            "that; to keep it from new runs, archive it"
        )


def _is_same(sent: Definition, change: SavedDefinitionChange) -> bool:
    """Whether what was sent differs from what is stored in its layout and status at most."""
    assert change.before
    assert sent.content
    contract = contract_of(sent.content)
    stored = definition_value(change.content(), change.before.extension)
    return _lasting(stored, contract) == _lasting(raw_value(sent), contract)


def _lasting(row: JsonObject, contract: str) -> tuple[bytes, JsonObject]:
    """All fields but the status, however they are laid out."""
    beside = (name for name in CHANGEABLE[contract] if name in row and name != "status")
    return fixed_bytes(row, contract), {name: row[name] for name in beside}


def _status(saved: SavedDefinition) -> str:
    """The status of a version that is not published."""
    return "archived" if saved.archived_at else "not published"


def _published_otherwise(reference: str) -> ConflictError:
    return ConflictError(
        f"{reference} is published with other content; a change needs a new version"
    )


def _proposed(
    ports: RegistryPorts, upload: Upload, reference: str, contract: str
) -> SavedDefinition:
    kind, _, name = reference.partition("/")
    identifier, _, version = name.partition("@")
    known: dict[str, PublishedKind] = {"rubric": "rubric", "judge": "judge", "dataset": "dataset"}
    return SavedDefinition(
        kind=known[kind],
        id=identifier,
        version=version or None,
        contract=contract,
        extension=upload.extension,
        sha256=upload.sha256,
        size=upload.size,
        saved_at=ports.clock.stamp(),
    )


def _kept(
    ports: RegistryPorts,
    change: SavedDefinitionChange,
    proposed: SavedDefinition,
    data: bytes,
    report: FileReport,
) -> Creation:
    """Save it, unless the same content is there already."""
    before = change.before
    if before and before.archived_at and before.sha256 != proposed.sha256:
        raise ConflictError(f"{proposed.reference} is archived; a change needs a new version")
    if before and before.sha256 == proposed.sha256:
        return Creation(report=report, saved=before, status=_status(before))
    entry = ports.entry(f"create_{proposed.kind}", proposed.reference, sha256=proposed.sha256)
    change.put(proposed, data, entry)
    return Creation(report=report, saved=proposed, is_new=before is None)
