"""The head of a pairwise run: which answers a judge prefers, in words and as rates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from steelyard.reports.comparison.pairwise_text import PairwiseView, pairwise_records_text
from steelyard.reports.figures import Share
from steelyard.reports.numbers import count
from steelyard.reports.run.run_summary import Fact, Notice, RateRow


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseSummary:
    """The head of a pairwise run."""

    verdict: str
    say: str
    a: str
    b: str
    a_run: str
    b_run: str
    rates: tuple[RateRow, ...]
    shares: tuple[Share, ...]
    """Records by who wins them."""
    winners: tuple[tuple[str, int], ...]
    """The same as a table, with why nobody wins."""
    facts: tuple[Fact, ...]
    notices: tuple[Notice, ...]


def pairwise_summary(view: PairwiseView) -> PairwiseSummary:
    """The head of a run in which a judge compares the answers of two others."""
    found = view.preference
    neither = found.ties + found.contradictions
    return PairwiseSummary(
        verdict=f"{view.verdict[:1].upper()}{view.verdict[1:]}",
        say=_say(view),
        a=view.a.title,
        b=view.b.title,
        a_run=view.a.run_id,
        b_run=view.b.run_id,
        rates=tuple(_rates(view)),
        shares=(
            Share("up", found.wins, f"B {count(found.wins)}"),
            Share("same", neither, f"neither {count(neither)}"),
            Share("down", found.losses, f"A {count(found.losses)}"),
        ),
        winners=(
            ("B wins", found.wins),
            ("Tie", found.ties),
            ("The judge contradicts itself", found.contradictions),
            ("A wins", found.losses),
        ),
        facts=tuple(_facts(view)),
        notices=tuple(_notices(view)),
    )


def _say(view: PairwiseView) -> str:
    found = view.preference
    if found.win_rate.value is None:
        return "No record has a decision, so the answers cannot be compared."
    decided = f"Of {count(found.win_rate.n)} decided records, the judge prefers B in "
    return (
        f"{decided}{count(found.wins)} and A in {count(found.losses)}. This is the opinion of the "
        "judge, not checked against people."
    )


def _rates(view: PairwiseView) -> Iterator[RateRow]:
    found, position = view.preference, view.position
    if found.win_rate.value is not None:
        yield RateRow(
            name="Win rate of B",
            about=f"ties count half, {found.win_rate.method}, n = {count(found.win_rate.n)}",
            found=found.win_rate,
            style="lead",
        )
    if position.first_rate.value is not None:
        yield RateRow(
            name="First place preferred",
            about=f"50 % without bias, n = {count(position.first_rate.n)}",
            found=position.first_rate,
        )
    if position.flip_rate.value is not None:
        yield RateRow(
            name="Decision flips with the order",
            about=f"n = {count(position.flip_rate.n)}",
            found=position.flip_rate,
        )


def _facts(view: PairwiseView) -> Iterator[Fact]:
    yield Fact("Records", pairwise_records_text(view))
    found = view.preference
    if found.p_value is not None:
        p_value = "p < 0.001" if found.p_value < 0.001 else f"p = {found.p_value:.3f}"
        yield Fact("Test", f"{found.test}, {p_value}")
    for judge in view.judges:
        yield Fact("Judge", f"{judge['judge']} via target {judge['target']}")


def _notices(view: PairwiseView) -> Iterator[Notice]:
    if favours := view.position.favours:
        yield Notice(
            "warn",
            f"The judge favours the {favours} place. Both orders are asked, so that this benefits "
            "neither run.",
        )
