"""Stored paths, relative to the project's root, so that a run can be moved with it."""

from __future__ import annotations

from pathlib import Path


def project_path(root: Path, path: Path) -> Path:
    """The path relative to the project's root if it is below it; otherwise the whole path."""
    full = path.resolve()
    return full.relative_to(root) if full.is_relative_to(root) else full
