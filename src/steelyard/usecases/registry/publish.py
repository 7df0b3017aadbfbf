"""Publish a version of a rubric or a judge."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path

from steelyard.contracts.definitions import CHANGEABLE, definition_value, fixed_bytes
from steelyard.contracts.differences import definition_differences
from steelyard.contracts.judge.writer import judge_row
from steelyard.errors import ConflictError, InvalidError, NotFoundError
from steelyard.formats.problem import Problem
from steelyard.formats.schema import spoken
from steelyard.model.audit import Caller
from steelyard.model.definition import Content, Definition, reference_to
from steelyard.model.difference import Diff
from steelyard.model.finding import Finding
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject, path_text
from steelyard.model.judge import Judge
from steelyard.model.published import (
    Bump,
    Published,
    StoredFile,
    bump_of,
    compared_version,
    unportable_name,
)
from steelyard.model.question import QuestionRubric
from steelyard.model.reference import Reference, ReferenceKind
from steelyard.model.rubric import Rubric
from steelyard.reports.publication import MeasuredShift, Publication
from steelyard.usecases.registry.references import references_in
from steelyard.usecases.registry.registry import RegistryPorts
from steelyard.usecases.registry.resolution import clash_of, finding_text, is_archived

ENDINGS = (".yaml", ".yml", ".json")
BUILT_IN = "built in/"
"""The path prefix of built-in judges."""


class PublicationPlan(FrozenStruct, frozen=True, kw_only=True):
    """A version to publish, or why it is refused."""

    reference: str
    definition: Definition | None = None
    proposed: Published | None = None
    """The new entry of the registry."""
    data: bytes = b""
    refusals: tuple[str, ...] = ()
    standing: Published | None = None
    """The existing entry with the same content."""
    previous: Published | None = None
    """The published release to compare with."""
    bump: Bump | None = None
    diff: Diff | None = None


def plan_publication(
    ports: RegistryPorts, kind: ReferenceKind, name: str | Reference
) -> PublicationPlan:
    """Check a file, by path or reference, before anything is published."""
    found = located(ports, kind, name)
    name = str(name)
    if isinstance(found, Problem):
        return PublicationPlan(reference=name, refusals=(_hinted(found.message, found.hint),))
    if found.path.startswith(BUILT_IN):
        raise InvalidError(f"{name} comes with Steelyard, which fixes its versions itself")
    content = found.content
    if content is None:
        wrong = (finding_text(found, finding) for finding in found.findings if finding.is_error)
        return PublicationPlan(reference=name, refusals=tuple(wrong))
    reference = reference_to(content)
    held = {one.reference: one for one in ports.registry.all(kind)}
    standing = held.get(str(reference))
    if found.is_published:
        return PublicationPlan(reference=str(reference), proposed=standing, standing=standing)
    row = raw_value(found)
    data = fixed_bytes(row, contract_of(content))
    proposed = proposed_version(found, row, data, ports.clock.stamp())
    plan = PublicationPlan(
        reference=str(reference),
        definition=found,
        proposed=proposed,
        data=data,
        refusals=tuple(_refusals(ports, found, content, held)),
        standing=standing,
    )
    return plan if plan.refusals or standing else _since(ports, plan, row)


def carry_out(
    ports: RegistryPorts,
    plan: PublicationPlan,
    shift: MeasuredShift | None = None,
    *,
    caller: Caller | None = None,
) -> Publication:
    """Publish what nothing speaks against; the same content once more changes nothing."""
    ports, found = ports.called_by(caller), plan.definition
    if found is None or found.data is None or plan.proposed is None:
        return logged(ports, _publication(ports, plan, shift))
    with unchanged(ports, plan.proposed, hashlib.sha256(found.data).hexdigest()) as held:
        return logged(held, _publication(held, plan, shift))


@contextmanager
def unchanged(ports: RegistryPorts, proposed: Published, sha256: str) -> Generator[RegistryPorts]:
    """The ports to publish a saved version with, which nobody changes meanwhile.

    It is given by the hash with which it was read, and refused where it has changed since.
    """
    stored = ports.saved.all(proposed.kind)
    one = next(one for one in stored if one.reference == proposed.reference)
    with ports.saved.changing(one) as change:
        now = change.before
        if now is None or now.sha256 != sha256 or now.archived_at != one.archived_at:
            raise ConflictError(f"{proposed.reference} has just been changed; try again")
        yield replace(ports, audit=change)


def logged(ports: RegistryPorts, made: Publication) -> Publication:
    """Log a publication that has changed something."""
    if made.outcome in {"published", "noted"}:
        ports.audit.add(ports.entry("publish", made.reference, outcome=made.outcome))
    return made


def _publication(
    ports: RegistryPorts, plan: PublicationPlan, shift: MeasuredShift | None
) -> Publication:
    made = Publication(
        reference=plan.reference,
        outcome="refused",
        refusals=plan.refusals,
        bump=plan.bump,
        diff=plan.diff,
        shift=shift,
    )
    proposed = plan.proposed
    if plan.refusals or proposed is None:
        return made
    if plan.standing:
        return _again(ports, made, plan.standing, proposed)
    if plan.bump in {"minor", "patch"} and (why := _unfit(plan, shift)):
        return replace(made, refusals=(why,))
    contents = {proposed.sha256: lambda: BytesIO(plan.data)}
    stored = ports.registry.add(proposed, contents)
    if stored.sha256 != proposed.sha256:
        why = f"{plan.reference} was published with other content just now"
        return replace(made, refusals=(why,), published=stored)
    warnings = tuple(_warnings(plan, shift))
    return replace(made, outcome="published", published=stored, warnings=warnings)


def located(
    ports: RegistryPorts, kind: ReferenceKind, name: str | Reference
) -> Definition | Problem:
    """The file or published version of a path, a reference or an id.

    A text may be a path; whoever may not name paths gives a reference.
    """
    if isinstance(name, str) and Path(name).suffix.lower() in ENDINGS:
        found = ports.references.at(name)
        if found is None:
            raise NotFoundError(f"no such {kind} file: {name}")
    else:
        reference = name if isinstance(name, Reference) else parsed_reference(kind, name)
        if reference is None or reference.kind != kind:
            raise InvalidError(f"'{name}' is no {kind}; write {kind}/id@version or a path")
        resolved = ports.references.find(reference)
        problem = next((one for one in resolved.problems if one.severity == "error"), None)
        if problem and problem.code == "dangling_reference":
            raise NotFoundError(_hinted(problem.message, problem.hint))
        if resolved.definition is None:
            assert problem
            return problem
        found = resolved.definition
    if found.content and reference_to(found.content).kind != kind:
        raise InvalidError(f"{name} holds {reference_to(found.content)}, which is no {kind}")
    return found


def parsed_reference(kind: ReferenceKind, name: str) -> Reference | None:
    """The reference that a name with or without its kind stands for."""
    return Reference.parse(name if "/" in name else f"{kind}/{name}")


def raw_value(definition: Definition) -> JsonObject:
    """The fields of a rubric or judge as written."""
    if definition.path.startswith(BUILT_IN) and isinstance(definition.content, Judge):
        return judge_row(definition.content)
    path = Path(definition.path)
    extension = ".json" if definition.is_published else path.suffix.lower()
    data = path.read_bytes() if definition.data is None else definition.data
    return definition_value(data, extension)


def contract_of(content: Content) -> str:
    """The name of the contract that a rubric or a judge follows."""
    if isinstance(content, Judge):
        return "judge"
    return "check_rubric" if isinstance(content, Rubric) else "question_rubric"


def proposed_version(definition: Definition, row: JsonObject, data: bytes, at: str) -> Published:
    """The registry entry of a file, of which `data` is the immutable content."""
    assert definition.content
    contract = contract_of(definition.content)
    reference = reference_to(definition.content)
    sha256 = hashlib.sha256(data).hexdigest()
    beside: JsonObject = {name: row[name] for name in CHANGEABLE[contract] if name in row}
    # Only question rubrics can be archived.
    if not isinstance(definition.content, QuestionRubric):
        beside.pop("status", None)
    elif beside.get("status") != "archived":
        beside["status"] = "published"
    return Published(
        kind=reference.kind,
        id=reference.id,
        version=reference.version,
        contract=contract,
        sha256=sha256,
        published_at=at,
        source=definition.shown,
        files=(StoredFile(f"{reference.kind}.json", sha256, len(data)),),
        beside=beside,
    )


def _refusals(
    ports: RegistryPorts, definition: Definition, content: Content, held: dict[str, Published]
) -> Iterator[str]:
    """Errors in strict mode, and references that could change under the version."""
    for finding in _findings(ports, definition, content):
        if finding.strict().is_error:
            is_placed = finding.message.startswith(definition.shown)
            text = _hinted(finding.message, finding.hint)
            yield text if is_placed else finding_text(definition, finding)
    name = reference_to(content).id
    if name_fault := unportable_name(name, [one.id for one in held.values()]):
        yield f"{definition.shown}: {name_fault}; take another id"
    if is_archived(definition) and str(reference_to(content)) not in held:
        yield f"{definition.shown} is archived, and was never published"
    if isinstance(content, Rubric):
        for _, reference in references_in(content):
            led = ports.references.find(reference).definition
            if led and led.content and not _is_fixed(ports, led):
                name = reference_to(led.content)
                yield (
                    f"{definition.shown} refers to {name}, which is not published: "
                    f"`steelyard {name.kind} publish {name}` first"
                )


def found_in(
    ports: RegistryPorts, definition: Definition, content: Content
) -> tuple[Finding, ...]:
    """What is to say against a definition: its own findings, and those of its references."""
    return tuple(_findings(ports, definition, content))


def _findings(ports: RegistryPorts, definition: Definition, content: Content) -> Iterator[Finding]:
    yield from definition.findings
    known, own = ports.references, reference_to(content)
    named = [one for one in known.known(own.kind) if one.content]
    same = [one for one in named if one.content and reference_to(one.content).id == own.id]
    clashes = [one for one in (known.drift_of(definition), clash_of([definition, *same])) if one]
    conflicts = clashes or list(known.conflicts_of(Path(definition.path), content))
    for problem in (*conflicts, *known.problems_of(content)):
        yield Finding(
            severity=problem.severity,
            code=problem.code,
            message=spoken(problem),
            path=path_text(problem.path),
            hint=problem.hint,
        )


def _is_fixed(ports: RegistryPorts, definition: Definition) -> bool:
    """Whether a definition is immutable: published or built in."""
    assert definition.content
    name = str(reference_to(definition.content))
    kind = reference_to(definition.content).kind
    return definition.path.startswith(BUILT_IN) or any(
        one.reference == name for one in ports.registry.all(kind)
    )


def _since(ports: RegistryPorts, plan: PublicationPlan, row: JsonObject) -> PublicationPlan:
    """The plan with the differences from the previous version, if there is one."""
    proposed = plan.proposed
    assert proposed
    if proposed.version is None:
        return plan
    versions = {
        one.version: one
        for one in ports.registry.all(proposed.kind)
        if one.id == proposed.id and one.version
    }
    compared = compared_version(proposed.version, list(versions))
    if compared is None:
        return plan
    previous = versions[compared]
    old = definition_value(ports.registry.place(previous.sha256).read_bytes(), ".json")
    found = definition_differences({**old, **previous.beside}, row, proposed.contract)
    differing = tuple(one for one in found if one.path != "version")
    diff = Diff(old=previous.reference, new=proposed.reference, differences=differing)
    return replace(plan, previous=previous, bump=bump_of(compared, proposed.version), diff=diff)


def _again(
    ports: RegistryPorts, made: Publication, standing: Published, proposed: Published
) -> Publication:
    if proposed.beside == standing.beside:
        return replace(made, outcome="unchanged", published=standing)
    if standing.beside.get("status") == "archived":
        why = f"{standing.reference} is archived, which is for good; publish a new version"
        return replace(made, refusals=(why,), published=standing)
    ports.registry.note(standing, proposed.beside, proposed.published_at)
    return replace(made, outcome="noted", published=replace(standing, beside=proposed.beside))


def _unfit(plan: PublicationPlan, shift: MeasuredShift | None) -> str | None:
    """Why a minor or patch version is refused: scores changed, or may have."""
    if shift and shift.shift.has_moved:
        return (
            f"scores moved from {shift.old} to {shift.new}, which is a {plan.bump} version: a "
            "change that moves scores needs a new major version"
        )
    if shift is None and plan.diff and plan.diff.is_breaking:
        return (
            f"what changed can move scores, and this is a {plan.bump} version: show "
            "`against` a run that none moves, or publish a new major version"
        )
    return None


def _warnings(plan: PublicationPlan, shift: MeasuredShift | None) -> Iterator[str]:
    if shift is None and plan.previous:
        yield "whether scores moved was not tested `against` a run"
    content = plan.definition.content if plan.definition else None
    if isinstance(content, QuestionRubric) and content.status == "draft":
        yield "the file still says draft; its content is fixed now: write status: published"


def _hinted(message: str, hint: str | None) -> str:
    return f"{message} ({hint})" if hint else message
