"""Runs in which a judge compares the answers of two finished runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple, cast

from msgspec import structs

from steelyard.contracts.judge.template import is_pairwise
from steelyard.errors import InvalidError
from steelyard.execution.run_options import RunOptions, stored_options
from steelyard.judging.pairwise import Pairwise
from steelyard.model.judge import COMPARED, Judge
from steelyard.model.rubric import Rubric, RubricCheck
from steelyard.reports.run.run_text import RunView
from steelyard.results.options import ComparedRun, Derived
from steelyard.usecases.registry.load_definition import is_path, load_judge
from steelyard.usecases.results.read_run import is_pairwise_run, read_run
from steelyard.usecases.runs.pairing import pair_records
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.suites import stated_definition

CHECK = "pairwise"


class PairwiseOptions(NamedTuple):
    """The options of pairwise runs."""

    judge: str
    budget_usd: float | None = None
    max_concurrency: int | None = None
    cache: bool = False
    strict: bool = False


def pairwise_options(
    ports: RunPorts, folders: Sequence[Path], asked: PairwiseOptions
) -> list[RunOptions]:
    """The options of a run for every pair; the run named first is A."""
    views = [_comparable(folder) for folder in folders]
    runs = [view.run_id for view in views]
    if len(set(runs)) < len(runs):
        raise InvalidError("a run cannot be compared with itself; name different runs")
    group = ports.new_run_id().replace("run_", "group_") if len(runs) > 2 else None
    common = RunOptions(
        dataset=Path(),
        judge=_pinned(ports, asked),
        budget_usd=asked.budget_usd,
        max_concurrency=asked.max_concurrency,
        cache=asked.cache,
        strict=asked.strict,
        group_id=group,
        gates={"allow_failures": "0"},
    )
    return [
        _options(common, (views[one], views[other]), (folders[one], folders[other]))
        for one, other in combinations(range(len(runs)), 2)
    ]


def pairwise_rubric(ports: RunPorts, options: RunOptions) -> Rubric:
    """The rubric of a pairwise run: one check, which calls the judge in both orders."""
    judge = _judge(ports, cast(str, options.judge), strict=options.strict)
    setting = ports.settings.judge(judge.id)
    check = Pairwise(judge=judge, samples=setting.samples)
    return Rubric(
        id=CHECK,
        version="1.0.0",
        checks=(RubricCheck(id=CHECK, check=check),),
        pass_threshold=check.threshold,
    )


def _pinned(ports: RunPorts, asked: PairwiseOptions) -> str:
    """The judge as stored with the run: a path, or a reference with its version."""
    stated = cast(str, stated_definition(ports, asked.judge))
    judge = _judge(ports, stated, strict=asked.strict)
    return stated if is_path(stated) else judge.name


def _judge(ports: RunPorts, name: str, *, strict: bool) -> Judge:
    """The judge of a pairwise run, which must be a pairwise judge."""
    judge = load_judge(ports.references, name, strict=strict)
    if not is_pairwise(judge):
        raise InvalidError(
            f"{judge.name} grades one answer; a pairwise judge compares two: its template "
            f"names {{{{ {COMPARED[0]} }}}} and {{{{ {COMPARED[1]} }}}}"
        )
    return judge


def _comparable(folder: Path) -> RunView:
    view = read_run(folder)
    if is_pairwise_run(view):
        raise InvalidError(
            f"{view.run_id} is a pairwise comparison itself; name the runs it compares"
        )
    return view


def _options(
    common: RunOptions, views: tuple[RunView, RunView], folders: tuple[Path, Path]
) -> RunOptions:
    first, second = views
    pairing = pair_records(*folders)
    if not pairing.partners:
        raise InvalidError(
            f"cannot be compared: {first.run_id} and {second.run_id} have no record in common "
            "that both answered; records are the same where their content is"
        )
    titles = _titles(first, second)
    a, b = (stored_options(view.manifest.setup.options, None) for view in views)
    return structs.replace(
        common,
        dataset=b.dataset,
        cluster=b.cluster,
        target=" vs ".join(titles),
        repeat=min(a.repeat, b.repeat),
        derived=Derived(
            run_id=second.run_id,
            how="pairwise",
            folder=folders[1].resolve(),
            against=ComparedRun(
                run_id=first.run_id,
                folder=folders[0].resolve(),
                titles=titles,
                left_out=pairing.left_out,
            ),
        ),
    )


def _titles(first: RunView, second: RunView) -> tuple[str, str]:
    """The label of the pair: the targets, or the runs if the targets are the same."""
    a, b = (" + ".join(view.manifest.setup.targets) for view in (first, second))
    return (first.run_id, second.run_id) if a == b else (a, b)
