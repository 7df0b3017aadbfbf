"""The records of a run, with their attempts, failures, metrics and slices."""

from __future__ import annotations

from typing import Any

from steelyard.api.operation import Operation

OPERATIONS: tuple[Operation[Any, Any], ...] = ()
