"""What `prune` has removed: a file that is gone because it was old is not one that is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict

import msgspec

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.results.artifacts import ARTIFACTS, MANIFEST
from steelyard.results.metrics import Value

PRUNED = "pruned.jsonl"
"""Beside the folder of the runs: a line for every file that went."""
SUMMARIES = ("metrics_summary.json", "metrics_by_slice.json", MANIFEST)
"""The manifest last: without it nothing says what the others were."""
RAW = tuple(name for name in ARTIFACTS if name not in SUMMARIES)


class PrunedFile(FrozenStruct, frozen=True, kw_only=True):
    """An artifact that goes or went, as it was sealed."""

    run_id: str
    name: str
    at: str
    sha256: str
    size: int

    @property
    def day(self) -> str:
        """When, as people say it."""
        return self.at[:10]


class PrunedSize(Value, frozen=True, kw_only=True):
    """A file that goes or went, with its bytes."""

    name: str
    size: int


class PrunedRun(Value, frozen=True, kw_only=True):
    """What goes or went of one run."""

    run_id: str
    finished_at: str
    summaries: bool
    """Whether its summaries go as well."""
    files: tuple[PrunedSize, ...]
    rows: int


class PruningReport(Value, frozen=True, kw_only=True):
    """What a pruning has removed, or would remove."""

    is_done: bool
    raw_days: int
    summary_days: int
    runs: tuple[PrunedRun, ...]
    files: int
    size: int
    rows: int


_decode = msgspec.json.Decoder(PrunedFile).decode


def pruned_line(file: PrunedFile) -> bytes:
    """A note as its line."""
    return msgspec.json.encode(asdict(file)) + b"\n"


def read_pruned(lines: Iterable[bytes]) -> Iterator[PrunedFile]:
    """The notes of a file; a line that a power cut tore is none."""
    for line in lines:
        try:
            yield _decode(line)
        except msgspec.MsgspecError:
            continue
