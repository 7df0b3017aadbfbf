"""Load eval cases as contract 5 describes."""

from __future__ import annotations

import logging
from pathlib import Path

from steelyard.contracts.reading import DatasetReading
from steelyard.errors import UnreadableFileError
from steelyard.model.case import Case
from steelyard.model.finding import Finding
from steelyard.ports import Workspace
from steelyard.usecases.datasets.open_dataset import Opened, no_such_file, open_dataset

_EXTENSIONS = (".yaml", ".yml", ".jsonl")
_log = logging.getLogger("steelyard")


def load_eval_cases(workspace: Workspace, path: Path) -> tuple[Case, ...]:
    """The valid cases; raises for errors of the whole file, warns of each invalid case."""
    extension = path.suffix.lower()
    if extension not in _EXTENSIONS:
        supported = ", ".join(_EXTENSIONS)
        raise UnreadableFileError(
            f"{path}: unsupported file format '{extension}'; supported formats: {supported}"
        )
    if not workspace.is_file(path):
        raise no_such_file(path)
    opened = open_dataset(workspace, path, "eval_cases")
    reading = _sound(opened)
    cases: list[Case] = []
    for row in reading.rows():
        if reading.is_spoiled:
            raise _unreadable(path, row.findings[0])
        for finding in row.findings:
            _log.warning("%s", _message(path, finding))
        if row.is_accepted:
            cases.append(reading.case(row))
    return tuple(cases)


def _sound(opened: Opened) -> DatasetReading:
    """The reading of a file that has no error as a whole."""
    sidecar = opened.sidecar
    if sidecar and not sidecar.is_found:
        _log.debug("no sidecar %s; defaults are used", sidecar.path)
    if opened.reading is None:
        raise _unreadable(opened.path, opened.findings[0])
    for path, findings in (
        (sidecar.path if sidecar else opened.path, sidecar.findings if sidecar else ()),
        (opened.path, opened.reading.findings),
    ):
        for finding in findings:
            if finding.is_error:
                raise _unreadable(path, finding)
            _log.warning("%s", _message(path, finding))
    return opened.reading


def _unreadable(path: Path, finding: Finding) -> UnreadableFileError:
    return UnreadableFileError(_message(path, finding))


def _message(path: Path, finding: Finding) -> str:
    place = path if finding.line is None else f"{path}:{finding.line}"
    hint = f" ({finding.hint})" if finding.hint else ""
    return f"{place}: {finding.message}{hint}"
