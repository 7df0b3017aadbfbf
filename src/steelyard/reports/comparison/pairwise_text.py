"""Pairwise comparisons as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

from steelyard.model.json_value import JsonObject
from steelyard.model.statistics.interval import Interval
from steelyard.reports.findings import Paint, plain, printable
from steelyard.reports.numbers import count, rate_text
from steelyard.stats.position import PositionBias
from steelyard.stats.preference import Preference

_LEFT_OUT = {
    "only_in_a": "only in A",
    "only_in_b": "only in B",
    "no_answer_in_a": "without an answer in A",
    "no_answer_in_b": "without an answer in B",
    "no_answer_in_both": "without an answer in both",
}


@dataclass(frozen=True, slots=True)
class ComparedResponses:
    """One of the compared runs."""

    run_id: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseView:
    """A finished pairwise run: whether a judge prefers B to A."""

    run_id: str
    folder: str
    status: str
    dataset: str
    a: ComparedResponses
    b: ComparedResponses
    judges: tuple[JsonObject, ...]
    records: int
    """Records selected for comparison."""
    rows: int
    """The same, counting every repeat."""
    unscored: int
    """Records without a decision in both orders."""
    identical: int
    """Records with identical answers: ties, not judged."""
    left_out: Mapping[str, int]
    preference: Preference
    position: PositionBias

    @property
    def verdict(self) -> str:
        """The verdict, derived from the interval of the win rate."""
        if self.preference.win_rate.value is None:
            return "cannot be compared"
        preferred = self.preference.preferred
        return f"judge prefers {preferred.upper()}" if preferred else "no preference detectable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """One run among several."""

    run_id: str
    title: str
    strength: Interval
    """Log odds, with mean 0 over the runs."""
    won: float
    """Comparisons won, ties counted half."""
    met: int


def pairwise_lines(view: PairwiseView, paint: Paint = plain) -> Iterator[str]:
    """The compared runs, the judge, and the result."""
    yield f"A  {paint(printable(view.a.title), 'title')}  {view.a.run_id}"
    yield f"B  {paint(printable(view.b.title), 'title')}  {view.b.run_id}"
    for row in view.judges:
        yield f"  judge       {printable(_judge(row))}"
    yield f"  records     {pairwise_records_text(view)}"
    found = view.preference
    if found.win_rate.value is not None:
        rate = rate_text(found.win_rate)
        yield f"  win rate    B {rate}  {_parts(view)} ({_method(found)})"
        yield f"  test        {_test(found)}"
        yield from (f"  {line}" for line in _position(view.position, paint))
    style = {"judge prefers B": "good", "judge prefers A": "error"}.get(view.verdict, "warning")
    note = "the opinion of this judge, not checked against people"
    text = "no record has a decision" if found.win_rate.value is None else note
    yield f"  {paint(view.verdict, style)} ({text})"


def strength_lines(table: Sequence[Strength]) -> Iterator[str]:
    """Runs with their Bradley-Terry strengths, the strongest first."""
    yield "Bradley-Terry strengths (log odds, mean 0; ties count half; bootstrap, 95 %)"
    width = max(len(row.run_id) for row in table)
    for row in table:
        wins = f"won {row.won:g} of {count(row.met)}"
        yield f"  {row.run_id:<{width}}  {_strength(row.strength)}  {wins}  {printable(row.title)}"
    if any(row.strength.low is None for row in table):
        yield "  no interval where a run has a win, or a loss, in fewer than 10 records"


def pairwise_row(view: PairwiseView) -> JsonObject:
    """A pairwise run as JSON."""
    preference, position = view.preference, view.position
    return {
        "run_id": view.run_id,
        "artifacts": view.folder,
        "status": view.status,
        "a": cast(JsonObject, asdict(view.a)),
        "b": cast(JsonObject, asdict(view.b)),
        "judges": list(view.judges),
        "verdict": view.verdict,
        "win_rate": _interval(preference.win_rate),
        "wins": preference.wins,
        "losses": preference.losses,
        "ties": preference.ties,
        "contradictions": preference.contradictions,
        "p_value": preference.p_value,
        "test": preference.test,
        "level": preference.level,
        "adjusted_p": preference.adjusted_p,
        "records": view.records,
        "rows": view.rows,
        "unscored": view.unscored,
        "identical": view.identical,
        "left_out": dict(view.left_out),
        "position": {
            "first_rate": _interval(position.first_rate),
            "flip_rate": _interval(position.flip_rate),
            "p_value": position.p_value,
            "favours": position.favours,
        },
    }


def strength_row(row: Strength) -> JsonObject:
    """A run of the table as JSON."""
    return {
        "run_id": row.run_id,
        "title": row.title,
        "strength": _interval(row.strength),
        "won": row.won,
        "met": row.met,
    }


def _judge(row: JsonObject) -> str:
    marks = cast("list[str]", row["fingerprints"] or [])
    model = f" ({row['model']})" if row["model"] else ""
    shown = f", fingerprint {marks[0][:12]}" if marks else ""
    return f"{row['judge']} via target {row['target']}{model}{shown}"


def pairwise_records_text(view: PairwiseView) -> str:
    """The records by whether they have a decision, and those left out."""
    scored = view.records - view.unscored
    text = f"{count(view.records)} = {count(scored)} decided + {count(view.unscored)} unscored"
    if view.rows > view.records:
        text += f"; {count(view.rows)} repeats were compared, and each record counts once"
    if view.identical:
        text += f"; {count(view.identical)} with identical answers, not judged"
    left = [
        f"{count(view.left_out[key])} {word}"
        for key, word in _LEFT_OUT.items()
        if view.left_out.get(key)
    ]
    return f"{text}; left out: {', '.join(left)}" if left else text


def _parts(view: PairwiseView) -> str:
    found = view.preference
    parts = (
        (found.wins, "wins"),
        (found.losses, "losses"),
        (found.ties, "ties"),
        (found.contradictions, "contradictions"),
    )
    listed = " + ".join(f"{count(number)} {word}" for number, word in parts)
    return f"{listed} of {count(found.win_rate.n)}"


def _position(found: PositionBias, paint: Paint) -> Iterator[str]:
    if found.first_rate.value is None:
        yield "position    no decision for either place"
        return
    first = rate_text(found.first_rate)
    yield f"position    first place preferred in {first} of {count(found.first_rate.n)} decisions"
    if found.flip_rate.value is not None:
        flips = rate_text(found.flip_rate)
        pairs = f"{count(found.flip_rate.n)} pairs of answers decided in both orders"
        yield f"flips       {flips} of {pairs}"
    if found.favours:
        text = f"the judge favours the {found.favours} place ({_p_text(found.p_value or 0.0)})"
        bias = paint("bias", "warning")
        yield f"{bias}        {text}, which benefits neither run: both orders are asked"


def _strength(found: Interval) -> str:
    if found.low is None or found.high is None:
        return f"{found.value:+.2f} [no interval]"
    return f"{found.value:+.2f} [{found.low:+.2f}, {found.high:+.2f}]"


def _interval(found: Interval) -> JsonObject:
    return cast(JsonObject, asdict(found))


def _method(found: Preference) -> str:
    return f"{found.win_rate.method}, {100 * (1 - found.level):.3g} %"


def _test(found: Preference) -> str:
    text = f"{found.test}, {_p_text(cast(float, found.p_value))}"
    if found.adjusted_p is None:
        return text
    return f"{text}; adjusted for all pairs of runs (Holm) {_p_text(found.adjusted_p)}"


def _p_text(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"
