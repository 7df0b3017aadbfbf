"""What was measured, kept in a file so that a long trial can go on where it stopped."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.child import Cost


class Setting(NamedTuple):
    """What a run was like: milliseconds until an answer, calls at once, samples."""

    delay_ms: int
    at_once: int
    samples: int


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run of one tool: its cost, or why there is none."""

    tool: str
    version: str
    setting: Setting
    turn: int
    cost: Cost | None = None
    failure: str = ""


class Measurements:
    """All runs so far, in the order in which they were made."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._all = _read(path) if path.exists() else []

    def add(self, fresh: Measurement) -> None:
        """Keep a run in place of an earlier one of the same turn."""
        self._all = [one for one in self._all if _key(one) != _key(fresh)]
        self._all.append(fresh)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps([asdict(one) for one in self._all], indent=1), "utf-8")
        part.replace(self._path)

    def found(self, tool: str, version: str, setting: Setting, turn: int) -> Cost | None:
        """What this very run cost, if it was made and went well."""
        same = (one for one in self._of(tool, version, setting) if one.turn == turn)
        return next((one.cost for one in same if one.cost), None)

    def costs(self, tool: str, version: str, setting: Setting) -> list[Cost]:
        """What every run of this setting cost."""
        return [one.cost for one in self._of(tool, version, setting) if one.cost]

    def middle(self, tool: str, version: str, setting: Setting) -> Cost | None:
        """The median of each figure of those runs; None where there is none."""
        taken = self.costs(tool, version, setting)
        if not taken:
            return None
        return Cost(
            median(cost.wall_s for cost in taken),
            median(cost.cpu_s for cost in taken),
            round(median(cost.peak_bytes for cost in taken)),
        )

    def failure(self, tool: str, version: str, setting: Setting) -> str:
        """Why a run of this setting failed; empty when none did."""
        return next((one.failure for one in self._of(tool, version, setting) if one.failure), "")

    def _of(self, tool: str, version: str, setting: Setting) -> list[Measurement]:
        wanted = (tool, version, setting)
        return [one for one in self._all if (one.tool, one.version, one.setting) == wanted]


def _key(one: Measurement) -> tuple[str, Setting, int]:
    return one.tool, one.setting, one.turn


def _read(path: Path) -> list[Measurement]:
    return [
        Measurement(
            row["tool"],
            row["version"],
            Setting(*row["setting"]),
            row["turn"],
            Cost(**row["cost"]) if row["cost"] else None,
            row["failure"],
        )
        for row in json.loads(path.read_text(encoding="utf-8"))
    ]
