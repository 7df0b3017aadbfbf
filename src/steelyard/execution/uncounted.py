"""Calls that were made and use no attempt of any record."""

from __future__ import annotations

from steelyard.execution.ports import RunRepository
from steelyard.model.run import UNCOUNTED


def uncounted_calls(repository: RunRepository, run_id: str) -> dict[str, int]:
    """How many calls were cut off, and how many a target that was away did not answer."""
    return {
        f"{code}_calls": repository.uncounted_calls(run_id, code) for code in sorted(UNCOUNTED)
    }
