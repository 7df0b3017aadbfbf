"""Read a dataset of any contract into memory."""

from __future__ import annotations

from pathlib import Path

from steelyard.contracts.catalog import Contracts
from steelyard.errors import UnreadableFileError
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.ports import Workspace
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
    reading = opened.reading
    findings = [*(opened.sidecar.findings if opened.sidecar else ()), *reading.findings]
    cases: list[Case] = []
    for row in reading.rows():
        findings.extend(row.findings)
        if row.is_accepted:
            cases.append(reading.case(row))
    accepted = () if reading.is_spoiled else tuple(cases)
    return reading.dataset(accepted), findings
