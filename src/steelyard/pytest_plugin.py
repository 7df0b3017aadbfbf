"""A pytest plugin: evaluate within a test, and fail with the numbers.

Nothing of the engine is imported before a test uses it, since pytest imports every plug-in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import pytest

if TYPE_CHECKING:
    from steelyard.model.dataset import Dataset
    from steelyard.model.rubric import Check
    from steelyard.usecases.runs.evaluate import Run

_SHOWN = 10


class Options(TypedDict, total=False):
    """What else `evaluate` of the library takes; the project is the test's."""

    checks: Sequence[Check]
    repeat: int
    limit: int | None
    where: str | None
    max_concurrency: int


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
        rubric: str | None = None,
        judge: str | None = None,
        **options: Unpack[Options],
    ) -> Run:
        """Run a dataset against a function or a named target; an invalid record is an error.

        The current folder is the project's for as long as the run takes; the paths of dataset,
        rubric and judge begin at the one before.
        """
        from steelyard.library import evaluate  # noqa: PLC0415 - see the top

        cases = _read(Path(dataset)) if isinstance(dataset, str | Path) else dataset
        rubric, judge = _from_here(rubric), _from_here(judge)
        with chdir(self.folder):
            return evaluate(cases, target=target, rubric=rubric, judge=judge, **options)

    def assert_passes(
        self,
        run: Run,
        at_least: float = 1.0,
        *,
        at_least_low: float | None = None,
        allow_failures: int | str = 0,
        corrected: bool = False,
    ) -> None:
        """Fail when a gate of the command line would: too few pass, or too many have no score.

        `at_least_low` looks at the lower bound of the pass rate, `corrected` at the corrected
        rate, and `allow_failures` takes a number of records or a share such as "5%". The first two
        are shares above 0 and at most 1.
        """
        __tracebackhide__ = True
        from steelyard.usecases.results.gates import (  # noqa: PLC0415 - see the top
            Gates,
            evaluate_gates,
            require_allowed,
            require_share,
        )

        require_share("at_least", at_least)
        if at_least_low is not None:
            require_share("at_least_low", at_least_low)
        require_allowed("allow_failures", str(allow_failures))
        gates = Gates(
            fail_under=at_least,
            fail_under_low=at_least_low,
            corrected=corrected,
            allow_failures=str(allow_failures),
        )
        failed = [one.reason for one in evaluate_gates(run.metrics, gates) if not one.passed]
        if failed:
            pytest.fail("\n".join([*failed, *_run_lines(run)]), pytrace=False)


@pytest.fixture
def steelyard(tmp_path: Path) -> Steelyard:
    """Evaluates datasets and asserts how many of their cases pass."""
    return Steelyard(tmp_path)


def _from_here(name: str | None) -> str | None:
    """The path of a file as it holds in every folder; anything else as it is."""
    path = Path(str(name))
    return str(path.absolute()) if path.suffix and path.is_file() else name


def _read(path: Path) -> Dataset:
    from steelyard.errors import InvalidError  # noqa: PLC0415
    from steelyard.library import read_dataset  # noqa: PLC0415

    dataset, findings = read_dataset(path.absolute())
    errors = [finding for finding in findings if finding.is_error]
    if errors:
        raise InvalidError(f"{path} has {len(errors)} error(s), the first: {errors[0].message}")
    return dataset


def _run_lines(run: Run) -> Iterator[str]:
    """The run's numbers, then the first records that did not pass."""
    from steelyard.reports.run.run_text import run_lines  # noqa: PLC0415
    from steelyard.usecases.results.read_run import read_run  # noqa: PLC0415

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
