"""Prune what is kept."""

from __future__ import annotations

from typing import Any

from steelyard.api.operation import Operation

OPERATIONS: tuple[Operation[Any, Any], ...] = ()
