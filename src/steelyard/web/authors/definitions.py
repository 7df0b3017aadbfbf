"""What the pages of rubrics and judges share: lists, versions, differences, publishing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from starlette.responses import RedirectResponse, Response

from steelyard.api.resources.definitions import reference_of
from steelyard.errors import InvalidError, NotFoundError, RequestError
from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.difference import Diff
from steelyard.model.published import version_order
from steelyard.model.reference import Reference, ReferenceKind
from steelyard.reports.line_diff import DiffLine, line_diff
from steelyard.reports.registry import ListedVersion, Shown
from steelyard.usecases.registry.archive import archive
from steelyard.usecases.registry.look_up import (
    compare_definitions,
    list_definitions,
    show_definition,
)
from steelyard.usecases.registry.publish import carry_out, plan_publication
from steelyard.usecases.registry.registry import RegistryPorts
from steelyard.web.page import Visit
from steelyard.web.rendering import query_text, segment

MOST_LISTED = 200
"""So many versions are on a page of a list."""
_STATUSES = {"not published": "draft"}
_NUMBERED = re.compile(r"-?v?\d+\Z")


class ListQuery(msgspec.Struct, frozen=True):
    """What a list of versions is narrowed to."""

    q: str = ""
    status: str = ""
    contract: str = ""
    begin: int = 0


class VersionQuery(msgspec.Struct, frozen=True):
    """What is shown beside a version."""

    to: str = ""
    """The version that it is compared with."""
    run: str = ""
    """The run on which a rubric is tried."""
    validation: int = 0
    """The number of a validation of a judge; 0 for the newest."""
    cell: str = ""
    """The cell of the confusion matrix whose items are listed."""
    bias: bool = False
    """Whether bias is measured though the labelled runs are large."""
    done: str = ""
    """What was done to it just now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionList:
    """Some of the versions, newest first within an id."""

    rows: tuple[ListedVersion, ...]
    total: int
    known: int
    """How many there are, whatever the filter."""
    statuses: tuple[str, ...]
    query: ListQuery

    @property
    def next(self) -> int | None:
        """Where the next page begins."""
        end = self.query.begin + len(self.rows)
        return end if end < self.total else None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionView:
    """A version with what it is compared with."""

    kind: ReferenceKind
    name: str
    shown: Shown
    others: tuple[ListedVersion, ...]
    """The versions that it can be compared with, its own id first."""
    raw: str
    to: str = ""
    diff: Diff | None = None
    lines: tuple[DiffLine, ...] = ()
    message: str = ""
    """Why something that was asked for cannot be done."""
    done: str = ""

    @property
    def path(self) -> str:
        """The address of the page."""
        return f"/{self.kind}s/{segment(self.name)}"

    @property
    def status(self) -> str:
        """The status in the words of contract 3."""
        return status_word(self.shown.listed)

    @property
    def is_publishable(self) -> bool:
        """Whether publishing it would change something."""
        return self.shown.listed.status == "not published"

    @property
    def is_draft(self) -> bool:
        """Whether it was saved and can be changed; a file of the project is changed itself."""
        return self.is_publishable and self.shown.listed.origin == "store"

    @property
    def is_archivable(self) -> bool:
        """Whether it can be kept from new runs; a file that is not published is changed itself."""
        listed = self.shown.listed
        if listed.status in {"archived", "built in", "changed"}:
            return False
        return listed.status == "published" or listed.origin == "store"


def status_word(listed: ListedVersion) -> str:
    """The status of a version; what is not published is a draft."""
    return _STATUSES.get(listed.status, listed.status)


def listed_versions(ports: RegistryPorts, kind: ReferenceKind, query: ListQuery) -> VersionList:
    """A page of versions; every word of the text must be in id, version, title or place."""
    known = list_definitions(ports, kind)
    known.sort(key=lambda one: version_order(one.version), reverse=True)
    known.sort(key=lambda one: (one.origin == "built in", one.id))
    words = query.q.casefold().split()
    found = [
        one
        for one in known
        if all(word in _searched(one) for word in words)
        and query.status in {"", status_word(one)}
        and query.contract in {"", one.contract}
    ]
    begin = max(0, query.begin)
    return VersionList(
        rows=tuple(found[begin : begin + MOST_LISTED]),
        total=len(found),
        known=len(known),
        statuses=tuple(sorted({status_word(one) for one in known})),
        query=query,
    )


def _searched(one: ListedVersion) -> str:
    return f"{one.name} {one.title} {one.source}".casefold()


def version_view(
    visit: Visit[VersionQuery], kind: ReferenceKind, message: str = ""
) -> VersionView:
    """A version by the name in the address, compared with another one where that is asked for."""
    ports, to = visit.project.registry_ports(), visit.query.to
    shown = _shown(ports, kind, reference_of(kind, visit.path["ref"]))
    diff, lines = None, tuple[DiffLine, ...]()
    if to:
        try:
            other = _shown(ports, kind, reference_of(kind, to))
            diff = compare_definitions(ports, kind, other.reference, shown.reference)
            lines = tuple(line_diff(_text(other), _text(shown)))
        except RequestError as wrong:
            message = message or str(wrong)
    return VersionView(
        kind=kind,
        name=shown.reference.removeprefix(f"{kind}/"),
        shown=shown,
        others=tuple(_others(list_definitions(ports, kind), shown)),
        raw=_text(shown),
        to=to if diff else "",
        diff=diff,
        lines=lines,
        message=message,
        done=visit.query.done,
    )


def _shown(ports: RegistryPorts, kind: ReferenceKind, reference: Reference) -> Shown:
    try:
        return show_definition(ports, kind, reference)
    except InvalidError as wrong:
        known = any(one.id == reference.id for one in list_definitions(ports, kind))
        raise (wrong if known else NotFoundError(str(wrong))) from None


def _others(listed: Sequence[ListedVersion], shown: Shown) -> list[ListedVersion]:
    """The versions of the same contract, those of the same id or stem first."""
    own = shown.listed
    stem = _NUMBERED.sub("", own.id)
    same = [one for one in listed if one.contract == shown.contract and one.name != own.name]
    return sorted(same, key=lambda one: (_NUMBERED.sub("", one.id) != stem, one.id))


def _text(shown: Shown) -> str:
    return write_yaml(shown.content).decode("utf-8", "backslashreplace")


def change_version(visit: Visit[VersionQuery], kind: ReferenceKind) -> Response | str:
    """Publish or archive a version; the text says why not."""
    ports, action = visit.project.registry_ports(), visit.form.get("do", "")
    reference = reference_of(kind, visit.path["ref"])
    name = str(reference).removeprefix(f"{kind}/")
    try:
        if action == "publish":
            made = carry_out(ports, plan_publication(ports, kind, reference), caller=visit.caller)
            if made.refusals:
                return f"Not published: {'; '.join(made.refusals)}"
            done = "published"
        elif action == "archive":
            archive(ports, kind, name, caller=visit.caller)
            done = "archived"
        else:
            return f"'{action[:40]}' is nothing that can be done here"
    except RequestError as wrong:
        return str(wrong)
    return RedirectResponse(f"/{kind}s/{segment(name)}{query_text({'done': done})}", 303)
