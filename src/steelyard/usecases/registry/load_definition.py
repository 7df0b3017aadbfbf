"""Load a rubric or judge by name."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, cast

from steelyard.errors import InvalidError, NotFoundError, UnreadableFileError
from steelyard.formats.problem import Problem
from steelyard.model.definition import Content, reference_to
from steelyard.model.finding import Finding
from steelyard.model.judge import Judge
from steelyard.model.question import QuestionRubric
from steelyard.model.reference import Reference, ReferenceKind
from steelyard.model.rubric import Rubric
from steelyard.usecases.registry.references import References
from steelyard.usecases.registry.resolution import Found, finding_text

_ENDINGS = {".yaml", ".yml", ".json"}
_UNREADABLE = {"invalid_yaml", "invalid_json", "unreadable_file", "payload_too_large"}


def load_rubric(
    references: References, name: str, *, strict: bool = False
) -> Rubric | QuestionRubric:
    """The rubric of a reference, an id or a path.

    An unusable rubric is a RequestError, and in strict mode any finding is. Other findings are
    warnings on the `steelyard` logger.
    """
    return cast("Rubric | QuestionRubric", _load(references, name, "rubric", strict=strict))


def load_judge(references: References, name: str, *, strict: bool = False) -> Judge:
    """The judge of a reference, an id or a path; as for rubrics."""
    return cast(Judge, _load(references, name, "judge", strict=strict))


def is_path(name: str) -> bool:
    """Whether a name is a path, and not a reference or an id."""
    return Path(name).suffix.lower() in _ENDINGS


def at_root(root: Path, name: str) -> str:
    """A path as seen from a project's root; a reference as it is."""
    path = root / name
    return str(path) if path.suffix and path.is_file() else name


class LookedUp(NamedTuple):
    """What a name leads to, with everything that a run would say about it."""

    content: Content | None
    """None where an error leaves nothing to use."""
    findings: tuple[Finding, ...]


def look_up_definition(references: References, name: str, kind: ReferenceKind) -> LookedUp:
    """The rubric or judge of a reference, an id or a path; a name that leads nowhere raises."""
    found = (_at_path if is_path(name) else _named)(references, name, kind)
    problems = [*found.problems]
    if found.definition:
        problems.extend(references.inside(found.definition))
    return LookedUp(found.content, tuple(_finding(problem) for problem in problems))


def _load(references: References, name: str, kind: ReferenceKind, *, strict: bool) -> Content:
    found = look_up_definition(references, name, kind)
    findings = found.findings
    for finding in findings:
        if (finding.strict() if strict else finding).is_error:
            refusal = NotFoundError if finding.code == "dangling_reference" else InvalidError
            raise refusal(f"{'' if finding.is_error else 'strict: '}{_text(finding)}")
    for finding in findings:
        references.warn(_text(finding))
    return cast(Content, found.content)


def _at_path(references: References, name: str, kind: ReferenceKind) -> Found:
    definition = references.at(name)
    if definition is None:
        raise NotFoundError(f"no such {kind} file: {name}")
    if definition.content is None:
        wrong = next(finding for finding in definition.findings if finding.is_error)
        refusal = UnreadableFileError if wrong.code in _UNREADABLE else InvalidError
        raise refusal(finding_text(definition, wrong))
    held = reference_to(definition.content)
    if held.kind != kind:
        raise InvalidError(f"{name} holds {held}, which is no {kind}")
    found = (references.drift_of(definition), references.archived(definition))
    problems = tuple(problem for problem in found if problem)
    return Found(definition=definition, problems=problems)


def _named(references: References, name: str, kind: ReferenceKind) -> Found:
    reference = Reference.parse(name if "/" in name else f"{kind}/{name}")
    if reference is None or reference.kind != kind:
        raise InvalidError(f"'{name}' is no {kind}; write {kind}/id@version or a path")
    return references.find(reference)


def _finding(problem: Problem) -> Finding:
    return Finding(
        severity=problem.severity, code=problem.code, message=problem.message, hint=problem.hint
    )


def _text(finding: Finding) -> str:
    return f"{finding.message} ({finding.hint})" if finding.hint else finding.message
