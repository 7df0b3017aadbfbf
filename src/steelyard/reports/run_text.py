"""A run's result as text for a terminal and as Markdown for a pull request."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from steelyard.model.comparison import SELECTION
from steelyard.model.gate import GateResult
from steelyard.model.json_value import JsonObject
from steelyard.reports.correction import (
    corrected_text,
    correction_of,
    drift_text,
    is_corrected,
    is_drifted,
    judge_text,
)
from steelyard.reports.findings import Paint, plain, printable
from steelyard.reports.headline import failed_text, gate_lines, headline
from steelyard.reports.no_score import NO_SCORE, no_score_lines
from steelyard.reports.numbers import (
    count,
    dollars,
    mean_text,
    milliseconds,
    percent,
    rate_text,
)
from steelyard.reports.repeats_text import partial_text, repeats_lines
from steelyard.reports.slices_text import low_slices, uneven_slices

_CONVERSATION = (None, "conversation_id")
_GROUPS = "groups (a conversation, or a record without one)"
_MOST_WITHOUT_CHOICE = 0.02
_JUDGED = ("tokens", "cost_usd", "cache")
# An underscore between letters is no mark, and common in names.
_MARKDOWN = re.compile(r"[\\`*\[\]<>|~&#]|(?<!\w)_|_(?!\w)")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A finished run, as reports see it."""

    manifest: JsonObject
    metrics: JsonObject
    slices: JsonObject
    folder: str
    gates: tuple[GateResult, ...] = ()
    """What became of the gates that it was started with."""
    failures: Callable[[], Iterable[JsonObject]] = tuple
    """Reads the rows of records without a score, which may be many."""

    @property
    def no_score(self) -> tuple[str, ...]:
        """Why records have no score, in lines."""
        return tuple(no_score_lines(self.failures()))

    @property
    def reasons(self) -> tuple[str, ...]:
        """The same without the word that each line begins with."""
        return tuple(line.removeprefix(NO_SCORE).strip() for line in self.no_score)

    @property
    def run_id(self) -> str:
        """Its id."""
        return cast(str, self.manifest["run_id"])

    @property
    def title(self) -> str:
        """What was run against what."""
        targets = " + ".join(cast(JsonObject, self.manifest["targets"]))
        return f"{self.manifest['dataset_id']} × {targets}"

    @property
    def headline(self) -> str:
        """What it came to."""
        return headline(self.metrics, self.gates)


def run_lines(view: RunView, paint: Paint = plain) -> Iterator[str]:
    """The summary after a run."""
    metrics = view.metrics
    status = cast(str, view.manifest["status"])
    style = "good" if status == "completed" else "warning"
    parts = [paint(printable(view.title), "title"), paint(status.replace("_", " "), style)]
    yield "  ".join([*parts, *(paint(text, "error") for text in failed_text(view.gates))])
    rate = cast(JsonObject, metrics["pass_rate"])
    evaluated = f"{count(metrics['pass_count'])} of {count(metrics['evaluated_records'])}"
    yield f"  pass rate  {rate_text(rate)}  {evaluated} evaluated (95 % interval)"
    if text := partial_text(metrics):
        yield f"             {text}"
    if text := dependence(view):
        yield f"             {text}"
    yield from _corrected(metrics, paint)
    for gate, text in gate_lines(view.gates):
        yield f"  {paint('gate', 'good' if gate.passed else 'error')}       {text}"
    yield f"  score      {mean_text(cast(JsonObject, metrics['score']))}"
    yield from _records(view, paint)
    yield f"  latency    {_latency(metrics)}"
    yield from _spending(metrics)
    yield from _checks(metrics)
    if text := no_choice_text(metrics):
        yield f"  {paint('no choice', 'warning' if is_unreadable(metrics) else 'quiet')}  {text}"
    yield from repeats_lines(metrics)
    for one in low_slices(view.metrics, view.slices):
        yield f"  {one.word:<10} {printable(one.name)}  {one.text}"
    for text in uneven_slices(metrics):
        yield f"  {paint('missing', 'warning')}    {printable(text)}"
    yield from view.no_score


def _records(view: RunView, paint: Paint) -> Iterator[str]:
    """Which records it is about, and what was not seen of them."""
    metrics = view.metrics
    yield f"  records    {_denominators(metrics)}"
    if text := selection_text(view):
        yield f"  selected   {printable(text)}"
    if unread := view.manifest.get("unread"):
        yield f"  unread     {printable(str(unread))}"
    for text in not_sent_texts(metrics):
        yield f"  {paint('not sent', 'warning')}   {text}"
    if text := bounds_of_run(metrics):
        yield f"  bounds     {text}"


def _corrected(metrics: JsonObject, paint: Paint) -> Iterator[str]:
    """The pass rate that people would give; or that the one above is a judge's word alone."""
    row = correction_of(metrics)
    if row is None:
        return
    if is_corrected(row):
        yield f"  corrected  {corrected_text(row)}"
        yield f"             {judge_text(row)}"
        if is_drifted(row):
            yield f"  {paint('drift', 'warning')}      {drift_text(row)}"
    else:
        yield f"  {paint('uncorrected', 'warning')}  {corrected_text(row)}"


def dependence(view: RunView) -> str | None:
    """How many independent records the dependent ones are worth; None where it is all of them.

    A record without a conversation is one of a single turn.
    """
    rate = cast(JsonObject, view.metrics["pass_rate"])
    # Runs of earlier versions do not know it.
    if rate.get("clusters") is None:
        return None
    path = cast(JsonObject, view.manifest["options"]).get("cluster")
    groups = f"groups of one {path}" if path not in _CONVERSATION else _GROUPS
    worth = max(1, round(cast(float, rate["n_effective"])))
    if worth >= cast(int, rate["n"]):
        return None
    return (
        f"{count(rate['n'])} records in {count(rate['clusters'])} {printable(groups)} "
        f"count as about {count(worth)} independent records"
    )


def bounds_of_run(metrics: JsonObject) -> str:
    """Where the pass rate would be with every score; empty where none is missing."""
    bounds = cast(JsonObject, metrics["pass_rate_bounds"])
    if bounds["low"] == bounds["high"]:
        return ""
    spread = f"{percent(bounds['low'])} to {percent(bounds['high'])}"
    return f"{spread} if what has no score had all failed or all passed"


def selection_text(view: RunView) -> str:
    """What chose the records of a run; empty where it is about the whole dataset."""
    options = cast(JsonObject, view.manifest.get("options") or {})
    chosen = [f"--{name} {options[name]}" for name in SELECTION if options.get(name) is not None]
    return f"a part of the dataset, by {', '.join(chosen)}" if chosen else ""


def not_sent_texts(metrics: JsonObject) -> Iterator[str]:
    """What targets were not told of the records."""
    if blocks := metrics.get("omitted_blocks"):
        yield f"{count(blocks)} block(s) that a target cannot be sent, left out"
    if documents := metrics.get("documents_not_shown"):
        yield f"{count(documents)} document(s), named in the prompts as not shown"


def no_choice_text(metrics: JsonObject) -> str | None:
    """How many answers to multiple-choice questions select no choice; None where all do."""
    # Runs of earlier versions do not know it.
    if not metrics.get("no_choice"):
        return None
    share = cast(int, metrics["no_choice"]) / cast(int, metrics["choice_answers"])
    said = f"{count(metrics['no_choice'])} of {count(metrics['choice_answers'])} answers"
    advice = "; look at them before you trust the pass rate" if is_unreadable(metrics) else ""
    return f"{said} select no choice and count as wrong ({percent(share)}){advice}"


def is_unreadable(metrics: JsonObject) -> bool:
    """Whether so many answers select no choice that the form of answers may be measured."""
    selected_none = cast("int | None", metrics.get("no_choice")) or 0
    return selected_none > _MOST_WITHOUT_CHOICE * cast(int, metrics.get("choice_answers", 0))


def next_steps(view: RunView) -> Iterator[str]:
    """Where to look next."""
    yield f"  artifacts  {view.folder}"
    yield f"  look       steelyard show {view.run_id}"
    yield f"  share      steelyard report {view.run_id} -o report.html"


def run_markdown(view: RunView) -> str:
    """The summary for a pull-request comment."""
    metrics = view.metrics
    rate = cast(JsonObject, metrics["pass_rate"])
    lines = [
        f"### {_escaped(view.title)}: {view.headline}",
        "",
        f"`{view.run_id}` · {str(view.manifest['status']).replace('_', ' ')}",
        "",
        "| | |",
        "|---|---|",
        f"| pass rate (95 % interval) | {rate_text(rate)}, n = {count(rate['n'])} |",
        *_rows("dependent records", dependence(view)),
        *_corrected_rows(metrics),
        *(f"| gate | {_escaped(text)} |" for _, text in gate_lines(view.gates)),
        f"| score | {mean_text(cast(JsonObject, metrics['score']))} |",
        f"| records | {_denominators(metrics)} |",
        *_rows("selected", selection_text(view)),
        *_rows("bounds", bounds_of_run(metrics)),
        *(_repeats_row(line) for line in repeats_lines(metrics)),
        *_rows("no choice", no_choice_text(metrics)),
        *(row for text in view.reasons for row in _rows("no score", text)),
        f"| latency | {_latency(metrics)} |",
    ]
    lines.extend(
        f"| {one.word} {_escaped(one.name)} | {one.text} |"
        for one in low_slices(view.metrics, view.slices)
    )
    return "\n".join(lines)


def _corrected_rows(metrics: JsonObject) -> Iterator[str]:
    row = correction_of(metrics)
    if row is not None:
        word = "corrected pass rate" if is_corrected(row) else "uncorrected"
        yield f"| {word} | {_escaped(corrected_text(row))} |"
        yield from _rows("judge", judge_text(row))
        yield from _rows("drift", drift_text(row) if is_drifted(row) else "")


def _rows(name: str, text: str | None) -> Iterator[str]:
    """A row of the table; none without a text."""
    if text:
        yield f"| {name} | {_escaped(text)} |"


def _repeats_row(line: str) -> str:
    name, _, text = line.strip().partition("  ")
    name, text = (name, text) if text else tuple(line.split(maxsplit=1))
    return f"| {_escaped(name)} | {_escaped(text.strip())} |"


def _denominators(metrics: JsonObject) -> str:
    parts = [f"{count(metrics['evaluated_records'])} evaluated"]
    parts.append(f"{count(metrics['failed_records'])} failed")
    parts.append(f"{count(metrics['skipped_records'])} skipped")
    text = f"{count(metrics['total_records'])} = {' + '.join(parts)}"
    parts = [
        f"{count(metrics[key])} {word}"
        for key, word in (
            ("invalid_records", "invalid"),
            ("unscored_count", "unscored"),
            ("cancelled_records", "cancelled"),
            ("retried_records", "retried"),
        )
        if metrics[key]
    ]
    if metrics["rows"] != metrics["total_records"]:
        parts.append(f"{count(metrics['rows'])} rows")
        # Runs of earlier versions do not know it.
        if metrics.get("failure_rows"):
            parts.append(f"{count(metrics['failure_rows'])} of them without a result")
    if metrics.get("unread_records"):
        parts.append(f"and {count(metrics['unread_records'])} that could not be read")
    return f"{text} ({', '.join(parts)})" if parts else text


def _latency(metrics: JsonObject) -> str:
    latency = cast(JsonObject, metrics["latency_ms"])
    return f"p50 {milliseconds(latency['p50'])}, p95 {milliseconds(latency['p95'])}"


def _spending(metrics: JsonObject) -> Iterator[str]:
    tokens, cost = (cast(JsonObject, metrics[key]) for key in ("tokens", "cost_usd"))
    if tokens["n"]:
        text = f"{count(tokens['input'])} in, {count(tokens['output'])} out"
        yield f"  tokens     {text} (n = {count(tokens['n'])})"
    if cost["n"]:
        yield f"  cost       {dollars(cost['total'])} (n = {count(cost['n'])})"
    yield from _judging(cast("JsonObject | None", metrics.get("judging")))
    # Runs of earlier versions do not know it.
    cache = cast(JsonObject, metrics.get("cache", {"hits": 0}))
    if cache["hits"]:
        money = f", {dollars(cache['saved_usd'])}" if cache["saved_usd"] else ""
        yield f"  saved      {count(cache['hits'])} call(s){money} by answers given before"


def _judging(judging: JsonObject | None) -> Iterator[str]:
    """What judges took: calls, tokens and money, each with what it was counted over."""
    if judging is None:
        return
    tokens, cost, cache = (cast(JsonObject, judging[key]) for key in _JUDGED)
    parts = [f"{count(judging['calls'])} call(s)"]
    if judging["unanswered"]:
        parts.append(f"{count(judging['unanswered'])} unanswered")
    if tokens["n"]:
        parts.append(f"{count(tokens['input'])} tokens in, {count(tokens['output'])} out")
    if cost["n"]:
        parts.append(f"{dollars(cost['total'])} of the cost")
    yield f"  judging    {', '.join(parts)} (n = {count(judging['rows'])})"
    if cache["hits"]:
        money = f", {dollars(cache['saved_usd'])}" if cache["saved_usd"] else ""
        yield f"  saved      {count(cache['hits'])} call(s){money} by judgements given before"


def _checks(metrics: JsonObject) -> Iterator[str]:
    checks = cast(dict[str, JsonObject], metrics["checks"])
    for name, check in checks.items():
        rate = cast(JsonObject, check["pass_rate"])
        others = [f"{count(check[key])} {key}" for key in ("skipped", "unscored") if check[key]]
        rest = f", {', '.join(others)}" if others else ""
        if judge := _judge_of(check):
            rest = f"{rest}  by {printable(judge)}"
        yield f"  check      {printable(name)}  {rate_text(rate)}  n = {count(rate['n'])}{rest}"


def _judge_of(check: JsonObject) -> str | None:
    """Who decides a check, where judges do."""
    corrected = cast("JsonObject | None", check.get("corrected_pass_rate"))
    return cast(str, corrected["judge"]) if corrected else None


def _escaped(text: str) -> str:
    """A text that Markdown shows as it is."""
    return _MARKDOWN.sub(r"\\\g<0>", printable(text, " "))
