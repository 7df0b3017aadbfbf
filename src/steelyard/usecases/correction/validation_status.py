"""Whether a judge is validated as it is asked, recently, and for the cases of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache
from typing import NamedTuple

from steelyard.contracts.judge.reader import time_of
from steelyard.contracts.judge.validation import FileClaim, file_claim
from steelyard.errors import InvalidError
from steelyard.execution.ports import TargetSpec
from steelyard.judging.fingerprint import fingerprint
from steelyard.judging.instrument import asked_by, judges_of, rule_of
from steelyard.model.judge import Judge
from steelyard.model.reference import Reference
from steelyard.model.rubric import Rubric, RubricCheck
from steelyard.model.statistics.validation import JudgeValidation
from steelyard.ports import Warn, log_warning
from steelyard.usecases.correction.validations import MinimumValidation, fits
from steelyard.usecases.registry.references import (
    age_of,
    is_ahead,
    is_stale,
    out_of_scope,
)

NEVER = "has never been validated"
REFUSED = "was refused by"
_HOW = "`steelyard judge validate` compares it with people"


class Doubt(NamedTuple):
    """Why a judge does not count as validated."""

    why: str
    is_stale: bool = False
    """Whether its validation is stale or does not apply: strict refuses it. A judge that was
    never validated is a warning, unless a validation is required."""


def validation_status_of(
    judge: str,
    fingerprints: Iterable[str],
    rule: str,
    validations: Sequence[JudgeValidation],
    now: datetime,
) -> list[JudgeValidation] | Doubt:
    """The validations of a judge as it is asked, newest first; or why it may not be used.

    The newest one counts. Older ones may be refusals; they matter for their labelled runs.
    """
    marks = set(fingerprints)
    validations = sorted(validations, key=_time)
    fitting = [one for one in validations if marks and fits(one, marks, rule)]
    if not fitting:
        return _unfitting(judge, marks, rule, [one for one in validations if not one.refusals])
    past = [one for one in fitting if not is_ahead(one.validated_at, now)]
    # A plan without judges must not load numpy.
    from steelyard.usecases.correction.validation_rules import refusal_of  # noqa: PLC0415

    if past and (why := refusal_of(past[-1])):
        day = past[-1].validated_at[:10]
        return Doubt(f"{judge} {REFUSED} its newest validation ({day}): {why}", is_stale=True)
    fresh = [one for one in past if not is_stale(one.validated_at, now)]
    return fresh[::-1] if fresh else _outdated(judge, fitting[-1].validated_at, now)


def _unfitting(
    judge: str, marks: set[str], rule: str, validations: Sequence[JudgeValidation]
) -> Doubt:
    """Why no validation applies to a judge as it is asked."""
    same = [one for one in validations if marks & set(one.fingerprints)]
    others = [one.rule for one in same if one.rule != rule]
    if others:
        why = f"{judge} was validated as '{others[-1]}', and decides here by '{rule}'"
        return Doubt(why, is_stale=True)
    about = [*same, *(one for one in validations if _is_version_of(one.judge, judge))]
    if not about:
        return Doubt(f"{judge} {NEVER}")
    known = about[-1].judge
    who = judge if known == judge or same else f"{judge}: {known}"
    return Doubt(
        f"{who} was validated as another instrument: its template, its questions, its "
        "model, its sampling, its file of recorded replies or its program was not the same",
        is_stale=True,
    )


def _is_version_of(one: str, other: str) -> bool:
    """Whether two references name the same judge in any version; a jury has several."""
    first, second = (Reference.parse(name) for name in (one, other))
    is_same = first is not None and second is not None and first.id == second.id
    return one == other or (is_same and one.startswith("judge/"))


def _outdated(judge: str, validated_at: str, now: datetime) -> Doubt:
    if is_ahead(validated_at, now):
        return Doubt(f"{judge} was validated in the future ({validated_at[:10]})", is_stale=True)
    return Doubt(f"{judge} {age_of(validated_at, now)}", is_stale=True)


def is_fresh(validated_at: str, now: datetime) -> bool:
    """Whether a validation is neither stale nor in the future."""
    return not is_stale(validated_at, now) and not is_ahead(validated_at, now)


def _time(validation: JudgeValidation) -> datetime:
    return time_of(validation.validated_at)


class Instrument(NamedTuple):
    """A judged check, as it would be asked in a run."""

    name: str
    judges: tuple[Judge, ...]
    fingerprints: tuple[str, ...]
    rule: str


SpecOf = Callable[[Judge, "str | None"], "TargetSpec | None"]
"""The target through which a judge is asked, which the check may name."""


def instrument_of(
    entry: RubricCheck, spec_of: SpecOf, rubric: Rubric | None = None
) -> Instrument | None:
    """The instrument of a judged check of a rubric; None for other checks."""
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
        rule=rule_of(entry, rubric),
    )


class ValidationWatch:
    """Warns once of every judge that is not validated.

    If validation is required, it refuses the run; strict refuses a stale judge.
    """

    def __init__(
        self,
        validations: Callable[[], Sequence[JudgeValidation]],
        now: datetime,
        spec_of: SpecOf,
        *,
        strict: bool,
        least: MinimumValidation | None = None,
        warn: Warn = log_warning,
    ) -> None:
        self._warn = warn
        # Read at the first judge: most runs have none.
        self._validations = cache(validations)
        self._now = now
        self._spec_of = spec_of
        self._is_strict = strict
        self._least = least
        self._warned: set[str] = set()
        self._doubtful: set[str] = set()
        """The judges already reported as not validated."""
        self._last: Rubric | None = None
        self._held: list[tuple[Instrument, JudgeValidation]] = []
        """The validated instruments of the last rubric, with their validations."""

    def see(self, rubric: Rubric, case_id: str, bundle: str | None) -> None:
        """Check the judges that grade one more case."""
        if rubric is not self._last:
            self._last = rubric
            self._held = list(self._holding(rubric)) if rubric.is_judged else []
        if bundle is None:
            return
        for instrument, validation in self._held:
            # The scope in the judge's file is checked where the case is graded.
            if all(out_of_scope(judge, bundle) is None for judge in instrument.judges):
                scope = validation.applicable_to
                if scope is not None and bundle not in scope:
                    done = ", ".join(scope)
                    why = (
                        f"{instrument.name} has not been validated for '{bundle}'; "
                        f"it has for {done}"
                    )
                    self._report(Doubt(why, is_stale=True), f"'{case_id}': ")

    def _holding(self, rubric: Rubric) -> Iterator[tuple[Instrument, JudgeValidation]]:
        for entry, within in entries_of(rubric.checks, rubric):
            names = ", ".join(dict.fromkeys(judge.name for judge, _ in judges_of(entry.check)))
            # Looked up once, not for every record with its own criteria.
            if not names or names in self._doubtful:
                continue
            instrument = instrument_of(entry, self._spec_of, within)
            if instrument is None:
                why = f"whether {names} was validated is not known"
                found = Doubt(f"{why}: what it asks is made up in the run")
            else:
                found = self._found(instrument)
            if isinstance(found, Doubt):
                self._doubtful.add(names)
                self._report(found)
            elif instrument and found:
                yield instrument, found

    def _found(self, instrument: Instrument) -> JudgeValidation | Doubt | None:
        """The validation of an instrument; None if only its judge's file states one."""
        known = self._validations()
        marks, rule = instrument.fingerprints, instrument.rule
        found = validation_status_of(instrument.name, marks, rule, known, self._now)
        if isinstance(found, Doubt):
            claim = _newest_claim(instrument, known)
            return self._claimed(instrument, claim) if claim else found
        # A plan without judges must not load numpy.
        from steelyard.usecases.correction.validation_rules import shortage, shortfall  # noqa: PLC0415

        newest = found[0]
        if lack := shortage(newest):
            which = f" (the newest validation counts, {newest.validated_at[:10]})" * bool(
                found[1:]
            )
            why = f"{instrument.name} is not validated by its labels: {lack}{which}"
            return Doubt(why)
        if self._least and (lack := shortfall(newest, self._least)):
            return Doubt(f"{instrument.name} is not validated well enough: {lack}")
        return newest

    def _claimed(self, instrument: Instrument, claim: FileClaim) -> Doubt | None:
        """Why the validation in a judge's file does not suffice; None if it does."""
        name, says = instrument.name, f"on {claim.validated_at[:10]}, says its file"
        if not claim.is_about(instrument.fingerprints, instrument.rule):
            why = f"{name} was validated {says}, as another instrument than is asked here"
            return Doubt(why, is_stale=True)
        if not is_fresh(claim.validated_at, self._now):
            return _outdated(name, claim.validated_at, self._now)
        if self._least is None:
            return None
        if self._least != MinimumValidation():
            return Doubt(f"{name} was validated {says}; what is required must be in the registry")
        from steelyard.usecases.correction.validation_rules import claimed_shortage  # noqa: PLC0415

        lack = claimed_shortage(claim.sample_size)
        return Doubt(f"{name} was validated {says}, {lack}") if lack else None

    def _report(self, doubt: Doubt, where: str = "") -> None:
        if doubt.why in self._warned:
            return
        refuses = "strict" if self._is_strict and doubt.is_stale else ""
        refuses = refuses or ("require_validated" if self._least else "")
        if refuses:
            raise InvalidError(f"{refuses}: {where}{doubt.why}; {_HOW}")
        self._warned.add(doubt.why)
        self._warn(f"{where}{doubt.why}; {_HOW}")


def _newest_claim(
    instrument: Instrument, validations: Iterable[JudgeValidation]
) -> FileClaim | None:
    """The validation in the judge's file, if it is newer than those of the registry.

    A jury is a different instrument from each of its judges.
    """
    claim = file_claim(instrument.judges[0]) if len(instrument.judges) == 1 else None
    times = [_time(one) for one in validations if _is_version_of(one.judge, instrument.name)]
    is_newest = claim is not None and all(time <= time_of(claim.validated_at) for time in times)
    return claim if is_newest else None


def entries_of(
    entries: Iterable[RubricCheck], rubric: Rubric | None
) -> Iterator[tuple[RubricCheck, Rubric | None]]:
    """Every check with its rubric, including those in composites."""
    for entry in entries:
        yield entry, rubric
        inner = getattr(entry.check, "rubric", None)
        within = inner if isinstance(inner, Rubric) else None
        yield from entries_of(getattr(entry.check, "members", ()), within)
