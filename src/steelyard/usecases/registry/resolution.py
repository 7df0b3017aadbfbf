"""Resolves a reference to a file of a project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.formats.names import did_you_mean
from steelyard.formats.problem import Problem
from steelyard.model.definition import Content, Definition, reference_to
from steelyard.model.finding import Finding
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.question import QuestionRubric
from steelyard.model.reference import Reference, exact_version, release_numbers


class Found(FrozenStruct, frozen=True, kw_only=True):
    """A resolved reference; its problems have no path yet."""

    definition: Definition | None = None
    """The file; None if there is an error."""
    problems: tuple[Problem, ...] = ()

    @property
    def content(self) -> Content | None:
        """The rubric or judge, if it can be used."""
        return self.definition.content if self.definition else None


def resolve(reference: Reference, definitions: Sequence[Definition]) -> Found:
    """The file of a reference among those of its kind; else a published version.

    A reference with a version matches exactly that version, whatever other files are broken.
    Without a version the highest release is used, but none while a file of that name is broken:
    it may be the newest. If a file differs from the published version, neither is used.
    """
    own = [one for one in definitions if _is_of(one, reference.id)]
    others = [one for one in definitions if one.stem == reference.id and one not in own]
    clash = clash_of(own)
    if clash:
        return Found(problems=(clash,))
    fitting = _fitting(reference, own)
    if others and (not fitting or reference.version is None):
        why = f"{others[0].shown}{_cause(others[0], reference.id)}"
        return Found(problems=(_dangling(reference, why),))
    if not fitting:
        ids = {reference_to(one.content).id for one in definitions if one.content}
        return Found(problems=(_dangling(reference, _there_are(reference, own), ids),))
    files = [one for one in fitting if not one.is_published]
    conflict = drift_of(fitting) or (conflict_of(files) if len(files) > 1 else None)
    if conflict:
        return Found(problems=(conflict,))
    found = (files or fitting)[0]
    return Found(definition=found, problems=tuple(_usable(reference, found, fitting)))


def clash_of(definitions: Sequence[Definition]) -> Problem | None:
    """The problem of a question rubric whose version is the id of a check rubric."""
    questions = [one for one in definitions if isinstance(one.content, QuestionRubric)]
    checks = [one for one in definitions if one.content and one not in questions]
    if not questions or not checks:
        return None
    message = (
        f"{questions[0].shown} has the version that is the id of a check rubric in "
        f"{checks[0].shown}"
    )
    return Problem(code="version_conflict", message=message)


def conflict_of(definitions: Sequence[Definition]) -> Problem:
    """The problem of several files with the same version."""
    names = dict.fromkeys(str(reference_to(one.content)) for one in definitions if one.content)
    places = _listed([one.shown for one in definitions])
    message = f"{' and '.join(names)} stands in {places}; neither is used"
    return Problem(code="version_conflict", message=message)


def drift_of(definitions: Sequence[Definition]) -> Problem | None:
    """The problem of a file whose version is published with different content."""
    published = [one for one in definitions if one.is_published and one.content]
    for held in published:
        for one in definitions:
            if one.content and held.content and one.content.sha256 != held.content.sha256:
                name = reference_to(held.content)
                message = f"{one.shown} is not what was published as {name}; neither is used"
                hint = (
                    "give it a new version, or put back what `steelyard "
                    f"{name.kind} show {name}` prints"
                )
                return Problem(code="version_conflict", message=message, hint=hint)
    return None


def archived_among(definitions: Sequence[Definition]) -> Problem | None:
    """The problem of a version that is archived."""
    for one in definitions:
        if one.content and is_archived(one):
            reference = reference_to(one.content)
            message = f"{reference} is archived"
            hint = f"name a {reference.kind} that is published, or a draft"
            return Problem(code=f"archived_{reference.kind}", message=message, hint=hint)
    return None


def is_archived(definition: Definition) -> bool:
    """Whether no new run may use a definition; a question rubric may say so itself."""
    content = definition.content
    says_so = isinstance(content, QuestionRubric) and content.status == "archived"
    return definition.is_archived or says_so


def finding_text(definition: Definition, finding: Finding) -> str:
    """A finding of a file as text, with its location."""
    line = f":{finding.line}" if finding.line else ""
    hint = f" ({finding.hint})" if finding.hint else ""
    return f"{definition.shown}{line}: {finding.message}{hint}"


def _is_of(definition: Definition, name: str) -> bool:
    return definition.content is not None and reference_to(definition.content).id == name


def _fitting(reference: Reference, own: list[Definition]) -> list[Definition]:
    versions = [(_version(one), one) for one in own]
    if reference.version is not None:
        wanted = exact_version(reference.version)
        return [one for version, one in versions if version == wanted]
    # A question rubric's id is its version; for others the highest release is used.
    archived = {version for version, one in versions if one.is_archived}
    usable = [one for one in versions if one[0] not in archived] or versions
    # A draft that anybody may have sent takes nothing over from what is published or a file.
    published = {version for version, one in versions if one.is_published}
    usable = [one for one in usable if one[1].data is None or one[0] in published] or usable
    numbers = [(release_numbers(version) if version else (), one) for version, one in usable]
    highest = max((those for those, _ in numbers if those is not None), default=None)
    return [one for those, one in numbers if those is not None and those == highest]


def _version(definition: Definition) -> str | None:
    return reference_to(definition.content).version if definition.content else None


def _cause(definition: Definition, name: str) -> str:
    """Why a file of that name cannot be used."""
    if definition.content:
        return f" holds {reference_to(definition.content)}, not {name}"
    wrong = next(finding for finding in definition.findings if finding.is_error)
    return finding_text(definition, wrong).removeprefix(definition.shown)


def _there_are(reference: Reference, own: list[Definition]) -> str:
    names = list(dict.fromkeys(str(reference_to(one.content)) for one in own if one.content))
    if not names:
        return f"there is no {reference.kind} of that id"
    return f"there {'is' if len(names) == 1 else 'are'} {_listed(names)}"


def _dangling(reference: Reference, why: str, known: set[str] | None = None) -> Problem:
    hint = did_you_mean(reference.id, known - {reference.id}) if known else None
    message = f"cannot resolve {reference}: {why}"
    return Problem(code="dangling_reference", message=message, hint=hint)


def _usable(
    reference: Reference, found: Definition, twins: Sequence[Definition]
) -> Iterator[Problem]:
    content = found.content
    archived = archived_among(twins)
    if archived:
        yield archived
    if content and not isinstance(content, QuestionRubric) and reference.version is None:
        name = reference_to(content)
        yield Problem(
            code="unpinned_reference",
            message=f"{reference} is not pinned; {name} is used",
            hint=f"write {name}",
            severity="warning",
        )


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
