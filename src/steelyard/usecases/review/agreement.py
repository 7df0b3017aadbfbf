"""Agreement of annotations with each other, and with the judges of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, cast

from steelyard.contracts.labels.reader import label_of
from steelyard.errors import NotFoundError
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.annotation import Wanted
from steelyard.model.labels.label import Label
from steelyard.model.question import Answer, QuestionRubric
from steelyard.model.statistics.agreement import PASSED, Agreement, Item, RubricAgreement
from steelyard.review.agreement import PICKED, TIE_BREAKS, AnswerSheet, question_agreement
from steelyard.review.question_types import COMPARED_TYPES, Given
from steelyard.usecases.review.export_labels import narrowed, what_there_is
from steelyard.usecases.review.judgements import (
    RunJudgements,
    each_answer,
    judged_answers,
    judged_passes,
)
from steelyard.usecases.review.labels import KnownRubrics, counting, fitting
from steelyard.usecases.review.ports import ReviewPorts
from steelyard.usecases.review.reviewed_runs import RunResponses, read_responses, response_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueScope:
    """What limits agreement to one queue, and what was settled in it."""

    has: Callable[[Label], bool]
    """Whether a label counts."""
    rubrics: KnownRubrics
    """What answers mean there."""
    gold: Mapping[tuple[str, int], JsonObject]
    """The answers of gold labels, by record and repeat."""


@dataclass(frozen=True, slots=True)
class _Run:
    """A run whose judges are compared with people."""

    responses: RunResponses
    ids: tuple[str, ...]
    """Its own id and those of the runs that it regrades."""
    check: str | None

    @property
    def clusters(self) -> dict[tuple[str, str], str]:
        """The conversations of its records."""
        run = self.responses
        return {
            (run.run_id, run.names[row.index]): row.cluster
            for row in run.rows
            if row.cluster is not None
        }


class _Outside(NamedTuple):
    """Labels of a rubric that are left out."""

    no_run: int
    """Those without a run, if a run is given."""
    other_queues: int
    """Further ones by a person who answered the same response in several queues."""


@dataclass(slots=True)
class _Labelled:
    """The answers of people for one rubric, by question, person and item."""

    labels: int = 0
    blind: int = 0
    people: set[str] = field(default_factory=set[str])
    answers: dict[bool, dict[str, dict[str, dict[Item, Answer]]]] = field(
        default_factory=lambda: {True: {}, False: {}}
    )
    unfit: int = 0
    other_content: int = 0
    """Labels given for other content of the rubric."""
    again: int = 0
    tie_breaks: int = 0
    aside: dict[tuple[str, Item], str] = field(default_factory=dict[tuple[str, Item], str])
    """Answers by person and item that say nothing of how far people agree, with the reason."""
    drawn: dict[tuple[str, str, int], set[tuple[str, float | None]]] = field(
        default_factory=dict[tuple[str, str, int], set[tuple[str, float | None]]]
    )
    """The queues of blind labels, and the chances in them, by run, record and repeat."""

    @property
    def chances(self) -> dict[tuple[str, str, int], float | None] | None:
        """The chance of each response; None where labels of several unequal draws meet."""
        pairs = {one for found in self.drawn.values() for one in found if one[1] is not None}
        if len({queue for queue, _ in pairs}) > 1 and {chance for _, chance in pairs} != {1.0}:
            return None
        return {
            place: next((chance for _, chance in found if chance is not None), None)
            for place, found in self.drawn.items()
        }

    def given(self, key: str, *, is_blind: bool) -> Mapping[str, Given]:
        """The answers to a question, by person."""
        return self.answers[is_blind].get(key, {})

    def asks(self, key: str) -> bool:
        """Whether anybody answered it."""
        return any(key in answers for answers in self.answers.values())

    def add(self, label: Label, key: str, item: Item, answer: Answer) -> None:
        """Add an answer; count repeated answers about the same response in another run."""
        given = self.answers[label.is_blind].setdefault(key, {}).setdefault(label.annotator, {})
        if item in given:
            self.again += 1
            return
        given[item] = answer
        if label.is_tie_break:
            self.aside[label.annotator, item] = TIE_BREAKS
        elif label.is_picked:
            self.aside[label.annotator, item] = PICKED

    def compare_picked_alone(self) -> None:
        """Put answers about picked records aside only where others answered the same elsewhere."""
        found = (one for by_key in self.answers.values() for one in by_key.values())
        answered = {(name, item) for one in found for name, given in one.items() for item in given}
        regular = {item for name, item in answered if (name, item) not in self.aside}
        self.aside = {
            place: why for place, why in self.aside.items() if why != PICKED or place[1] in regular
        }


def agreement(
    ports: ReviewPorts,
    *,
    run: str | None = None,
    rubric: str | None = None,
    check: str | None = None,
    queue: QueueScope | None = None,
) -> Agreement:
    """The agreement over all labels, or those of one run and one rubric.

    For a run, its judges are compared only with people who answered blind. Labels of a run
    count for every run that regrades it. Outside of a queue all labels count, and answers mean
    what the rubrics say now.
    """
    folder = ports.run_folder(run) if run is not None else None
    ids = response_runs(folder) if folder else None
    wanted = Wanted(rubric=narrowed(ports, Wanted(rubric=rubric), None).rubric, runs=ids)
    known = queue.rubrics if queue else KnownRubrics(ports.references)
    found = [
        one
        for one in ports.annotations.all(wanted)
        if queue is None or queue.has(label_of(one.row))
    ]
    rows: dict[str, list[JsonObject]] = {}
    for revision in counting(found, known):
        rows.setdefault(label_of(revision.row).rubric, []).append(revision.row)
    if not rows:
        about = f" about {ids[0]}" if ids else ""
        under = f" under {wanted.rubric}" if wanted.rubric else ""
        raise NotFoundError(f"no label{about}{under}; {what_there_is(ports)}")
    judged = _Run(read_responses(folder), ids, check) if folder and ids else None
    labels = Counter(label_of(one.row).rubric for one in found)
    return Agreement(
        run_id=judged.responses.run_id if judged else None,
        rubrics=tuple(
            _rubric(
                name,
                rows[name],
                known,
                judged,
                outside=_outside(ports, name, judged, labels[name] - len(rows[name])),
                gold=queue.gold if queue else {},
            )
            for name in sorted(rows)
        ),
    )


def _outside(ports: ReviewPorts, rubric: str, judged: _Run | None, other_queues: int) -> _Outside:
    if judged is None:
        return _Outside(0, other_queues)
    no_run = sum(1 for _ in ports.annotations.all(Wanted(rubric=rubric, runs=("",))))
    return _Outside(no_run, other_queues)


def _rubric(
    name: str,
    rows: Sequence[JsonObject],
    known: KnownRubrics,
    judged: _Run | None,
    *,
    outside: _Outside,
    gold: Mapping[tuple[str, int], JsonObject],
) -> RubricAgreement:
    rubric = known.find(name)
    questions = rubric if isinstance(rubric, QuestionRubric) else None
    now = [row for row in rows if not known.is_under_other_content(label_of(row))]
    labelled = _labelled(now, questions, judged)
    labelled.other_content = len(rows) - len(now)
    notes: list[str] = []
    sheets: list[AnswerSheet] = []
    by: list[str] = []
    if any("answers" in row for row in rows) and questions is None:
        notes.append(f"answers were not looked at: {rubric}")
    if questions is not None and any("answers" in row for row in rows):
        judgements = _judged_answers(judged, questions, notes)
        by.extend(judgements.by if judgements else ())
        settled = _settled(questions, judged, gold)
        sheets.extend(
            replace(sheet, gold=settled.get(sheet.key, {}))
            for sheet in _sheets(questions, labelled, judgements, judged)
        )
    if labelled.asks(PASSED):
        passes = _judged_passes(judged, name)
        by.extend(one for one in (passes.by if passes else ()) if one not in by)
        sheets.append(_pass_sheet(labelled, passes, judged))
        if passes and len(passes.deciding) > 1:
            deciding = ", ".join(passes.deciding)
            notes.append(f"the verdict is that of {deciding} together; `check` compares one")
    notes.extend(_notes(labelled, outside))
    if judged:
        notes.extend(_about_chances(labelled))
    return RubricAgreement(
        rubric=name,
        labels=labelled.labels,
        blind=labelled.blind,
        people=len(labelled.people),
        questions=tuple(question_agreement(sheet) for sheet in sheets),
        judged_by=tuple(by),
        notes=tuple(notes),
    )


def _labelled(
    rows: Sequence[JsonObject], rubric: QuestionRubric | None, judged: _Run | None
) -> _Labelled:
    order = {run_id: place for place, run_id in enumerate(judged.ids)} if judged else {}
    labelled = _Labelled()
    for row in sorted(rows, key=lambda row: order.get(cast(str, row.get("run_id")), 0)):
        label = label_of(row)
        labelled.labels += 1
        labelled.tie_breaks += label.is_tie_break
        labelled.blind += label.is_blind
        labelled.people.add(label.annotator)
        run_id = judged.responses.run_id if judged else label.run_id or ""
        if label.is_blind:
            place = (run_id, label.record_id, label.repeat)
            chance = (label.queue_id or "", label.inclusion_prob)
            labelled.drawn.setdefault(place, set()).add(chance)
        if label.passed is not None:
            whole = Item(run_id, label.record_id, label.repeat)
            labelled.add(label, PASSED, whole, int(label.passed))
        if rubric is not None and "answers" in row:
            answers, wrong = fitting(row["answers"], rubric)
            labelled.unfit += wrong
            for key, turn, answer in each_answer(answers):
                labelled.add(label, key, Item(run_id, label.record_id, label.repeat, turn), answer)
    labelled.compare_picked_alone()
    return labelled


def _judged_answers(
    judged: _Run | None, rubric: QuestionRubric, notes: list[str]
) -> RunJudgements | None:
    if judged is None:
        return None
    found = judged_answers(judged.responses, rubric, judged.check)
    if not found.by:
        named = f" named '{judged.check}'" if judged.check else ""
        notes.append(f"no check{named} of {judged.responses.run_id} answers {rubric.reference}")
        return None
    if found.unfit:
        notes.append(f"{found.unfit} answer(s) of the judge do not fit the rubric as it is now")
    return found


def _judged_passes(judged: _Run | None, rubric: str) -> RunJudgements | None:
    if judged is None:
        return None
    return judged_passes(judged.responses, rubric, judged.check)


def _sheets(
    rubric: QuestionRubric,
    labelled: _Labelled,
    judgements: RunJudgements | None,
    judged: _Run | None,
) -> Iterator[AnswerSheet]:
    for question in rubric.questions:
        if question.kind.is_free_text or not labelled.asks(question.key):
            continue
        judge = None
        if judgements and question.answered_by_auto:
            judge = judgements.answers.get(question.key, {})
        blind = labelled.given(question.key, is_blind=True)
        seen = labelled.given(question.key, is_blind=False)
        yield AnswerSheet(
            key=question.key,
            label=question.label,
            type=question.type,
            scope=question.scope,
            categories=COMPARED_TYPES[question.type].categories(
                question, [*blind.values(), *seen.values(), judge or {}]
            ),
            blind=blind,
            seen=seen,
            aside=labelled.aside,
            judge=judge,
            clusters=judged.clusters if judged else {},
            chances=labelled.chances,
        )


def _settled(
    rubric: QuestionRubric, judged: _Run | None, gold: Mapping[tuple[str, int], JsonObject]
) -> dict[str, dict[Item, Answer]]:
    """The answers of gold labels, by question and item."""
    run_id = judged.responses.run_id if judged else ""
    found: dict[str, dict[Item, Answer]] = {}
    for (record_id, repeat), row in gold.items():
        answers, _ = fitting(row, rubric)
        for key, turn, answer in each_answer(answers):
            found.setdefault(key, {})[Item(run_id, record_id, repeat, turn)] = answer
    return found


def _pass_sheet(
    labelled: _Labelled, passes: RunJudgements | None, judged: _Run | None
) -> AnswerSheet:
    return AnswerSheet(
        key=PASSED,
        label="Is the response good?",
        type="passed",
        categories=(0, 1),
        blind=labelled.given(PASSED, is_blind=True),
        seen=labelled.given(PASSED, is_blind=False),
        aside=labelled.aside,
        judge=passes.answers[PASSED] if passes else None,
        beside=passes.beside if passes else "judge",
        clusters=judged.clusters if judged else {},
        chances=labelled.chances,
    )


def _about_chances(labelled: _Labelled) -> Iterator[str]:
    """What TPR and TNR are of, where responses were not drawn all with the same chance."""
    chances = labelled.chances
    if chances is None:
        yield (
            "there is no TPR and TNR: the responses were drawn for several queues, each time with "
            "other chances; look at the agreement of one queue"
        )
        return
    picked = sum(chance is None for chance in chances.values())
    known = {chance for chance in chances.values() if chance is not None}
    if len(known) > 1:
        yield "TPR and TNR weight each response by the inverse of its inclusion probability"
    if picked and known:
        yield (
            f"{picked} response(s) without an inclusion probability are left out of TPR and TNR: "
            "nobody knows what they are a sample of"
        )
    elif any(queue for found in labelled.drawn.values() for queue, _ in found) and picked:
        yield "TPR and TNR are of the picked responses alone, and not of the run"


def _notes(labelled: _Labelled, outside: _Outside) -> Iterator[str]:
    if labelled.unfit:
        yield f"{labelled.unfit} answer(s) of people do not fit the rubric as it is now"
    if labelled.other_content:
        yield f"{labelled.other_content} label(s) were given under other content of the rubric"
    if labelled.again:
        yield f"{labelled.again} answer(s) were given again about the same response in another run"
    if labelled.tie_breaks:
        yield (
            f"{labelled.tie_breaks} label(s) of people who were asked because others were divided "
            "count for what most people say, and not for how far people agree"
        )
    if outside.no_run:
        yield f"{outside.no_run} label(s) are about no run and were left out"
    if outside.other_queues:
        yield (
            f"{outside.other_queues} label(s) were left out: the same person answered the same "
            "response in another queue"
        )
