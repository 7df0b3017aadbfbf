"""Run a dataset against a function and checks, from Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from steelyard.errors import UsageError
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject
from steelyard.model.rubric import Check, Rubric, RubricCheck
from steelyard.model.run import RunState
from steelyard.usecases.in_memory import DatasetInMemory
from steelyard.usecases.planning import Prepared, Source, open_source, prepare_source
from steelyard.usecases.read_run import read_rows
from steelyard.usecases.run import start_run
from steelyard.usecases.run_options import RunOptions
from steelyard.usecases.run_ports import RunDoor, TargetSpec

_NESTED = ("trace", "evaluator_scores")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished run in Python's hands."""

    run_id: str
    status: RunState
    folder: Path
    metrics: JsonObject

    def records(self) -> Iterator[JsonObject]:
        """The rows of predictions.jsonl, one at a time."""
        return read_rows(self.folder, "predictions.jsonl")

    def to_frame(self) -> Any:
        """The rows as a polars DataFrame, nested fields left out."""
        try:
            polars: Any = import_module("polars")
        except ImportError:
            raise UsageError("to_frame needs polars: pip install polars") from None
        rows = [
            {name: value for name, value in row.items() if name not in _NESTED}
            for row in self.records()
        ]
        return polars.DataFrame(rows, infer_schema_length=None)


def rubric_of(checks: Sequence[Check]) -> Rubric | None:
    """A rubric of checks that are given as objects, each named after its kind."""
    if not checks:
        return None
    entries: list[RubricCheck] = []
    for check in checks:
        same = sum(entry.check.kind == check.kind for entry in entries)
        name = f"{check.kind}-{same + 1}" if same else check.kind
        entries.append(RubricCheck(id=name, check=check))
    return Rubric(id="checks", version="1.0.0", checks=tuple(entries))


def plan_evaluation(
    door: RunDoor,
    options: RunOptions,
    spec: TargetSpec,
    checks: Sequence[Check],
    dataset: Dataset | None = None,
) -> Prepared:
    """Check the run before the first call; the options' file is read where no dataset is given."""
    source = open_source(door, options) if dataset is None else _in_memory(dataset)
    return prepare_source(door, options, source, rubric_of(checks), {spec.name: spec})


def _in_memory(dataset: Dataset) -> Source:
    reading = DatasetInMemory(dataset)
    return Source(
        name=dataset.id,
        reading=reading,
        contract=dataset.contract,
        digests={dataset.id: reading.digest()},
    )


async def evaluate(door: RunDoor, prepared: Prepared) -> Run:
    """Carry it out."""
    finished = await start_run(door, prepared, _ignore, _ignore)
    return Run(
        run_id=finished.run_id,
        status=finished.status,
        folder=Path(finished.folder),
        metrics=finished.metrics,
    )


def _ignore(_: object) -> None:
    """Nobody looks on."""
