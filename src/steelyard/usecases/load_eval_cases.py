"""Load eval cases the way contract 5 describes it."""

from __future__ import annotations

import logging
from pathlib import Path

from steelyard.contracts.reading import DatasetReading
from steelyard.errors import NotFoundError, UnreadableFileError
from steelyard.model.case import Case
from steelyard.ports import Workspace
from steelyard.usecases.open_dataset import Opened, open_dataset

_EXTENSIONS = (".yaml", ".yml", ".jsonl")
_log = logging.getLogger("steelyard")


def load_eval_cases(workspace: Workspace, path: Path) -> tuple[Case, ...]:
    """The good cases of a file; raises for what spoils the file, warns for each bad case."""
    extension = path.suffix.lower()
    if extension not in _EXTENSIONS:
        supported = ", ".join(_EXTENSIONS)
        raise UnreadableFileError(
            f"{path}: unsupported file format '{extension}'; supported formats: {supported}"
        )
    if not workspace.is_file(path):
        raise NotFoundError(f"no such file: {path}")
    opened = open_dataset(workspace, path, "eval_cases")
    reading = _sound(opened)
    cases: list[Case] = []
    for row in reading.rows():
        for finding in row.findings:
            _log.warning("%s: %s", path, finding.message)
        if reading.is_spoiled:
            raise UnreadableFileError(f"{path}: {row.findings[0].message}")
        if row.is_accepted:
            cases.append(reading.case(row))
    return tuple(cases)


def _sound(opened: Opened) -> DatasetReading:
    """The reading of a file that nothing spoils as a whole."""
    sidecar = opened.sidecar
    if sidecar and not sidecar.is_found:
        _log.debug("no sidecar %s; defaults are used", sidecar.path)
    for path, findings in (
        (opened.path, opened.findings),
        (sidecar.path if sidecar else opened.path, sidecar.findings if sidecar else ()),
        (opened.path, opened.reading.findings if opened.reading else ()),
    ):
        for finding in findings:
            if finding.is_error:
                raise UnreadableFileError(f"{path}: {finding.message}")
            _log.warning("%s: %s", path, finding.message)
    if opened.reading is None:
        raise UnreadableFileError(f"{opened.path}: not a file of eval cases")
    return opened.reading
