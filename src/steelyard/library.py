"""What `import steelyard` offers: the verbs, in the project of a path or of the current folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from steelyard.errors import InvalidError, argument
from steelyard.event_loop import run_async
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.notebook import Findings, ProgressOutput, ShownComparison
from steelyard.plugins import installed_contracts
from steelyard.project import Project, open_project
from steelyard.settings import MAX_CONCURRENCY, TargetEntry

if TYPE_CHECKING:
    from steelyard.contracts.importers.table import TableColumns
    from steelyard.execution.ports import TargetSpec
    from steelyard.execution.prepared import Prepared
    from steelyard.model.judge import Judge
    from steelyard.model.question import QuestionRubric
    from steelyard.model.rubric import Check, Rubric
    from steelyard.model.statistics.comparison import Comparison
    from steelyard.usecases.datasets.given_rows import GivenRows
    from steelyard.usecases.runs.evaluate import Run


def load_eval_cases(path: str | Path) -> tuple[Case, ...]:
    """Read the eval cases of a .yaml, .yml or .jsonl file (contract 5).

    What spoils the file raises `UnreadableFileError`; a bad case is left out with a warning on
    the `steelyard` logger.
    """
    from steelyard.usecases.datasets.load_eval_cases import load_eval_cases as load

    return load(open_project(near=Path(path)).workspace, Path(path))


def read_dataset(
    data: str | Path | Any,
    *,
    input: str | None = None,  # noqa: A002 - as the command line calls it
    expected: str | None = None,
    id: str | None = None,  # noqa: A002
) -> tuple[Dataset, Sequence[Finding]]:
    """Read a dataset of any contract: its accepted cases, and everything that was found.

    It is a path, a list of dicts or a data frame of polars or pandas. `input`, `expected` and
    `id` name the columns of rows, or of the table that a path names.
    """
    from steelyard.contracts.importers.table import TableColumns
    from steelyard.usecases.datasets.read_dataset import read_dataset, read_rows

    rows = _given_rows(data, input, expected, id)
    project = open_project(near=None if rows else Path(data))
    if rows:
        found = read_rows(project.workspace, rows, project.root, installed_contracts())
    else:
        columns = TableColumns(input, expected, id)
        path = _cases_file(project, Path(data), columns, has_rubric=False)
        found = read_dataset(project.workspace, path, installed_contracts())
    return found[0], Findings(found[1])


def _given_rows(
    data: Any, asked: str | None, expected: str | None, name: str | None
) -> GivenRows | None:
    """The rows of a list or a frame; None for a path or a dataset."""
    from steelyard.contracts.importers.table import TableColumns
    from steelyard.usecases.datasets.given_rows import given_rows

    columns = TableColumns(asked, expected, name)
    if not isinstance(data, str | PathLike | Dataset | type):
        return given_rows(data, columns)
    if columns.names and not isinstance(data, str | PathLike):
        raise InvalidError(f"{argument(next(iter(columns.names)))} names a column of rows")
    return None


def _cases_file(opened: Project, path: Path, columns: TableColumns, *, has_rubric: bool) -> Path:
    """In place of a table, the file of its cases; any other path as it is."""
    from steelyard.usecases.convert.table_cases import (
        TableSource,
        is_table,
        no_table,
        write_cases,
    )

    ports, table = opened.table_ports(), TableSource(path, columns, has_rubric)
    if path.exists() and is_table(ports, table):
        return write_cases(ports, table, opened.folder / "tables", opened.warn)
    if columns.names:
        name = argument(next(iter(columns.names)))
        raise InvalidError(f"{path}: {name} names a column of a table; {no_table(path)}")
    return path


def evaluate(  # noqa: PLR0913 - one keyword for each choice of a user
    dataset: Dataset | str | Path | Any,
    *,
    target: str | Callable[..., Any],
    checks: Sequence[Check | Callable[..., Any]] = (),
    rubric: str | None = None,
    judge: str | None = None,
    repeat: int = 1,
    limit: int | None = None,
    where: str | None = None,
    max_concurrency: int = MAX_CONCURRENCY,
    input: str | None = None,  # noqa: A002 - as the command line calls it
    expected: str | None = None,
    id: str | None = None,  # noqa: A002
    progress: bool | None = None,
    project: Project | None = None,
) -> Run:
    """Run a dataset against a function or a named target, and grade the answers.

    The dataset is a path, a `Dataset`, a list of dicts or a data frame; `input`, `expected` and
    `id` name the columns of a table. Rows without what is expected are invalid. `checks`, among
    them functions of a trace and a case, or a `rubric` grade the answers; without either, every
    record's own expectations do. Synchronous, over the async engine; results and artifacts are
    kept in the project.
    """
    from steelyard.contracts.importers.table import TableColumns
    from steelyard.execution.run_options import RunOptions
    from steelyard.usecases.datasets.given_rows import NAME, GivenRows
    from steelyard.usecases.datasets.project_paths import project_path
    from steelyard.usecases.runs.evaluate import evaluate as execute
    from steelyard.usecases.runs.evaluate import look_over, plan_evaluation

    counts = {
        "repeat": repeat,
        "limit": 1 if limit is None else limit,
        "max_concurrency": max_concurrency,
    }
    texts = {"rubric": rubric, "judge": judge, "where": where}
    dataset = _rows_or_dataset(dataset, input, expected, id)
    look_over(dataset, target, checks, counts, texts)
    given = None if isinstance(dataset, str | PathLike) else cast("Dataset | GivenRows", dataset)
    path = Path(cast(str, dataset) if given is None else getattr(given, "id", NAME))
    warnings: list[str] = []
    with _opened(project, near=None if given else path) as opened:

        def warn(message: str) -> None:
            warnings.append(message)
            opened.warn(message)

        if given is None:
            columns = TableColumns(input, expected, id)
            # A function that looks for all of no answers would let every answer pass.
            is_graded = bool(rubric or (checks and not expected))
            path = _cases_file(opened, opened.base / path, columns, has_rubric=is_graded)
        elif rubric and isinstance(given, GivenRows):
            given = replace(given, has_rubric=True)
        ports = opened.run_ports(warn)
        spec = ports.target(target) if isinstance(target, str) else _function(target)
        options = RunOptions(
            dataset=path if given else project_path(ports.root, opened.base / path),
            target=spec.name,
            rubric=rubric,
            judge=judge,
            repeat=repeat,
            limit=limit,
            where=where,
            max_concurrency=max_concurrency,
        )
        prepared = plan_evaluation(ports, options, spec, checks, given)
        shown = ProgressOutput(
            f"{prepared.dataset.id} × {spec.name}", _total(prepared), is_wanted=progress
        )
        watched = replace(ports, watch=shown.watch)
        try:
            run = run_async(lambda: execute(watched, prepared, shown.note))
        finally:
            shown.finish()
        return replace(run, warnings=tuple(warnings))


def _rows_or_dataset(given: Any, asked: str | None, expected: str | None, name: str | None) -> Any:
    """Rows as such; cases and pairs, which are mistakes, as they are."""
    listed = cast(Sequence[object], given) if isinstance(given, list | tuple) else ()
    if listed and isinstance(listed[0], Case | Dataset):
        return listed
    return _given_rows(given, asked, expected, name) or cast(object, given)


def _total(prepared: Prepared) -> int:
    """How many results a run will have."""
    found, repeats = prepared.forecast, prepared.options.repeat
    return found.answers + found.skipped * repeats + found.total - found.valid


def _opened(project: object, near: Path | None = None) -> AbstractContextManager[Project, None]:
    """The project that a caller gives and closes; without one, one that is closed here."""
    if project is None:
        return open_project(near=near)
    if not isinstance(project, Project):
        kind = type(project).__name__
        raise InvalidError(f"project must be what open_project(root) returns, not {kind}")
    return nullcontext(project)


def _function(target: Callable[..., Any]) -> TargetSpec:
    """A function as a target, under its own name."""
    from steelyard.targets.callables import PythonTarget
    from steelyard.targets.making import Made
    from steelyard.targets.specs import spec

    name = getattr(target, "__name__", "function")
    made = PythonTarget(name, target)
    return spec(name, Made(made, TargetEntry(provider="python"), carries=made.carries))


def read_run(name: str | Path = "latest", *, project: Project | None = None) -> Run:
    """A finished run, by id, prefix, `latest`, `latest~1` or its folder; it must be intact."""
    from steelyard.usecases.runs.evaluate import finished_run

    with _opened(project) as opened:
        return finished_run(opened.run_folder(str(name)))


def compare(
    a: Run | str | Path,
    b: Run | str | Path,
    *,
    strict: bool = False,
    project: Project | None = None,
) -> Comparison:
    """Whether run B is better than run A, over the records that both have a score for."""
    from steelyard.usecases.correction.judge_knowledge import judge_knowledge
    from steelyard.usecases.results.compare import compare_all
    from steelyard.usecases.runs.evaluate import Run

    names = [str(one.folder) if isinstance(one, Run) else str(one) for one in (a, b)]
    with _opened(project) as opened:
        folders = opened.run_folders(names)
        known = judge_knowledge(opened.validations.all, opened.clock.now())
        return ShownComparison.of(compare_all(folders, strict=strict, known=known)[0])


def load_rubric(
    name: str, version: str | None = None, *, project: Project | None = None
) -> Rubric | QuestionRubric:
    """A rubric by id and version, reference or path; without a version, the newest release."""
    from steelyard.usecases.registry.load_definition import load_rubric as load

    with _opened(project) as opened:
        return load(opened.references(), _definition(opened, name, version))


def load_judge(name: str, version: str | None = None, *, project: Project | None = None) -> Judge:
    """A judge by id and version, reference or path; without a version, the newest release."""
    from steelyard.usecases.registry.load_definition import load_judge as load

    with _opened(project) as opened:
        return load(opened.references(), _definition(opened, name, version))


def _definition(opened: Project, name: str, version: str | None) -> str:
    from steelyard.usecases.registry.load_definition import at_root

    return at_root(opened.root, name) if version is None else f"{name}@{version}"
