"""Pages as HTML: the frame around every page, and what templates can use."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment
from starlette.responses import HTMLResponse

from steelyard.model.access import Identity, Scope
from steelyard.reports.html.legible_text import legible
from steelyard.reports.html.pages import environment
from steelyard.reports.review_keys import badge_of
from steelyard.web.assets import asset_url
from steelyard.web.markdown import safe_markdown
from steelyard.web.page import Context, Section


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What surrounds every page."""

    section: Section
    identity: Identity | None
    has_login: bool
    path: str
    """The address with its query."""
    project: str
    """The name of the project's folder."""
    form_token: str
    """What forms of this page must repeat, masked; empty where there is no session."""

    def may(self, scope: Scope) -> bool:
        """Whether the visitor is allowed to do something."""
        return self.identity is not None and self.identity.may(scope)


def render(context: Context, frame: Frame) -> HTMLResponse:
    """The HTML of a page."""
    template = _pages().get_template(context.template)
    html = legible(template.render(page=context, frame=frame))
    # No HTML may hold a null character, which a text of a model may.
    return HTMLResponse(html.replace("\0", "\ufffd"), context.status)


@cache
def _pages() -> Environment:
    pages = environment("steelyard.web")
    names: dict[str, Any] = {"asset": asset_url, "badge_of": badge_of}
    pages.globals.update(names)
    filters: dict[str, Any] = {
        "markdown": safe_markdown,
        "when": when_text,
        "segment": segment,
        "query": query_text,
        "pretty": pretty_json,
        "json": short_json,
        "duration": duration_text,
    }
    pages.filters.update(filters)
    return pages


def when_text(at: str | None) -> str:
    """A time as people read it, such as `15 Nov 2026, 21:31 UTC`."""
    if not at:
        return "–"
    time = datetime.fromisoformat(at)
    return f"{time.day} {time:%b %Y, %H:%M} UTC"


def duration_text(seconds: float) -> str:
    """A time that is still to pass, not more exactly than it is known."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


def segment(text: str) -> str:
    """A text as one segment of an address."""
    return quote(text, safe="")


def query_text(values: dict[str, Any]) -> str:
    """A query with its question mark; values that are None are left out. Empty without values."""
    given = {name: value for name, value in values.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def short_json(value: object) -> str:
    """JSON on one line, escaped by the template."""
    return json.dumps(value, ensure_ascii=False)


def pretty_json(value: object) -> str:
    """JSON to read, escaped by the template."""
    return json.dumps(value, ensure_ascii=False, indent=2)
