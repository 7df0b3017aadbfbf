"""Open a file of any contract for reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

from steelyard.checks.catalog import Catalog
from steelyard.contracts.dataset_document.document import RawRecord, split_json
from steelyard.contracts.dataset_document.reader import DatasetDocumentReading
from steelyard.contracts.dataset_document.rules import MAX_PAYLOAD
from steelyard.contracts.definitions import looked_at, read_definition
from steelyard.contracts.detect import (
    EXTENSIONS,
    JUDGES,
    RUBRICS,
    SUPPORTED,
    detect_document,
    detect_jsonl,
    has_cases,
    is_of_a_run,
    of_kind,
)
from steelyard.contracts.eval_cases.defaults import Defaults
from steelyard.contracts.eval_cases.reader import (
    EvalCasesJsonl,
    EvalCasesYaml,
    read_sidecar,
)
from steelyard.contracts.evals_json.reader import EvalsJsonReading
from steelyard.contracts.legal_eval.policies import Policies
from steelyard.contracts.legal_eval.reader import CONTRACT as LEGAL_EVAL
from steelyard.contracts.legal_eval.reader import LegalEvalJsonl
from steelyard.contracts.question_set.reader import CONTRACT as QUESTION_SET
from steelyard.contracts.question_set.reader import QuestionSetReading
from steelyard.contracts.reading import DatasetReading
from steelyard.errors import NotFoundError, ParseError
from steelyard.formats.encoding import without_bom
from steelyard.formats.json_text import parse_json_tolerantly, raw_items, raw_members
from steelyard.formats.jsonl import MAX_LINE, jsonl_lines
from steelyard.formats.lines import Lines, Located
from steelyard.formats.names import near_miss
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.definition import Content
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
    content: Content | None = None
    """The rubric or judge that such a file holds, where nothing is wrong with it."""
    lines: Lines | None = None
    """Where its parts stand, where the format has lines."""

    @property
    def refusal(self) -> str:
        """Why there is no dataset in the file, where there is no reading."""
        if self.is_single or not self.findings:
            return f"this is a {self.contract} file and no dataset"
        return self.findings[0].message


def open_dataset(
    workspace: Workspace,
    path: Path,
    kind: str | None = None,
    catalog: Catalog | None = None,
    policies: Policies | None = None,
) -> Opened:
    """Detect a file's contract and open it; bad content gives findings, never an exception."""
    extension = path.suffix.lower()
    if extension not in EXTENSIONS:
        return _unsupported(path, f"'{extension}' files are not read")
    try:
        settled = of_kind(kind, None, extension) if kind else None
        if settled == LEGAL_EVAL or (extension == ".jsonl" and settled in {None, _CASES}):
            return _open_jsonl(workspace, path, kind, policies)
        return _open_document(workspace, path, kind, catalog or Catalog())
    except ParseError as wrong:
        contract = of_kind(kind, None, extension) if kind else None
        return Opened(path=path, contract=contract, findings=(_spoiled(wrong),))
    except OSError as wrong:
        return Opened(path=path, findings=(_unreadable(wrong),))


_DOCUMENT = "dataset_document"
_CASES = "eval_cases"
_FORMATS = {"invalid_json": "invalid JSON: ", "invalid_yaml": "invalid YAML: "}


def no_such_file(path: Path, said: Path | None = None) -> NotFoundError:
    """What to raise for a path that is no file, as it was said; a folder is called one."""
    if path.is_dir():
        return NotFoundError(f"{said or path} is a folder; name a file in it")
    return NotFoundError(f"no such file: {said or path}")


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


def _open_jsonl(
    workspace: Workspace, path: Path, kind: str | None, policies: Policies | None
) -> Opened:
    first = _first_row(workspace, path)
    detected = detect_jsonl(first)
    contract = of_kind(kind, detected, ".jsonl") if kind else detected
    files = workspace.files_of(path)
    if contract == LEGAL_EVAL:
        stem = path.name[: -len(path.suffix)]
        stream = partial(workspace.open, path)
        rows = LegalEvalJsonl(stream, stem, files=files, file=str(path), policies=policies)
        return Opened(path=path, contract=contract, reading=rows)
    sidecar, defaults = _sidecar(workspace, path)
    reading = EvalCasesJsonl(partial(workspace.open, path), defaults, files=files, file=str(path))
    return Opened(
        path=path,
        contract=contract,
        reading=reading,
        sidecar=sidecar,
        is_recognised=kind is not None or not is_of_a_run(first),
    )


def _first_row(workspace: Workspace, path: Path) -> JsonValue:
    """The first row that can be parsed; a file without any row is a ParseError."""
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
        content = _filled(_bytes(workspace, path, MAX_PAYLOAD + 1))
        is_whole = len(content) <= MAX_PAYLOAD
        top = dict(_json_top(content)) if is_whole else cast(JsonObject, {"records": None})
    detected = None
    if isinstance(top, dict):
        folder = "rubrics" if kind == "rubric" else path.parent.name
        detected = detect_document(top, extension, folder)
    contract = of_kind(kind, detected, extension) if kind else detected
    if contract is None:
        return _unsupported(path, "its top level has the keys of no contract")
    if contract in (*RUBRICS, *JUDGES):
        return _open_definition(path, content, contract, catalog)
    reading = _document_reading(workspace, path, content, contract)
    return Opened(path=path, contract=contract, reading=reading)


def _document_reading(
    workspace: Workspace, path: Path, content: bytes | Located, contract: str
) -> DatasetReading:
    """The reading of a dataset that is one document."""
    stem, file = path.name[: -len(path.suffix)], str(path)
    if contract == _DOCUMENT:
        return DatasetDocumentReading(content, file=file)
    if contract == _CASES:
        located = content if isinstance(content, Located) else parse_yaml(content)
        return EvalCasesYaml(located, stem, files=workspace.files_of(path), file=file)
    if contract == QUESTION_SET:
        return QuestionSetReading(content, stem, file=file)
    return EvalsJsonReading(content, stem, files=workspace.files_of(path), file=file)


def _open_definition(
    path: Path, content: bytes | Located, contract: str, catalog: Catalog
) -> Opened:
    """A rubric or a judge: one thing, and no list of records."""
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
    if not without_bom(data).strip():
        raise _empty()
    return data


def _empty() -> ParseError:
    return ParseError("the file is empty", code="unsupported_format")


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
        yield from ((name, document.header.get(name)) for name in names)
        return
    for name, raw in members.items():
        yield name, _telling(raw_items(raw)) if near_miss(name, ("questions",)) else None


def _telling(items: Iterable[RawRecord] | None) -> JsonValue:
    """The items of a list of questions up to one that settles what they are."""
    found: list[JsonValue] = []
    for item in items or ():
        value = looked_at(bytes(item)).value
        found.append(value)
        if isinstance(value, dict) and any(near_miss(name, ("input",)) for name in value):
            break
    return found


def _unsupported(path: Path, why: str) -> Opened:
    finding = error("unsupported_format", f"{why}; supported are {SUPPORTED}")
    return Opened(path=path, findings=(finding,), is_recognised=False)
