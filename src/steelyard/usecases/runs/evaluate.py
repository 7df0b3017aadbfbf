"""Run a dataset from Python."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, cast

from steelyard.checks.function import function_check
from steelyard.errors import InvalidError, argument
from steelyard.execution.ports import TargetSpec
from steelyard.execution.prepared import Prepared
from steelyard.execution.run_options import RunOptions
from steelyard.model.audit import Caller
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject
from steelyard.model.rubric import Check, Rubric, RubricCheck
from steelyard.model.run import Result, RunState
from steelyard.reports.asked_text import expected_text, request_text
from steelyard.reports.html.notebook import run_output
from steelyard.results.metrics import Metrics
from steelyard.results.predictions import PREDICTIONS
from steelyard.usecases.datasets.given_rows import ACCEPTED, NAME, GivenRows, open_rows
from steelyard.usecases.datasets.referenced_rows import with_references
from steelyard.usecases.results.pruned_files import pruned_on
from steelyard.usecases.results.read_run import read_predictions, read_run
from steelyard.usecases.runs.execute import start_run
from steelyard.usecases.runs.in_memory import DatasetInMemory
from steelyard.usecases.runs.option_ranges import require_count, require_filled, require_ranges
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.prepare import Source, open_source, prepare_source

Function: TypeAlias = Callable[..., Any]
_NESTED = ("trace", "evaluator_scores")
_PANDAS_TYPES: Mapping[type, str] = {int: "Int64", bool: "boolean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished run."""

    run_id: str
    status: RunState
    folder: Path
    metrics: Metrics
    warnings: tuple[str, ...] = ()
    """Warnings of the run; empty for a run that was read from disk."""

    def records(self) -> Iterator[JsonObject]:
        """The rows of predictions.jsonl, one at a time, with full requests."""
        return (row.json() for row in read_predictions(self.folder))

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        rows = () if pruned_on(self.folder, PREDICTIONS) else read_predictions(self.folder)
        return run_output(read_run(self.folder), rows)

    def to_frame(self) -> Any:
        """The rows as a polars DataFrame: the request as text, without the trace."""
        polars = _imported("polars", "to_frame needs polars: pip install 'steelyard[parquet]'")
        return polars.DataFrame(self._plain_rows(), infer_schema_length=None)

    def to_pandas(self) -> Any:
        """The same rows as a pandas DataFrame; counts and verdicts have types with a null."""
        pandas = _imported("pandas", "to_pandas needs pandas: pip install pandas")
        rows = self._plain_rows()
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: [row.get(name) for row in rows] for name in names}
        made = {
            name: pandas.Series(values, dtype=_pandas_type(values))
            for name, values in columns.items()
        }
        return pandas.DataFrame(made)

    def _plain_rows(self) -> list[JsonObject]:
        return [
            {
                **{name: value for name, value in row.json().items() if name not in _NESTED},
                "request": request_text(row),
                "expected": expected_text(row),
            }
            for row in read_predictions(self.folder)
        ]


def _imported(module: str, message: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise InvalidError(message) from None


def _pandas_type(values: Sequence[object]) -> str | None:
    """The type with a null where pandas would turn numbers into floats; None: what it infers."""
    kinds = {type(value) for value in values if value is not None}
    return _PANDAS_TYPES.get(next(iter(kinds))) if len(kinds) == 1 else None


def look_over(
    dataset: object,
    target: object,
    checks: object,
    counts: Mapping[str, object],
    texts: Mapping[str, object],
) -> None:
    """Refuse invalid arguments before anything is read."""
    if meant := _dataset_meant(dataset):
        raise InvalidError(f"dataset must be {ACCEPTED}, not {meant}")
    if not isinstance(target, str) and not callable(target):
        raise InvalidError(
            f"target must be a function or the name of a target, not {_type(target)}"
        )
    if not isinstance(checks, list | tuple):
        raise InvalidError(f"checks must be a list of checks, not {_type(checks)}")
    for check in cast(Sequence[object], checks):
        is_check = hasattr(check, "kind") and hasattr(check, "check")
        if isinstance(check, type) or not (is_check or callable(check)):
            raise InvalidError(
                'a check is an object such as Equals(value="Paris") or a function of a trace and '
                f"a case, not {_type(check)}"
            )
    if checks and texts["rubric"] is not None:
        raise InvalidError("checks and rubric exclude each other: both say what grades a record")
    if checks and texts["judge"] is not None:
        raise InvalidError("checks and judge exclude each other: no check asks that judge")
    for name, count in counts.items():
        require_count(name, count)
    for name, text in texts.items():
        _require_text(name, text)


def _require_text(name: str, text: object) -> None:
    if text is not None and not isinstance(text, str):
        raise InvalidError(f"{argument(name)} must be a text, not {_type(text)}")
    require_filled(name, text)


def _dataset_meant(given: object) -> str:
    """What was given instead of a dataset, and how to make one from it; empty for a dataset."""
    parts = cast(Sequence[object], given) if isinstance(given, list | tuple) else ()
    if parts and isinstance(parts[0], Dataset):
        return "a pair; write dataset, findings = steelyard.read_dataset(path)"
    if parts and isinstance(parts[0], Case):
        made = 'steelyard.Dataset(id="mine", contract="eval_cases", cases=tuple(cases))'
        return f"cases alone; write {made}"
    is_one = isinstance(given, str | PathLike | Dataset | GivenRows)
    return "" if is_one else _type(cast(object, given))


def _type(given: object) -> str:
    return f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__


def rubric_of(given: Sequence[Check | Function]) -> Rubric | None:
    """A rubric of check objects and functions, each named after its kind."""
    if not given:
        return None
    entries: list[RubricCheck] = []
    checks = [
        cast(Check, one if hasattr(one, "check") else function_check(cast(Function, one)))
        for one in given
    ]
    for check in checks:
        same = sum(entry.check.kind == check.kind for entry in entries)
        name = f"{check.kind}-{same + 1}" if same else check.kind
        entries.append(RubricCheck(id=name, check=check))
    return Rubric(
        id="checks",
        version="1.0.0",
        checks=tuple(entries),
        grading_sha256=_settings_sha256(checks),
    )


def _settings_sha256(checks: Sequence[Check]) -> str:
    """The hash of the settings of check objects; for one that is not a dataclass, of its class."""
    parts = [
        repr(check) if is_dataclass(check) else f"{type(check).__module__}.{type(check).__name__}"
        for check in checks
    ]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def plan_evaluation(
    ports: RunPorts,
    options: RunOptions,
    spec: TargetSpec,
    checks: Sequence[Check | Function],
    dataset: Dataset | GivenRows | None = None,
) -> Prepared:
    """Check the run before the first call; the options' file is read where no dataset is given."""
    require_ranges(options)
    ports = ports.gathering()
    rubric = rubric_of(checks)
    if dataset is None:
        source = open_source(ports, options)
    elif isinstance(dataset, GivenRows):
        source = _given(ports, dataset)
    else:
        source = _in_memory(ports, dataset)
    if options.rubric:
        rubric = ports.rubric(options.rubric, strict=options.strict)
    return prepare_source(ports, options, source, rubric, {spec.name: spec})


def _in_memory(ports: RunPorts, dataset: Dataset) -> Source:
    contract = ports.contracts.in_memory(dataset.contract)
    reading = DatasetInMemory(dataset, contract)
    return Source(
        name=dataset.id,
        reading=reading,
        contract=contract,
        digests={dataset.id: reading.digest()},
    )


def _given(ports: RunPorts, rows: GivenRows) -> Source:
    files = ports.workspace.files_of(ports.root / f"{NAME}.jsonl")
    reading, contract = open_rows(rows, ports.contracts, files)
    reading = with_references(reading, lambda: ports.references)
    return Source(name=NAME, reading=reading, contract=contract, digests={NAME: rows.digest})


async def evaluate(
    ports: RunPorts,
    prepared: Prepared,
    on_result: Callable[[Result], None] | None = None,
    *,
    caller: Caller | None = None,
) -> Run:
    """Carry it out."""
    finished = await start_run(ports, prepared, _ignore, on_result or _ignore, caller=caller)
    assert finished.metrics is not None
    return Run(
        run_id=finished.run_id,
        status=finished.status,
        folder=Path(finished.folder),
        metrics=finished.metrics,
    )


def finished_run(folder: Path) -> Run:
    """A finished run, from its artifacts."""
    view = read_run(folder)
    status = view.manifest.status
    return Run(run_id=view.run_id, status=status, folder=folder, metrics=view.metrics)


def _ignore(_: object) -> None:
    """Ignore progress."""
