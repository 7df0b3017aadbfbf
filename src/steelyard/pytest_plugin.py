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
    from steelyard.model.case import Case
    from steelyard.model.dataset import Dataset
    from steelyard.model.rubric import Check
    from steelyard.usecases.runs.evaluate import Run

_SHOWN = 10
_TEXT_LINES = 6
_LINE_WIDTH = 200
_CONTRACT = "steelyard_contract"
"""The attribute of a test that names the contract of its cases."""


class Options(TypedDict, total=False):
    """What else `evaluate` of the library takes; the project is the test's."""

    checks: Sequence[Check | Callable[..., Any]]
    repeat: int
    limit: int | None
    where: str | None
    max_concurrency: int
    input: str | None
    expected: str | None
    id: str | None


class ColumnNames(TypedDict, total=False):
    """The columns of rows."""

    input: str | None
    expected: str | None
    id: str | None


def cases(
    dataset: Any, **columns: Unpack[ColumnNames]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Run a test once for each case of a dataset, as its argument `case`; ids are those of cases.

    The dataset is a path, a `Dataset`, a list of dicts or a data frame, as `evaluate` takes it.
    """
    from steelyard.errors import SteelyardError  # noqa: PLC0415 - see the top
    from steelyard.model.dataset import Dataset  # noqa: PLC0415

    try:
        read = dataset if isinstance(dataset, Dataset) else _read(dataset, **columns)
    except SteelyardError as wrong:
        raise pytest.Collector.CollectError(f"steelyard.cases: {wrong}") from None

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        setattr(test, _CONTRACT, read.contract)
        params = [pytest.param(case, id=case.id) for case in read.cases]
        return pytest.mark.parametrize("case", params)(test)

    return decorate


class Steelyard:
    """What the `steelyard` fixture offers; runs are kept in the test's own folder."""

    def __init__(self, folder: Path, contract: str = "eval_cases") -> None:
        self.folder = folder
        """The project: a `steelyard.yaml` written here names targets."""
        self._contract = contract

    def evaluate(
        self,
        dataset: Dataset | Case | str | Path | Any,
        *,
        target: str | Callable[..., Any],
        rubric: str | None = None,
        judge: str | None = None,
        **options: Unpack[Options],
    ) -> Run:
        """Run a dataset or a case against a function or a named target; an invalid record is an
        error.

        The current folder is the project's for as long as the run takes; the paths of dataset,
        rubric and judge begin at the one before.
        """
        from steelyard.library import evaluate  # noqa: PLC0415 - see the top

        __tracebackhide__ = True
        from steelyard.errors import SteelyardError  # noqa: PLC0415 - see the top

        columns: ColumnNames = {
            "input": options.pop("input", None),
            "expected": options.pop("expected", None),
            "id": options.pop("id", None),
        }
        rubric, judge = _from_here(rubric), _from_here(judge)
        try:
            asked = self._asked(dataset, columns)
            with chdir(self.folder):
                return evaluate(
                    asked, target=target, rubric=rubric, judge=judge, progress=False, **options
                )
        except SteelyardError as wrong:
            # Its words say what to do; where in our code it was raised would only hide them.
            raise wrong.with_traceback(None) from None

    def _asked(self, given: Any, columns: ColumnNames) -> Dataset:
        from steelyard.model.case import Case  # noqa: PLC0415 - see the top
        from steelyard.model.dataset import Dataset  # noqa: PLC0415

        if isinstance(given, Case):
            name = given.dataset or given.id
            return Dataset(id=name, contract=self._contract, cases=(given,))
        return given if isinstance(given, Dataset) else _read(given, **columns)

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
def steelyard(tmp_path: Path, request: pytest.FixtureRequest) -> Steelyard:
    """Evaluates datasets and asserts how many of their cases pass."""
    named = (getattr(getattr(request, name), _CONTRACT, None) for name in ("function", "cls"))
    return Steelyard(tmp_path, next(filter(None, named), "eval_cases"))


def _from_here(name: str | None) -> str | None:
    """The path of a file as it holds in every folder; anything else as it is."""
    path = Path(str(name))
    return str(path.absolute()) if path.suffix and path.is_file() else name


def _read(given: Any, **columns: Unpack[ColumnNames]) -> Dataset:
    from steelyard.errors import InvalidError  # noqa: PLC0415
    from steelyard.library import read_dataset  # noqa: PLC0415

    is_path = isinstance(given, str | Path)
    dataset, findings = read_dataset(Path(given).absolute() if is_path else given, **columns)
    errors = [finding for finding in findings if finding.is_error]
    if errors:
        name = given if is_path else "the list of rows"
        where = f"{errors[0].where}{errors[0].message}"
        raise InvalidError(f"{name} has {len(errors)} error(s), the first: {where}")
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
        yield from _record_lines(row)
    if len(shown) > _SHOWN:
        yield "  …"


def _record_lines(row: dict[str, Any]) -> Iterator[str]:
    """A record that did not pass: question, answer, and the checks that failed."""
    word = "fail" if row["status"] == "evaluated" else row["status"]
    repeat = f" (repeat {row['repeat']})" if row["repeat"] else ""
    yield f"  {row['record_id'] or row['index']}{repeat}  {word}  {row['reason'] or ''}"
    yield from _text_lines("question", _asked_text(row))
    yield from _text_lines("answer", row["model_response"])
    for check in row["evaluator_scores"]:
        if not check["passed"]:
            state = "fail" if check["status"] == "scored" else check["status"]
            yield f"    {check['check']}: {state}: {check['reason']}"


def _asked_text(row: dict[str, Any]) -> str | None:
    request: dict[str, Any] = row["request"] or {}
    messages: list[dict[str, Any]] = request.get("messages") or []
    said: list[Any] = [one.get("content") for one in messages if one.get("role") == "user"]
    return said[-1] if said and isinstance(said[-1], str) else None


def _text_lines(name: str, text: str | None) -> Iterator[str]:
    from steelyard.reports.findings import printable  # noqa: PLC0415

    if not text:
        return
    lines = [printable(line) for line in text.splitlines()] or [""]
    more = len(lines) - _TEXT_LINES
    for number, line in enumerate(lines[:_TEXT_LINES]):
        cut = f"{line[:_LINE_WIDTH]}…" if len(line) > _LINE_WIDTH else line
        yield f"    {name + ':' if not number else '':<9} {cut}"
    if more > 0:
        yield f"    {'':<9} … {more} more line(s)"
