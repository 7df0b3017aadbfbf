"""What the store keeps with a run so that it can be resumed: from what, by whom, graded how.

A field that may be unset is one that runs of earlier versions do not have.
"""

from __future__ import annotations

import json

from msgspec import UNSET, UnsetType, field

from steelyard.model.json_value import JsonObject
from steelyard.results.grading_summary import GradingSummary
from steelyard.results.json_struct import JsonStruct, from_json
from steelyard.results.manifest import RunSetup, Settings, without_hidden
from steelyard.results.options import StoredOptions


class PlannedRubric(JsonStruct, frozen=True, kw_only=True):
    """A rubric that grades, as it was when the run began."""

    name: str
    sha256: str | None


class PlannedJudges(JsonStruct, frozen=True, kw_only=True):
    """The judges of a run, as they were when it began."""

    targets: dict[str, Settings] = field(default_factory=dict[str, Settings])
    """Model and sampling of the targets through which they are asked."""
    templates: dict[str, str] = field(default_factory=dict[str, str])
    """The hash of each judge."""


class PlannedRedaction(JsonStruct, frozen=True, kw_only=True):
    """What is redacted."""

    patterns: tuple[str, ...]
    custom: dict[str, str] = field(default_factory=dict[str, str])
    fields: tuple[str, ...] = ()


class Plan(JsonStruct, frozen=True, kw_only=True):
    """What must be known of a run to resume it, and what must not change until then."""

    options: StoredOptions
    contract: str
    source: dict[str, str]
    """The sha256 of the dataset's files, by name."""
    is_sound: bool = False
    """Whether every row of the dataset is accepted."""
    shown: str
    """The sha256 over all files that the dataset shows."""
    responses: str | None
    """The sha256 of the response file."""
    rubric: tuple[PlannedRubric, ...] | PlannedRubric | None
    """Those that grade; the first versions kept one, or none."""
    models: dict[str, Settings]
    """Model, sampling and prompt of each target."""
    judges: PlannedJudges | UnsetType = UNSET
    programs: dict[str, str] | UnsetType = UNSET
    """The sha256 of the files of programs that grade."""
    redacted: PlannedRedaction | tuple[str, ...] | UnsetType = UNSET
    """Earlier versions kept the patterns alone."""
    targets: dict[str, Settings] = field(default_factory=dict[str, Settings])
    """As they may be written: an argument of a program may be a key."""
    setup: RunSetup | UnsetType = field(name="about", default=UNSET)
    graders: GradingSummary | UnsetType = UNSET
    selected: int | None = None
    """How many records the run is about."""
    valid: int | None = None
    """How many of these are valid; earlier versions did not keep it."""
    rows: int | None = None
    """How many rows these make: one of an invalid record, and one per repeat of the others."""
    secret: str | None = None
    """What makes the seeds of its judges."""

    @property
    def total_rows(self) -> int | None:
        """How many rows the run has in the end; earlier versions kept the records alone."""
        if self.rows is None and self.selected is not None:
            return self.selected * self.options.repeat
        return self.rows


def read_plan(data: bytes) -> Plan | None:
    """The plan that a store has kept; None where it was pruned."""
    row: JsonObject = json.loads(data)
    if isinstance(about := row.get("about"), dict):
        row["about"] = without_hidden(about)
    return from_json(row, Plan) if row else None
