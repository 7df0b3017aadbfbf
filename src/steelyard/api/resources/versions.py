"""Versions of rubrics, judges and datasets, as the API shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from steelyard.api.call import JsonReply
from steelyard.api.errors import ErrorReply
from steelyard.api.findings import FindingBody, finding_bodies
from steelyard.api.paging import Page, PageQuery
from steelyard.formats.encoding import without_surrogates
from steelyard.model.difference import Diff
from steelyard.model.published import PublishedKind, version_order
from steelyard.reports.differences import diff_json
from steelyard.reports.publication import Publication, publication_json
from steelyard.reports.registry import ListedVersion, Shown
from steelyard.usecases.datasets.create_definition import Creation
from steelyard.usecases.datasets.validate import FileReport
from steelyard.usecases.registry.archive import Archival
from steelyard.usecases.results.cursors import cursor_of, position_at

_SHOWN = 5
"""So many findings stand in the message of an error; its details have all."""


class VersionBody(msgspec.Struct, frozen=True):
    """A version in a list."""

    ref: str
    """What stands for it in addresses."""
    reference: str
    """What stands for it in files and on the command line."""
    id: str
    """Its id, without the version."""
    version: str | None
    """Its version; null where it has none."""
    contract: str | None
    """The contract of its file."""
    status: str
    """`draft`, `published` or `archived`."""
    origin: str
    """`file`, `store`, `registry` or `built in`."""
    source: str
    """The file that it was read from, or where it is kept."""
    sha256: str | None
    """The hash of its content."""
    published_at: str | None
    """When it was published."""


class ShownBody(VersionBody, frozen=True):
    """A version with its content."""

    content: dict[str, Any]
    """The document itself; of a dataset, its header and the number of records."""
    versions: list[str | None]
    """Every version of the same id, oldest first."""
    refers_to: list[str]
    """The rubrics and judges that it names."""
    used_by: list[str]
    """The suites and rubrics that name it."""
    findings: list[FindingBody]
    """What is wrong with it now."""


class CreatedBody(msgspec.Struct, frozen=True):
    """A version that was created, and what there is to say about it."""

    ref: str
    """What stands for it in addresses."""
    reference: str
    """What stands for it in files and on the command line."""
    id: str
    """Its id, without the version."""
    version: str | None
    """Its version."""
    contract: str
    """The contract of its file."""
    status: str
    """`draft`, or `published` or `archived` where the file says so or the version is."""
    origin: str
    """`store`."""
    sha256: str
    """The hash of its content."""
    total: int
    """How many records it has; of a rubric or judge 1."""
    accepted: int
    """How many of them are valid."""
    rejected: int
    """How many are not."""
    findings: list[FindingBody]
    """Everything that was found in the file."""


class PublicationBody(msgspec.Struct, frozen=True):
    """What became of a version that was to be published."""

    reference: str
    """The version."""
    outcome: str
    """`published`, `unchanged` where it was before, or `noted` where only its notes changed."""
    sha256: str | None
    """The hash of what is published."""
    published_at: str | None
    """When that was."""
    refusals: list[str]
    """Why it is not published."""
    warnings: list[str]
    """What to know before it is used."""
    bump: str | None
    """Which part of the version has changed: `major`, `minor` or `patch`."""
    diff: dict[str, Any] | None
    """How it differs from the version before."""
    shift: dict[str, Any] | None
    """How many verdicts of a run it changes, where that was tried."""


class DiffBody(msgspec.Struct, frozen=True):
    """The differences between two versions."""

    old: str
    """The version before."""
    new: str
    """The version after."""
    is_breaking: bool
    """Whether scores of the two cannot be compared."""
    differences: list[dict[str, Any]]
    """Every difference, with its path."""


class ArchivalBody(msgspec.Struct, frozen=True):
    """What became of a version that was to be archived."""

    reference: str
    """The version."""
    outcome: str
    """`archived`, or `unchanged` where it was before."""
    status: str
    """`archived`."""


def page_of(kind: PublishedKind, listed: Sequence[ListedVersion], query: PageQuery) -> JsonReply:
    """A page of versions, by id and version."""
    rows = sorted(listed, key=_order)
    if query.cursor is not None:
        after = position_at(query.cursor, kind, tuple[str, str, str])
        rows = [one for one in rows if _order(one) > _place(*after)]
    shown = rows[: query.limit]
    last = shown[-1] if len(rows) > query.limit else None
    cursor = cursor_of(_position(last), kind) if last else None
    return JsonReply(body=Page([version_body(kind, one) for one in shown], cursor))


def version_body(kind: PublishedKind, one: ListedVersion) -> VersionBody:
    """A version in a list."""
    return VersionBody(**_version(kind, one))


def shown_body(kind: PublishedKind, shown: Shown) -> ShownBody:
    """A version with its content."""
    return ShownBody(
        **_version(kind, shown.listed),
        content=shown.content,
        versions=list(shown.versions),
        refers_to=list(shown.refers_to),
        used_by=list(shown.used_by),
        findings=finding_bodies(shown.findings),
    )


def created(creation: Creation) -> JsonReply:
    """The answer to a file that was sent; an error where it is not kept."""
    saved, report = creation.saved, creation.report
    if saved is None:
        raise invalid_file(report)
    body = CreatedBody(
        ref=saved.name,
        reference=saved.reference,
        id=saved.id,
        version=saved.version,
        contract=saved.contract,
        status=_status(creation.status),
        origin="store",
        sha256=creation.sha256,
        total=report.total,
        accepted=report.accepted,
        rejected=report.rejected,
        findings=finding_bodies(report.findings),
    )
    return JsonReply(body=body, status=201 if creation.is_new else 200)


def invalid_file(report: FileReport) -> ErrorReply:
    """The error of a file that is not kept, with everything that was found."""
    errors = [one for one in report.findings if one.is_error]
    told = "; ".join(f"{one.where}{one.message}" for one in errors[:_SHOWN])
    more = f"; and {len(errors) - _SHOWN:,} more" if len(errors) > _SHOWN else ""
    return ErrorReply(
        status=400,
        message=without_surrogates(f"nothing is saved: {told or 'there is no record'}{more}"),
        details={"findings": msgspec.to_builtins(finding_bodies(report.findings))},
    )


def publication(made: Publication) -> JsonReply:
    """The answer to a publication; an error where it is refused."""
    row = publication_json(made)
    if made.outcome == "refused":
        raise ErrorReply(status=409, message="; ".join(made.refusals[:_SHOWN]), details=row)
    return JsonReply(body=msgspec.convert(row, PublicationBody))


def difference(diff: Diff) -> JsonReply:
    """The answer to a comparison."""
    return JsonReply(body=msgspec.convert(diff_json(diff), DiffBody))


def archival(made: Archival) -> JsonReply:
    """The answer to a version that is archived now."""
    return JsonReply(
        body=ArchivalBody(reference=made.reference, outcome=made.outcome, status="archived")
    )


def _status(status: str) -> str:
    """The status in the words of contract 3."""
    return "draft" if status == "not published" else status


def _version(kind: PublishedKind, one: ListedVersion) -> dict[str, Any]:
    name = without_surrogates(one.name)
    return {
        "ref": name,
        "reference": f"{kind}/{name}",
        "id": without_surrogates(one.id),
        "version": one.version,
        "contract": one.contract,
        "status": _status(one.status),
        "origin": one.origin,
        "source": without_surrogates(one.source),
        "sha256": one.sha256,
        "published_at": one.published_at,
    }


def _position(one: ListedVersion) -> tuple[str, str, str]:
    return tuple(map(without_surrogates, (one.id, one.version or "", one.source)))  # pyright: ignore[reportReturnType]


def _place(name: str, version: str, source: str) -> tuple[Any, ...]:
    return (name, version_order(version), version, source)


def _order(one: ListedVersion) -> tuple[Any, ...]:
    return _place(*_position(one))
