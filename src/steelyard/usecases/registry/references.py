"""Resolves the references of cases and rubrics, and checks what they refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path as FilePath
from typing import Protocol, Self, cast

from steelyard.contracts.judge.reader import moment, time_of
from steelyard.contracts.judge.template import is_pairwise
from steelyard.formats.json_fields import object_field, object_list, text_field
from steelyard.formats.problem import Problem
from steelyard.formats.schema import spoken
from steelyard.model.definition import Content, Definition, reference_to
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import Path
from steelyard.model.judge import Judge
from steelyard.model.question import QuestionRubric
from steelyard.model.reference import Reference, ReferenceKind
from steelyard.model.rubric import Rubric, StatedCheck
from steelyard.ports import Warn, log_warning, warn_both
from steelyard.usecases.registry.resolution import (
    Found,
    archived_among,
    clash_of,
    conflict_of,
    drift_of,
    finding_text,
    resolve,
)

FRESH = timedelta(days=90)
AHEAD = timedelta(hours=24)
"""Clocks and time zones differ by no more."""
ONLY_PAIRWISE = "compares two answers and cannot grade one; use it in a pairwise comparison"
_DAY = len("2026-01-15")


class Definitions(Protocol):
    """The rubric and judge files of a project."""

    def all(self, kind: ReferenceKind) -> Sequence[Definition]:
        """Every file of that kind, the broken ones too."""
        ...

    def at(self, name: str) -> Definition | None:
        """The file at a path, if there is one."""
        ...

    def published(self, kind: ReferenceKind) -> Sequence[Definition]:
        """Every published version of that kind."""
        ...


class Resolution(FrozenStruct, frozen=True, kw_only=True):
    """The result of resolving a case's reference, transitively."""

    rubric: Rubric | QuestionRubric | None = None
    """None if there is an error."""
    problems: tuple[Problem, ...] = ()
    """Findings for every case with this reference; the paths are empty."""
    notes: tuple[Problem, ...] = ()
    """Warnings about the rubric's own references, reported once."""
    judges: tuple[Judge, ...] = ()
    """Every judge of the rubric."""

    @property
    def is_plain(self) -> bool:
        """Whether there are no findings."""
        return not (self.problems or self.notes or self.judges)

    def out_of_scope(self, bundle: str | None) -> Iterator[Problem]:
        """Findings for judges not validated for the domain of a case."""
        for judge in self.judges:
            message = out_of_scope(judge, bundle)
            if message:
                yield Problem(code="out_of_scope_judge", message=message, severity="warning")


class References:
    """Resolves references within one project, each once."""

    def __init__(
        self,
        definitions: Definitions,
        now: datetime,
        recorded: Callable[[str], str | None] = lambda _judge: None,
        warn: Warn = log_warning,
    ) -> None:
        self._definitions = definitions
        self._now = now
        self.warn = warn
        self._recorded = recorded
        """The time of a judge's last validation in the registry."""
        self._found: dict[Reference, Found] = {}
        self._resolved: dict[str, Resolution] = {}

    def gathering(self, warnings: list[str]) -> Self:
        """The same references, whose warnings are added to a list as well."""
        made = copy(self)
        made.warn = warn_both(self.warn, warnings.append)
        return made

    def rubric(self, text: str) -> Resolution:
        """The rubric of a case, with all findings of it and its references."""
        if text not in self._resolved:
            reference = Reference.parse(text)
            if reference is None or reference.kind != "rubric":
                return _nothing(text)
            self._resolved[text] = self._resolution(reference)
        return self._resolved[text]

    def problems_of(self, content: Content) -> list[Problem]:
        """Problems of a rubric's references, or of the age of a judge's validation.

        The paths are relative to the file with the content.
        """
        if isinstance(content, Judge):
            path = ("validation", "validated_at")
            return [_placed(path, problem) for problem in self._staleness(content)]
        if isinstance(content, QuestionRubric):
            return []
        return [
            _placed(path, problem)
            for path, reference in references_in(content)
            for problem in self._referred(content, reference)
        ]

    def conflicts_of(self, file: FilePath, content: Content) -> Iterator[Problem]:
        """Conflicting definitions of the same version: other files of the project, or a published
        version; for a file outside the project only the latter."""
        reference = reference_to(content)
        siblings = self.known(reference.kind)
        if str(file.resolve()) not in {one.path for one in siblings}:
            if not self._published_as(reference):
                return
            sent = Definition(path=str(file), shown=file.name, content=content)
            elsewhere = self.at(str(file.resolve())) or sent
            if self.drift_of(elsewhere):
                message = f"{reference} is published with other content, which stays in use"
                hint = "give this one a new version"
                found = Problem(code="version_conflict", message=message, hint=hint)
                yield _placed(("version",), found)
            return
        named = [(reference_to(one.content), one) for one in siblings if one.content]
        same = [one for name, one in named if name == reference and not one.is_published]
        clash = clash_of([one for name, one in named if name.id == reference.id])
        if clash:
            name = "version" if isinstance(content, QuestionRubric) else "id"
            yield _placed((name,), clash)
        elif len(same) > 1:
            yield _placed(("version",), conflict_of(same))
        elif same and (drift := self.drift_of(same[0])):
            yield _placed(("version",), drift)

    def drift_of(self, definition: Definition) -> Problem | None:
        """The problem of a file whose version is published with different content."""
        return drift_of([definition, *self._twins(definition)])

    def archived(self, definition: Definition) -> Problem | None:
        """The problem of a file whose version is archived."""
        return archived_among([definition, *self._twins(definition)])

    def _twins(self, definition: Definition) -> list[Definition]:
        """The published entry for the version of a file."""
        if definition.content is None:
            return []
        return self._published_as(reference_to(definition.content))

    def _published_as(self, reference: Reference) -> list[Definition]:
        held = self._definitions.published(reference.kind)
        return [one for one in held if one.content and reference_to(one.content) == reference]

    def find(self, reference: Reference) -> Found:
        """The file of a reference, without checking its own references."""
        if reference not in self._found:
            self._found[reference] = resolve(reference, self.known(reference.kind))
        return self._found[reference]

    def known(self, kind: ReferenceKind) -> list[Definition]:
        """Every file and every published version of that kind."""
        return [*self._definitions.all(kind), *self._definitions.published(kind)]

    def at(self, name: str) -> Definition | None:
        """The file at a path, if there is one."""
        return self._definitions.at(name)

    def inside(self, definition: Definition) -> Iterator[Problem]:
        """The problems of a file and its references, as seen by a user of it."""
        yield from _warnings(definition)
        content = definition.content
        if isinstance(content, Judge):
            yield from self._staleness(content)
        elif content:
            for problem in self.problems_of(content):
                message = f"{reference_to(content)}: {spoken(problem)}"
                yield replace(problem, message=message, path=())

    def _resolution(self, reference: Reference) -> Resolution:
        found = self.find(reference)
        if found.definition is None or found.content is None:
            return Resolution(problems=found.problems)
        content = cast("Rubric | QuestionRubric", found.content)
        inside = list(self.inside(found.definition))
        errors = [problem for problem in inside if problem.severity == "error"]
        problems = (*found.problems, *errors)
        is_usable = not any(problem.severity == "error" for problem in problems)
        return Resolution(
            rubric=content if is_usable else None,
            problems=problems,
            notes=tuple(problem for problem in inside if problem.severity == "warning"),
            judges=tuple({judge.name: judge for judge in self._judges(content)}.values()),
        )

    def _referred(self, rubric: Rubric, reference: Reference) -> Iterator[Problem]:
        """The problems of one reference of a rubric."""
        found = self._find_from(rubric, reference)
        yield from found.problems
        if found.definition is None:
            return
        yield from _warnings(found.definition)
        if isinstance(found.content, Judge):
            if is_pairwise(found.content):
                message = f"{found.content.name} {ONLY_PAIRWISE}"
                yield Problem(code="pairwise_judge", message=message)
            yield from self._staleness(found.content)
        elif isinstance(found.content, Rubric):
            yield from self._composite(rubric, found.content)

    def _find_from(self, rubric: Rubric, reference: Reference) -> Found:
        """The file of a reference, if need be the rubric that leads there, saved or not."""
        own = reference_to(rubric)
        if (reference.kind, reference.id) != (own.kind, own.id):
            return self.find(reference)
        known = self.known("rubric")
        if any(one.content and reference_to(one.content) == own for one in known):
            return self.find(reference)
        new = Definition(path="", shown=rubric.name, content=rubric, data=b"")
        return resolve(reference, [*known, new])

    def _composite(self, rubric: Rubric, inner: Rubric) -> Iterator[Problem]:
        """The problems of the inner rubric of a composite."""
        way = self._way_back(rubric, inner)
        deeper = _composites(inner)
        if way:
            message = f"{rubric.name} leads back to itself: {', '.join(way)}"
            yield Problem(code="reference_cycle", message=message)
        elif deeper:
            message = (
                f"{inner.name} has a composite itself ('{deeper[0]}'); only one level is allowed"
            )
            yield Problem(code="nested_composite", message=message)
        else:
            for problem in self.problems_of(inner):
                yield replace(problem, message=f"{inner.name}: {spoken(problem)}", path=())

    def _way_back(self, start: Rubric, inner: Rubric) -> list[str]:
        """The rubrics of a reference cycle; empty if there is none."""
        ways: dict[str, list[str]] = {inner.name: [start.name, inner.name]}
        left = [inner]
        while left:
            rubric = left.pop()
            way = ways[rubric.name]
            if rubric.name == start.name:
                return way
            for _, reference in references_in(rubric):
                found = self._find_from(start, reference).content
                if isinstance(found, Rubric) and found.name not in ways:
                    ways[found.name] = [*way, found.name]
                    left.append(found)
        return []

    def _judges(self, content: Content, *, is_inner: bool = False) -> Iterator[Judge]:
        """The judges of a rubric, including those of its composites."""
        for _, reference in references_in(content) if isinstance(content, Rubric) else ():
            found = self.find(reference).content
            if isinstance(found, Judge):
                yield found
            elif found and not is_inner:
                yield from self._judges(found, is_inner=True)

    def _staleness(self, judge: Judge) -> Iterator[Problem]:
        """Problems with the time of a judge's newest validation."""
        stated = judge.validation.validated_at if judge.validation else None
        if stated is None or moment(stated) is None:
            return
        if is_ahead(stated, self._now):
            message = f"{judge.name} was validated in the future ({stated}), says its file"
            hint = "write the day on which it was validated"
            yield Problem(code="value_out_of_range", message=message, hint=hint)
            return
        if not is_stale(stated, self._now):
            return
        times = [stated, self._recorded(judge.name) or stated]
        newest = max(times, key=time_of)
        if is_stale(newest, self._now):
            message = f"{judge.name} {age_of(newest, self._now)}"
            hint = "validate it again"
            yield Problem(code="stale_validation", message=message, hint=hint, severity="warning")


def age_of(validated_at: str, now: datetime) -> str:
    """The age of a judge's validation, as text."""
    days = (now - time_of(validated_at)).days
    day = validated_at[:_DAY]
    return f"was validated {days} days ago ({day}); after {FRESH.days} days a judge is stale"


def is_ahead(validated_at: str, now: datetime) -> bool:
    """Whether a time is more than a day in the future."""
    return time_of(validated_at) - now > AHEAD


def is_stale(validated_at: str, now: datetime) -> bool:
    """Whether a time is more than 90 days ago; for a date, the end of the day counts."""
    time = moment(validated_at)
    if time is None:
        return True
    if len(validated_at) == _DAY:
        return now.astimezone(UTC).date() - time.date() > FRESH
    return now - time > FRESH


def out_of_scope(judge: Judge, bundle: str | None) -> str | None:
    """The problem of a judge not validated for a domain; None if it is."""
    scope = judge.applicable_to
    if bundle is None or scope is None or bundle in scope:
        return None
    done = ", ".join(scope) or "nothing"
    return f"{judge.name} has not been validated for '{bundle}'; it has for {done}"


def references_in(rubric: Rubric) -> Iterator[tuple[Path, Reference]]:
    """Every reference of a rubric, with its path."""
    for index, entry in enumerate(rubric.checks):
        if isinstance(entry.check, StatedCheck):
            for path, text in _stated_references(entry.check):
                reference = Reference.parse(text)
                if reference:
                    yield ("checks", index, *path), reference


def _stated_references(check: StatedCheck) -> Iterator[tuple[Path, str]]:
    settings = check.settings
    if check.kind == "composite":
        yield ("rubric_ref",), text_field(settings, "rubric_ref")
    elif check.kind == "llm_judge":
        if "judge_prompt_ref" in settings:
            yield ("judge_prompt_ref",), text_field(settings, "judge_prompt_ref")
        jury = object_field(settings, "jury")
        for index, juror in enumerate(object_list(jury, "judges")):
            path = ("jury", "judges", index, "judge_prompt_ref")
            yield path, text_field(juror, "judge_prompt_ref")


def _nothing(text: str) -> Resolution:
    message = f"'{text}' is no reference to a rubric; write rubric/id@version"
    return Resolution(problems=(Problem(code="dangling_reference", message=message),))


def _composites(rubric: Rubric) -> list[str]:
    return [name for name, check in rubric.stated.items() if check.kind == "composite"]


def _warnings(definition: Definition) -> Iterator[Problem]:
    """The warnings of a file, such as misspelt fields, as seen by a user of it."""
    for finding in definition.findings:
        if not finding.is_error:
            message = finding_text(definition, replace(finding, hint=None))
            yield Problem(
                code=finding.code, message=message, hint=finding.hint, severity="warning"
            )


def _placed(path: Path, problem: Problem) -> Problem:
    """The same problem at a path, with the path in its message."""
    return replace(problem, path=path, message=f"{{}}: {problem.message}")
