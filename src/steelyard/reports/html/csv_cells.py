"""What the cells of a table give to its CSV: each value in a column of its own."""

from __future__ import annotations

import json
from typing import Protocol

from markupsafe import Markup, escape

from steelyard.model.json_value import JsonValue


class Ranged(Protocol):
    """A value with the ends of its interval."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def csv_values(*values: JsonValue) -> Markup:
    """The attribute of a heading with the names of its columns, or of a cell with their values.

    A rate is a share from 0 to 1. Columns that a cell has no value for stay empty.
    """
    written = json.dumps(values, ensure_ascii=False)
    return Markup(f' data-values="{escape(written)}"')  # noqa: S704 - escaped


def csv_interval(found: Ranged | None) -> Markup:
    """The attribute of a cell with a rate: its value and the ends of its interval."""
    if found is None or found.value is None:
        return csv_values()
    return csv_values(found.value, found.low, found.high)


def csv_interval_names(name: str) -> Markup:
    """The attribute of the heading over such cells."""
    return csv_values(name, f"{name}, low", f"{name}, high")


def csv_rate(found: Ranged | None, n: int | None) -> Markup:
    """The attribute of a cell with a rate whose number of records has no column elsewhere."""
    if found is None or found.value is None:
        return csv_values(None, None, None, n or 0)
    return csv_values(found.value, found.low, found.high, n)


def csv_rate_names(name: str) -> Markup:
    """The attribute of the heading over such cells."""
    return csv_values(name, f"{name}, low", f"{name}, high", f"{name}, n")
