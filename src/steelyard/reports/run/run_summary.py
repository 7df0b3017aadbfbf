"""The head of a run for people: its result in words, its rates, its judge beside people, facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from steelyard.model.statistics.corrected_rate import CorrectedRate
from steelyard.model.statistics.gate import ALLOW_FAILURES
from steelyard.model.statistics.interval import Interval
from steelyard.reports.judges.correction import drift_text, needed_text
from steelyard.reports.numbers import (
    Estimated,
    count,
    counted,
    dollars,
    mean_text,
    milliseconds,
    share_text,
    whole_of,
)
from steelyard.reports.rate_words import say_canaries, say_rate
from steelyard.reports.run.headline import gate_lines
from steelyard.reports.run.missing_scores import without_score_text
from steelyard.reports.run.repeats_text import noise_text, partial_text
from steelyard.reports.run.run_text import (
    RunView,
    dependence,
    is_unreadable,
    no_choice_text,
    not_sent_texts,
    records_text,
    selection_text,
)
from steelyard.reports.run.slices_text import uneven_slices
from steelyard.reports.sentence import sentence
from steelyard.reports.verdict_words import VerdictWord
from steelyard.results.metrics import Metrics, PassEstimate, TriesMetrics

NoticeKind: TypeAlias = Literal["", "good", "warn", "bad"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateRow:
    """A rate with its interval, as a row of a figure."""

    name: str
    about: str
    found: Estimated | Interval
    style: Literal["lead", "thin", ""] = ""
    """The rate that can be defended leads."""
    is_open: bool = True
    """Hollow where it is raw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRate:
    """How often a judge and people agree."""

    name: str
    found: Interval
    is_low: bool
    """Whether the judge is right about less than half of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeBesidePeople:
    """A judge compared with people, or why the rate is not corrected."""

    judge: str
    rates: tuple[JudgeRate, ...]
    texts: tuple[str, ...]
    reason: str = ""
    """Why the rate is not corrected; empty where it is."""
    warning: str = ""
    """How the judge has drifted."""
    is_differing: bool = False
    """Whether the raw rate is another than the corrected one."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure of the run with its name."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to know before the result is used."""

    kind: NoticeKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """The head of a run."""

    title: str = "Pass rate"
    """What the rates are of."""
    say: str
    """The result in words."""
    rates: tuple[RateRow, ...]
    judge: JudgeBesidePeople | None
    """None where no judge decides."""
    facts: tuple[Fact, ...]
    rubrics: tuple[str, ...]
    notices: tuple[Notice, ...]
    distribution: tuple[int, ...]
    """Scores in equal bins of [0, 1]; empty where there are none."""
    gate: VerdictWord | None = None
    """Whether the gates hold; none where none was set. Missing scores are said elsewhere."""


def summary_of(view: RunView, not_blind: int = 0) -> RunSummary:
    """The head of a run; `not_blind` labels of its judge are left out of the corrected rate."""
    metrics, is_of_canaries = view.metrics, view.is_of_canaries
    return RunSummary(
        title="Canaries" if is_of_canaries else "Pass rate",
        say=sentence(say_canaries(metrics)) if is_of_canaries else say_rate(metrics),
        rates=tuple(_rates(view)),
        judge=_judge(metrics, not_blind),
        facts=(*_facts(metrics), *_canary_facts(view)),
        rubrics=tuple(one.rubric for one in view.manifest.setup.rubrics),
        notices=tuple(_notices(view)),
        distribution=metrics.score_distribution if metrics.evaluated_records else (),
        gate=_gate_word(view),
    )


def _gate_word(view: RunView) -> VerdictWord | None:
    if any(not one.passed and not one.is_missing_scores for one in view.gates):
        return VerdictWord("fail", "Gate failed")
    is_held = any(one.is_named for one in view.gates) and all(one.passed for one in view.gates)
    return VerdictWord("pass", "Gate passed") if is_held else None


def _method(name: str) -> str:
    """The name of a method as people write it."""
    return name.replace("wilson", "Wilson")


def _rates(view: RunView) -> Iterator[RateRow]:
    metrics = view.metrics
    corrected = metrics.corrected_pass_rate
    is_judged = corrected is not None
    if corrected and corrected.is_corrected:
        yield _corrected(corrected)
    raw = metrics.pass_rate
    about = f"{count(metrics.pass_count)} of {count(metrics.evaluated_records)} evaluated"
    yield RateRow(
        name="Passed, though they must fail" if view.is_of_canaries else raw_name(corrected),
        about=f"{about}, {_method(raw.method)}" if raw.method else about,
        found=raw,
        style="" if corrected and corrected.is_corrected else "lead",
    )
    bounds = metrics.pass_rate_bounds
    which = without_score_text(metrics)
    if which and bounds and bounds.low != bounds.high:
        yield RateRow(
            name=f"{'Raw, were' if is_judged else 'Were'} {which} a fail or a pass",
            about="",
            found=Interval(None, bounds.low, bounds.high, "", metrics.total_records),
            style="thin",
        )
    if metrics.repeats:
        yield from _tries(metrics.repeats)


def raw_name(corrected: CorrectedRate | None) -> str:
    """What the raw rate of a run is called."""
    if corrected is None:
        return "Pass rate"
    return "Raw, as the judge sees it" if corrected.is_by_judge_alone else "Raw, as graded"


def _corrected(found: CorrectedRate) -> RateRow:
    labels, records = count(found.labels), count(found.n)
    read = f"{labels} of {records} answers read"
    if found.is_borrowed:
        read = f"{labels} answers of another run read"
    return RateRow(
        name="Corrected by people",
        about=f"{_method(found.method or '')}, {read}",
        found=found,
        style="lead",
        is_open=False,
    )


def _tries(repeats: TriesMetrics) -> Iterator[RateRow]:
    k = repeats.k
    ways = (
        (f"pass@{k}", f"one of {k} tries passes", repeats.pass_at_k),
        (f"pass^{k}", f"every one of {k} tries passes", repeats.pass_hat_k),
    )
    for name, about, found in ways:
        yield RateRow(
            name=name, about=f"{about}, n = {count(found.n)}", found=_estimate(found), style="thin"
        )


def _estimate(found: PassEstimate) -> Interval:
    """The estimate; where tries are missing, what their bounds leave open."""
    low, high = found.low, found.high
    if found.value is None and found.bounds:
        low, high = found.bounds.low, found.bounds.high
    return Interval(found.value, low, high, found.method or "", found.n)


def _judge(metrics: Metrics, not_blind: int) -> JudgeBesidePeople | None:
    found = metrics.corrected_pass_rate
    if found is None:
        return None
    if not found.is_corrected:
        return JudgeBesidePeople(
            judge=found.judge, rates=(), texts=(), reason=sentence(str(found.reason))
        )
    return JudgeBesidePeople(
        judge=found.judge,
        rates=tuple(_judge_rates(found)),
        texts=tuple(_judge_texts(metrics, found, not_blind)),
        warning=sentence(drift_text(found)) if found.is_drifted else "",
        is_differing=_is_other(metrics.pass_rate.value, found.value),
    )


def _judge_rates(found: CorrectedRate) -> Iterator[JudgeRate]:
    named = (
        ("Good answers it passes (TPR)", found.tpr),
        ("Bad answers it fails (TNR)", found.tnr),
    )
    for name, rate in named:
        if rate is not None:
            is_low = rate.value is not None and rate.value < 0.5
            yield JudgeRate(name=f"{name}, {share_text(rate)}", found=rate, is_low=is_low)


def _is_other(raw: float | None, corrected: float | None) -> bool:
    """Whether two rates are shown with different digits."""
    return raw is not None and corrected is not None and round(raw, 3) != round(corrected, 3)


def _judge_texts(metrics: Metrics, found: CorrectedRate, not_blind: int) -> Iterator[str]:
    raw, corrected = metrics.pass_rate.value, found.value
    if errors := " and ".join(_errors(raw, found)):
        yield f"It {errors}."
    if raw is not None and corrected is not None and _is_other(raw, corrected):
        side, points = "above" if raw > corrected else "below", abs(100 * (raw - corrected))
        yield f"The raw rate is {points:.1f} points {side} the corrected one."
    later = ", after this run" if found.is_later else ""
    left_out = ""
    if not_blind:
        verb = "was" if not_blind == 1 else "were"
        are = "is" if not_blind == 1 else "are"
        left_out = f"; {counted(not_blind, 'label')} that {verb} not blind {are} left out"
    yield f"Validated {_day(found.validated_at)}{later}{left_out}."
    if found.is_borrowed:
        runs = ", ".join(found.labelled_runs) or "the labelled run"
        yield f"This assumes that the judge errs here as on {runs}."
    yield sentence(needed_text(found))


def _errors(raw: float | None, found: CorrectedRate) -> Iterator[str]:
    """The errors of the judge that move the raw rate to its side; both where they cancel out."""
    is_other = _is_other(raw, found.value)
    is_above = (raw or 0.0) > (found.value or 0.0)
    if is_above or not is_other:
        yield from _error("passes", found.tnr, "bad")
    if not is_above or not is_other:
        yield from _error("fails", found.tpr, "good")


def _error(does: str, rate: Interval | None, called: str) -> Iterator[str]:
    """How many answers the judge is wrong about; weighted rates are no counts."""
    right = whole_of(rate) if rate else None
    if rate and right is not None:
        wrong = count(rate.n - right)
        yield f"{does} {wrong} of {count(rate.n)} answers that people call {called}"


def _facts(metrics: Metrics) -> Iterator[Fact]:
    yield Fact("Records", records_text(metrics))
    if metrics.evaluated_records:
        yield Fact("Mean score", mean_text(metrics.score))
    latency, tokens, cost = metrics.latency_ms, metrics.tokens, metrics.cost_usd
    for name, times in (("Latency", latency), ("First token", metrics.first_token_ms)):
        if times.n:
            text = f"{milliseconds(times.p50)}, {milliseconds(times.p95)}"
            yield Fact(f"{name} p50, p95", text)
    if tokens.n:
        text = f"{count(tokens.input)}, {count(tokens.output)}"
        yield Fact(f"Tokens in, out (n = {count(tokens.n)})", text)
    if cost.n:
        yield Fact(f"Cost (n = {count(cost.n)})", dollars(cost.total))
    judging = metrics.judging
    if judging:
        unanswered = f", {count(judging.unanswered)} unanswered" if judging.unanswered else ""
        spent = f", {dollars(judging.cost_usd.total)}" if judging.cost_usd.n else ""
        yield Fact("Judge calls", f"{count(judging.calls)}{unanswered}{spent}")
    saved = metrics.cache.hits + (judging.cache.hits if judging else 0)
    if saved:
        yield Fact("Calls saved by the cache", count(saved))


def _canary_facts(view: RunView) -> Iterator[Fact]:
    """Who was tried: no rate of a target is shown that would name its judge."""
    names = list(dict.fromkeys(one.judge for one in view.manifest.judges or ()))
    if view.is_of_canaries and names:
        yield Fact("Judge tried" if len(names) == 1 else "Judges tried", ", ".join(names))


def _notices(view: RunView) -> Iterator[Notice]:
    metrics = view.metrics
    for gate, text in gate_lines(view.gates):
        allowed = text.replace(f"more than {ALLOW_FAILURES} ", "more than the allowed ")
        yield Notice("good" if gate.passed else "bad", f"Gate {allowed}")
    if text := selection_text(view):
        yield Notice("warn", sentence(text))
    if view.manifest.unread:
        yield Notice("bad", sentence(f"unread: {view.manifest.unread}"))
    for text in not_sent_texts(metrics):
        yield Notice("warn", sentence(f"not sent: {text}"))
    if text := no_choice_text(metrics):
        yield Notice("warn" if is_unreadable(metrics) else "", sentence(text))
    for text in uneven_slices(metrics):
        yield Notice("warn", f"Scores are missing unevenly: {text}.")
    if text := dependence(view):
        yield Notice("", sentence(text))
    if text := partial_text(metrics):
        yield Notice("", sentence(text))
    if metrics.repeats and (text := noise_text(metrics.repeats)):
        yield Notice("", sentence(text))


def _day(at: str | None) -> str:
    """A day as people read it, such as `15 Nov 2026`."""
    day = datetime.fromisoformat(str(at))
    return f"{day.day} {day:%b %Y}"
