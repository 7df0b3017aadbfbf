"""The result of a run as Markdown, for a pull request or the summary of a CI job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.reports.judges.correction import corrected_text, drift_text, judge_text
from steelyard.reports.markdown_text import escaped
from steelyard.reports.numbers import count, mean_text, rate_text
from steelyard.reports.run.failed_records import failed_lines
from steelyard.reports.run.headline import failed_text, gate_lines
from steelyard.reports.run.repeats_text import repeats_lines
from steelyard.reports.run.run_text import (
    RunView,
    bounds_of_run,
    dependence,
    latency_text,
    no_choice_text,
    records_text,
    selection_text,
)
from steelyard.reports.run.slices_text import low_slices
from steelyard.results.metrics import Metrics
from steelyard.results.predictions import Prediction


def run_markdown(view: RunView, failed: Sequence[Prediction] = ()) -> str:
    """The numbers, the verdict of the gates, and the first records that did not pass."""
    metrics = view.metrics
    rate = metrics.pass_rate
    passed = "passed" if view.is_of_canaries else "pass rate"
    lines = [
        f"### {escaped(view.title)}: {view.headline}",
        "",
        f"`{view.run_id}` · {view.manifest.status.replace('_', ' ')}{_verdict(view)}",
        "",
        "| | |",
        "|---|---|",
        f"| {passed} (95 % interval) | {rate_text(rate)}, n = {count(rate.n)} |",
        *_rows("dependent records", dependence(view)),
        *_corrected_rows(metrics),
        *(f"| gate | {escaped(text)} |" for _, text in gate_lines(view.gates)),
        f"| score | {mean_text(metrics.score)} |",
        f"| records | {records_text(metrics)} |",
        *_rows("selected", selection_text(view)),
        *_rows("unread", view.manifest.unread or None),
        *_rows("bounds", bounds_of_run(metrics)),
        *(_repeats_row(line) for line in repeats_lines(metrics)),
        *_rows("no choice", no_choice_text(metrics)),
        *(row for text in view.reasons for row in _rows("no score", text)),
        f"| latency | {latency_text(metrics)} |",
    ]
    lines.extend(
        f"| {one.word} {escaped(one.name)} | {one.text} |"
        for one in (() if view.is_of_canaries else low_slices(view.metrics, view.slices))
    )
    if failed and not view.is_of_canaries:
        lines.extend(("", *failed_lines(failed, metrics)))
    return "\n".join(lines).rstrip("\n")


def _verdict(view: RunView) -> str:
    """The verdict of the gates; nothing where none was set and none failed."""
    if failed := [f" · **{text}**" for text in failed_text(view.gates)]:
        return "".join(failed)
    return " · **gate passed**" if any(one.is_named for one in view.gates) else ""


def _corrected_rows(metrics: Metrics) -> Iterator[str]:
    row = metrics.corrected_pass_rate
    if row is not None:
        word = "corrected pass rate" if row.is_corrected else "uncorrected"
        yield f"| {word} | {escaped(corrected_text(row))} |"
        yield from _rows("judge", judge_text(row))
        yield from _rows("drift", drift_text(row) if row.is_drifted else "")


def _rows(name: str, text: str | None) -> Iterator[str]:
    """A row of the table, if there is a text."""
    if text:
        yield f"| {name} | {escaped(text)} |"


def _repeats_row(line: str) -> str:
    name, _, text = line.strip().partition("  ")
    name, text = (name, text) if text else tuple(line.split(maxsplit=1))
    return f"| {name} | {escaped(text.strip())} |"
