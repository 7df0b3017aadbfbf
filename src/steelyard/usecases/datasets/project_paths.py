"""Paths as they are stored: from the project's root, so that a run can be moved with it."""

from __future__ import annotations

from pathlib import Path


def project_path(root: Path, path: Path) -> Path:
    """A path from the project's root where it lies beneath; another one in full."""
    full = path.resolve()
    return full.relative_to(root) if full.is_relative_to(root) else full
