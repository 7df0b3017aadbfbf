"""Browse the cases of a dataset: a page of them, by a part of their text."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from steelyard.contracts.contract import EXTENSIONS
from steelyard.contracts.reading import DatasetReading, Row
from steelyard.errors import NotFoundError
from steelyard.model.case import Case
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonValue
from steelyard.usecases.datasets.dataset_versions import opened_version
from steelyard.usecases.datasets.open_dataset import find_sidecar
from steelyard.usecases.datasets.project_paths import is_file_inside
from steelyard.usecases.datasets.validate import FileReport, ValidateOptions, validate
from steelyard.usecases.registry.registry import RegistryPorts

Keep: TypeAlias = Callable[[Hashable, Callable[[], FileReport]], FileReport]
"""Finds a value by its key, and makes it where it is not known."""
_FOLDER = "datasets"
_MOST_FILES = 500
_MOST_CHECKED = 2 * 1024 * 1024
"""Larger files are not read for a list."""
_MOST_FINDINGS = 100
_MOST_CHARACTERS = 2000
"""So much of a record that cannot be read as a case is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowsedCase:
    """A record of a dataset, as a list shows it."""

    index: int
    record_id: str | None
    line: int | None
    is_accepted: bool
    question: str
    """What is asked last; of a rejected record, its JSON."""
    expected: str = ""
    labels: tuple[str, ...] = ()
    """Its tags and its task type."""
    turns: int = 0
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePage:
    """Some cases of a dataset."""

    cases: tuple[BrowsedCase, ...]
    begin: int
    total: int
    """How many records match."""


def browse_dataset(
    ports: RegistryPorts, name: str, *, text: str = "", begin: int = 0, limit: int = 50
) -> CasePage:
    """A page of the records of a dataset or a dataset file that contain a text."""
    found = _matching(opened_version(ports, name).reading, text.casefold())
    shown = tuple(islice(found, begin, begin + limit)) if begin >= 0 else ()
    total = begin + len(shown) + sum(1 for _ in found)
    return CasePage(cases=shown, begin=begin, total=total)


def dataset_files(ports: RegistryPorts) -> list[str]:
    """The files in the project's folder of datasets, relative to the root.

    A link that leads out of the project, or nowhere, is left out, and so is a sidecar, which is
    read with its rows.
    """
    folder = ports.root / _FOLDER
    found = ports.workspace.expand([str(folder)]) if folder.is_dir() else []
    paths = (one.path for one in found if one.path.suffix.lower() in EXTENSIONS)
    inside = (path for path in paths if is_file_inside(ports.root, path))
    inside = (path for path in inside if not find_sidecar(ports.workspace, path, ports.contracts))
    return [path.relative_to(ports.root).as_posix() for path in islice(inside, _MOST_FILES)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFile:
    """A file of datasets, with what was found in it."""

    path: str
    report: FileReport | None
    """None of a file that is too large to be read for a list."""


def checked_files(ports: RegistryPorts, keep: Keep) -> list[CheckedFile]:
    """The dataset files with their findings; `keep` saves what was found in an unchanged file."""
    return [_checked(ports, keep, name) for name in dataset_files(ports)]


def _checked(ports: RegistryPorts, keep: Keep, name: str) -> CheckedFile:
    path = ports.root / name
    now = path.stat()
    if now.st_size > _MOST_CHECKED:
        return CheckedFile(path=name, report=None)

    def check() -> FileReport:
        options = ValidateOptions(max_findings=_MOST_FINDINGS)
        found = validate(
            ports.workspace, [str(path)], options, ports.catalog, contracts=ports.contracts
        )
        return found.files[0]

    key = ("dataset file", str(path), now.st_mtime_ns, now.st_size)
    return CheckedFile(path=name, report=keep(key, check))


def require_dataset_file(ports: RegistryPorts, name: str) -> str:
    """The path of a file in that folder; anything else does not exist here."""
    if name not in dataset_files(ports):
        raise NotFoundError(f"there is no dataset file '{name[:200]}'")
    return str(ports.root / Path(name))


def _matching(reading: DatasetReading, text: str) -> Iterator[BrowsedCase]:
    for row in reading.rows():
        one = _browsed(reading, row)
        if not text or text in f"{one.record_id}\n{one.question}\n{one.expected}".casefold():
            yield one


def _browsed(reading: DatasetReading, row: Row) -> BrowsedCase:
    findings = tuple(row.findings)
    if not row.is_accepted:
        return BrowsedCase(
            index=row.index,
            record_id=row.record_id,
            line=row.line,
            is_accepted=False,
            question=_clipped(row.value),
            findings=findings,
        )
    case = reading.case(row)
    labels = (*case.tags, *((case.task_type,) if case.task_type else ()))
    return BrowsedCase(
        index=row.index,
        record_id=row.record_id,
        line=row.line,
        is_accepted=True,
        question=_question(case),
        expected=_expected(case),
        labels=labels,
        turns=len(case.input_messages),
        findings=findings,
    )


def _question(case: Case) -> str:
    texts = [message.text for message in case.input_messages if message.role == "user"]
    return texts[-1] if texts else ""


def _expected(case: Case) -> str:
    if case.correct_choice_ids:
        return ", ".join(case.correct_choice_ids)
    return "\n".join(case.answers) or case.expected_outcome


def _clipped(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)[:_MOST_CHARACTERS]
