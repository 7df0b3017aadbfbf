"""A pytest plugin: evaluate within a test, and fail with the numbers.

Nothing of the engine is imported before a test uses it, since pytest imports every plug-in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from steelyard.model.dataset import Dataset
    from steelyard.model.rubric import Check
    from steelyard.usecases.evaluate import Run

_SHOWN = 10


class Steelyard:
    """What the `steelyard` fixture offers; runs are kept in the test's own folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        """The project: a `steelyard.yaml` written here names targets."""

    def evaluate(
        self,
        dataset: Dataset | str | Path,
        *,
        target: str | Callable[..., Any],
        checks: Sequence[Check] = (),
        repeat: int = 1,
        max_concurrency: int = 16,
    ) -> Run:
        """Run a dataset against a function or a named target; an invalid record is an error.

        The current folder is the project's for as long as the run takes.
        """
        from steelyard.wiring import evaluate  # noqa: PLC0415 - see the top

        cases = _read(Path(dataset)) if isinstance(dataset, str | Path) else dataset
        with chdir(self.folder):
            return evaluate(
                cases,
                target=target,
                checks=checks,
                repeat=repeat,
                max_concurrency=max_concurrency,
            )

    def assert_passes(self, run: Run, at_least: float = 1.0, *, allow_failures: int = 0) -> None:
        """Fail when fewer pass, or when more records than allowed have no score."""
        __tracebackhide__ = True
        wrong = _wrong(run, at_least, allow_failures)
        if wrong:
            pytest.fail("\n".join([wrong, *_told(run)]), pytrace=False)


@pytest.fixture
def steelyard(tmp_path: Path) -> Steelyard:
    """Evaluates datasets and asserts how many of their cases pass."""
    return Steelyard(tmp_path)


def _read(path: Path) -> Dataset:
    from steelyard.errors import UsageError  # noqa: PLC0415
    from steelyard.wiring import read_dataset  # noqa: PLC0415

    dataset, findings = read_dataset(path.absolute())
    errors = [finding for finding in findings if finding.is_error]
    if errors:
        raise UsageError(f"{path} has {len(errors)} error(s), the first: {errors[0].message}")
    return dataset


def _wrong(run: Run, at_least: float, allow_failures: int) -> str | None:
    from steelyard.reports.numbers import count, percent, rate_text  # noqa: PLC0415

    metrics = cast(dict[str, Any], run.metrics)
    rate = metrics["pass_rate"]
    if rate["value"] is None or rate["value"] < at_least:
        return f"the pass rate is {rate_text(rate)}, below {percent(at_least)}"
    missing = metrics["failed_records"] + metrics["skipped_records"]
    if missing > allow_failures:
        return f"{count(missing)} record(s) have no score, {count(allow_failures)} allowed"
    return None


def _told(run: Run) -> Iterator[str]:
    """The run's numbers, then the first records that did not pass."""
    from steelyard.reports.run_text import run_lines  # noqa: PLC0415
    from steelyard.usecases.read_run import read_run  # noqa: PLC0415

    yield from run_lines(read_run(run.folder))
    yield f"  artifacts  {run.folder}"
    failed = (row for row in run.records() if not row["passed"])
    shown = list(islice(failed, _SHOWN + 1))
    if shown:
        yield "not passed:"
    for row in shown[:_SHOWN]:
        word = "fail" if row["status"] == "evaluated" else row["status"]
        repeat = f" (repeat {row['repeat']})" if row["repeat"] else ""
        yield f"  {row['record_id'] or row['index']}{repeat}  {word}  {row['reason'] or ''}"
    if len(shown) > _SHOWN:
        yield "  …"
