"""Open a file of any contract for reading."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

from steelyard.checks.catalog import Catalog
from steelyard.contracts.catalog import BUILT_IN, Contracts
from steelyard.contracts.contract import EXTENSIONS, Contract, DatasetFile
from steelyard.contracts.dataset_document.document import RawRecord, split_json
from steelyard.contracts.definitions import looked_at, read_definition
from steelyard.contracts.detect import (
    detect_document,
    detect_jsonl,
    has_any,
    is_of_a_run,
    of_kind,
)
from steelyard.contracts.importers.foreign_files import (
    ForeignFile,
    foreign_document,
    foreign_rows,
)
from steelyard.contracts.reading import DatasetReading, WithSidecar
from steelyard.contracts.unique_ids import with_unique_ids
from steelyard.errors import NotFoundError, ParseError
from steelyard.formats.encoding import without_bom
from steelyard.formats.json_text import parse_json_tolerantly, raw_items, raw_members
from steelyard.formats.jsonl import MAX_LINE, jsonl_lines
from steelyard.formats.lines import Lines, Located
from steelyard.formats.names import near_miss
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.definition import Content
from steelyard.model.finding import Finding, error
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonValue
from steelyard.ports import Workspace
from steelyard.usecases.datasets.plain_text import HEAD, TABLES, table_finding

MAX_JSON = 100 * 1024 * 1024
MAX_YAML = 64 * 1024 * 1024
_BLANK = re.compile(rb"\s*")


class Sidecar(FrozenStruct, frozen=True, kw_only=True):
    """The YAML file beside a JSONL file, if it exists."""

    path: Path
    findings: tuple[Finding, ...] = ()
    is_found: bool = True


class Opened(FrozenStruct, frozen=True, kw_only=True):
    """A file with its contract; without a reading, the findings give the reason."""

    path: Path
    contract: str | None = None
    reading: DatasetReading | None = None
    findings: tuple[Finding, ...] = ()
    sidecar: Sidecar | None = None
    is_recognised: bool = True
    is_single: bool = False
    """Whether the file is a single object, such as a rubric, and not a list of records."""
    content: Content | None = None
    """The rubric or judge in such a file, if it is valid."""
    lines: Lines | None = None
    """The lines of its parts, if the format has lines."""

    @property
    def refusal(self) -> str:
        """Why the file has no dataset, if there is no reading."""
        if self.is_single or not self.findings:
            return f"this is a {self.contract} file and no dataset"
        return self.findings[0].message


def open_dataset(
    workspace: Workspace,
    path: Path,
    kind: str | None = None,
    catalog: Catalog | None = None,
    contracts: Contracts | None = None,
) -> Opened:
    """Detect a file's contract and open it; invalid content gives findings, never an exception."""
    extension = path.suffix.lower()
    contracts = contracts or Contracts()
    if extension in TABLES and (table := _table(workspace, path)):
        return Opened(path=path, findings=(table,), is_recognised=False)
    if extension not in EXTENSIONS:
        return _unsupported(path, f"'{extension}' files are not read", contracts)
    settled = of_kind(contracts, kind, None, extension) if kind else None
    try:
        if extension in settled.lines if settled else extension == ".jsonl":
            return _open_jsonl(workspace, path, kind, contracts)
        return _open_document(workspace, path, kind, contracts, catalog or Catalog())
    except ParseError as wrong:
        if table := table_finding(_bytes(workspace, path, HEAD), path):
            return Opened(path=path, findings=(table,))
        name = settled.name if settled else None
        return Opened(path=path, contract=name, findings=(_spoiled(wrong),))
    except OSError as wrong:
        return Opened(path=path, findings=(_unreadable(wrong),))


def _table(workspace: Workspace, path: Path) -> Finding | None:
    try:
        return table_finding(_bytes(workspace, path, HEAD), path)
    except OSError:
        return None


_FORMATS = {"invalid_json": "invalid JSON: ", "invalid_yaml": "invalid YAML: "}


def no_such_file(path: Path, shown: Path | None = None) -> NotFoundError:
    """The error for a path that is not a file; a folder is named as such."""
    if path.is_dir():
        return NotFoundError(f"{shown or path} is a folder; name a file in it")
    return NotFoundError(f"no such file: {shown or path}")


def find_sidecar(workspace: Workspace, path: Path, contracts: Contracts) -> Path | None:
    """The JSONL file whose sidecar this YAML file is, if it is one."""
    beside = path.with_suffix(".jsonl")
    if path.suffix != ".yaml" or not workspace.is_file(beside):
        return None
    try:
        content = _yaml(workspace, path)
    except (ParseError, OSError):
        return beside
    keys = [key for contract in contracts.all if contract.sidecar for key in contract.keys]
    return None if _has_cases(content, keys) else beside


def _has_cases(content: Located, keys: Iterable[str]) -> bool:
    """Whether a YAML file has its own cases and so is not a sidecar."""
    return isinstance(content.value, dict) and has_any(content.value, keys)


def _open_jsonl(
    workspace: Workspace, path: Path, kind: str | None, contracts: Contracts
) -> Opened:
    first = _first_row(workspace, path)
    if first is None and (table := table_finding(_bytes(workspace, path, HEAD), path)):
        return Opened(path=path, findings=(table,))
    detected = detect_jsonl(contracts, first)
    if kind is None and detected is None and (foreign := foreign_rows(first)):
        return Opened(path=path, findings=(_foreign(path, foreign),))
    contract = detected or contracts.default(".jsonl")
    if kind:
        contract = of_kind(contracts, kind, contract, ".jsonl")
    sidecar, content = _sidecar(workspace, path, contract) if contract.sidecar else (None, None)
    reading = _reading(workspace, path, contract, partial(workspace.open, path), content)
    if sidecar and isinstance(reading, WithSidecar):
        sidecar = replace(sidecar, findings=(*sidecar.findings, *reading.sidecar_findings))
    return Opened(
        path=path,
        contract=contract.name,
        reading=_compared(contract, reading),
        sidecar=sidecar,
        is_recognised=bool(kind or detected) or not is_of_a_run(first),
    )


def _first_row(workspace: Workspace, path: Path) -> JsonValue:
    """The first row that can be parsed; a file without rows is a ParseError."""
    is_empty = True
    with workspace.open(path) as stream:
        for _, text in jsonl_lines(stream):
            is_empty = False
            try:
                return parse_json_tolerantly(text[:MAX_LINE]).value
            except ParseError:
                continue
    if is_empty:
        raise _empty()
    return None


def _sidecar(
    workspace: Workspace, path: Path, contract: Contract
) -> tuple[Sidecar, Located | None]:
    beside = path.with_suffix(".yaml")
    if not workspace.is_file(beside):
        return Sidecar(path=beside, is_found=False), None
    try:
        content = _yaml(workspace, beside)
    except ParseError as wrong:
        return Sidecar(path=beside, findings=(_spoiled(wrong),)), None
    except OSError as wrong:
        return Sidecar(path=beside, findings=(_unreadable(wrong),)), None
    if _has_cases(content, contract.keys):
        return Sidecar(path=beside, is_found=False), None
    return Sidecar(path=beside), content


def _spoiled(wrong: ParseError) -> Finding:
    """The error that makes a whole file unreadable."""
    return error(wrong.code, f"{_FORMATS.get(wrong.code, '')}{wrong}", line=wrong.line)


def _unreadable(wrong: OSError) -> Finding:
    return error("unreadable_file", f"cannot read: {wrong.strerror or type(wrong).__name__}")


def _open_document(
    workspace: Workspace, path: Path, kind: str | None, contracts: Contracts, catalog: Catalog
) -> Opened:
    extension = path.suffix.lower()
    is_whole = True
    content: bytes | Located
    if extension in {".yaml", ".yml"}:
        content = _yaml(workspace, path)
        top = content.value
    else:
        content = _filled(_bytes(workspace, path, MAX_JSON + 1))
        is_whole = len(content) <= MAX_JSON
        top = dict(_json_top(content, contracts)) if is_whole else {}
    if kind is None and (foreign := foreign_document(top)):
        return Opened(path=path, findings=(_foreign(path, foreign),))
    contract = None
    if isinstance(top, dict):
        folder = "rubrics" if kind == "rubric" else path.parent.name
        contract = detect_document(contracts, top, extension, folder)
    if contract is None and not is_whole:
        contract = contracts.default(extension)
    has_fields = isinstance(top, dict) and bool(top)
    is_open = kind is None or (kind == "dataset" and isinstance(content, Located))
    if contract is None and is_open and is_whole and not has_fields:
        table = table_finding(_bytes(workspace, path, HEAD), path)
        finding = table or _no_fields(content, contracts)
        if finding:
            return Opened(path=path, findings=(finding,), is_recognised=kind is not None)
    if kind:
        contract = of_kind(contracts, kind, contract, extension)
    if contract is None:
        return _unsupported(path, "its top-level keys belong to no contract", contracts)
    if contract.kind != "dataset":
        return _open_definition(path, content, contract.name, catalog)
    reading = _reading(workspace, path, contract, content)
    return Opened(path=path, contract=contract.name, reading=_compared(contract, reading))


def _reading(
    workspace: Workspace,
    path: Path,
    contract: Contract,
    content: bytes | Located | Callable[[], BinaryIO],
    sidecar: Located | None = None,
) -> DatasetReading:
    return contract.open(
        DatasetFile(
            name=path.name[: -len(path.suffix)],
            content=content,
            path=str(path),
            files=workspace.files_of(path),
            sidecar=sidecar,
        )
    )


def _compared(contract: Contract, reading: DatasetReading) -> DatasetReading:
    """Built-in readers compare ids themselves, together with other problems of a row."""
    is_ours = any(contract.name == one.name for one in BUILT_IN)
    return reading if is_ours else with_unique_ids(reading)


def _open_definition(
    path: Path, content: bytes | Located, contract: str, catalog: Catalog
) -> Opened:
    """A rubric or a judge: a single object, not a list of records."""
    held, findings = read_definition(content, contract, catalog)
    return Opened(
        path=path,
        contract=contract,
        findings=tuple(findings),
        is_single=True,
        content=held,
        lines=content.lines if isinstance(content, Located) else None,
    )


def _yaml(workspace: Workspace, path: Path) -> Located:
    data = _bytes(workspace, path, MAX_YAML + 1)
    if len(data) > MAX_YAML:
        raise ParseError("the file is larger than 64 MB", code="payload_too_large")
    return parse_yaml(_filled(data))


def _filled(data: bytes) -> bytes:
    # Not by `strip`, which would copy a large file.
    if _BLANK.fullmatch(without_bom(data)):
        raise _empty()
    return data


def _empty() -> ParseError:
    return ParseError("the file is empty", code="unsupported_format")


def _bytes(workspace: Workspace, path: Path, limit: int) -> bytes:
    with workspace.open(path) as stream:
        return stream.read(limit)


def _json_top(data: bytes, contracts: Contracts) -> Iterator[tuple[str, JsonValue]]:
    """The top-level names of a JSON document, with values only where detection needs them."""
    try:
        members = raw_members(without_bom(data))
    except ParseError as wrong:
        if wrong.code == "invalid_field_type":
            return
        # One invalid record must not hide the kind of the file; text that is not JSON still does.
        document = split_json(data)
        names = document.header if document.records is None else (*document.header, "records")
        yield from ((name, document.header.get(name)) for name in names)
        return
    listed = [item for contract in contracts.all for item in contract.item_keys.items()]
    for name, raw in members.items():
        item_keys = [inner for outer, inner in listed if near_miss(name, (outer,))]
        yield name, _telling(raw_items(raw), item_keys[0]) if item_keys else None


def _telling(items: Iterable[RawRecord] | None, item_key: str) -> JsonValue:
    """The items of a list up to the first one that identifies their kind."""
    found: list[JsonValue] = []
    for item in items or ():
        value = looked_at(bytes(item)).value
        found.append(value)
        if isinstance(value, dict) and any(near_miss(name, (item_key,)) for name in value):
            break
    return found


def _no_fields(content: bytes | Located, contracts: Contracts) -> Finding | None:
    """Why a document without fields is of no contract; None where it has a place for them."""
    if isinstance(content, Located):
        value, line = content.value, content.lines.line
        names: dict[type, str | None] = {dict: None, list: "a list", str: "a text"}
        what = names.get(type(value), "a single value")
    else:
        first = _BLANK.sub(b"", without_bom(content[:HEAD]), count=1)[:1]
        what = {b"{": None, b"[": "a list", b'"': "a text"}.get(first, "a single value")
        line = 1
    if what is None:
        return None
    why = f"its top level is {what}, not an object with fields"
    return error("unsupported_format", f"{why}; supported are {contracts.supported}", line=line)


_OUTPUTS = {"responses": "responses.jsonl", "targets": "steelyard.yaml", "labels": "labels.csv"}


def _foreign(path: Path, foreign: ForeignFile) -> Finding:
    """The finding for a file of another tool, which is converted."""
    output = _OUTPUTS.get(foreign.to, "cases.yaml")
    command = f"steelyard convert {path} --from {foreign.tool} --to {foreign.to} -o {output}"
    message = f"this is {foreign.noun}, which is converted and not read as a dataset"
    return replace(error("unsupported_format", message), hint=f"run `{command}`")


def _unsupported(path: Path, why: str, contracts: Contracts) -> Opened:
    finding = error("unsupported_format", f"{why}; supported are {contracts.supported}")
    return Opened(path=path, findings=(finding,), is_recognised=False)
