"""Runs of a project as lists and pages ask for them."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import msgspec

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject
from steelyard.results.stored_run import StoredRun


class RunQuery(FrozenStruct, frozen=True, kw_only=True):
    """Which runs to list, newest first; what is None restricts nothing."""

    status: str | None = None
    group_id: str | None = None
    dataset: str | None = None
    """The whole name of the dataset, like that of the target."""
    target: str | None = None
    text: str | None = None
    """A part of the id, of the dataset's name or of the target's; letters in either case."""


EVERY_RUN = RunQuery()


class RunPosition(msgspec.Struct, frozen=True, array_like=True):
    """The last run of a page."""

    created_at: str
    run_id: str


class Progress(msgspec.Struct, frozen=True):
    """How far a run has come: a row is a record in one repeat."""

    rows: int = 0
    failed_rows: int = 0
    retrying_rows: int = 0
    """Rows that have failed and wait for another attempt."""


EventKind: TypeAlias = Literal["state", "progress", "warning"]


class RunEvent(NamedTuple):
    """Something that happened to a run."""

    sequence: int
    """Counts the events of the run, from 1 on."""
    at: str
    kind: EventKind
    data: JsonObject
    """`state`, with `actor` and `request_id` where a person caused it; `rows`, `failed_rows`
    and `retrying_rows`; or `message`."""


class RunDetail(FrozenStruct, frozen=True, kw_only=True):
    """A run with what became of it."""

    run: StoredRun
    states: tuple[tuple[str, str], ...]
    """Every state with its time, in order."""
    total: int | None
    """How many rows it has in the end."""
    progress: Progress
