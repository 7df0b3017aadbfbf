"""Read a finished run from its folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Container, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

import msgspec

from steelyard.engine.states import is_terminal
from steelyard.errors import NotFoundError, UnreadableFileError
from steelyard.model.json_value import JsonObject
from steelyard.reports.run.run_text import RunView
from steelyard.results.artifacts import ARTIFACTS, MANIFEST
from steelyard.results.failures import FAILURES, Failure, read_failure
from steelyard.results.manifest import read_manifest
from steelyard.results.metrics import read_metrics, read_slices
from steelyard.results.predictions import PREDICTIONS, Prediction, read_prediction
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.gates import gates_of_run
from steelyard.usecases.results.pruned_files import pruned_on
from steelyard.usecases.results.request_parts import whole_rows

Decoded = TypeVar("Decoded")


class Failures(NamedTuple):
    """The content of `failures.jsonl`."""

    counts: Counter[str]
    """The number of rows by label."""
    rows: dict[tuple[int, int], Failure]
    """The requested rows, by index and repeat."""


def is_run_folder(path: Path) -> bool:
    """Whether a folder contains a sealed run."""
    return (path / MANIFEST).is_file()


def holds_artifacts(folder: Path) -> bool:
    """Whether a folder has any file of a run."""
    return any((folder / name).is_file() for name in ARTIFACTS)


def require_finished(folder: Path, run: StoredRun) -> None:
    """The error for an unfinished run."""
    if not is_terminal(run.status) and not is_run_folder(folder):
        raise NotFoundError(
            f"{run.run_id} is not finished: {run.status}; if it was interrupted, resume it "
            f"with: steelyard resume {run.run_id}"
        )


def require_manifest(folder: Path) -> None:
    """The error for a folder without a manifest."""
    if day := pruned_on(folder, MANIFEST):
        raise NotFoundError(f"{folder.name} was pruned on {day}; nothing is left to read")
    if not is_run_folder(folder):
        raise NotFoundError(f"{folder} holds no {MANIFEST}: no finished run")


def read_run(folder: Path) -> RunView:
    """Manifest, metrics and slices of a run; the caller checks that they are intact."""
    require_manifest(folder)
    manifest = _decoded(folder / MANIFEST, read_manifest)
    metrics = _decoded(folder / "metrics_summary.json", read_metrics)
    return RunView(
        manifest=manifest,
        metrics=metrics,
        slices=_decoded(folder / "metrics_by_slice.json", read_slices),
        folder=str(folder),
        gates=gates_of_run(manifest, metrics),
        failures=partial(_failures, folder),
    )


def manifest_json(folder: Path) -> JsonObject:
    """The manifest as written, possibly by another version."""
    return _decoded(folder / MANIFEST, json.loads)


def _failures(folder: Path) -> Iterator[Failure]:
    """The rows of records without a score, unless they were pruned."""
    if not pruned_on(folder, FAILURES):
        yield from decoded_rows(folder, FAILURES, read_failure)


def is_pairwise_run(view: RunView) -> bool:
    """Whether a run compares the answers of two others."""
    derived = view.manifest.setup.derived_from
    return derived is not None and derived.how == "pairwise"


def decoded_rows(folder: Path, name: str, decode: Callable[[bytes], Decoded]) -> Iterator[Decoded]:
    """The rows of a JSONL artifact, one at a time, decoded."""
    with opened_artifact(folder, name) as stream:
        for line in stream:
            yield decode(line)


@contextmanager
def opened_artifact(folder: Path, name: str) -> Generator[BinaryIO]:
    """Open an artifact; a missing or damaged one is an error."""
    path = folder / name
    try:
        with path.open("rb") as stream:
            yield stream
    except OSError as error:
        if day := pruned_on(folder, name):
            left = "; `steelyard show` has the numbers" if is_run_folder(folder) else ""
            run_id = folder.resolve().name
            raise NotFoundError(f"{name} of {run_id} was pruned on {day}{left}") from None
        raise UnreadableFileError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, msgspec.DecodeError):
        raise UnreadableFileError(f"{path} is damaged; `steelyard verify` says how") from None


def read_predictions(folder: Path) -> Iterator[Prediction]:
    """The predictions of a run, with full requests."""
    return whole_rows(folder, decoded_rows(folder, PREDICTIONS, read_prediction))


def failures_of(folder: Path, places: Container[tuple[int, int]]) -> Failures:
    """The failures: counts by label, and the rows of some places."""
    counts: Counter[str] = Counter()
    rows: dict[tuple[int, int], Failure] = {}
    for row in decoded_rows(folder, FAILURES, read_failure):
        counts[row.label] += 1
        if row.place in places:
            rows[row.place] = row
    return Failures(counts, rows)


def _decoded(path: Path, decode: Callable[[bytes], Decoded]) -> Decoded:
    try:
        return decode(path.read_bytes())
    except OSError as error:
        raise UnreadableFileError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, msgspec.DecodeError):
        raise UnreadableFileError(f"{path} is damaged; `steelyard verify` says how") from None
