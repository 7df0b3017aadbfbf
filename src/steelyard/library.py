"""What `import steelyard` offers: the verbs, in the project of a path or of the current folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard import target_wiring
from steelyard.event_loop import run_async
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.plugins import installed_policies
from steelyard.project import open_project

if TYPE_CHECKING:
    from steelyard.model.json_value import JsonObject
    from steelyard.model.judge import Judge
    from steelyard.model.question import QuestionRubric
    from steelyard.model.rubric import Check, Rubric
    from steelyard.usecases.runs.evaluate import Run


def load_eval_cases(path: str | Path) -> tuple[Case, ...]:
    """Read the eval cases of a .yaml, .yml or .jsonl file (contract 5).

    What spoils the file raises `UnreadableFileError`; a bad case is left out with a warning on
    the `steelyard` logger.
    """
    from steelyard.usecases.datasets.load_eval_cases import load_eval_cases as load

    return load(open_project(near=Path(path)).workspace, Path(path))


def read_dataset(path: str | Path) -> tuple[Dataset, Sequence[Finding]]:
    """Read a dataset of any contract: its accepted cases, and everything that was found."""
    from steelyard.usecases.datasets.read_dataset import read_dataset as read

    return read(open_project(near=Path(path)).workspace, Path(path), installed_policies())


def evaluate(
    dataset: Dataset | str | Path,
    *,
    target: str | Callable[..., Any],
    checks: Sequence[Check] = (),
    repeat: int = 1,
    max_concurrency: int = 16,
) -> Run:
    """Run a dataset against a function or a named target and grade with checks.

    Synchronous, over the async engine; results and artifacts are kept in the project.
    """
    from steelyard.execution.run_options import RunOptions, within
    from steelyard.targets.callables import PythonTarget
    from steelyard.targets.making import Made
    from steelyard.usecases.runs.evaluate import evaluate as carry_out
    from steelyard.usecases.runs.evaluate import look_over, plan_evaluation

    look_over(dataset, target, checks, {"repeat": repeat, "max_concurrency": max_concurrency})
    given = dataset if isinstance(dataset, Dataset) else None
    path = Path(dataset.id if isinstance(dataset, Dataset) else dataset)
    ports = open_project(near=None if given else path).run_ports()
    if isinstance(target, str):
        spec = ports.target(target)
    else:
        name = getattr(target, "__name__", "function")
        made = PythonTarget(name, target)
        settings: JsonObject = {"provider": "python"}
        spec = target_wiring.spec(name, Made(made, settings, carries=made.carries))
    options = RunOptions(
        dataset=path if given else within(ports.root, path),
        target=spec.name,
        repeat=repeat,
        max_concurrency=max_concurrency,
    )
    with closing(ports.repository):
        prepared = plan_evaluation(ports, options, spec, checks, given)
        return run_async(lambda: carry_out(ports, prepared))


def load_rubric(name: str, version: str | None = None) -> Rubric | QuestionRubric:
    """A rubric of the current project, by id and version; without one, the newest release."""
    from steelyard.usecases.registry.load_definition import load_rubric as load

    return load(open_project().references(), _reference("rubric", name, version))


def load_judge(name: str, version: str | None = None) -> Judge:
    """A judge of the current project, by id and version; without one, the newest release."""
    from steelyard.usecases.registry.load_definition import load_judge as load

    return load(open_project().references(), _reference("judge", name, version))


def _reference(kind: str, name: str, version: str | None) -> str:
    return f"{kind}/{name}@{version}" if version else f"{kind}/{name}"
