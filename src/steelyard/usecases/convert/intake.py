"""Sources of a conversion, among them files of a contract."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from steelyard.contracts.catalog import Contracts
from steelyard.contracts.contract import Contract
from steelyard.contracts.reading import DatasetReading, Row
from steelyard.errors import NotFoundError, UnreadableFileError, argument
from steelyard.model.case import Case
from steelyard.model.conversion import Change, Outcome, Refusal
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject
from steelyard.ports import Workspace
from steelyard.usecases.datasets.open_dataset import open_dataset

_LINE = re.compile(r"Line \d+: ")
_INDEX = re.compile(r"\[\d+\]")


class IntakeCandidate(NamedTuple):
    """One row of the source: a case, a row of its contract, or a refusal."""

    label: str
    """The id of the case, or the place of the row."""
    found: Case | JsonObject | Refusal
    changes: tuple[Change, ...] = ()


class Beside(NamedTuple):
    """Files that belong to the cases and are written with them."""

    files: dict[Path, bytes]
    changes: tuple[Change, ...] = ()
    targets: tuple[str, ...] = ()
    """The targets that the cases are meant for."""
    is_graded: bool = True
    """Whether something grades one of the cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """An open source; its candidates can be read once."""

    name: str
    contract: Contract
    """The contract whose field names its cases use."""
    header: Dataset
    candidates: Callable[[], Iterator[IntakeCandidate]]
    changes: tuple[Change, ...] = ()
    """Fields of the whole source for which no contract has a place."""
    beside: Callable[[], Beside] | None = None
    """What is written beside the cases, known when all of them are read."""
    names_each: bool = False
    """Whether every change is named, however many there are."""


def contract_intake(
    workspace: Workspace, contracts: Contracts, path: Path, contract: str | None
) -> Intake:
    """A file of a contract, detected by its keys unless the contract is given."""
    if not workspace.is_file(path):
        raise NotFoundError(f"no such file: {path}; a folder needs {argument('made_from')}")
    opened = open_dataset(workspace, path, contract, contracts=contracts)
    if opened.is_single:
        raise UnreadableFileError(f"{path}: a {opened.contract} file has no cases to convert")
    if opened.reading is None:
        other = f"; {argument('made_from')} names another format"
        hint = "" if opened.is_recognised else other
        raise UnreadableFileError(f"{path}: {opened.findings[0].message}{hint}")
    wrong = [*(opened.sidecar.findings if opened.sidecar else ()), *opened.reading.findings]
    _refuse_spoiled(path, wrong)
    reading = opened.reading
    return Intake(
        name=reading.contract,
        contract=contracts[reading.contract],
        header=reading.dataset(()),
        candidates=lambda: _cases(path, reading),
    )


def read_row(reading: DatasetReading, row: Row) -> Case | Refusal:
    """The case of a row, or why it is refused."""
    if row.is_accepted:
        return reading.case(row)
    return refusal("invalid", row.findings)


def refusal(outcome: Outcome, findings: tuple[Finding, ...]) -> Refusal:
    """The first error of a row as the reason why it is not written."""
    wrong = next(finding for finding in findings if finding.is_error)
    kind = f"{wrong.code} {_INDEX.sub('[]', wrong.path)}"
    hint = f" ({wrong.hint})" if wrong.hint else ""
    reason = f"{_LINE.sub('', wrong.message)}{hint}"
    return Refusal(outcome, reason, kind)


def place_of(row: Row) -> str:
    """The label of a row: its id, its line or its position."""
    if row.record_id:
        return row.record_id
    return f"line {row.line}" if row.line else f"item {row.index + 1}"


def _cases(path: Path, reading: DatasetReading) -> Iterator[IntakeCandidate]:
    first: tuple[Finding, ...] = ()
    for row in reading.rows():
        found = read_row(reading, row)
        if isinstance(found, Refusal) and not first:
            first = row.findings
        yield IntakeCandidate(place_of(row), found)
    if reading.is_spoiled:
        _refuse_spoiled(path, list(first))


def _refuse_spoiled(path: Path, findings: list[Finding]) -> None:
    wrong = next((finding for finding in findings if finding.is_error), None)
    if wrong:
        raise UnreadableFileError(f"{path}: {wrong.message}; `steelyard validate` shows all")
