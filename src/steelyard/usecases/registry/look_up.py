"""List, show and compare the definitions of a project and its registry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from steelyard.contracts.check_rubric.writer import rubric_row
from steelyard.contracts.differences import definition_differences
from steelyard.contracts.judge.writer import judge_row
from steelyard.contracts.question_rubric.writer import rubric_row as question_rubric_row
from steelyard.errors import InvalidError, RequestError
from steelyard.formats.problem import Problem
from steelyard.model.definition import Content, Definition, reference_to
from steelyard.model.difference import Diff
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge
from steelyard.model.published import Published, version_order
from steelyard.model.question import QuestionRubric
from steelyard.model.reference import Reference, ReferenceKind, exact_name, exact_version
from steelyard.model.rubric import Rubric
from steelyard.reports.registry import ListedVersion, Origin, Shown
from steelyard.usecases.registry.load_definition import at_root
from steelyard.usecases.registry.publish import (
    BUILT_IN,
    ENDINGS,
    contract_of,
    found_in,
    located,
    parsed_reference,
    raw_value,
)
from steelyard.usecases.registry.references import references_in
from steelyard.usecases.registry.registry import RegistryPorts
from steelyard.usecases.registry.resolution import finding_text, is_archived


def list_definitions(ports: RegistryPorts, kind: ReferenceKind) -> list[ListedVersion]:
    """Every version that is published or in a file, and every broken file."""
    known = ports.references.known(kind)
    held = {one.reference: one for one in ports.registry.all(kind)}
    listed: dict[str, ListedVersion] = {}
    for one in known:
        if one.content is None:
            listed[one.shown] = ListedVersion(
                id=one.stem, status="broken", source=one.shown, origin=_origin(one)
            )
            continue
        name = str(reference_to(one.content))
        if name not in listed:
            listed[name] = _listed(ports, one, one.content, held.get(name))
    return sorted(listed.values(), key=lambda one: (one.id, version_order(one.version)))


def show_definition(ports: RegistryPorts, kind: ReferenceKind, name: str | Reference) -> Shown:
    """A rubric or judge with its references and its users."""
    found, content = _sound(ports, kind, name)
    reference = reference_to(content)
    held = {one.reference: one for one in ports.registry.all(kind)}
    listed = _listed(ports, found, content, held.get(str(reference)))
    raw = {**raw_value(found), **(held[str(reference)].beside if found.is_published else {})}
    checks = references_in(content) if isinstance(content, Rubric) else ()
    return Shown(
        reference=str(reference),
        contract=contract_of(content),
        listed=listed,
        content=_ordered({**raw, **_changed_status(found, listed, raw)}, content),
        refers_to=tuple(dict.fromkeys(str(other) for _, other in checks)),
        used_by=tuple(_used_by(ports, reference)),
        versions=_versions(ports, reference),
        findings=found_in(ports, found, content),
    )


def compare_definitions(
    ports: RegistryPorts, kind: ReferenceKind, a: str | Reference, b: str | Reference
) -> Diff:
    """The differences between two rubrics or two judges, by reference or path."""
    (old, before), (new, after) = (_sound(ports, kind, name) for name in (a, b))
    contract = contract_of(before)
    if contract_of(after) != contract:
        raise InvalidError(
            f"{a} is a {contract} and {b} a {contract_of(after)}: nothing to compare"
        )
    found = definition_differences(raw_value(old), raw_value(new), contract)
    names = (_named(str(a), old, before), _named(str(b), new, after))
    return Diff(old=names[0], new=names[1], differences=found)


def suites_of(
    ports: RegistryPorts, field: str, reference: str, exact: Callable[[str], str] = str
) -> Iterator[str]:
    """The suites that use a version; `exact` is the version that a name would lead a run to."""
    for name, suite in ports.settings.suites.items():
        named = getattr(suite, field)
        if named is not None and exact(named) == reference:
            yield f"suite {name}"


def _sound(
    ports: RegistryPorts, kind: ReferenceKind, name: str | Reference
) -> tuple[Definition, Content]:
    found = located(ports, kind, name)
    if isinstance(found, Problem):
        # A file that differs from the published version must not hide it.
        found = _as_published(ports, kind, name) or found
    if isinstance(found, Problem):
        raise InvalidError(f"{found.message} ({found.hint})" if found.hint else found.message)
    if found.content is None:
        wrong = next(finding for finding in found.findings if finding.is_error)
        raise InvalidError(finding_text(found, wrong))
    return found, found.content


def _as_published(
    ports: RegistryPorts, kind: ReferenceKind, name: str | Reference
) -> Definition | None:
    reference = name if isinstance(name, Reference) else parsed_reference(kind, name)
    assert reference
    version = exact_version(reference.version) if reference.version else None
    for one in ports.references.known(kind):
        if one.is_published and one.content:
            held = reference_to(one.content)
            if (held.id, held.version) == (reference.id, version):
                return one
    return None


def _listed(
    ports: RegistryPorts, one: Definition, content: Content, published: Published | None
) -> ListedVersion:
    reference = reference_to(content)
    return ListedVersion(
        id=reference.id,
        version=reference.version,
        status=_status(ports, one, published),
        source=one.shown,
        sha256=published.sha256 if published else content.sha256,
        published_at=published.published_at if published else None,
        contract=contract_of(content),
        origin=_origin(one),
        title=content.name if isinstance(content, QuestionRubric) else content.description,
        parts=_parts(content),
    )


def _parts(content: Content) -> int | None:
    if isinstance(content, Judge):
        return None
    return len(content.questions if isinstance(content, QuestionRubric) else content.checks)


def _origin(one: Definition) -> Origin:
    if one.path.startswith(BUILT_IN):
        return "built in"
    if one.is_published:
        return "registry"
    return "file" if one.data is None else "store"


def _versions(ports: RegistryPorts, reference: Reference) -> tuple[str | None, ...]:
    known = [
        reference_to(one.content) for one in ports.references.known(reference.kind) if one.content
    ]
    found = {one.version for one in known if one.id == reference.id}
    return tuple(sorted(found, key=version_order))


def _status(ports: RegistryPorts, one: Definition, published: Published | None) -> str:
    if published is None and is_archived(one):
        return "archived"
    if published is None:
        return "built in" if one.path.startswith(BUILT_IN) else "not published"
    return "changed" if ports.references.drift_of(one) else published.status


def _changed_status(found: Definition, listed: ListedVersion, raw: JsonObject) -> JsonObject:
    """The status that a saved version has since it was sent; a file says what it says."""
    if found.data is None or listed.status not in {"published", "archived"}:
        return {}
    # Without a status, a question rubric calls itself a draft, and others nothing at all.
    is_silent = "status" not in raw and listed.contract != "question_rubric"
    return {} if is_silent and listed.status == "published" else {"status": listed.status}


def _used_by(ports: RegistryPorts, reference: Reference) -> Iterator[str]:
    """The rubrics and suites that use a rubric or a judge."""
    rubrics = [one.content for one in ports.references.known("rubric")]
    users = [
        rubric.name
        for rubric in rubrics
        if isinstance(rubric, Rubric) and _leads(ports, rubric, reference)
    ]
    yield from dict.fromkeys(users)
    exact = partial(_led_to, ports, reference.kind)
    yield from suites_of(ports, reference.kind, str(reference), exact)


def _led_to(ports: RegistryPorts, kind: ReferenceKind, name: str) -> str:
    """The version that a path, a partial pin or an unpinned name stands for now."""
    try:
        found = located(ports, kind, at_root(ports.root, name))
    except RequestError:
        return exact_name(name)
    if isinstance(found, Problem) or found.content is None:
        return exact_name(name)
    return str(reference_to(found.content))


def _leads(ports: RegistryPorts, rubric: Rubric, reference: Reference) -> bool:
    led = [ports.references.find(other).content for _, other in references_in(rubric)]
    return any(content and reference_to(content) == reference for content in led)


def _ordered(raw: JsonObject, content: Content) -> JsonObject:
    """The fields in canonical order."""
    usual: Sequence[str]
    if isinstance(content, Judge):
        usual = list(judge_row(content))
    else:
        is_checks = isinstance(content, Rubric)
        usual = list(rubric_row(content) if is_checks else question_rubric_row(content))
    first = {name: raw[name] for name in usual if name in raw}
    return {**first, **raw}


def _named(given: str, definition: Definition, content: Content) -> str:
    name = str(reference_to(content))
    is_path = Path(given).suffix.lower() in ENDINGS
    return f"{name} ({definition.shown})" if is_path else name
