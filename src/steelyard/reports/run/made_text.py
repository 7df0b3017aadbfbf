"""How a run was made, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UnsetType

from steelyard.reports.numbers import count, counted
from steelyard.reports.run.run_text import RunView
from steelyard.results.manifest import Manifest, RunSetup, Settings

_DERIVED = {
    "regrade": "It grades the answers of {} again; no target was asked.",
    "retry": "It repeats the failed records of {} and copies all its other results.",
    "pairwise": "It compares the answers of {} with those of another run.",
}


def made_lines(view: RunView) -> Iterator[str]:
    """What was asked, of whom, how it was graded, and what the numbers rest on."""
    manifest, setup = view.manifest, view.manifest.setup
    yield _asked(view)
    if setup.derived_from:
        yield _DERIVED[setup.derived_from.how].format(setup.derived_from.run_id)
    yield from _graded(manifest)
    yield from _options(setup)
    yield from _numbers(view)
    if not isinstance(manifest.harness, UnsetType):
        yield f"Made by {manifest.harness.name} {manifest.harness.version}, {_times(manifest)}."


def _asked(view: RunView) -> str:
    setup = view.manifest.setup
    names = ", ".join(_target(name, told) for name, told in setup.targets.items())
    version = f", version {setup.dataset_version}" if setup.dataset_version else ""
    return (
        f"{counted(view.metrics.total_records, 'record')} of {setup.dataset_id}{version} "
        f"({setup.contract}) were put to {names}."
    )


def _target(name: str, told: Settings) -> str:
    facts = [str(told[key]) for key in ("provider", "model") if told.get(key)]
    return f"{name} ({', '.join(facts)})" if facts else name


def _graded(manifest: Manifest) -> Iterator[str]:
    rubrics = ", ".join(one.rubric for one in manifest.setup.rubrics)
    yield f"Each answer was graded by {rubrics or 'the expectations of its own record'}."
    for one in manifest.judges or ():
        model = f", model {one.model}" if one.model else ""
        yield f"The judge {one.judge} answered through {one.target or 'no target'}{model}."


def _options(setup: RunSetup) -> Iterator[str]:
    options = setup.options
    if options.repeat > 1:
        yield f"Each record was asked {options.repeat} times."
    if options.limit is not None or options.where is not None:
        chosen = [
            f"{name} {value}"
            for name, value in (("limit", options.limit), ("where", options.where))
            if value is not None
        ]
        yield f"Records were selected: {', '.join(chosen)}."
    if not isinstance(setup.retry, UnsetType):
        yield f"A call was tried up to {setup.retry.max_attempts} times."


def _numbers(view: RunView) -> Iterator[str]:
    metrics = view.metrics
    yield (
        f"Of {count(metrics.total_records)} records {count(metrics.evaluated_records)} have a "
        "score; the others are in no rate. Intervals are at 95 % "
        f"({metrics.pass_rate.method})."
    )
    if metrics.corrected_pass_rate and metrics.corrected_pass_rate.is_corrected:
        yield (
            "The corrected rate is what people would pass: labels by people who saw no verdict "
            f"show how the judge errs ({metrics.corrected_pass_rate.method})."
        )
    if view.slices:
        yield "p-values of slices are adjusted for all slices (Benjamini and Hochberg)."


def _times(manifest: Manifest) -> str:
    ended = (manifest.completed_at or "")[:19].replace("T", " ")
    return f"begun {manifest.created_at[:19].replace('T', ' ')} UTC, ended {ended} UTC"
