"""Whether a judge may be relied on as it is asked: validated, lately, and for such cases."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple

from steelyard.contracts.judge.reader import moment
from steelyard.contracts.judge.validation import written_validation
from steelyard.errors import UsageError
from steelyard.judging.fingerprint import fingerprint
from steelyard.judging.instrument import asked_by, rule_of
from steelyard.model.judge import Judge
from steelyard.model.rubric import Rubric, RubricCheck
from steelyard.model.validation import JudgeValidation
from steelyard.usecases.judges import judges_of
from steelyard.usecases.references import FRESH, is_stale, out_of_scope
from steelyard.usecases.run_ports import TargetSpec
from steelyard.usecases.validations import Least, fits

_HOW = "`steelyard judge validate` compares it with people"
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_log = logging.getLogger("steelyard")


def standing_of(
    judge: str,
    fingerprints: Iterable[str],
    rule: str,
    validations: Sequence[JudgeValidation],
    now: datetime,
) -> list[JudgeValidation] | str:
    """The validations that hold for a judge as it is asked, the newest first; or why none does."""
    marks = set(fingerprints)
    validations = sorted(validations, key=_time)
    same = [one for one in validations if marks & set(one.fingerprints)]
    fitting = [one for one in validations if marks and fits(one, marks, rule)]
    fresh = [one for one in fitting if is_fresh(one, now)]
    # A plan without judges must not load numpy.
    from steelyard.usecases.validation_rules import defects  # noqa: PLC0415

    usable = [one for one in fresh if not defects(one)]
    if usable:
        return usable[::-1]
    if fresh:
        return f"{judge}: {defects(fresh[-1])[0]}"
    if fitting:
        days = (now - _time(fitting[-1])).days
        return (
            f"{judge} was validated {days} days ago ({fitting[-1].validated_at[:10]}); "
            f"after {FRESH.days} days a judge is stale"
        )
    others = [one.rule for one in same if one.rule != rule]
    if others:
        return f"{judge} was validated as '{others[-1]}', and decides here by '{rule}'"
    if same or any(one.judge == judge for one in validations):
        return (
            f"{judge} was validated as another instrument: its template, its questions, its "
            "model, its sampling or its file of recorded replies was not the same"
        )
    return f"{judge} has never been validated"


def is_fresh(validation: JudgeValidation, now: datetime) -> bool:
    """Whether it is not too long ago."""
    return not is_stale(validation.validated_at, now)


def _time(validation: JudgeValidation) -> datetime:
    return moment(validation.validated_at) or _LONG_AGO


class Instrument(NamedTuple):
    """A check that judges decide, as it would be asked in a run."""

    name: str
    judges: tuple[Judge, ...]
    fingerprints: tuple[str, ...]
    rule: str


SpecOf = Callable[[Judge, "str | None"], "TargetSpec | None"]
"""The target through which a judge is asked, which the check may name."""


def instrument_of(entry: RubricCheck, spec_of: SpecOf) -> Instrument | None:
    """A check of a rubric as judges would decide it; None where they do not."""
    asked = list(asked_by(entry.check))
    if not asked:
        return None
    specs = [spec_of(one.judge, one.target) for one in asked]
    marks = [
        fingerprint(one.identity, spec.model, spec.sampling, spec.replies_sha256)
        for one, spec in zip(asked, specs, strict=True)
        if spec is not None
    ]
    judges = {one.judge.name: one.judge for one in asked}
    return Instrument(
        name=", ".join(judges),
        judges=tuple(judges.values()),
        fingerprints=tuple(dict.fromkeys(marks)),
        rule=rule_of(entry),
    )


class Standing:
    """Warns once of every judge that may not be relied on.

    Strict and a required validation refuse the run instead.
    """

    def __init__(
        self,
        validations: Callable[[], Sequence[JudgeValidation]],
        now: datetime,
        spec_of: SpecOf,
        *,
        strict: bool,
        least: Least | None = None,
    ) -> None:
        # Read when the first judge is met: most runs have none.
        self._validations = cache(validations)
        self._now = now
        self._spec_of = spec_of
        self._refuses = "strict" if strict else "require_validated" if least else ""
        """What asks for a refusal; empty where a warning does."""
        self._least = least or Least()
        self._told: set[str] = set()
        self._doubtful: set[str] = set()
        """The judges of which it was told that they may not be relied on."""
        self._last: Rubric | None = None
        self._held: list[tuple[Instrument, JudgeValidation]] = []
        """The instruments of the last rubric that hold, with what they rest on."""

    def see(self, rubric: Rubric, case_id: str, bundle: str | None) -> None:
        """Look at what grades one more case."""
        if rubric is not self._last:
            self._last = rubric
            self._held = list(self._holding(rubric)) if rubric.is_judged else []
        if bundle is None:
            return
        for instrument, validation in self._held:
            # What the judge's file says of its scope is looked at where the case is graded.
            if all(out_of_scope(judge, bundle) is None for judge in instrument.judges):
                scope = validation.applicable_to
                if scope is not None and bundle not in scope:
                    done = ", ".join(scope)
                    self._tell(
                        f"{instrument.name} has not been validated for '{bundle}'; "
                        f"it has for {done}",
                        f"'{case_id}': ",
                    )

    def _holding(self, rubric: Rubric) -> Iterator[tuple[Instrument, JudgeValidation]]:
        for entry in _entries(rubric.checks):
            names = ", ".join(dict.fromkeys(judge.name for judge, _ in judges_of(entry.check)))
            # What was told once need not be found out for every record that brings criteria.
            if names and names not in self._doubtful:
                yield from self._found(entry, names)

    def _found(
        self, entry: RubricCheck, names: str
    ) -> Iterator[tuple[Instrument, JudgeValidation]]:
        instrument = instrument_of(entry, self._spec_of)
        if instrument is None:
            # It asks, and does not say what before it does.
            self._doubtful.add(names)
            self._tell(f"{names} has never been validated")
            return
        known = [*self._validations(), *written_in(instrument.judges)]
        marks, rule = instrument.fingerprints, instrument.rule
        found = standing_of(instrument.name, marks, rule, known, self._now)
        from steelyard.usecases.validation_rules import shortfall  # noqa: PLC0415 - as above

        if not isinstance(found, str) and (lack := shortfall(found[0], self._least)):
            found = f"{instrument.name} is not validated well enough: {lack}"
        if isinstance(found, str):
            self._doubtful.add(names)
            self._tell(found)
        else:
            yield instrument, found[0]

    def _tell(self, problem: str, where: str = "") -> None:
        if problem in self._told:
            return
        if self._refuses:
            raise UsageError(f"{self._refuses}: {where}{problem}; {_HOW}")
        self._told.add(problem)
        _log.warning("%s%s; %s", where, problem, _HOW)


def written_in(judges: Iterable[Judge]) -> Iterator[JudgeValidation]:
    """What the files of judges say of their validation."""
    for judge in judges:
        written = written_validation(judge)
        if written:
            yield written


def _entries(entries: Iterable[RubricCheck]) -> Iterator[RubricCheck]:
    for entry in entries:
        yield entry
        yield from _entries(getattr(entry.check, "members", ()))
