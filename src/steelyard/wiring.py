"""Joins use cases with the adapters they need; the only module that knows concrete classes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.ports import Workspace


def workspace() -> Workspace:
    """The user's files, seen from the current folder."""
    from steelyard.store.workspace import DiskWorkspace

    return DiskWorkspace(Path.cwd())


def load_eval_cases(path: str | Path) -> tuple[Case, ...]:
    """Read the eval cases of a .yaml, .yml or .jsonl file (contract 5).

    What spoils the file raises `UnreadableFileError`; a bad case is left out with a warning on
    the `steelyard` logger.
    """
    from steelyard.usecases.load_eval_cases import load_eval_cases as load

    return load(workspace(), Path(path))


def read_dataset(path: str | Path) -> tuple[Dataset, Sequence[Finding]]:
    """Read a dataset of any contract: its accepted cases, and everything that was found."""
    from steelyard.usecases.read_dataset import read_dataset as read

    return read(workspace(), Path(path))
