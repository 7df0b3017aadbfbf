"""Open a file of any contract for reading."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

from steelyard.checks.catalog import Catalog
from steelyard.contracts.check_rubric.reader import CONTRACT as CHECK_RUBRIC
from steelyard.contracts.check_rubric.reader import read_check_rubric
from steelyard.contracts.dataset_document.document import split_json
from steelyard.contracts.dataset_document.reader import DatasetDocumentReading
from steelyard.contracts.dataset_document.rules import MAX_PAYLOAD
from steelyard.contracts.detect import (
    EXTENSIONS,
    SUPPORTED,
    detect_document,
    detect_jsonl,
    has_cases,
    of_kind,
)
from steelyard.contracts.eval_cases.defaults import Defaults
from steelyard.contracts.eval_cases.reader import (
    MAX_LINE,
    EvalCasesJsonl,
    EvalCasesYaml,
    read_sidecar,
)
from steelyard.contracts.reading import DatasetReading
from steelyard.errors import ParseError
from steelyard.formats.encoding import without_bom
from steelyard.formats.json_text import (
    parse_json,
    parse_json_tolerantly,
    raw_members,
)
from steelyard.formats.lines import Lines, Located
from steelyard.formats.names import near_miss
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.finding import Finding, error
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.ports import Workspace

MAX_YAML = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Sidecar:
    """The YAML file beside a JSONL file, as far as it exists."""

    path: Path
    findings: tuple[Finding, ...] = ()
    is_found: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A file with its contract; without a reading the findings say why there is none."""

    path: Path
    contract: str | None = None
    reading: DatasetReading | None = None
    findings: tuple[Finding, ...] = ()
    sidecar: Sidecar | None = None
    is_recognised: bool = True
    is_single: bool = False
    """Whether the file is one thing, such as a rubric, and no list of records."""


def open_dataset(
    workspace: Workspace, path: Path, kind: str | None = None, catalog: Catalog | None = None
) -> Opened:
    """Detect a file's contract and open it; bad content gives findings, never an exception."""
    extension = path.suffix.lower()
    if extension not in EXTENSIONS:
        return _unsupported(path, f"'{extension}' files are not read")
    try:
        if extension == ".jsonl" and (kind is None or of_kind(kind, None, extension) != _DOCUMENT):
            return _open_jsonl(workspace, path, kind)
        return _open_document(workspace, path, kind, catalog or Catalog())
    except ParseError as wrong:
        contract = of_kind(kind, None, extension) if kind else None
        return Opened(path=path, contract=contract, findings=(_spoiled(wrong),))
    except OSError as wrong:
        return Opened(path=path, findings=(_unreadable(wrong),))


_DOCUMENT = "dataset_document"
_FORMATS = {"invalid_json": "invalid JSON: ", "invalid_yaml": "invalid YAML: "}


def find_sidecar(workspace: Workspace, path: Path) -> Path | None:
    """The JSONL file whose sidecar this YAML file is, if it is one."""
    beside = path.with_suffix(".jsonl")
    if path.suffix != ".yaml" or not workspace.is_file(beside):
        return None
    try:
        content = _yaml(workspace, path)
    except (ParseError, OSError):
        return beside
    top = content.value if isinstance(content.value, dict) else {}
    return None if has_cases(top) else beside


def _open_jsonl(workspace: Workspace, path: Path, kind: str | None) -> Opened:
    detected = detect_jsonl(_first_row(workspace, path))
    contract = of_kind(kind, detected, ".jsonl") if kind else detected
    if contract != "eval_cases":
        return _not_yet(path, contract)
    files = workspace.files_of(path)
    sidecar, defaults = _sidecar(workspace, path)
    reading = EvalCasesJsonl(partial(workspace.open, path), defaults, files=files, file=str(path))
    return Opened(path=path, contract=contract, reading=reading, sidecar=sidecar)


def _first_row(workspace: Workspace, path: Path) -> JsonValue:
    """The first row that can be parsed."""
    with workspace.open(path) as stream:
        first = True
        while line := stream.readline(MAX_LINE):
            text = without_bom(line) if first else line
            first = False
            try:
                return parse_json_tolerantly(text).value
            except ParseError:
                continue
    return None


def _sidecar(workspace: Workspace, path: Path) -> tuple[Sidecar, Defaults]:
    stem = path.name[: -len(path.suffix)]
    beside = path.with_suffix(".yaml")
    defaults = Defaults.without_file(stem)
    if not workspace.is_file(beside):
        return Sidecar(path=beside, is_found=False), defaults
    try:
        content = _yaml(workspace, beside)
    except ParseError as wrong:
        return Sidecar(path=beside, findings=(_spoiled(wrong),)), defaults
    except OSError as wrong:
        return Sidecar(path=beside, findings=(_unreadable(wrong),)), defaults
    if isinstance(content.value, dict) and has_cases(content.value):
        return Sidecar(path=beside, is_found=False), defaults
    defaults, findings = read_sidecar(content, stem, workspace.files_of(beside))
    return Sidecar(path=beside, findings=tuple(findings)), defaults


def _spoiled(wrong: ParseError) -> Finding:
    """What makes a file unreadable as a whole."""
    return error(wrong.code, f"{_FORMATS.get(wrong.code, '')}{wrong}", line=wrong.line)


def _unreadable(wrong: OSError) -> Finding:
    return error("unreadable_file", f"cannot read: {wrong.strerror or type(wrong).__name__}")


def _open_document(workspace: Workspace, path: Path, kind: str | None, catalog: Catalog) -> Opened:
    extension = path.suffix.lower()
    content: bytes | Located
    if extension in {".yaml", ".yml"}:
        content = _yaml(workspace, path)
        top = content.value
    else:
        content = _bytes(workspace, path, MAX_PAYLOAD + 1)
        is_whole = len(content) <= MAX_PAYLOAD
        top = dict(_json_top(content)) if is_whole else cast(JsonObject, {"records": None})
    detected = None
    if isinstance(top, dict):
        detected = detect_document(top, extension, path.parent.name)
    contract = of_kind(kind, detected, extension) if kind else detected
    if contract is None:
        return _unsupported(path, "its top level has the keys of no contract")
    if contract == _DOCUMENT:
        reading = DatasetDocumentReading(content, file=str(path))
        return Opened(path=path, contract=contract, reading=reading)
    if contract == "eval_cases":
        located = content if isinstance(content, Located) else parse_yaml(content)
        stem = path.name[: -len(path.suffix)]
        files = workspace.files_of(path)
        yaml = EvalCasesYaml(located, stem, files=files, file=str(path))
        return Opened(path=path, contract=contract, reading=yaml)
    if contract == "check_rubric":
        return _open_rubric(path, content, catalog)
    return _not_yet(path, contract)


def _open_rubric(path: Path, content: bytes | Located, catalog: Catalog) -> Opened:
    if isinstance(content, Located):
        _, findings = read_check_rubric(content, catalog)
    else:
        whole = Located(parse_json(without_bom(content)), Lines(1))
        _, found = read_check_rubric(whole, catalog)
        # JSON is parsed without lines; the spot is looked up when it is shown.
        findings = [replace(finding, line=None) for finding in found]
    return Opened(path=path, contract=CHECK_RUBRIC, findings=tuple(findings), is_single=True)


def _yaml(workspace: Workspace, path: Path) -> Located:
    data = _bytes(workspace, path, MAX_YAML + 1)
    if len(data) > MAX_YAML:
        raise ParseError("the file is larger than 64 MB", code="payload_too_large")
    return parse_yaml(data)


def _bytes(workspace: Workspace, path: Path, limit: int) -> bytes:
    with workspace.open(path) as stream:
        return stream.read(limit)


def _json_top(data: bytes) -> Iterator[tuple[str, JsonValue]]:
    """The top-level names of a JSON document, with a value only where detection looks at it."""
    try:
        members = raw_members(without_bom(data))
    except ParseError as wrong:
        if wrong.code == "invalid_field_type":
            return
        # One odd record must not hide what the file is; text that is no JSON at all still does.
        document = split_json(data)
        names = document.header if document.records is None else (*document.header, "records")
        yield from ((name, None) for name in names)
        return
    for name, raw in members.items():
        yield name, parse_json(raw) if near_miss(name, ("questions",)) else None


def _unsupported(path: Path, why: str) -> Opened:
    finding = error("unsupported_format", f"{why}; supported are {SUPPORTED}")
    return Opened(path=path, findings=(finding,), is_recognised=False)


def _not_yet(path: Path, contract: str | None) -> Opened:
    message = f"this is a {contract} file; this version reads {SUPPORTED}"
    return Opened(path=path, contract=contract, findings=(error("unsupported_format", message),))
