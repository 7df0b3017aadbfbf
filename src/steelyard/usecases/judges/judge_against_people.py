"""Compare the verdicts of a judge with human labels, response by response."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from steelyard.errors import InvalidError, argument
from steelyard.model.labels.label import Design
from steelyard.model.statistics.validation import (
    Counts,
    JudgeValidation,
    JuryCounts,
    LabelledItem,
    LeftOut,
    SliceCounts,
    SplitChoice,
)
from steelyard.usecases.correction.judged_rows import Decision, JudgedRow, JudgedRows
from steelyard.usecases.correction.validation_rules import MOST_LEFT_OUT, defects
from steelyard.usecases.judges.jurors import Bench, jury_of
from steelyard.usecases.judges.label_chances import (
    require_one_design,
    uneven_chances,
    with_chances,
)
from steelyard.usecases.judges.label_sets import (
    LabelPlace,
    People,
    StatedLabel,
    is_in_split,
    label_set_sha256,
    require_in_train,
    split_of,
)
from steelyard.usecases.results.read_run import read_run
from steelyard.usecases.review.reviewed_runs import response_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedInstrument:
    """The subject of a validation."""

    judge: str
    """The reference of a judge, or of a rubric with a check that is validated as a whole."""
    check: str | None = None
    """The check that the judge decides, if there are several."""
    design: Design | None = None
    split: SplitChoice = "test"
    seed: int = 0
    examples: tuple[str, ...] = ()
    """The records that the judge has as examples."""
    source: str = ""
    """The source of the labels."""
    queue: str = ""
    """The review queue in which they were given, if only those of one are used."""
    is_asked_now: bool = False
    """Whether the run has only the labelled responses, not the population they were drawn from."""


class ComparedLabels(NamedTuple):
    """A validation with further facts for its report."""

    validation: JudgeValidation
    check: str
    splits: dict[str, int]
    """The number of labelled items in each split."""
    refusals: tuple[str, ...]
    """Why it is refused."""
    places: dict[Path, tuple[int, ...]]
    """The indices of the compared records, by run."""
    jury: JuryCounts | None = None
    """Each juror separately, if a jury decides."""


@dataclass(slots=True)
class _Noted:
    """The verdicts of a check in a run, labelled or not."""

    marks: set[str] = field(default_factory=set[str])
    """The fingerprints of all its judges."""
    rules: set[str | None] = field(default_factory=set[str | None])
    verdicts: Counter[bool] = field(default_factory=Counter[bool])
    """The number of passes and fails."""

    def add(self, decision: Decision) -> None:
        """Add one response."""
        self.marks.update(decision.fingerprints)
        self.rules.add(decision.rule)
        if decision.passed is not None:
            self.verdicts[decision.passed] += 1


@dataclass(slots=True)
class _Run:
    """A run with the human labels of its responses."""

    folder: Path
    run_id: str
    names: tuple[str, ...]
    """The run ids that labels of its responses may name."""
    by_response: dict[tuple[str, int], StatedLabel] = field(
        default_factory=dict[tuple[str, int], StatedLabel]
    )
    rows: dict[tuple[str, int], JudgedRow] = field(
        default_factory=dict[tuple[str, int], JudgedRow]
    )
    noted: _Noted = field(default_factory=_Noted)
    population: str = ""


def compared(
    asked: AskedInstrument, people: People, folders: Sequence[Path], at: str
) -> ComparedLabels:
    """Compare the judge's verdicts in some runs with human labels of their responses."""
    runs = [_opened(folder) for folder in folders]
    for run in runs:
        require_one_design(run.run_id, _labels_of(people, run))
    other_runs, no_run = _sorted_out(people.by_response, runs, is_asked_now=asked.is_asked_now)
    labelled = {name for run in runs for name, _ in run.by_response}
    require_in_train(asked.examples, labelled, asked.seed)
    check = _read(asked, runs)
    tally = _Tally(asked, check)
    for run in runs:
        tally.add(run)
    rule = _only_rule(runs, check)
    items = _weighed(asked, tally.items, runs)
    marks = sorted({mark for run in runs for mark in run.noted.marks})
    validation = JudgeValidation(
        judge=_name(asked, check),
        fingerprints=tuple(marks),
        rule=rule,
        validated_at=at,
        counts=counts_of(tally.items),
        label_set_sha256=label_set_sha256(tally.counted),
        validated_against=asked.source,
        queue_id=asked.queue,
        rubric=people.rubric,
        annotators=len(people.annotators),
        design=asked.design,
        split=asked.split,
        seed=asked.seed,
        items=tuple(sorted(items, key=lambda one: (one.run_id, one.index, one.repeat))),
        populations={run.run_id: run.population for run in runs},
        left_out=LeftOut(
            not_blind=people.not_blind,
            other_rubrics=people.other_rubrics,
            other_content=people.other_content,
            other_queues=people.other_queues,
            picked=people.picked,
            no_pass=people.no_pass,
            other_runs=other_runs,
            no_run=no_run,
            other_splits=tally.other_splits,
            ties=len(tally.tied),
            without_judgement=tally.without_judgement,
            unscored=tally.unscored,
        ),
        slices=tuple(_slices(tally.items)),
    )
    splits = Counter(split_of(name, asked.seed) for name in labelled)
    places = {
        run.folder: tuple(one.index for one in validation.items if one.run_id == run.run_id)
        for run in runs
    }
    refusals = tuple(_refusals(validation, tally.tied))
    return ComparedLabels(
        validation, check, dict(splits), refusals, places, jury_of(tally.benches)
    )


def _weighed(
    asked: AskedInstrument, items: Sequence[LabelledItem], runs: Sequence[_Run]
) -> Sequence[LabelledItem]:
    """The items with inclusion probabilities from the runs, if they were sampled by verdict."""
    if asked.design != "by_verdict" or asked.is_asked_now:
        return items
    return with_chances(items, {run.run_id: run.noted.verdicts for run in runs})


def counts_of(items: Iterable[LabelledItem]) -> Counts:
    """The confusion counts of judge and people."""
    found = Counter((item.is_good, item.is_passed) for item in items)
    return Counts(
        tp=found[True, True],
        fn=found[True, False],
        tn=found[False, False],
        fp=found[False, True],
    )


def _opened(folder: Path) -> _Run:
    return _Run(folder, read_run(folder).run_id, response_runs(folder))


def _labels_of(people: People, run: _Run) -> list[StatedLabel]:
    found = people.by_response
    return [found[place] for place in found if place.run_id and place.run_id in run.names]


def _sorted_out(
    by_response: dict[LabelPlace, StatedLabel], runs: Sequence[_Run], *, is_asked_now: bool
) -> tuple[int, int]:
    """Assign labels to runs; return the number of labels of other runs, or of none.

    Labels that name no run may belong to another one, unless their responses are given
    together with them.
    """
    others = nowhere = 0
    for place, one in by_response.items():
        fitting = [run for run in runs if place.run_id in run.names]
        if not place.run_id and is_asked_now:
            fitting = list(runs)
        elif not place.run_id:
            nowhere += len(one.votes)
        if not fitting and place.run_id:
            others += len(one.votes)
        for run in fitting[:1]:
            whole = run.by_response.setdefault((place.record_id, place.repeat), StatedLabel())
            for person, passed in one.votes.items():
                whole.add(person, passed, f"'{place.record_id}' in {run.run_id}")
            whole.drawn |= one.drawn
    return others, nowhere


def _read(asked: AskedInstrument, runs: Sequence[_Run]) -> str:
    """Read all runs; return the name of the compared check."""
    by_judge: dict[str, set[str]] = {}
    noted: list[dict[str, _Noted]] = []
    for run in runs:
        checks: dict[str, _Noted] = {}
        noted.append(checks)
        rows = JudgedRows(run.folder)
        names = {name for name, _ in run.by_response}
        placed: dict[tuple[str, int], JudgedRow] = {}
        for row in rows:
            for name, decision in row.decisions.items():
                by_judge.setdefault(name, set()).add(decision.judge)
                checks.setdefault(name, _Noted()).add(decision)
            if row.record_id in names:
                run.rows[row.record_id, row.repeat] = row
            if str(row.index) in names:
                placed[str(row.index), row.repeat] = row
        # An id takes precedence over an equal index.
        run.rows = {**placed, **run.rows}
        run.population = rows.population
    check = _check(asked, by_judge)
    for run, checks in zip(runs, noted, strict=True):
        run.noted = checks.get(check, _Noted())
    return check


def _check(asked: AskedInstrument, by_judge: dict[str, set[str]]) -> str:
    is_judge = asked.judge.startswith("judge/")
    fitting = [name for name, judges in by_judge.items() if not is_judge or asked.judge in judges]
    if asked.check is not None:
        fitting = [name for name in fitting if name == asked.check]
    if len(fitting) == 1:
        return fitting[0]
    who = asked.judge if asked.check is None else f"{asked.judge} in the check '{asked.check}'"
    if fitting:
        raise InvalidError(
            f"{who} decides several checks; name one with {argument('check')}: {_list(fitting)}"
        )
    listed = [f"{name} ({', '.join(sorted(judges))})" for name, judges in by_judge.items()]
    there = f"what is judged there: {_list(listed)}" if listed else "nothing is judged there"
    raise InvalidError(f"{who} decides nothing in the run; {there}")


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)


def _name(asked: AskedInstrument, check: str) -> str:
    return asked.judge if asked.judge.startswith("judge/") else f"{asked.judge} {check}"


def _only_rule(runs: Sequence[_Run], check: str) -> str:
    rules = {rule for run in runs for rule in run.noted.rules}
    if len(rules) == 1 and (rule := next(iter(rules))) is not None:
        return rule
    if None in rules:
        raise InvalidError(
            f"what makes a pass in the check '{check}' was not kept: the run is of an earlier "
            "version; regrade it"
        )
    listed = "; ".join(sorted(rule for rule in rules if rule))
    raise InvalidError(f"the check '{check}' decides by different rules: {listed}")


class _Tally:
    """Pairs verdicts with labels."""

    def __init__(self, asked: AskedInstrument, check: str) -> None:
        self._asked = asked
        self._check = check
        self.items: list[LabelledItem] = []
        self.counted: list[tuple[tuple[str, int], StatedLabel]] = []
        self.benches: list[Bench] = []
        self.tied: list[str] = []
        self.other_splits = self.without_judgement = self.unscored = 0

    def add(self, run: _Run) -> None:
        for (name, repeat), stated in run.by_response.items():
            asked = self._asked
            if not is_in_split(name, asked.split, asked.seed, asked.examples):
                self.other_splits += 1
                continue
            row = run.rows.get((name, repeat))
            decision = row.decisions.get(self._check) if row else None
            if row is None or decision is None or decision.is_skipped:
                self.without_judgement += 1
            elif stated.is_good is None:
                self.tied.append(name)
            elif decision.passed is None:
                self.unscored += 1
            else:
                self.counted.append(((name, repeat), stated))
                self.items.append(_item(run, name, row, decision, stated))
                group = f"{run.run_id} {row.cluster or name}"
                self.benches.append(Bench(stated.is_good, decision.jurors, decision.passed, group))


def _item(
    run: _Run, name: str, row: JudgedRow, decision: Decision, stated: StatedLabel
) -> LabelledItem:
    chances = {chance for chance in stated.chances if chance is not None}
    if len(chances) > 1:
        listed = " and ".join(f"{chance:g}" for chance in sorted(chances))
        raise InvalidError(f"'{name}' has two inclusion probabilities: {listed}")
    return LabelledItem(
        run_id=run.run_id,
        index=row.index,
        repeat=row.repeat,
        record_id=name,
        is_good=bool(stated.is_good),
        is_passed=bool(decision.passed),
        inclusion_prob=next(iter(chances), None),
        cluster=row.cluster,
        slices=tuple((key, value) for key, values in row.slices.items() for value in values),
    )


def _slices(items: Sequence[LabelledItem]) -> list[SliceCounts]:
    members: dict[tuple[str, str], list[LabelledItem]] = {}
    for item in items:
        for key in item.slices:
            members.setdefault(key, []).append(item)
    return [
        SliceCounts(slice=key[0], value=key[1], counts=counts_of(members[key]))
        for key in sorted(members)
    ]


def _refusals(validation: JudgeValidation, tied: Sequence[str]) -> list[str]:
    """Why a validation is refused."""
    counts, unscored = validation.counts, validation.left_out.unscored
    if not counts.n:
        why = "no labelled response has a verdict of the judge"
        others = validation.left_out.other_splits
        where = f": {others} lie in other splits than '{validation.split}'" if others else ""
        return [why + where]
    found: list[str] = []
    share = unscored / (counts.n + unscored)
    if share > MOST_LEFT_OUT:
        found.append(
            f"the judge has no score for {unscored} of {counts.n + unscored} labelled responses "
            f"({100 * share:.1f} %); more than {100 * MOST_LEFT_OUT:g} % hides what it finds hard"
        )
    if not counts.tp + counts.fn:
        found.append("people pass none of the responses, so that nothing is known of good ones")
    if not counts.tn + counts.fp:
        found.append("people pass all of the responses, so that nothing is known of bad ones")
    found.extend(defects(validation, tied))
    design = None if validation.is_sample_only else validation.design
    if design and (where := uneven_chances(validation.items, design)):
        found.append(
            f"`design` {design}, and the labels have different inclusion probabilities "
            f"within one {where}: leave `design` out where the chances were chosen otherwise"
        )
    return found
