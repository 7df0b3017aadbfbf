"""Go to a page, a run or a definition by a part of its name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, NamedTuple

import msgspec

from steelyard.model.access import Scope
from steelyard.results.runs import RunQuery
from steelyard.usecases.datasets.dataset_versions import list_datasets
from steelyard.usecases.registry.look_up import list_definitions
from steelyard.usecases.results.runs import list_runs
from steelyard.usecases.settings.saved_settings import list_suites, list_targets
from steelyard.web.page import AnyPage, Context, Visit, WebPage
from steelyard.web.rendering import query_text, segment, when_text

_MOST = 20
_RUNS = 8
_PAGES: tuple[tuple[str, str, Scope], ...] = (
    ("Home", "/", "runs:read"),
    ("Runs", "/runs", "runs:read"),
    ("Compare two runs", "/compare", "runs:read"),
    ("Datasets", "/datasets", "registry:read"),
    ("Rubrics", "/rubrics", "registry:read"),
    ("Import a rubric", "/rubrics/import", "registry:write"),
    ("Judges", "/judges", "registry:read"),
    ("Suites", "/suites", "registry:read"),
    ("New suite", "/suites/new", "registry:write"),
    ("Targets", "/targets", "admin"),
    ("Review", "/review", "review:read"),
    ("New review queue", "/review/new", "registry:write"),
    ("Settings: users and roles", "/settings", "admin"),
    ("Settings: API keys", "/settings/keys", "admin"),
    ("Settings: audit log", "/settings/audit", "admin"),
    ("API", "/docs", "runs:read"),
)


class GotoQuery(msgspec.Struct, frozen=True):
    """A part of a name."""

    q: str = ""


class Destination(NamedTuple):
    """Somewhere to go."""

    name: str
    kind: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GotoContext(Context):
    """What the switcher lists."""

    template: ClassVar[str] = "goto.html"
    asked: str
    places: tuple[Destination, ...]


def _show(visit: Visit[GotoQuery]) -> GotoContext:
    asked = visit.query.q.strip()
    places = tuple(islice(_places(visit, asked), _MOST))
    return GotoContext(title="Go to", asked=asked, places=places)


def _places(visit: Visit[GotoQuery], asked: str) -> Iterator[Destination]:
    """Pages first, then runs, then definitions; all of them with the text in their name."""
    text = asked.casefold()
    for name, href, scope in _PAGES:
        if text in name.casefold() and visit.identity.may(scope):
            yield Destination(name, "page", href)
    for run in list_runs(visit.project.store, RunQuery(text=asked or None), limit=_RUNS).runs:
        title = f"{run.dataset} × {run.target or 'several targets'}"
        kind = f"run …{run.run_id[-6:]}, {when_text(run.created_at)}"
        yield Destination(title, kind, f"/runs/{segment(run.run_id)}")
    if visit.identity.may("review:read"):
        yield from (one for one in _queues(visit) if text in one.name.casefold())
    if visit.identity.may("registry:read"):
        yield from (one for one in _definitions(visit) if text in one.name.casefold())


def _queues(visit: Visit[GotoQuery]) -> Iterator[Destination]:
    """Review queues, newest first; whoever may not answer sees how far they have come."""
    end = "" if visit.identity.may("review:write") else "/progress"
    for queue in visit.project.queue_ports().queues.all():
        kind = "review queue" if queue.status == "open" else "closed review queue"
        yield Destination(queue.name, kind, f"/review/{segment(queue.queue_id)}{end}")


def _definitions(visit: Visit[GotoQuery]) -> Iterator[Destination]:
    ports, settings = visit.project.registry_ports(), visit.project.setting_ports()
    for suite in list_suites(settings):
        yield Destination(suite.name, "suite", f"/suites/{segment(suite.name)}")
    for dataset in list_datasets(ports):
        yield Destination(dataset.name, "dataset", f"/datasets/{segment(dataset.name)}")
    for kind in ("rubric", "judge"):
        for one in list_definitions(ports, kind):
            if one.status != "broken":
                yield Destination(one.name, kind, f"/{kind}s/{segment(one.name)}")
    if visit.identity.may("admin"):
        for target in list_targets(settings):
            yield Destination(
                target.name, "target", f"/targets{query_text({'target': target.name})}"
            )


PAGES: tuple[AnyPage, ...] = (
    WebPage(path="/goto", section="", scope="runs:read", show=_show, query=GotoQuery),
)
