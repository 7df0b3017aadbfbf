"""The answers of a run's judges, for comparison with human labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from steelyard.errors import InvalidError, argument
from steelyard.formats.json_fields import object_field
from steelyard.model.json_value import JsonObject
from steelyard.model.question import Answer, Answers, QuestionRubric
from steelyard.model.statistics.agreement import PASSED, Beside, Item
from steelyard.results.projections import ReviewedCheck, ReviewedPrediction
from steelyard.usecases.review.labels import fitting
from steelyard.usecases.review.reviewed_runs import RunResponses

VERDICT = "verdict"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunJudgements:
    """The answers of a judge by question and item, with their source."""

    by: tuple[str, ...]
    """The check and its judge; empty if nothing answers the rubric."""
    answers: Mapping[str, Mapping[Item, Answer]]
    unfit: int = 0
    """The number of answers that do not fit the current rubric."""
    beside: Beside = "judge"
    """The source of the answers."""
    deciding: tuple[str, ...] = ()
    """For a verdict, the checks that decide it together."""


class _Found(NamedTuple):
    name: str
    check: ReviewedCheck
    row: ReviewedPrediction


def judged_answers(
    responses: RunResponses, rubric: QuestionRubric, check: str | None = None
) -> RunJudgements:
    """The answers of a run's judge to the questions of a rubric."""
    found = list(_answering(responses, rubric, check))
    answers: dict[str, dict[Item, Answer]] = {}
    unfit = 0
    for one in found:
        held, wrong = fitting(one.check.answers, rubric, "judge")
        unfit += wrong
        for key, turn, answer in each_answer(held):
            answers.setdefault(key, {})[_item(responses, one.row, turn)] = answer
    return RunJudgements(by=_only(found), answers=answers, unfit=unfit)


def judged_passes(responses: RunResponses, asked: str, check: str | None = None) -> RunJudgements:
    """The passes and fails of a check.

    The check is the named one, or the one whose id or judge the labels name; otherwise the
    verdict is used.
    """
    found = [
        _Found(name, one, row)
        for row in responses.rows
        for name, one, _ in row.checks()
        if name == check or (check is None and asked in {name, one.judge})
    ]
    if check is not None and not found:
        raise InvalidError(f"no check '{check}' in {responses.run_id}; {_known(responses)}")
    passes: dict[Item, Answer] = {
        _item(responses, one.row): int(one.check.passed)
        for one in found
        if one.check.status == "scored" and one.check.passed is not None
    }
    if not found:
        return _verdicts(responses)
    is_judged = any(one.check.judge is not None for one in found)
    return RunJudgements(
        by=_only(found), answers={PASSED: passes}, beside="judge" if is_judged else "check"
    )


def _verdicts(responses: RunResponses) -> RunJudgements:
    """The verdict of each record, from all its checks rather than one judge."""
    passes: dict[Item, Answer] = {
        _item(responses, row): int(row.passed)
        for row in responses.rows
        if row.status == "evaluated" and row.passed is not None
    }
    deciding = {one.check for row in responses.rows for one in row.evaluator_scores}
    return RunJudgements(
        by=(VERDICT,),
        answers={PASSED: passes},
        beside="verdict",
        deciding=tuple(sorted(deciding)),
    )


def each_answer(answers: Answers) -> Iterator[tuple[str, int, Answer]]:
    """Every answer with its question and its turn; 0 is the whole trace."""
    for turn, given in ((0, answers.trace), *answers.turns.items()):
        for key, answer in given.items():
            yield key, turn, answer


def _answering(
    responses: RunResponses, rubric: QuestionRubric, check: str | None
) -> Iterator[_Found]:
    """The checks in which a judge answers a rubric: at the top level, or nested."""
    name = str(rubric.reference)
    keys = {question.key for question in rubric.questions}
    for row in responses.rows:
        for place, one, within in row.checks():
            given = cast("JsonObject | None", one.answers)
            if given is None or check not in {None, place}:
                continue
            if within is None:
                # A row does not say which of several rubrics graded it; its questions do.
                is_meant = name in responses.rubrics and keys_of(given) <= keys
            else:
                is_meant = within == name
            if is_meant:
                yield _Found(place, one, row)


def keys_of(answers: JsonObject) -> set[str]:
    """The questions that answers are about."""
    sheets = [answers["trace"], *object_field(answers, "turns").values()]
    return {key for sheet in sheets for key in cast(JsonObject, sheet)}


def _only(found: Sequence[_Found]) -> tuple[str, ...]:
    """The one matching check and its judges."""
    names = sorted({one.name for one in found})
    if len(names) > 1:
        raise InvalidError(
            f"several checks are meant: {', '.join(names)}; name one with {argument('check')}"
        )
    judges = sorted({one.check.judge for one in found if one.check.judge is not None})
    return (*names, *judges)


def _known(responses: RunResponses) -> str:
    names = sorted({name for row in responses.rows for name, _, _ in row.checks()})
    return f"there are: {', '.join(names)}" if names else "there is none"


def _item(responses: RunResponses, row: ReviewedPrediction, turn: int = 0) -> Item:
    return Item(responses.run_id, responses.names[row.index], row.repeat, turn)
