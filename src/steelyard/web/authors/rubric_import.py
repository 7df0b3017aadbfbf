"""Import full Rubric from JSON: findings beside the text, and the form that it makes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import msgspec
from starlette.responses import RedirectResponse, Response

from steelyard.api.access import require_scope
from steelyard.contracts.definitions import MAX_DEFINITION
from steelyard.model.difference import Diff
from steelyard.reports.question_form import QuestionForm, question_form
from steelyard.reports.rubric_instructions import rubric_instructions
from steelyard.reports.run.check_table import CheckTable, check_table
from steelyard.usecases.datasets.import_rubric import (
    CheckedRubric,
    check_rubric,
    draft_rubric,
    fixed_text,
    import_rubric,
)
from steelyard.usecases.registry.registry import RegistryPorts
from steelyard.web.authors.editor import CUT_OFF, EditedText, is_cut_off
from steelyard.web.page import AnyPage, Context, Crumb, Visit, WebPage
from steelyard.web.rendering import segment

FIELD = "rubric"
_CONTRACTS = {"question_rubric": "question rubric", "check_rubric": "check rubric"}
_PLACEHOLDER = """{
  "name": "Agent Response Quality v2",
  "version": "agent-quality-v2",
  "questions": [ … ]
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportContext(Context):
    """What the import page shows."""

    template: ClassVar[str] = "rubric_import.html"
    edited: EditedText
    is_strict: bool = False
    form: QuestionForm | None = None
    """What annotators would see of a question rubric."""
    checks: CheckTable | None = None
    """The checks of a check rubric."""
    standing: str | None = None
    """The name of a rubric that has this version already."""
    replaces: str | None = None
    """The name of a draft whose place it would take."""
    since: Diff | None = None
    """What differs from the version before."""
    is_refused: bool = False
    """Whether it was to be created, and was not."""
    instructions: str
    field: str = FIELD
    placeholder: str = _PLACEHOLDER


class ImportQuery(msgspec.Struct, frozen=True):
    """Which draft the editor begins with."""

    draft: str = ""


def _show(visit: Visit[ImportQuery]) -> ImportContext:
    text = None
    if visit.query.draft:
        text = draft_rubric(visit.project.registry_ports(), f"rubric/{visit.query.draft}")
    return _context(EditedText(text=text or ""))


def _submit(visit: Visit[ImportQuery]) -> ImportContext | Response:
    action, text = visit.form.get("action", "create"), visit.form.get(FIELD, "")
    strict, ports = bool(visit.form.get("strict")), visit.project.registry_ports()
    if action != "create":
        checked = check_rubric(ports, text, strict=strict)
        is_cut = is_cut_off(visit.form, checked.mended)
        text = _changed(checked, action)
        if text != checked.text:
            checked = check_rubric(ports, text, strict=strict)
        mended = _mended(ports, checked, strict=strict)
        return _checked(checked, mended, is_strict=strict, is_cut=is_cut)
    require_scope(visit.identity, "registry:write")
    seen = visit.form.get("seen", "")
    made = import_rubric(ports, text, strict=strict, seen=seen, caller=visit.caller)
    if made.saved is None:
        mended = _mended(ports, made, strict=strict)
        is_cut = is_cut_off(visit.form, None)
        return _checked(made, mended, is_strict=strict, is_refused=True, is_cut=is_cut)
    return RedirectResponse(f"/rubrics/{segment(made.saved.removeprefix('rubric/'))}", 303)


def _changed(checked: CheckedRubric, action: str) -> str:
    """The text as an action leaves it: mended as a whole, or in one word."""
    if action == "mend" and checked.mended:
        return checked.mended.text
    name, _, path = action.partition(":")
    return fixed_text(checked, path) if name == "fix" else checked.text


def _mended(ports: RegistryPorts, checked: CheckedRubric, *, strict: bool) -> CheckedRubric | None:
    """What the text would be once it is mended, where it is no rubric as it is."""
    if checked.mended is None:
        return None
    return check_rubric(ports, checked.mended.text, strict=strict)


def _checked(
    checked: CheckedRubric,
    mended: CheckedRubric | None,
    *,
    is_strict: bool,
    is_refused: bool = False,
    is_cut: bool = False,
) -> ImportContext:
    findings, read = checked.report.findings, mended or checked
    contract = read.contract
    # Its lines are not those of the text that stands in the editor.
    left = tuple(replace(one, line=None) for one in mended.report.findings) if mended else ()
    if not checked.text.strip() and not is_refused:
        return _context(EditedText(), is_strict=is_strict)
    is_read = bool(checked.row)
    edited = EditedText(
        text=checked.text,
        about=_CONTRACTS.get(contract or "", "no rubric yet") if is_read else "cannot be read yet",
        is_checked=True,
        findings=(*findings, *left, *((CUT_OFF,) * is_cut)),
        is_cut=is_cut,
        mended_findings=left,
        mended=checked.mended,
        row=checked.row,
    )
    is_checks = contract == "check_rubric"
    return _context(
        edited,
        is_strict=is_strict,
        form=question_form(read.row, left or findings) if read.row and not is_checks else None,
        checks=check_table(read.row) if read.row and is_checks else None,
        standing=checked.standing.removeprefix("rubric/") if checked.standing else None,
        replaces=checked.replaces,
        is_refused=is_refused,
        since=checked.since,
    )


def _context(edited: EditedText, **given: object) -> ImportContext:
    return ImportContext(
        title="Import full Rubric from JSON",
        crumbs=(Crumb("Rubrics", "/rubrics"),),
        edited=edited,
        instructions=rubric_instructions(),
        **given,  # pyright: ignore[reportArgumentType] - fields of the context
    )


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/rubrics/import",
        section="rubrics",
        scope="registry:read",
        show=_show,
        query=ImportQuery,
        submit=_submit,
        max_form=3 * MAX_DEFINITION,
    ),
)
