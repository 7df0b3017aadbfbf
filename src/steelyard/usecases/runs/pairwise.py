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
from steelyard.reports.run_text import RunView
from steelyard.results.options import ComparedRun, Derived
from steelyard.usecases.registry.load_definition import is_path, load_judge
from steelyard.usecases.results.read_run import is_pairwise_run, read_run
from steelyard.usecases.runs.pairing import pair_records
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.suites import stated_definition

CHECK = "pairwise"


class PairwiseOptions(NamedTuple):
    """What a user asks of the runs that compare."""

    judge: str
    budget_usd: float | None = None
    max_concurrency: int | None = None
    cache: bool = False
    strict: bool = False


def pairwise_options(
    ports: RunPorts, folders: Sequence[Path], wishes: PairwiseOptions
) -> list[RunOptions]:
    """A run for every pair of the runs, the earlier named as A."""
    views = [_comparable(folder) for folder in folders]
    runs = [view.run_id for view in views]
    if len(set(runs)) < len(runs):
        raise InvalidError("a run cannot be compared with itself; name different runs")
    group = ports.new_run_id().replace("run_", "group_") if len(runs) > 2 else None
    common = RunOptions(
        dataset=Path(),
        judge=_pinned(ports, wishes),
        budget_usd=wishes.budget_usd,
        max_concurrency=wishes.max_concurrency,
        cache=wishes.cache,
        strict=wishes.strict,
        group_id=group,
        gates={"allow_failures": "0"},
    )
    return [
        _options(common, (views[one], views[other]), (folders[one], folders[other]))
        for one, other in combinations(range(len(runs)), 2)
    ]


def pairwise_rubric(ports: RunPorts, options: RunOptions) -> Rubric:
    """What grades a pairwise run: one check, which asks the judge in both orders."""
    judge = _judge(ports, cast(str, options.judge), strict=options.strict)
    setting = ports.settings.judge(judge.id)
    check = Pairwise(judge=judge, samples=setting.samples)
    return Rubric(
        id=CHECK,
        version="1.0.0",
        checks=(RubricCheck(id=CHECK, check=check),),
        pass_threshold=check.threshold,
    )


def _pinned(ports: RunPorts, wishes: PairwiseOptions) -> str:
    """The judge as it is kept with the run: a path, or a reference with its version."""
    stated = cast(str, stated_definition(ports, wishes.judge))
    judge = _judge(ports, stated, strict=wishes.strict)
    return stated if is_path(stated) else judge.name


def _judge(ports: RunPorts, name: str, *, strict: bool) -> Judge:
    """The judge of a pairwise run, which must be one that compares."""
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
    """What is compared: the targets, or the runs where their targets are the same."""
    a, b = (" + ".join(view.manifest.setup.targets) for view in (first, second))
    return (first.run_id, second.run_id) if a == b else (a, b)
