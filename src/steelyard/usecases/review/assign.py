"""Propose which records of a run people should label next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from steelyard.errors import InvalidError, NotFoundError
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.annotation import Wanted
from steelyard.model.labels.assignment import (
    Assigned,
    Assignment,
    AssignmentChoice,
    Candidate,
    Picked,
)
from steelyard.model.question import QuestionRubric
from steelyard.model.reference import Reference
from steelyard.model.rubric import PASS_THRESHOLD
from steelyard.results.projections import ReviewedPrediction
from steelyard.review.assignment import choose, stratum_of
from steelyard.usecases.review.export_labels import narrowed
from steelyard.usecases.review.judgements import VERDICT
from steelyard.usecases.review.ports import ReviewPorts
from steelyard.usecases.review.reviewed_runs import (
    RunResponses,
    read_responses,
    require_responses,
    response_runs,
)

NO_RESPONSE = "without a response"
LABELLED = "labelled before"


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentRequest:
    """The options of an assignment."""

    run: str
    choice: AssignmentChoice
    """The threshold comes from the request, or from the rubric of the run."""
    rubric: str | None = None
    """The rubric to answer; by default the one that graded the run."""
    slice: str | None = None
    """The slice that defines strata; by default the verdict."""
    threshold: float | None = None
    """The pass threshold; by default that of the run."""
    is_new: bool = False
    """Whether records that already have a label for the rubric are left out."""


def assign(ports: ReviewPorts, request: AssignmentRequest) -> Assignment:
    """A sample of the records of a run that have a response.

    The first of several responses to a record is used.
    """
    folder = ports.run_folder(request.run)
    responses = read_responses(folder)
    require_responses(responses)
    rubric = _rubric(ports, request, responses)
    firsts = _firsts(responses)
    _require_slice(request, firsts)
    _require_verdicts(request, responses.run_id, firsts)
    labelled = _labelled(ports, rubric, response_runs(folder)) if request.is_new else set[str]()
    candidates = [
        _candidate(responses, row, request.slice)
        for row in firsts
        if responses.names[row.index] not in labelled
    ]
    left = {
        NO_RESPONSE: len(responses.names) - len(firsts),
        LABELLED: len(firsts) - len(candidates),
    }
    choice = replace(request.choice, threshold=_threshold(ports, request, responses))
    assigned = tuple(choose(candidates, choice))
    return Assignment(
        run_id=responses.run_id,
        rubric=rubric,
        choice=choice,
        records=len(candidates),
        left_out={reason: number for reason, number in left.items() if number},
        assigned=assigned,
        strata=_strata(candidates, assigned) if choice.by == "stratified" else {},
    )


def picked_records(ports: ReviewPorts, run: str, places: Sequence[tuple[int, int]]) -> Picked:
    """Records that somebody picked, in the order of the run; those without a response are left
    out."""
    responses = read_responses(ports.run_folder(run))
    rows = {(row.index, row.repeat): row for row in responses.rows}
    for index, repeat in places:
        if (index, repeat) not in rows:
            of = f" (repeat {repeat})" if repeat else ""
            raise NotFoundError(f"no record {index}{of} in {responses.run_id}")
    wanted = set(places)
    found = [rows[place] for place in sorted(wanted) if rows[place].trace is not None]
    return Picked(
        run_id=responses.run_id,
        candidates=tuple(_candidate(responses, row, None) for row in found),
        left_out=len(wanted) - len(found),
    )


def stub_rows(assignment: Assignment, annotators: Sequence[str]) -> Iterator[JsonObject]:
    """Rows of labels without an answer, for each person, or with an empty annotator.

    The stratum is left out: it may be the verdict, which a blind person must not know.
    """
    for person in annotators or ("",):
        for one in assignment.assigned:
            row: JsonObject = {
                "record_id": one.candidate.record_id,
                "run_id": assignment.run_id,
                "rubric": assignment.rubric,
                "annotator": person,
                "exposure": "blind",
                "inclusion_prob": one.inclusion_prob,
            }
            if one.candidate.repeat:
                row["repeat"] = one.candidate.repeat
            yield row


def _rubric(ports: ReviewPorts, request: AssignmentRequest, responses: RunResponses) -> str:
    if request.rubric is not None:
        return narrowed(ports, Wanted(rubric=request.rubric), None).rubric or request.rubric
    return responses.rubrics[0] if len(responses.rubrics) == 1 else VERDICT


def _threshold(ports: ReviewPorts, request: AssignmentRequest, responses: RunResponses) -> float:
    for stated in (request.threshold, responses.pass_threshold):
        if stated is not None:
            return stated
    reference = Reference.parse(responses.rubrics[0]) if len(responses.rubrics) == 1 else None
    graded = ports.references.find(reference).content if reference else None
    if isinstance(graded, QuestionRubric):
        graded = graded.scoring
    threshold = getattr(graded, "pass_threshold", None)
    return PASS_THRESHOLD if threshold is None else float(threshold)


def _firsts(responses: RunResponses) -> list[ReviewedPrediction]:
    """The first response to each record that has one, in order."""
    found: dict[int, ReviewedPrediction] = {}
    for row in responses.rows:
        if row.trace is not None:
            found.setdefault(row.index, row)
    return list(found.values())


def _require_slice(request: AssignmentRequest, rows: Sequence[ReviewedPrediction]) -> None:
    known = sorted({name for row in rows for name in row.slices})
    if request.slice is None or request.slice in known:
        return
    listed = ", ".join(known) or "none"
    raise InvalidError(f"the run has no slice '{request.slice}'; it has: {listed}")


def _require_verdicts(
    request: AssignmentRequest, run_id: str, rows: Sequence[ReviewedPrediction]
) -> None:
    by = request.choice.by
    is_by_verdict = by == "near_threshold" or (by == "stratified" and request.slice is None)
    if is_by_verdict and all(row.passed is None and row.score is None for row in rows):
        raise InvalidError(
            f"{run_id} has no verdict to choose by: have its responses judged first, or choose at "
            "random or by a slice"
        )


def _labelled(ports: ReviewPorts, rubric: str, runs: Sequence[str]) -> set[str]:
    kept = ports.annotations.all(Wanted(rubric=rubric, runs=runs))
    return {str(revision.row["record_id"]) for revision in kept}


def _candidate(responses: RunResponses, row: ReviewedPrediction, by: str | None) -> Candidate:
    verdict = {True: "passed", False: "failed", None: "no score"}[row.passed]
    return Candidate(
        record_id=responses.names[row.index],
        index=row.index,
        repeat=row.repeat,
        score=row.score,
        strata=(verdict,) if by is None else tuple(row.groups.get(by, ())),
        split=_split(row),
    )


def _split(row: ReviewedPrediction) -> float | None:
    """The disagreement of the juries on a response, from 0 to 1; differing votes are 1."""
    found: list[float] = []
    for _, check, _ in row.checks():
        disagreement = check.details.disagreement
        if isinstance(disagreement, int | float):
            found.append(1.0 if check.details.is_split else float(disagreement))
    return max(found, default=None)


def _strata(
    candidates: Sequence[Candidate], assigned: Sequence[Assigned]
) -> dict[str, tuple[int, int]]:
    sizes = Counter(stratum_of(one) for one in candidates)
    taken = Counter(one.stratum for one in assigned)
    return {name: (taken[name], sizes[name]) for name in sorted(sizes)}
