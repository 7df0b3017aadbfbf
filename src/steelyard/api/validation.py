"""Validate a file of any contract, and the schemas that say what is valid."""

from __future__ import annotations

from typing import Any

from steelyard.api.operation import Operation

OPERATIONS: tuple[Operation[Any, Any], ...] = ()
