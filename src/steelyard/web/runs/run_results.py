"""The results of a run as its page shows them, read once while nothing changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from steelyard.model.statistics.interval import Interval
from steelyard.model.statistics.validation import JudgeValidation
from steelyard.project import Project
from steelyard.reports.record_name import record_name
from steelyard.reports.run.heat_rows import NOBODY, HeatTable, PeopleRates, heat_table
from steelyard.reports.run.look_items import LookExample, LookItem, people_item
from steelyard.reports.run.pairwise_summary import PairwiseSummary, pairwise_summary
from steelyard.reports.run.question_rows import QuestionTable, question_table
from steelyard.reports.run.run_summary import RunSummary, summary_of
from steelyard.reports.run.run_text import RunView
from steelyard.results.artifacts import MANIFEST
from steelyard.results.metrics import Metrics, Slice
from steelyard.results.predictions import PREDICTIONS
from steelyard.results.records import RecordQuery, ResultCounts
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.correction.current_view import current_view
from steelyard.usecases.judges.people_verdicts import (
    PeopleOfRun,
    people_by_slice,
    people_verdicts,
)
from steelyard.usecases.results.first_look import first_look
from steelyard.usecases.results.pairwise_results import read_pairwise
from steelyard.usecases.results.pruned_files import pruned_on
from steelyard.usecases.results.read_run import is_pairwise_run, read_run
from steelyard.usecases.results.sealed_files import stored_records
from steelyard.usecases.runs.unfinished import read_unfinished
from steelyard.web.records.record_source import RecordSource

_EXAMPLES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResults:
    """What a run has found, as far as it is known."""

    summary: RunSummary | None = None
    pairwise: PairwiseSummary | None = None
    look: tuple[LookItem, ...] = ()
    heat: HeatTable | None = None
    questions: QuestionTable | None = None
    source: RecordSource | None = None
    """None where the records were pruned."""
    pruned_on: str = ""
    """The day on which the records were."""
    slices: Sequence[Slice] = ()
    people: PeopleRates = field(default_factory=dict[tuple[str, str], Interval])
    """What people pass, by slice."""
    is_live: bool = False
    """Whether more records are being made."""
    is_of_canaries: bool = False
    """Whether its answers must fail."""
    so_far: Metrics | None = None
    """Of the records that are finished, while others are not."""


def finished_results(project: Project, folder: Path, slices: int = 1) -> RunResults:
    """The results of a run whose files are as they were sealed, with one page of its slices."""
    ports = project.result_ports()
    key = ports.known_digest(folder / MANIFEST).sha256
    validations = project.validations.all()
    known = (len(validations), max((one.number for one in validations), default=0))

    def read() -> RunView:
        return current_view(read_run(folder), validations, project.clock.now())

    view = ports.kept.find(("view", key, known), read)
    if day := pruned_on(folder, PREDICTIONS):
        return replace(_numbers(view, validations, slices), pruned_on=day)
    records = stored_records(ports, folder.name)
    counts = ports.kept.find(("counts", key), records.counts)
    people = people_verdicts(project.review_ports(), folder, records)
    differing = people.differing if people else ()
    looks = RecordQuery(only="look", among=differing, has_jury=counts.split > 0)
    source = RecordSource(
        run_id=folder.name,
        records=records,
        counts=counts,
        looks=ports.kept.find(("looks", key, differing), lambda: records.count(looks)),
        people=people,
        slices=view.slices,
        is_pairwise=is_pairwise_run(view),
        is_repeated=view.is_repeated,
    )
    if source.is_pairwise:
        pairwise = ports.kept.find(
            ("pairwise", key), lambda: pairwise_summary(read_pairwise(folder))
        )
        return RunResults(
            pairwise=pairwise, source=source, look=_failures(source, key, project, view)
        )
    look = ports.kept.find(("look", key), lambda: _look(source, view))
    rates = NOBODY
    if people:
        rates = ports.kept.find(
            ("people", key, tuple(people.verdicts.items()), tuple(people.chances.items())),
            lambda: people_by_slice(people, records),
        )
    numbers = _numbers(view, validations, slices, rates, people)
    return replace(numbers, look=(*look, *_differing(source)), source=source)


def _failures(
    source: RecordSource, key: str, project: Project, view: RunView
) -> tuple[LookItem, ...]:
    """Of a pairwise run, records without a decision; a loss of B is no failure."""
    counts = source.counts
    alone = ResultCounts(statuses=counts.statuses, labels=counts.labels, checks={})
    kept = project.result_ports().kept
    return kept.find(("failures", key), lambda: _look(replace(source, counts=alone), view))


def _look(source: RecordSource, view: RunView) -> tuple[LookItem, ...]:
    return first_look(
        source.records,
        source.counts,
        is_repeated=source.is_repeated,
        is_weighted=view.manifest.setup.is_weighted,
        is_of_canaries=view.is_of_canaries,
    )


def unfinished_results(project: Project, run: StoredRun, slices: int = 1) -> RunResults:
    """The results so far of a run that nobody executes."""
    found = read_unfinished(project.store, run, project.standing(run))
    records = stored_records(project.result_ports(), run.run_id)
    counts = records.counts()
    source = RecordSource(
        run_id=run.run_id,
        records=records,
        counts=counts,
        looks=records.count(RecordQuery(only="look")),
        people=None,
        slices=found.view.slices,
        is_repeated=found.view.is_repeated,
    )
    if not counts.rows:
        return RunResults()
    numbers = _numbers(found.view, (), slices)
    return replace(numbers, look=_look(source, found.view), source=source)


def live_results(project: Project, run: StoredRun) -> RunResults:
    """The records so far of a run that is executed.

    The metrics are computed once for every number of rows, however many readers ask for them.
    """
    ports = project.result_ports()
    records = stored_records(ports, run.run_id)
    counts = records.counts()
    looks = RecordQuery(only="look", has_jury=counts.split > 0)
    source = RecordSource(
        run_id=run.run_id,
        records=records,
        counts=counts,
        looks=records.count(looks),
        people=None,
        slices=(),
        is_pairwise=_is_pairwise(run),
        is_repeated=run.plan is not None and run.plan.options.repeat > 1,
    )

    def read() -> Metrics:
        return read_unfinished(project.store, run, project.standing(run)).view.metrics

    so_far = None
    if counts.passed + counts.failed and not source.is_pairwise:
        so_far = ports.kept.find(("so far", run.run_id, counts.rows), read)
    return RunResults(source=source, is_live=True, so_far=so_far)


def _is_pairwise(run: StoredRun) -> bool:
    derived = run.plan.options.derived if run.plan else None
    return derived is not None and derived.how == "pairwise"


def _numbers(
    view: RunView,
    validations: tuple[JudgeValidation, ...],
    page: int,
    rates: PeopleRates = NOBODY,
    people: PeopleOfRun | None = None,
) -> RunResults:
    """The head and a page of the slices of a run."""
    found = view.metrics.corrected_pass_rate
    not_blind = 0
    if found and found.is_corrected:
        used = (
            one
            for one in validations
            if (one.judge, one.validated_at) == (found.judge, found.validated_at)
        )
        not_blind = next((one.left_out.not_blind for one in used), 0)
    note = "" if people is None or people.chances else "of the answers read alone"
    if people and people.chances and people.queue:
        note = f"by {len(people.chances):,} answers read in {people.queue}"
    return RunResults(
        summary=summary_of(view, not_blind),
        is_of_canaries=view.is_of_canaries,
        heat=None
        if view.is_of_canaries
        else heat_table(view.metrics, view.slices, rates, note, page),
        questions=question_table(view.metrics),
        slices=view.slices,
        people=rates,
    )


def _differing(source: RecordSource) -> tuple[LookItem, ...]:
    """Where people and the run differ."""
    people = source.people
    if not people or not people.differing:
        return ()
    rows = source.records.predictions(people.differing[:_EXAMPLES])
    examples = [
        LookExample(
            index=row.index,
            repeat=row.repeat,
            name=record_name(row.index, row.record_id, row.repeat, is_repeated=source.is_repeated),
            text=f"people: {people.verdicts[row.place].passed} of "
            f"{people.verdicts[row.place].votes} pass it; {row.reason or ''}",
        )
        for row in rows
    ]
    passed = sum(people.verdicts[place].is_good is True for place in people.differing)
    number, read = len(people.differing), len(people.verdicts)
    return (people_item(number, read, passed, examples),)
