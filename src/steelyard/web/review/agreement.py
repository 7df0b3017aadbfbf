"""How far people agree in a queue, and the judge with them, with the items behind each number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import msgspec
from starlette.responses import RedirectResponse, Response

from steelyard.api.errors import status_of
from steelyard.api.resources.run_changes import queued_run
from steelyard.errors import InvalidError, RequestError
from steelyard.event_loop import run_async
from steelyard.model.json_value import JsonValue
from steelyard.model.question import Answer, Question
from steelyard.model.statistics.agreement import (
    AgreementSide,
    Estimate,
    Item,
    QuestionAgreement,
)
from steelyard.reports.judges.agreement_text import (
    NAMES,
    NO_INTERVAL,
    NOT_DEFINED,
    left_out_text,
    short_text,
    why_open,
)
from steelyard.reports.judges.judge_validation import JudgeValidationReport, queue_lines
from steelyard.usecases.correction.validation_rules import shortage
from steelyard.usecases.judges.judge_queue import JudgementRequest, start_judgement
from steelyard.usecases.judges.tied_items import tied_items
from steelyard.usecases.judges.validate_queue import validate_from_queue
from steelyard.usecases.registry.look_up import list_definitions
from steelyard.usecases.review.queues.exposure import ANYBODY
from steelyard.usecases.review.queues.queue_agreement import QueueAgreement, queue_agreement
from steelyard.usecases.review.queues.queue_rubric import rubric_of
from steelyard.web.page import AnyPage, Context, Visit, WebPage
from steelyard.web.rendering import query_text, segment
from steelyard.web.review.item_list import name_of
from steelyard.web.review.revealed import answer_words
from steelyard.web.review.reviewer import REVIEW

SideName: TypeAlias = Literal["people", "judge"]


class AgreementQuery(msgspec.Struct, frozen=True):
    """The cell whose items are shown."""

    question: str = ""
    side: str = ""
    cell: int | None = None
    started: str = ""
    """The run of a judge that was started just now."""


class MatrixCell(NamedTuple):
    """A number of a confusion matrix."""

    n: int
    href: str
    is_same: bool
    is_chosen: bool


UNDER = MatrixCell(0, "", is_same=False, is_chosen=False)
"""The mirror of a cell of people with each other, none of whom is first; it holds no number, so
that the cells add up to the pairs."""


class EstimateRow(NamedTuple):
    """A coefficient as the page shows it."""

    name: str
    text: str
    method: str
    n: int
    found: Estimate
    is_drawn: bool
    """Whether it lies between 0 and 1 and has an interval to draw."""


class BehindItem(NamedTuple):
    """An item behind a number."""

    name: str
    href: str | None
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SideView:
    """One comparison of a question."""

    title: str
    rows: Sequence[str]
    """What the rows of the matrix are, and its columns."""
    side: AgreementSide
    estimates: Sequence[EstimateRow]
    options: Sequence[tuple[str, Sequence[EstimateRow], Sequence[str]]]
    """Each with what was left out of it."""
    answers: Sequence[str]
    matrix: Sequence[Sequence[MatrixCell | None]]
    behind: Sequence[BehindItem]
    chosen: str = ""
    """The cell whose items are listed, in words."""

    @property
    def open(self) -> Sequence[str]:
        """Why numbers have no value or no interval, each reason once."""
        found = [row.found for row in self.estimates if why_open(row.found)]
        reasons = (
            f"{NOT_DEFINED if one.value is None else NO_INTERVAL}: {why_open(one)}"
            for one in found
        )
        return list(dict.fromkeys(reasons))

    @property
    def pairs(self) -> int:
        """Two answers of people to one item each, which the cells of their matrix add up to."""
        return sum(one.n for one in self.side.pairs)

    @property
    def left_out(self) -> Sequence[str]:
        """What was not compared, by reason."""
        return [left_out_text(number, why) for why, number in self.side.left_out.items()]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedQuestion:
    """One question with its comparisons."""

    found: QuestionAgreement
    people: SideView | None
    judge: SideView | None
    gold_differs: Sequence[BehindItem] = ()
    """Where the judge says something else than a gold label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementContext(Context):
    """The agreement page."""

    template: ClassVar[str] = "review_agreement.html"
    found: QueueAgreement
    questions: Sequence[ComparedQuestion]
    judges: Sequence[str]
    """Judges that could answer the rubric."""
    tied: Sequence[str] = ()
    """Items on which people are divided evenly."""
    started: str = ""
    problem: str = ""
    validated: JudgeValidationReport | None = None
    """What was found just now."""
    counted: Sequence[str] = ()
    """Which labels and splits that rests on."""
    is_valid: bool = False
    """Whether runs that require validated judges take it."""

    @property
    def path(self) -> str:
        """The address of the page."""
        return f"/agreement/{segment(self.found.queue.queue_id)}"


def _show(visit: Visit[AgreementQuery]) -> AgreementContext:
    ports, queue_id = visit.project.queue_ports(), visit.path["queue"]
    person = visit.identity.actor if visit.served.settings.has_login else ANYBODY
    found = queue_agreement(ports, queue_id, person)
    page = _Page(found, visit.query)
    judges = list_definitions(visit.project.registry_ports(), "judge")
    return AgreementContext(
        title="Agreement",
        crumbs=(REVIEW,),
        found=found,
        questions=[page.question(one) for one in found.questions],
        judges=[f"judge/{one.name}" for one in judges if one.status != "broken"],
        tied=[name_of(one.record_id, one.repeat) for one in tied_items(ports, queue_id)],
        started=visit.query.started,
    )


class _Page:
    """Makes the parts of the page."""

    def __init__(self, found: QueueAgreement, query: AgreementQuery) -> None:
        self._found = found
        self._query = query
        self._asked = {one.key: one for one in rubric_of(found.queue).questions}

    def question(self, found: QuestionAgreement) -> ComparedQuestion:
        """One question."""
        return ComparedQuestion(
            found=found,
            people=self._side(found, "people", found.people) if found.people else None,
            judge=self._side(found, "judge", found.judge) if found.judge else None,
            gold_differs=[self._behind(one) for one in found.gold.differing] if found.gold else (),
        )

    def _side(self, found: QuestionAgreement, name: SideName, side: AgreementSide) -> SideView:
        question = self._asked.get(found.key)
        cells = _cells(name, side)
        values = _values(
            question, [*_cells("people", found.people), *_cells("judge", found.judge)]
        )
        known = {pair: (number, n, items) for number, (pair, n, items) in enumerate(cells)}
        is_here = self._query.question == found.key and self._query.side == name
        chosen = self._query.cell if is_here else None
        matrix: list[list[MatrixCell | None]] = []
        for place, row in enumerate(values):
            line: list[MatrixCell | None] = []
            for number, column in enumerate(values):
                at = known.get((row, column))
                if name == "people" and number < place:
                    line.append(UNDER)
                    continue
                if at is None and name == "people":
                    at = known.get((column, row))
                line.append(
                    None if at is None else self._cell(found.key, name, at, row == column, chosen)
                )
            matrix.append(line)
        picked = cells[chosen] if chosen is not None and 0 <= chosen < len(cells) else None
        words = " and ".join(_words(question, one) for one in picked[0]) if picked else ""
        return SideView(
            title="People with each other"
            if name == "people"
            else f"The {found.beside} with people",
            rows=("One of two people", "The other")
            if name == "people"
            else ("People", found.beside.capitalize()),
            side=side,
            estimates=[_estimate(one) for one in side.estimates],
            options=[
                (
                    _words(question, one.option),
                    [_estimate(each) for each in one.estimates],
                    [left_out_text(number, why) for why, number in one.left_out.items()],
                )
                for one in side.options
            ],
            answers=[_words(question, one) for one in values] if cells else (),
            matrix=matrix,
            behind=[self._behind(one) for one in picked[2]] if picked else (),
            chosen=words,
        )

    def _cell(
        self,
        key: str,
        name: SideName,
        at: tuple[int, int, tuple[Item, ...]],
        is_same: bool,
        chosen: int | None,
    ) -> MatrixCell:
        number, n, _ = at
        query = query_text({"question": key, "side": name, "cell": number})
        path = f"/agreement/{segment(self._found.queue.queue_id)}"
        return MatrixCell(n, f"{path}{query}#q-{key}", is_same, number == chosen)

    def _behind(self, item: Item) -> BehindItem:
        source, found = self._found.queue.source, self._found.item(item)
        href = None
        if source.kind == "run" and found is not None:
            turn = f"#turn-{item.turn}" if item.turn else ""
            repeat = query_text({"repeat": item.repeat or None})
            href = f"/runs/{segment(source.id)}/records/{found.index}{repeat}{turn}"
        return BehindItem(name_of(item.record_id, item.repeat), href, item.turn)


_Cells: TypeAlias = "list[tuple[tuple[Answer, Answer], int, tuple[Item, ...]]]"


def _cells(name: SideName, side: AgreementSide | None) -> _Cells:
    if side is None:
        return []
    if name == "judge":
        return [((one.human, one.judge), one.n, one.items) for one in side.cells]
    return [(one.answers, one.n, one.items) for one in side.pairs]


def _values(question: Question | None, cells: _Cells) -> list[Answer]:
    """Every answer that people or the judge gave, in the order of the question."""
    given = {one for pair, _, _ in cells for one in pair}
    if question and question.options:
        order: list[Answer] = [one.value for one in question.options]
        return [one for one in order if one in given] + sorted(given - {*order}, key=str)
    return sorted(given, key=lambda one: (str(type(one)), one))


def _words(question: Question | None, value: Answer) -> str:
    plain: JsonValue = list(value) if isinstance(value, tuple) else value
    return answer_words(question, plain)


def _estimate(found: Estimate) -> EstimateRow:
    ends = (found.value, found.low, found.high)
    is_drawn = all(one is not None and 0 <= one <= 1 for one in ends)
    name = NAMES.get(found.name, found.name)
    return EstimateRow(name, short_text(found), found.method, found.n, found, is_drawn)


def _act(visit: Visit[AgreementQuery]) -> Context | Response:
    queue_id, action = visit.path["queue"], visit.form.get("action", "")
    try:
        if action == "validate":
            found = _validate(visit, queue_id)
            return replace(
                _show(visit),
                validated=found,
                counted=queue_lines(found),
                is_valid=not shortage(found.validation),
            )
        if action == "judge":
            run_id = _judge(visit, queue_id)
            address = f"/agreement/{segment(queue_id)}{query_text({'started': run_id})}"
            return RedirectResponse(address, 303)
        raise InvalidError("the form asks for one of validate and judge")
    except RequestError as error:
        return replace(_show(visit), problem=visit.message(error), status=status_of(error))


def _validate(visit: Visit[AgreementQuery], queue_id: str) -> JudgeValidationReport:
    project = visit.project
    ports, queues = project.validation_ports(), project.queue_ports()
    return run_async(lambda: validate_from_queue(ports, queues, queue_id, caller=visit.caller))


def _judge(visit: Visit[AgreementQuery], queue_id: str) -> str:
    request = JudgementRequest(queue_id=queue_id, judge=visit.form.get("judge") or None)
    runs, queues = visit.project.run_ports(), visit.project.queue_ports()
    return queued_run(lambda: start_judgement(runs, queues, request, caller=visit.caller)).run_id


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/agreement/{queue}",
        section="review",
        scope="runs:read",
        show=_show,
        submit=_act,
        submit_scope="runs:write",
        query=AgreementQuery,
    ),
)
