"""Datasets: upload or paste any contract with its findings, browse cases, compare and publish."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import msgspec
from starlette.responses import RedirectResponse, Response

from steelyard.errors import NotFoundError, RequestError
from steelyard.model.difference import Diff
from steelyard.model.published import dataset_name
from steelyard.reports.registry import ListedVersion, Shown
from steelyard.usecases.datasets.browse import (
    CasePage,
    CheckedFile,
    browse_dataset,
    checked_files,
    require_dataset_file,
)
from steelyard.usecases.datasets.dataset_versions import (
    compare_datasets,
    list_datasets,
    show_dataset,
)
from steelyard.usecases.datasets.import_dataset import (
    CheckedDataset,
    DatasetText,
    check_dataset,
    draft_text,
    import_dataset,
)
from steelyard.usecases.datasets.publish_dataset import publish_dataset
from steelyard.usecases.registry.archive import archive
from steelyard.web.authors.editor import CUT_OFF, EditedText, is_cut_off
from steelyard.web.page import AnyPage, Context, Crumb, Visit, WebPage
from steelyard.web.rendering import segment

PAGE_SIZE = 50
MAX_PASTED = 8 * 1024 * 1024
"""The most bytes of a form; larger files are uploaded."""
FIELD = "text"
_DATASETS = Crumb("Datasets", "/datasets")
_PLACEHOLDER = """{"id": "hours", "input": "When do you open?", "expected_outcome": "At nine."}
{"id": …}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetsContext(Context):
    """Every dataset, and the editor for a new one."""

    template: ClassVar[str] = "datasets.html"
    listed: list[ListedVersion]
    files: list[CheckedFile]
    edited: EditedText
    typed: DatasetText
    checked: CheckedDataset | None = None
    """What was found in what was typed."""
    problem: str = ""
    """Why the text cannot be read at all, such as the name of its file."""
    is_refused: bool = False
    """Whether it was to be saved, and was not."""
    field: str = FIELD
    placeholder: str = _PLACEHOLDER


class DatasetsQuery(msgspec.Struct, frozen=True):
    """Which draft the editor begins with."""

    draft: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetContext(Context):
    """One dataset with some of its cases."""

    template: ClassVar[str] = "dataset.html"
    shown: Shown
    path: str
    """The address of this page, without its query."""
    name: str
    """What a suite or the command line calls it."""
    cases: CasePage
    q: str
    page_size: int = PAGE_SIZE
    diff: Diff | None = None
    to: str | None = None
    is_saved: bool = False
    message: str = ""
    refusals: tuple[str, ...] = ()

    @property
    def is_file(self) -> bool:
        """Whether it is a file of the project, which is published from the command line."""
        return self.shown.listed.origin == "file"


class CasesQuery(msgspec.Struct, frozen=True):
    """Which cases to show, and what to compare the dataset with."""

    q: str = ""
    begin: int = 0
    to: str | None = None
    saved: bool = False


class CasesOfFileQuery(CasesQuery, frozen=True):
    """The same of a file of the project."""

    path: str = ""


def _list(visit: Visit[DatasetsQuery]) -> DatasetsContext:
    typed = DatasetText(text="")
    if visit.query.draft and visit.identity.may("registry:write"):
        ports = visit.project.registry_ports()
        typed = draft_text(ports, f"dataset/{visit.query.draft}") or typed
    return _context(visit, typed)


def _context(
    visit: Visit[Any], typed: DatasetText, *, is_cut: bool = False, **more: Any
) -> DatasetsContext:
    ports = visit.project.registry_ports()
    checked: CheckedDataset | None = more.get("checked")
    return DatasetsContext(
        title="Datasets",
        listed=list_datasets(ports),
        files=checked_files(ports, visit.project.result_ports().kept.find),
        typed=typed,
        edited=_edited(typed.text, checked, is_cut=is_cut),
        **more,
    )


def _edited(text: str, checked: CheckedDataset | None, *, is_cut: bool) -> EditedText:
    if checked is None or not text.strip():
        return EditedText(text=text)
    report = checked.report
    return EditedText(
        text=text,
        about=report.contract or "no contract recognised yet",
        is_checked=True,
        findings=(*report.findings, *((CUT_OFF,) * is_cut)),
        is_cut=is_cut,
        mended=checked.mended,
    )


def _submit(visit: Visit[DatasetsQuery]) -> Context | Response:
    """Check, mend or save what was typed; where saving is refused, the editor with the reason."""
    form, ports = visit.form, visit.project.registry_ports()
    action = form.get("action", "create")
    typed = DatasetText(
        text=form.get(FIELD, ""),
        name=form.get("name", "").strip(),
        version=form.get("version", "").strip(),
        is_strict=bool(form.get("strict")),
    )
    try:
        if action == "create":
            seen = form.get("seen", "")
            checked = import_dataset(ports, typed, seen=seen, caller=visit.caller)
        else:
            checked = check_dataset(ports, typed)
    except RequestError as error:
        return _context(visit, typed, problem=visit.message(error), is_refused=action == "create")
    if checked.saved is not None:
        ref = checked.saved.reference.removeprefix("dataset/")
        return RedirectResponse(f"/datasets/{segment(ref)}?saved=true", 303)
    is_cut = is_cut_off(form, checked.mended)
    if action == "mend" and checked.mended:
        typed = replace(typed, text=checked.mended.text)
        checked = check_dataset(ports, typed)
    return _context(visit, typed, checked=checked, is_refused=action == "create", is_cut=is_cut)


def _show(visit: Visit[CasesQuery]) -> DatasetContext:
    return _shown(visit, _reference(visit), f"/datasets/{segment(visit.path['ref'])}")


def _show_file(visit: Visit[CasesOfFileQuery]) -> DatasetContext:
    path = require_dataset_file(visit.project.registry_ports(), visit.query.path)
    return _shown(visit, path, f"/datasets/file?path={segment(visit.query.path)}")


def _shown(
    visit: Visit[Any], name: str, path: str, message: str = "", refusals: tuple[str, ...] = ()
) -> DatasetContext:
    ports, query = visit.project.registry_ports(), visit.query
    shown = show_dataset(ports, name)
    begin = max(0, query.begin)
    cases = browse_dataset(ports, name, text=query.q, begin=begin, limit=PAGE_SIZE)
    diff = compare_datasets(ports, f"dataset/{query.to}", name) if query.to else None
    is_file = shown.listed.origin == "file"
    return DatasetContext(
        title=visit.query.path if is_file else shown.listed.name,
        crumbs=(_DATASETS,),
        shown=shown,
        path=path,
        name=visit.query.path if is_file else shown.reference,
        cases=cases,
        q=query.q,
        diff=diff,
        to=query.to,
        is_saved=query.saved,
        message=message,
        refusals=refusals,
    )


def _publish(visit: Visit[CasesQuery]) -> Context | Response:
    """Publish or archive, by which of the two buttons was pressed."""
    ports, name = visit.project.registry_ports(), _reference(visit)
    path = f"/datasets/{segment(visit.path['ref'])}"
    try:
        if visit.form.get("do") == "archive":
            archive(ports, "dataset", name.removeprefix("dataset/"), caller=visit.caller)
            return RedirectResponse(path, 303)
        made = publish_dataset(ports, name, caller=visit.caller)
    except RequestError as error:
        return _shown(visit, name, path, message=visit.message(error))
    if made.refusals:
        message = "Not published:"
        return _shown(visit, name, path, message=message, refusals=tuple(made.refusals))
    return RedirectResponse(path, 303)


def _reference(visit: Visit[Any]) -> str:
    reference = f"dataset/{visit.path['ref']}"
    if dataset_name(reference) is None:
        raise NotFoundError(f"'{visit.path['ref'][:200]}' is no dataset; write id@version")
    return reference


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/datasets",
        section="datasets",
        scope="registry:read",
        show=_list,
        query=DatasetsQuery,
        submit=_submit,
        submit_scope="registry:write",
        max_form=MAX_PASTED,
    ),
    WebPage(
        path="/datasets/file",
        section="datasets",
        scope="registry:read",
        show=_show_file,
        query=CasesOfFileQuery,
    ),
    WebPage(
        path="/datasets/{ref}",
        section="datasets",
        scope="registry:read",
        show=_show,
        query=CasesQuery,
        submit=_publish,
        submit_scope="registry:write",
    ),
)
