"""Rubrics: every version of question rubrics and check rubrics, wherever it lives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from steelyard.web.authors.definitions import ListQuery, VersionList, listed_versions
from steelyard.web.page import AnyPage, Context, Visit, WebPage


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricsContext(Context):
    """What the list of rubrics shows."""

    template: ClassVar[str] = "rubrics.html"
    versions: VersionList


def _show(visit: Visit[ListQuery]) -> RubricsContext:
    found = listed_versions(visit.project.registry_ports(), "rubric", visit.query)
    return RubricsContext(title="Rubrics", versions=found)


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/rubrics", section="rubrics", scope="registry:read", show=_show, query=ListQuery
    ),
)
