"""Read a dataset of any contract into memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from steelyard.contracts.catalog import Contracts
from steelyard.contracts.reading import DatasetReading
from steelyard.errors import UnreadableFileError
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.ports import Workspace
from steelyard.usecases.datasets.given_rows import NAME, GivenRows, open_rows
from steelyard.usecases.datasets.open_dataset import no_such_file, open_dataset


def read_dataset(
    workspace: Workspace, path: Path, contracts: Contracts | None = None
) -> tuple[Dataset, list[Finding]]:
    """The accepted cases and all findings; raises only if the file is not a dataset."""
    if not workspace.is_file(path):
        raise no_such_file(path)
    opened = open_dataset(workspace, path, contracts=contracts)
    if opened.reading is None:
        raise UnreadableFileError(f"{path}: {opened.refusal}")
    return _read(opened.reading, opened.sidecar.findings if opened.sidecar else ())


def read_rows(
    workspace: Workspace, rows: GivenRows, folder: Path, contracts: Contracts
) -> tuple[Dataset, list[Finding]]:
    """The same for rows in memory; files that they show are looked for from the folder."""
    reading, _ = open_rows(rows, contracts, workspace.files_of(folder / f"{NAME}.jsonl"))
    return _read(reading, ())


def _read(reading: DatasetReading, sidecar: Sequence[Finding]) -> tuple[Dataset, list[Finding]]:
    findings = [*sidecar, *reading.findings]
    cases: list[Case] = []
    for row in reading.rows():
        findings.extend(row.findings)
        if row.is_accepted:
            cases.append(reading.case(row))
    accepted = () if reading.is_spoiled else tuple(cases)
    return reading.dataset(accepted), findings
