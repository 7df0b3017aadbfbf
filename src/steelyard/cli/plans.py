"""`--plan`: calls, tokens and cost of a run, as text or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from steelyard.cli.terminal import show, show_json

if TYPE_CHECKING:
    from steelyard.execution.prepared import Prepared
    from steelyard.model.statistics.detection import Detection
    from steelyard.results.grading_summary import GradingSummary
    from steelyard.results.manifest import UsedPrice
    from steelyard.usecases.runs.ports import RunPorts


def print_plans(
    ports: RunPorts, prepared: Sequence[Prepared], detect: float | None, *, is_json: bool
) -> None:
    """Print the plan of each run, and the number of records needed to detect a difference."""
    from steelyard.reports.detection import detection_lines

    found = _detections(ports, prepared, detect)
    if is_json:
        rows = [
            _plan_row(one) | ({"detect": asdict(needed)} if needed else {})
            for one, needed in zip(prepared, found, strict=True)
        ]
        show_json(rows[0] if len(rows) == 1 else {"plans": rows})
        return
    for one, needed in zip(prepared, found, strict=True):
        for line in (*_plan_lines(one), *(detection_lines(needed) if needed else ())):
            show(line)


def _detections(
    ports: RunPorts, prepared: Sequence[Prepared], detect: float | None
) -> Sequence[Detection | None]:
    if detect is None:
        return [None] * len(prepared)
    from steelyard.usecases.runs.detection import detection_of

    return [detection_of(ports, one, detect) for one in prepared]


def print_graders(graders: GradingSummary) -> None:
    """Print to stderr what grades each record, before the first call."""
    from steelyard.reports.findings import printable
    from steelyard.reports.run.grading import grading_lines

    for line in grading_lines(graders):
        typer.echo(printable(line), err=True)


def _plan_row(prepared: Prepared) -> dict[str, Any]:
    from steelyard.execution.provenance import graders_of

    graders = graders_of(prepared).json()
    return {
        "dataset": prepared.dataset.id,
        "contract": prepared.contract.name,
        "rubrics": [rubric.name for rubric in prepared.grading.rubrics],
        "graded": prepared.grading.graded,
        "brought": graders["brought"],
        "asked": graders["asked"],
        "prices": [one.json() for one in _prices(prepared)],
        "max_concurrency": {name: prepared.concurrency_of(name) for name in prepared.specs},
        **asdict(prepared.forecast),
    }


def _prices(prepared: Prepared) -> tuple[UsedPrice, ...]:
    from steelyard.execution.provenance import used_prices

    return used_prices({**prepared.specs, **prepared.judge_specs}.values())


def _plan_lines(prepared: Prepared) -> Iterator[str]:
    from steelyard.execution.provenance import graders_of
    from steelyard.reports.run.grading import grading_lines
    from steelyard.reports.run.price_text import list_price_text
    from steelyard.reports.run.run_text import not_sent_texts

    forecast = prepared.forecast
    yield f"{prepared.dataset.id}  {prepared.contract.name}  {prepared.options.dataset}"
    invalid = forecast.total - forecast.valid
    yield f"  records  {forecast.total:,} = {forecast.valid:,} valid + {invalid:,} invalid"
    for line in grading_lines(graders_of(prepared)):
        first, _, rest = line.partition(" ")
        yield f"  {first:<7}  {rest}"
    for name, calls in forecast.targets.items():
        if prepared.specs[name].response_source == "sampled":
            yield f"  calls    {calls:,} to {name}, {prepared.concurrency_of(name)} at once"
        else:
            yield f"  answers  {calls:,} recorded of {name}, no call"
    for name, calls in forecast.judges.items():
        yield f"  judging  about {calls:,} calls to {name}"
    if forecast.calls:
        yield f"  tokens   about {forecast.input_tokens:,} in"
    yield from (f"  not sent  {text}" for text in not_sent_texts(forecast))
    if forecast.cost_usd is not None:
        yield f"  cost     about ${forecast.cost_usd:.4f} for the input"
    if forecast.judge_input_tokens:
        tokens = forecast.judge_input_tokens
        yield f"  tokens   about {tokens:,} in for judges, without the answers"
    if forecast.judge_cost_usd is not None:
        yield f"  cost     about ${forecast.judge_cost_usd:.4f} for that"
    if listed := list_price_text(_prices(prepared)):
        yield f"  prices   {listed}; `price` of a target in steelyard.yaml overrides it"
