"""The result of a run as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.statistics.comparison import SELECTION
from steelyard.model.statistics.gate import GateResult
from steelyard.reports.findings import Paint, plain, printable
from steelyard.reports.judges.correction import (
    corrected_text,
    drift_text,
    judge_text,
)
from steelyard.reports.numbers import (
    count,
    dollars,
    mean_text,
    milliseconds,
    percent,
    rate_text,
)
from steelyard.reports.rate_words import say_canaries
from steelyard.reports.run.headline import failed_text, gate_lines, headline
from steelyard.reports.run.missing_scores import without_score_text
from steelyard.reports.run.no_score import no_score_lines, reason_texts
from steelyard.reports.run.price_text import list_price_text
from steelyard.reports.run.question_rows import question_lines
from steelyard.reports.run.repeats_text import partial_text, repeats_lines
from steelyard.reports.run.slices_text import low_slices, uneven_slices
from steelyard.results.failures import Failure
from steelyard.results.manifest import Manifest
from steelyard.results.metrics import Cache, JudgingMetrics, LatencyMetrics, Metrics, Slice

if TYPE_CHECKING:
    from msgspec import UnsetType

_CONVERSATION = (None, "conversation_id")
_GROUPS = "groups (a conversation, or a record without one)"
_MOST_WITHOUT_CHOICE = 0.02


class NotSent(Protocol):
    """Counts of content that is not sent to targets."""

    @property
    def omitted_blocks(self) -> int | UnsetType: ...
    @property
    def documents_not_shown(self) -> int | UnsetType: ...


class RunView(FrozenStruct, frozen=True, kw_only=True):
    """A finished run, as reports see it."""

    manifest: Manifest
    metrics: Metrics
    slices: Sequence[Slice]
    folder: str
    gates: tuple[GateResult, ...] = ()
    """The results of its gates."""
    failures: Callable[[], Iterable[Failure]] = tuple
    """Reads the failures lazily; there may be many."""

    @property
    def no_score(self) -> tuple[str, ...]:
        """Why records have no score, one line per reason."""
        return tuple(no_score_lines(self.failures()))

    @property
    def reasons(self) -> tuple[str, ...]:
        """The same without their prefix, one text per reason."""
        return tuple(reason_texts(self.no_score))

    @property
    def run_id(self) -> str:
        """Its id."""
        return self.manifest.run_id

    @property
    def title(self) -> str:
        """Dataset and targets."""
        setup = self.manifest.setup
        return f"{setup.dataset_id} × {' + '.join(setup.targets)}"

    @property
    def is_repeated(self) -> bool:
        """Whether each record was asked several times, so that it has several rows."""
        return self.manifest.setup.options.repeat > 1

    @property
    def is_of_canaries(self) -> bool:
        """Whether it is about answers that a judge must fail."""
        return self.manifest.setup.is_of_canaries

    @property
    def headline(self) -> str:
        """The result in one line."""
        if self.is_of_canaries:
            return say_canaries(self.metrics)
        return headline(self.metrics, self.gates)


def run_lines(view: RunView, paint: Paint = plain) -> Iterator[str]:
    """The summary after a run."""
    metrics = view.metrics
    status = view.manifest.status
    style = "good" if status == "completed" else "warning"
    parts = [paint(printable(view.title), "title"), paint(status.replace("_", " "), style)]
    yield "  ".join([*parts, *(paint(text, "error") for text in failed_text(view.gates))])
    evaluated = f"{count(metrics.pass_count)} of {count(metrics.evaluated_records)}"
    rate = rate_text(metrics.pass_rate)
    if view.is_of_canaries:
        yield f"  {say_canaries(metrics)}"
        yield f"  passed     {rate}  {evaluated} evaluated (95 % interval)"
    else:
        yield f"  pass rate  {rate}  {evaluated} evaluated (95 % interval)"
    if text := partial_text(metrics):
        yield f"             {text}"
    if text := dependence(view):
        yield f"             {text}"
    yield from _corrected(metrics, paint)
    for gate, text in gate_lines(view.gates):
        yield f"  {paint('gate', 'good' if gate.passed else 'error')}       {text}"
    yield f"  score      {mean_text(metrics.score)}"
    yield from _records(view, paint)
    yield f"  latency    {latency_text(metrics)}"
    yield from _spending(view)
    yield from _checks(metrics)
    for name, text in question_lines(metrics):
        yield (
            f"  question   {printable(name)}  {printable(text)}"
            if name
            else f"             {text}"
        )
    if text := no_choice_text(metrics):
        yield f"  {paint('no choice', 'warning' if is_unreadable(metrics) else 'quiet')}  {text}"
    yield from repeats_lines(metrics)
    for one in () if view.is_of_canaries else low_slices(view.metrics, view.slices):
        yield f"  {one.word:<10} {printable(one.name)}  {one.text}"
    for text in uneven_slices(metrics):
        yield f"  {paint('missing', 'warning')}    {printable(text)}"
    yield from view.no_score


def _records(view: RunView, paint: Paint) -> Iterator[str]:
    """The records of the run, and what could not be read or sent."""
    metrics = view.metrics
    yield f"  records    {records_text(metrics)}"
    if text := selection_text(view):
        yield f"  selected   {printable(text)}"
    if unread := view.manifest.unread:
        yield f"  unread     {printable(unread)}"
    for text in not_sent_texts(metrics):
        yield f"  {paint('not sent', 'warning')}   {text}"
    if text := bounds_of_run(metrics):
        yield f"  bounds     {text}"


def _corrected(metrics: Metrics, paint: Paint) -> Iterator[str]:
    """The corrected pass rate, or why the pass rate is uncorrected."""
    row = metrics.corrected_pass_rate
    if row is None:
        return
    if row.is_corrected:
        yield f"  corrected  {corrected_text(row)}"
        yield f"             {judge_text(row)}"
        if row.is_drifted:
            yield f"  {paint('drift', 'warning')}      {drift_text(row)}"
    else:
        yield f"  {paint('uncorrected', 'warning')}  {corrected_text(row)}"


def dependence(view: RunView) -> str | None:
    """The effective number of independent records; None if all are independent.

    A record without a conversation is a group of its own.
    """
    rate = view.metrics.pass_rate
    if rate.clusters is None or rate.n_effective is None:
        return None
    path = view.manifest.setup.options.cluster
    groups = f"groups of one {path}" if path not in _CONVERSATION else _GROUPS
    worth = max(1, round(rate.n_effective))
    if worth >= rate.n:
        return None
    return (
        f"{count(rate.n)} records in {count(rate.clusters)} {printable(groups)} "
        f"count as about {count(worth)} independent records"
    )


def bounds_of_run(metrics: Metrics) -> str:
    """Bounds of the pass rate if scores are missing; else empty."""
    bounds = metrics.pass_rate_bounds
    if bounds is None or bounds.low == bounds.high:
        return ""
    spread = f"{percent(bounds.low)} to {percent(bounds.high)}"
    return f"{spread} if {without_score_text(metrics)} had failed or passed"


def selection_text(view: RunView) -> str:
    """The options that selected the records; empty for the whole dataset."""
    if view.manifest.setup.not_selected == 0:
        return ""
    options = view.manifest.setup.options
    named = ((name, getattr(options, name)) for name in SELECTION)
    chosen = [f"--{name} {value}" for name, value in named if value is not None]
    return f"a part of the dataset, by {', '.join(chosen)}" if chosen else ""


def not_sent_texts(counts: NotSent) -> Iterator[str]:
    """Content that was not sent to targets."""
    if blocks := counts.omitted_blocks:
        yield f"{count(blocks)} block(s) that a target cannot be sent, left out"
    if documents := counts.documents_not_shown:
        yield f"{count(documents)} document(s), named in the prompts as not shown"


def no_choice_text(metrics: Metrics) -> str | None:
    """The number of answers that select no choice; None if all do."""
    if not metrics.no_choice or not metrics.choice_answers:
        return None
    share = metrics.no_choice / metrics.choice_answers
    affected = f"{count(metrics.no_choice)} of {count(metrics.choice_answers)} answers"
    advice = "; check them before you trust the pass rate" if is_unreadable(metrics) else ""
    return f"{affected} select no choice and count as wrong ({percent(share)}){advice}"


def is_unreadable(metrics: Metrics) -> bool:
    """Whether too many answers select no choice, so that the rate may measure their format."""
    return (metrics.no_choice or 0) > _MOST_WITHOUT_CHOICE * (metrics.choice_answers or 0)


def next_steps(view: RunView) -> Iterator[str]:
    """Suggested next commands."""
    yield f"  artifacts  {view.folder}"
    yield f"  inspect    steelyard show {view.run_id}"
    yield f"  share      steelyard report {view.run_id} -o report.html"


def records_text(metrics: Metrics) -> str:
    """The records of a run by what became of them."""
    parts = [f"{count(metrics.evaluated_records)} evaluated"]
    parts.append(f"{count(metrics.failed_records)} failed")
    parts.append(f"{count(metrics.skipped_records)} skipped")
    text = f"{count(metrics.total_records)} = {' + '.join(parts)}"
    parts = [
        f"{count(number)} {word}"
        for number, word in (
            (metrics.invalid_records, "invalid"),
            (metrics.unscored_count, "unscored"),
            (metrics.cancelled_records, "cancelled"),
            (metrics.retried_records, "retried"),
        )
        if number
    ]
    unread = metrics.unread_records or 0
    if metrics.rows not in (0, metrics.total_records - unread):
        parts.append(f"{count(metrics.rows)} rows")
        if metrics.failure_rows:
            parts.append(f"{count(metrics.failure_rows)} of them without a result")
    if unread:
        parts.append(unread_text(metrics))
    return f"{text} ({', '.join(parts)})" if parts else text


def unread_text(metrics: Metrics) -> str:
    """How many records have no row, because they could not be read."""
    return f"{count(metrics.unread_records or 0)} that could not be read"


def latency_text(metrics: Metrics) -> str:
    """The percentiles of the time of answers and, where any was streamed, to the first token."""
    text, first = _percentiles(metrics.latency_ms), metrics.first_token_ms
    return f"{text}; first token {_percentiles(first)}" if first.n else text


def _percentiles(times: LatencyMetrics) -> str:
    return f"p50 {milliseconds(times.p50)}, p95 {milliseconds(times.p95)}"


def _spending(view: RunView) -> Iterator[str]:
    metrics = view.metrics
    tokens, cost = metrics.tokens, metrics.cost_usd
    if tokens.n:
        text = f"{count(tokens.input)} in, {count(tokens.output)} out"
        yield f"  tokens     {text} (n = {count(tokens.n)})"
    if cost.n:
        listed = list_price_text(view.manifest.setup.prices)
        by = f", {listed}" if listed else ""
        yield f"  cost       {dollars(cost.total)} (n = {count(cost.n)}){by}"
    if metrics.judging:
        yield from _judging(metrics.judging)
    yield from _saved(metrics.cache, "answers")


def _judging(judging: JudgingMetrics) -> Iterator[str]:
    """Calls, tokens and cost of judges."""
    tokens, cost = judging.tokens, judging.cost_usd
    parts = [f"{count(judging.calls)} call(s)"]
    if judging.unanswered:
        parts.append(f"{count(judging.unanswered)} unanswered")
    if tokens.n:
        parts.append(f"{count(tokens.input)} tokens in, {count(tokens.output)} out")
    if cost.n:
        parts.append(f"{dollars(cost.total)} of the cost")
    yield f"  judging    {', '.join(parts)} (n = {count(judging.rows)})"
    yield from _saved(judging.cache, "judgements")


def _saved(cache: Cache, what: str) -> Iterator[str]:
    if cache.hits:
        money = f", {dollars(cache.saved_usd)}" if cache.saved_usd else ""
        yield f"  saved      {count(cache.hits)} call(s){money} by cached {what}"


def _checks(metrics: Metrics) -> Iterator[str]:
    for name, check in metrics.checks.items():
        rate = check.pass_rate
        others = ((check.skipped, "skipped"), (check.unscored, "unscored"))
        rest = "".join(f", {count(number)} {word}" for number, word in others if number)
        if check.corrected_pass_rate:
            rest = f"{rest}  by {printable(check.corrected_pass_rate.named)}"
        yield f"  check      {printable(name)}  {rate_text(rate)}  n = {count(rate.n)}{rest}"
