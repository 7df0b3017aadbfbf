"""A judge: its template, how it compares with people, and how it decided over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast, get_args

from markupsafe import Markup
from starlette.responses import Response

from steelyard.api.result_notes import note_shown
from steelyard.api.shown_results import ShownResults, shown_rate, shown_rates, shown_rows
from steelyard.errors import NotFoundError
from steelyard.event_loop import run_async
from steelyard.formats.mustache_tags import names_in
from steelyard.judging.canaries import CUT_OFF
from steelyard.model.judge import Judge
from steelyard.model.reference import Reference
from steelyard.model.statistics.validation import JudgeValidation, LabelledItem
from steelyard.reports.judges.canary_lines import CanaryLine, canaries_say, canary_lines
from steelyard.reports.judges.judge_rates import about_rates
from steelyard.reports.judges.judge_trend import RatedTime, rates_over_time
from steelyard.reports.verdict_words import VerdictWord
from steelyard.stats.confusion import Rates, known_rates
from steelyard.usecases.judges.current_instruments import current_fingerprints
from steelyard.usecases.judges.judge_standing import (
    BiasReport,
    Cell,
    CheckHistory,
    JudgeStanding,
    asked_lately,
    bias_of,
    histories,
    items_of,
    judge_runs,
    standing_of,
    validations_of,
)
from steelyard.usecases.judges.validation_runs import TRIED
from steelyard.usecases.results.graded_runs import LOOKED_AT, GradedRun
from steelyard.usecases.runs.ports import RunPorts
from steelyard.web.authors.definitions import (
    VersionQuery,
    VersionView,
    change_version,
    version_view,
)
from steelyard.web.authors.judges import standing_word
from steelyard.web.page import AnyPage, Context, Crumb, Visit, WebPage

MOST_ITEMS = 100
"""So many items of a cell are listed."""
_MOST_IN_FIGURE = 20
_LEFT_OUT = {
    "not_blind": "not blind",
    "other_rubrics": "of other rubrics",
    "other_content": "given under other content of the rubric",
    "other_queues": "given in another queue",
    "picked": "of records picked without chance",
    "other_runs": "of other runs",
    "no_run": "that name no run",
    "other_splits": "in other splits",
    "no_pass": "without a pass or fail",
    "ties": "with tied labels",
    "without_judgement": "without a verdict of the judge",
    "unscored": "unscored by the judge",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownValidation:
    """One validation with what is shown of it."""

    found: JudgeValidation
    rates: Rates
    about: str
    """Of what the rates are, unless they are plain counts."""
    cell: str
    items: tuple[LabelledItem, ...]
    """Those of the cell, or all on which judge and people disagree."""
    left_out: tuple[tuple[str, int], ...]
    canaries: tuple[CanaryLine, ...]
    canaries_say: str
    """What it did with all of them."""
    bias: BiasReport


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePageContext(Context):
    """What the page of a judge shows."""

    template: ClassVar[str] = "judge.html"
    view: VersionView
    judge: Judge
    variables: tuple[str, ...]
    target: str
    model: str
    standing: JudgeStanding
    word: VerdictWord
    validation: ShownValidation | None
    validations: tuple[tuple[JudgeValidation, Rates], ...]
    """Of this judge in any version, newest first."""
    trend: Markup | None
    histories: tuple[CheckHistory, ...]
    runs: tuple[GradedRun, ...]
    test_reads: int = 0
    """How often the test labels were looked at for the judge, whatever its version."""
    looked_at: int = LOOKED_AT
    most_items: int = MOST_ITEMS


def _show(visit: Visit[VersionQuery]) -> JudgePageContext:
    return _context(visit)


def _submit(visit: Visit[VersionQuery]) -> JudgePageContext | Response:
    done = change_version(visit, "judge")
    return _context(visit, done) if isinstance(done, str) else done


def _context(visit: Visit[VersionQuery], message: str = "") -> JudgePageContext:
    view = version_view(visit, "judge", message)
    ports = visit.project.run_ports()
    judge = _judge(ports, view.shown.reference)
    known = ports.validations.all() if ports.validations else ()
    runs = judge_runs(ports, judge.name)
    asked = asked_lately(ports, runs, judge.name)
    own = validations_of(judge.name, known)
    current = run_async(lambda: current_fingerprints(ports, {judge.name} if own else ()))
    marks_now = current.get(judge.name, frozenset[str]())
    standing = standing_of(judge, known, ports.clock.now(), asked, marks_now)
    chosen = _chosen(own, visit.query.validation) or standing.newest
    marks = {*asked, *(chosen.fingerprints if chosen else ())}
    target = ports.settings.judge(judge.id).target or ""
    may_see = visit.identity.may("runs:read")
    shown = _shown(ports, chosen, visit.query) if chosen and may_see else None
    for one in shown.items[:MOST_ITEMS] if shown else ():
        note_shown(visit, shown_rows(one.run_id, [one.index]))
    found = tuple(histories(ports, judge, marks, runs)) if may_see else ()
    note_shown(
        visit, *_rates_of(found), *(shown_rates(one.run for one in runs) if may_see else ())
    )
    return JudgePageContext(
        title=view.name,
        crumbs=(Crumb("Judges", "/judges"),),
        view=view,
        judge=judge,
        variables=tuple(sorted(names_in(judge.template))),
        target=target,
        model=str(getattr(ports.settings.targets.get(target), "model", None) or ""),
        standing=standing,
        word=standing_word(standing),
        validation=shown,
        validations=tuple((one, known_rates(one)) for one in reversed(own)),
        trend=_trend(own),
        histories=found,
        runs=tuple(runs) if may_see else (),
        test_reads=visit.project.validations.test_reads(judge.name),
    )


def _rates_of(found: Iterable[CheckHistory]) -> Iterator[ShownResults]:
    for history in found:
        for row, rate in history.rows:
            yield shown_rate(cast(str, row["run_id"]), rate)


def _judge(ports: RunPorts, name: str) -> Judge:
    reference = cast(Reference, Reference.parse(name))
    found = ports.references.find(reference).content
    if isinstance(found, Judge):
        return found
    held = (one.content for one in ports.references.known("judge"))
    for one in held:
        if isinstance(one, Judge) and one.name == name:
            return one
    raise NotFoundError(f"there is no {name}")


def _chosen(own: Sequence[JudgeValidation], number: int) -> JudgeValidation | None:
    if not number:
        return None
    found = next((one for one in own if one.number == number), None)
    if found is None:
        raise NotFoundError(f"the judge has no validation with the number {number}")
    return found


def _shown(ports: RunPorts, found: JudgeValidation, query: VersionQuery) -> ShownValidation:
    cells = (query.cell,) if query.cell in get_args(Cell) else ("fp", "fn")
    known = {one.id: one.why for one in TRIED}
    if any(one.id == CUT_OFF.id for one in found.canaries.by_canary):
        known[CUT_OFF.id] = CUT_OFF.why
    left = {name: cast(int, getattr(found.left_out, name)) for name in _LEFT_OUT}
    return ShownValidation(
        found=found,
        rates=known_rates(found),
        about=about_rates(found),
        cell=query.cell if query.cell in get_args(Cell) else "",
        items=tuple(one for cell in cells for one in items_of(found, cast(Cell, cell))),
        left_out=tuple((_LEFT_OUT[name], count) for name, count in left.items() if count),
        canaries=canary_lines(found.canaries, known) if found.canaries.asked else (),
        canaries_say=canaries_say(found.canaries),
        bias=bias_of(ports, found, is_asked=query.bias),
    )


def _trend(own: Sequence[JudgeValidation]) -> Markup | None:
    if len(own) < 2:
        return None
    shown = own[-_MOST_IN_FIGURE:]
    return rates_over_time([RatedTime(one.validated_at[:10], *known_rates(one)) for one in shown])


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/judges/{ref}",
        section="judges",
        scope="registry:read",
        show=_show,
        query=VersionQuery,
        submit=_submit,
        submit_scope="registry:write",
    ),
)
