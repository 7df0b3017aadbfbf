"""Start a run from a dataset document."""

from __future__ import annotations

from typing import Any

from steelyard.api.operation import Operation

OPERATIONS: tuple[Operation[Any, Any], ...] = ()
