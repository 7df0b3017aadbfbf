"""Suites: list them, make one with its findings inline, and start a run of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, cast

import msgspec
from starlette.responses import RedirectResponse, Response

from steelyard.errors import InvalidError, NotFoundError, RequestError
from steelyard.event_loop import run_async
from steelyard.model.finding import Finding, error
from steelyard.model.json_value import JsonObject
from steelyard.settings import SuiteSettings
from steelyard.usecases.datasets.dataset_versions import list_datasets
from steelyard.usecases.registry.look_up import list_definitions
from steelyard.usecases.runs.create_suite import create_suite
from steelyard.usecases.runs.posted_runs import check_document, post_run, posted_options
from steelyard.usecases.runs.suite_check import check_suite
from steelyard.usecases.runs.suites import SuiteChoice
from steelyard.usecases.settings.saved_settings import (
    ListedSetting,
    delete_suite,
    list_suites,
    list_targets,
    read_suite,
)
from steelyard.web.authors.form_fields import field_error
from steelyard.web.page import AnyPage, Context, Crumb, PlainQuery, Visit, WebPage
from steelyard.web.rendering import segment

_SUITES = Crumb("Suites", "/suites")
_TEXTS = ("dataset", "target", "rubric", "judge")
_NUMBERS = ("fail_under", "pass_threshold")
_LABELS = {
    "name": "Name",
    "dataset": "Dataset",
    "target": "Target",
    "rubric": "Rubric",
    "judge": "Judge",
    "fail_under": "Least pass rate",
    "pass_threshold": "Pass threshold",
}
"""What the page calls the fields of its form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitesContext(Context):
    """Every suite."""

    template: ClassVar[str] = "suites.html"
    suites: list[ListedSetting[SuiteSettings]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteContext(Context):
    """A suite as a form, with what is to say about its parts."""

    template: ClassVar[str] = "suite.html"
    typed: Mapping[str, str]
    """The fields as they were typed, or as they are saved."""
    findings: tuple[Finding, ...] = ()
    message: str = ""
    """Why nothing was saved, where that is no finding."""
    is_new: bool = False
    is_saved: bool = False
    """Whether it was saved just now."""
    is_refused: bool = False
    """Whether what was typed was not saved."""
    is_editable: bool = True
    """Suites of the project file are read-only."""
    can_run: bool = True
    """Whether nothing that was found keeps a run from starting."""
    choices: Mapping[str, list[str]] = field(default_factory=dict[str, list[str]])
    """What the fields can name."""

    @property
    def errors(self) -> int:
        """How many findings keep the suite from being saved, or a strict run from starting."""
        return sum(one.is_error for one in self.findings)

    def of_field(self, name: str) -> list[Finding]:
        """The findings of one field."""
        return [one for one in self.findings if one.path == name]

    @property
    def of_no_field(self) -> list[Finding]:
        """Findings that belong to no field."""
        return [one for one in self.findings if one.path not in _LABELS]


class SuiteQuery(msgspec.Struct, frozen=True):
    """How a suite is shown."""

    saved: bool = False
    """Whether it was saved just now."""


def _list(visit: Visit[PlainQuery]) -> SuitesContext:
    return SuitesContext(title="Suites", suites=list_suites(visit.project.setting_ports()))


class NewSuiteQuery(msgspec.Struct, frozen=True):
    """What the form of a new suite is filled with."""

    dataset: str = ""
    target: str = ""
    rubric: str = ""
    judge: str = ""


def _new(visit: Visit[NewSuiteQuery]) -> SuiteContext:
    typed = {name: getattr(visit.query, name) for name in _TEXTS}
    return SuiteContext(
        title="New suite", crumbs=(_SUITES,), typed=typed, is_new=True, choices=_choices(visit)
    )


def _create(visit: Visit[NewSuiteQuery]) -> Context | Response:
    return _saved(visit, visit.form.get("name", "").strip(), is_update=False)


def _show(visit: Visit[SuiteQuery]) -> SuiteContext:
    return _shown(visit, _named(visit), is_saved=visit.query.saved)


def _shown(visit: Visit[Any], found: ListedSetting[SuiteSettings], **more: Any) -> SuiteContext:
    """A suite as it is saved, with what is to say about its parts."""
    check = check_suite(visit.project.suite_ports().parts, found.entry)
    given: dict[str, Any] = {"findings": check.findings, "can_run": check.can_run, **more}
    return SuiteContext(
        title=found.name,
        crumbs=(_SUITES,),
        typed=_typed(found.name, found.entry),
        is_editable=found.is_saved,
        choices=_choices(visit),
        **given,
    )


def _change(visit: Visit[SuiteQuery]) -> Context | Response:
    return _saved(visit, visit.path["name"], is_update=True)


def _saved(visit: Visit[Any], name: str, *, is_update: bool) -> Context | Response:
    """Save what was typed; where that is refused, the form again with what was typed."""
    findings = tuple(_wrong_numbers(visit.form))
    message = ""
    row = _kept(visit, name) | _row(visit.form)
    ports = visit.project.suite_ports()
    try:
        if findings:
            read_suite(ports.settings, name, row)
        else:
            made = create_suite(ports, name, row, is_update=is_update, caller=visit.caller)
            if made.is_saved:
                return RedirectResponse(f"/suites/{segment(name)}?saved=true", 303)
    except RequestError as wrong:
        message = visit.message(wrong)
        if at := field_error(message, _LABELS):
            findings = (error("value_out_of_range", at.message, path=at.field), *findings)
            message = ""
    findings = (*findings, *_of_parts(visit, row))
    return SuiteContext(
        title=name if is_update else "New suite",
        crumbs=(_SUITES,),
        typed={**visit.form, "name": name},
        findings=findings,
        message=message,
        is_refused=True,
        is_new=not is_update,
        choices=_choices(visit),
    )


def _start(visit: Visit[PlainQuery]) -> Context | Response:
    """Make a run of the suite that a worker executes; why it cannot start stands on the form."""
    found, ports = _named(visit), visit.project.run_ports()
    part = "dataset"
    try:
        options = posted_options(ports, None, SuiteChoice(suite=found.name))
        check = check_document(ports, options)
        if check.total and not check.accepted:
            raise InvalidError(f"none of the {check.total:,} records of the dataset is valid")
        part, run_id = "", ports.new_run_id()
        run = run_async(lambda: post_run(ports, options, run_id=run_id, caller=visit.caller))
    except RequestError as wrong:
        return _not_started(visit, found, visit.message(wrong), part)
    return RedirectResponse(f"/runs/{run.run_id}", 303)


def _not_started(
    visit: Visit[Any], found: ListedSetting[SuiteSettings], why: str, part: str
) -> SuiteContext:
    """The page of a suite with the reason, beside the field that it is about if that is known."""
    page = _shown(visit, found, message=f"The run was not started: {why}")
    if part and not page.of_field(part):
        reason = error("value_out_of_range", why, path=part)
        page = replace(page, findings=(*page.findings, reason))
    return replace(page, can_run=False, status=400)


def _delete(visit: Visit[PlainQuery]) -> Response:
    delete_suite(visit.project.setting_ports(), visit.path["name"], caller=visit.caller)
    return RedirectResponse("/suites", 303)


def _back(visit: Visit[PlainQuery]) -> Response:
    """The address of a button, opened by hand."""
    return RedirectResponse(f"/suites/{segment(visit.path['name'])}", 303)


def _named(visit: Visit[Any]) -> ListedSetting[SuiteSettings]:
    name = visit.path["name"]
    for one in list_suites(visit.project.setting_ports()):
        if one.name == name:
            return one
    raise NotFoundError(f"there is no suite '{name[:200]}'")


def _typed(name: str, suite: SuiteSettings) -> dict[str, str]:
    """A suite as its form has it."""
    typed = {"name": name}
    for key in (*_TEXTS, *_NUMBERS):
        value = getattr(suite, key)
        if value is not None:
            typed[key] = str(value)
    return typed | ({"strict_validation": "on"} if suite.strict_validation else {})


def _of_parts(visit: Visit[Any], row: JsonObject) -> tuple[Finding, ...]:
    """What is to say about the parts of a suite, under whatever name it is to be saved."""
    try:
        return check_suite(
            visit.project.suite_ports().parts, SuiteSettings(**cast("dict[str, Any]", row))
        ).findings
    except RequestError:
        return ()  # said already: the row is no suite


def _row(form: Mapping[str, str]) -> JsonObject:
    """The settings that a form stands for; what is empty is left out."""
    row: JsonObject = {key: text for key in _TEXTS if (text := form.get(key, "").strip())}
    for key in _NUMBERS:
        if (value := _number(form.get(key, "").strip())) is not None:
            row[key] = value
    if form.get("strict_validation"):
        row["strict_validation"] = True
    return row


def _wrong_numbers(form: Mapping[str, str]) -> Iterator[Finding]:
    for key in _NUMBERS:
        text = form.get(key, "").strip()
        if text and _number(text) is None:
            message = f"{_LABELS[key]} must be a number from 0 to 1, not '{text[:40]}'"
            yield error("value_out_of_range", message, path=key)


def _number(text: str) -> float | None:
    """A number as people write it; None where it is none from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def _kept(visit: Visit[Any], name: str) -> JsonObject:
    """The settings of a saved suite that the form does not show, which stay."""
    for one in list_suites(visit.project.setting_ports()):
        if one.name == name and one.is_saved and (wanted := one.entry.require_validated):
            return {"require_validated": wanted if wanted is True else dict(wanted)}
    return {}


def _choices(visit: Visit[Any]) -> dict[str, list[str]]:
    """What the fields of the form can name."""
    registry = visit.project.registry_ports()
    targets = [one.name for one in list_targets(visit.project.setting_ports())]
    return {
        "dataset": [f"dataset/{one.name}" for one in list_datasets(registry)],
        "target": [*targets, "echo"],
        "rubric": list(_references(registry, "rubric")),
        "judge": list(_references(registry, "judge")),
    }


def _references(registry: Any, kind: Any) -> Iterator[str]:
    for one in list_definitions(registry, kind):
        if one.status != "archived":
            yield f"{kind}/{one.name}"


PAGES: tuple[AnyPage, ...] = (
    WebPage(path="/suites", section="suites", scope="registry:read", show=_list),
    WebPage(
        path="/suites/new",
        section="suites",
        scope="registry:write",
        show=_new,
        query=NewSuiteQuery,
        submit=_create,
    ),
    WebPage(
        path="/suites/{name}",
        section="suites",
        scope="registry:read",
        show=_show,
        query=SuiteQuery,
        submit=_change,
        submit_scope="registry:write",
    ),
    WebPage(
        path="/suites/{name}/run",
        section="suites",
        scope="registry:read",
        show=_back,
        submit=_start,
        submit_scope="runs:write",
    ),
    WebPage(
        path="/suites/{name}/delete",
        section="suites",
        scope="registry:read",
        show=_back,
        submit=_delete,
        submit_scope="registry:write",
    ),
)
