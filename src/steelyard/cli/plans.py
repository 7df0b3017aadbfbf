"""`--plan`: what a run would take, in words or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from steelyard.cli.terminal import show, show_json

if TYPE_CHECKING:
    from steelyard.usecases.planning import Prepared


def print_plans(prepared: Sequence[Prepared], *, is_json: bool) -> None:
    """What each run would take."""
    if is_json:
        rows = [_plan_row(one) for one in prepared]
        show_json(rows[0] if len(rows) == 1 else {"plans": rows})
        return
    for one in prepared:
        for line in _plan_lines(one):
            show(line)


def _plan_row(prepared: Prepared) -> dict[str, Any]:
    return {
        "dataset": prepared.dataset.id,
        "contract": prepared.contract,
        "rubrics": [rubric.name for rubric in prepared.grading.rubrics],
        "max_concurrency": {name: prepared.concurrency_of(name) for name in prepared.specs},
        **asdict(prepared.outlook),
    }


def _plan_lines(prepared: Prepared) -> Iterator[str]:
    outlook = prepared.outlook
    yield f"{prepared.dataset.id}  {prepared.contract}  {prepared.options.dataset}"
    invalid = outlook.total - outlook.valid
    yield f"  records  {outlook.total:,} = {outlook.valid:,} valid + {invalid:,} invalid"
    if outlook.skipped:
        yield f"  skipped  {outlook.skipped:,} that nothing grades"
    graders = [rubric.name for rubric in prepared.grading.rubrics]
    if prepared.grading.is_implicit:
        graders.append("what each case brings")
    yield f"  graded   by {', '.join(graders)}"
    for name, calls in outlook.targets.items():
        yield f"  calls    {calls:,} to {name}, {prepared.concurrency_of(name)} at once"
    yield f"  tokens   about {outlook.input_tokens:,} in"
    if outlook.cost_usd is not None:
        yield f"  cost     about ${outlook.cost_usd:.4f} for the input"
