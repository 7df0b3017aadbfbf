"""Rubrics and judges: create, list, read, publish, archive, compare versions."""

from __future__ import annotations

from typing import Any

from steelyard.api.operation import Operation

OPERATIONS: tuple[Operation[Any, Any], ...] = ()
