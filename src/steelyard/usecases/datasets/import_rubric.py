"""Import a rubric from a text: check it, say what would mend it, and save it where it is right."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from steelyard.contracts.definitions import definition_value, read_definition_file
from steelyard.contracts.differences import definition_differences
from steelyard.errors import ConflictError, ParseError
from steelyard.model.audit import Caller
from steelyard.model.definition import Content, Definition, reference_to
from steelyard.model.difference import Diff
from steelyard.model.finding import Finding, error, warning
from steelyard.model.json_value import JsonObject
from steelyard.model.published import version_order
from steelyard.model.question import QuestionRubric
from steelyard.model.reference import Reference
from steelyard.usecases.datasets.create_definition import create_definition
from steelyard.usecases.datasets.finding_fixes import fix_of, taken_name
from steelyard.usecases.datasets.mend_json import MendedText, mended_json, unwrapped_json
from steelyard.usecases.datasets.uploads import Upload, validate_upload, with_lines
from steelyard.usecases.datasets.validate import FileReport, ValidateOptions
from steelyard.usecases.registry.publish import contract_of, raw_value
from steelyard.usecases.registry.registry import RegistryPorts
from steelyard.usecases.registry.resolution import is_archived

_YAML = re.compile(
    r"^(?:id|name|version|checks|scoring|questions|description|status)\s*:", re.MULTILINE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRubric:
    """A text that should be a rubric, as far as it is one."""

    text: str
    report: FileReport
    row: JsonObject
    """What it says, right or not; empty where it cannot be read at all."""
    mended: MendedText | None = None
    """What would be right, where it is almost JSON."""
    standing: str | None = None
    """The reference of a rubric that has its version already, and keeps it."""
    replaces: str | None = None
    """The draft of this version whose place it would take."""
    since: Diff | None = None
    """What differs from the version before, where there is one."""
    saved: str | None = None
    """The reference under which it was saved."""

    @property
    def contract(self) -> str | None:
        """What it was taken for."""
        return self.report.contract


def text_upload(text: str, stem: str) -> Upload:
    """A text as a file that was sent; it is JSON unless it has the fields of YAML."""
    is_yaml = not text.lstrip().startswith(("{", "[", "`")) and _YAML.search(text)
    data = text.encode("utf-8", "backslashreplace")
    digest = hashlib.sha256(data).hexdigest()
    name = f"{stem}.yaml" if is_yaml else f"{stem}.json"
    return Upload(name, partial(io.BytesIO, data), len(data), digest)


def check_rubric(ports: RegistryPorts, text: str, *, strict: bool = False) -> CheckedRubric:
    """Everything that is wrong with a text as a rubric; a version that is taken is an error.

    What is wrong with what it refers to is a warning, and an error in strict mode. A key given
    twice is an error in either mode: what the author wrote first would be lost.
    """
    upload = text_upload(text, "rubric")
    report = validate_upload(ports, upload, ValidateOptions(kind="rubric", strict=strict))
    content, _ = read_definition_file(upload.data(), upload.extension, "rubrics", ports.catalog)
    row = _row(upload)
    holder = _holder(ports, reference_to(content)) if content else None
    found = tuple(_for_author(report.findings, row, strict=strict))
    is_draft = holder is not None and _is_draft(holder)
    if content and holder:
        others = (one for one in found if one.code != "version_conflict")
        found = (*others, *_taken(holder, content, is_draft=is_draft))
    is_right = not any(finding.is_error for finding in found)
    report = replace(report, findings=found, accepted=min(report.total, int(is_right)))
    reference = str(reference_to(content)) if content and holder else None
    return CheckedRubric(
        text=text,
        report=with_lines(report, upload),
        row=row,
        mended=_almost(text) if upload.extension == ".json" else None,
        standing=None if is_draft else reference,
        replaces=reference if is_draft and not _is_same(holder, content) else None,
        since=_since(ports, row),
    )


_PARTS = ("questions", "dimensions", "checks")
"""One of these every rubric has."""


def _almost(text: str) -> MendedText | None:
    """What would be right: JSON that can be read, and no object around it."""
    return mended_json(text) or unwrapped_json(text, _PARTS)


_OF_REFERENCES = (
    *("dangling_reference", "reference_cycle", "nested_composite", "pairwise_judge"),
    *("archived_rubric", "archived_judge"),
)
"""What is wrong elsewhere: a draft may refer to what is still to be written."""


def _for_author(
    findings: Iterable[Finding], row: JsonObject, *, strict: bool
) -> Iterator[Finding]:
    """The findings with the weight and the hints that they have for who writes a text."""
    for one in findings:
        if one.code in _OF_REFERENCES and not strict:
            yield replace(one, severity="warning")
        elif one.code == "duplicate_key":
            yield replace(one, severity="error", hint="delete or rename one of the two")
        elif name := taken_name(one, row):
            hint = f"{one.hint} It is given already: put both into '{name}', delete this one"
            yield replace(one, hint=hint)
        else:
            yield one


def draft_rubric(ports: RegistryPorts, name: str) -> str | None:
    """The text of a saved rubric that is not published, to be changed; None for any other."""
    reference = Reference.parse(name)
    one = _holder(ports, reference) if reference else None
    return one.data.decode("utf-8", "replace") if one and one.data and _is_draft(one) else None


def fixed_text(checked: CheckedRubric, path: str) -> str:
    """The text with the finding at a path mended; unchanged where no word mends it."""
    at = (one for one in checked.report.findings if one.path == path)
    fix = next((found for one in at if (found := fix_of(one, checked.row))), None)
    return fix.applied(checked.text) if fix else checked.text


def import_rubric(
    ports: RegistryPorts,
    text: str,
    *,
    strict: bool = False,
    seen: str = "",
    caller: Caller | None = None,
) -> CheckedRubric:
    """Save a rubric that has no error; it takes the place of a draft once that is `seen`."""
    checked = check_rubric(ports, text, strict=strict)
    if not checked.report.is_valid or (checked.replaces or "") not in {"", seen}:
        return checked
    upload = text_upload(text, "rubric")
    try:
        made = create_definition(ports, "rubric", upload, strict=strict, caller=caller)
    except ConflictError as conflict:
        finding = error("version_conflict", str(conflict), path="version")
        report = replace(checked.report, findings=(*checked.report.findings, finding))
        return replace(checked, report=with_lines(report, upload))
    return replace(checked, saved=made.saved.reference if made.saved else None)


def _holder(ports: RegistryPorts, reference: Reference) -> Definition | None:
    """The rubric that has a version: the published one, if there is one."""
    named = [
        one
        for one in ports.references.known("rubric")
        if one.content is not None and reference_to(one.content) == reference
    ]
    return next((one for one in named if one.is_published), next(iter(named), None))


def _is_draft(one: Definition) -> bool:
    """Whether it was saved and can be replaced; a file of the project is changed itself."""
    return one.data is not None and not one.is_published and not is_archived(one)


def _is_same(one: Definition | None, content: Content | None) -> bool:
    return bool(one and one.content and content and one.content.sha256 == content.sha256)


def _taken(one: Definition, content: Content, *, is_draft: bool) -> Iterator[Finding]:
    """What there is to say about the rubric that has the same version."""
    reference = reference_to(content)
    name = str(reference).removeprefix("rubric/")
    if is_draft:
        if not _is_same(one, content):
            message = f"there is a draft {name} with other content, whose place this one takes"
            yield warning("version_conflict", message, path="version")
        return
    named = "version" if isinstance(content, QuestionRubric) else "id and version"
    where = "published" if one.is_published else one.shown
    same = "the same content" if _is_same(one, content) else "other content"
    yield Finding(
        severity="error",
        code="version_conflict",
        message=f"the {named} '{name}' is taken: a rubric with {same} exists ({where})",
        path="version",
        hint=f"take another version, such as {_next_version(reference)}",
    )


def _since(ports: RegistryPorts, row: JsonObject) -> Diff | None:
    """What differs from the highest version below, as far as the text can be read."""
    contract = "question_rubric" if "questions" in row or "dimensions" in row else "check_rubric"
    name = row.get("version" if contract == "question_rubric" else "id")
    version = row.get("version")
    if not isinstance(name, str) or not isinstance(version, str):
        return None
    older: list[tuple[tuple[tuple[int, int | str], ...], Definition]] = []
    for one in ports.references.known("rubric"):
        if one.content is None or contract_of(one.content) != contract:
            continue
        other = reference_to(one.content)
        order = version_order(other.version or other.id)
        if _stem(other.id) == _stem(name) and order < version_order(version):
            older.append((order, one))
    if not older:
        return None
    before = max(older, key=lambda one: one[0])[1]
    found = definition_differences(raw_value(before), row, contract)
    assert before.content
    names = [str(reference_to(before.content)).removeprefix("rubric/"), f"{name}"]
    shown = tuple(one for one in found if one.path not in {"version", "status"})
    return Diff(old=names[0], new=names[1], differences=shown)


def _stem(name: str) -> str:
    """A name without the number of its version, as in `agent-quality-v2`."""
    return re.sub(r"-?v?\d+\Z", "", name)


def _next_version(reference: Reference) -> str:
    """The version after the one of a rubric."""
    if reference.version:
        major, *rest = reference.version.split(".")
        minor = int(rest[0]) + 1 if rest and rest[0].isdigit() else 1
        return f"{major}.{minor}.0"
    stem, number, _ = re.split(r"(\d*)\Z", reference.id, maxsplit=1)
    return f"{stem}{int(number) + 1}" if number else f"{stem}-v2"


def _row(upload: Upload) -> JsonObject:
    try:
        return definition_value(upload.data(), upload.extension)
    except (ParseError, TypeError):
        return cast(JsonObject, {})
