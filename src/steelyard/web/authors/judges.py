"""Judges: every version, and how far each can be relied on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from steelyard.event_loop import run_async
from steelyard.model.judge import Judge
from steelyard.reports.verdict_words import VerdictWord
from steelyard.usecases.judges.current_instruments import current_fingerprints
from steelyard.usecases.judges.judge_standing import JudgeStanding, State, standings
from steelyard.web.authors.definitions import ListQuery, VersionList, listed_versions
from steelyard.web.page import AnyPage, Context, Visit, WebPage

_STATES: Mapping[State, VerdictWord] = {
    "validated": VerdictWord("flag", "Validated"),
    "stale": VerdictWord("invalid", "Stale"),
    "refused": VerdictWord("fail", "Refused"),
    "too few labels": VerdictWord("unscored", "Too few labels"),
    "never validated": VerdictWord("skipped", "Never validated"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgesContext(Context):
    """What the list of judges shows."""

    template: ClassVar[str] = "judges.html"
    versions: VersionList
    standings: Mapping[str, JudgeStanding]
    """By name, without its kind."""
    words: Mapping[str, VerdictWord]
    """How each of them stands, by the same names."""
    unknown: VerdictWord = _STATES["never validated"]


def standing_word(standing: JudgeStanding) -> VerdictWord:
    """How a judge stands; no state is a verdict on the judge, so a good one is not green."""
    if standing.state == "validated" and (low := standing.low_rates):
        return VerdictWord("invalid", f"Measured, {' and '.join(low)} low")
    return _STATES[standing.state]


def _show(visit: Visit[ListQuery]) -> JudgesContext:
    project = visit.project
    found = listed_versions(project.registry_ports(), "judge", visit.query)
    ports, names = project.run_ports(), {one.name for one in found.rows}
    judges = {
        one.content.name.removeprefix("judge/"): one.content
        for one in ports.references.known("judge")
        if isinstance(one.content, Judge)
    }
    listed = [judge for name, judge in judges.items() if name in names]
    validated = {one.judge for one in project.validations.all()}
    wanted = validated & {judge.name for judge in listed}
    current = run_async(lambda: current_fingerprints(ports, wanted))
    found_standings = standings(ports, listed, current)
    stood = {name.removeprefix("judge/"): one for name, one in found_standings.items()}
    return JudgesContext(
        title="Judges",
        versions=found,
        standings=stood,
        words={name: standing_word(one) for name, one in stood.items()},
    )


PAGES: tuple[AnyPage, ...] = (
    WebPage(path="/judges", section="judges", scope="registry:read", show=_show, query=ListQuery),
)
