"""Stored paths, relative to the project's root, so that a run can be moved with it."""

from __future__ import annotations

from pathlib import Path

from steelyard.errors import InvalidError


def project_path(root: Path, path: Path) -> Path:
    """The path relative to the project's root if it is below it; otherwise the whole path."""
    try:
        full = path.resolve()
    except (OSError, RuntimeError):
        raise InvalidError(
            f"{path} cannot be opened: its symbolic links lead in a circle"
        ) from None
    return full.relative_to(root) if full.is_relative_to(root) else full


def is_file_inside(root: Path, path: Path) -> bool:
    """Whether a path leads to a file below the project's root, whatever links are on the way."""
    try:
        real = path.resolve(strict=True)
        return real.is_relative_to(root.resolve()) and real.is_file()
    except (OSError, RuntimeError):  # a link to itself, or to nothing
        return False
