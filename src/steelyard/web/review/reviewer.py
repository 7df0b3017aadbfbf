"""Who answers: the user who is logged in, or on a server without login a name that they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote, unquote

import msgspec
from starlette.responses import RedirectResponse, Response

from steelyard.errors import InvalidError
from steelyard.model.names import require_name
from steelyard.usecases.review.queues.annotating import Annotator, require_own_spelling
from steelyard.web.own_path import own_path
from steelyard.web.page import AnyPage, Context, Crumb, Visit, WebPage

COOKIE = "steelyard_reviewer"
REVIEW = Crumb("Review", "/review")
_A_YEAR_S = 365 * 24 * 3600


class NameQuery(msgspec.Struct, frozen=True):
    """Where to go once the name is known."""

    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NameContext(Context):
    """Asks for the name under which somebody answers."""

    template: ClassVar[str] = "review_name.html"
    name: str
    next: str
    problem: str = ""


def reviewer_of(visit: Visit[Any]) -> Annotator | None:
    """Whoever answers on this page; None where their name is not known yet."""
    if visit.served.settings.has_login:
        return Annotator(name=visit.identity.actor, has_login=True)
    name = unquote(visit.request.cookies.get(COOKIE, ""))
    return Annotator(name=name, has_login=False) if name else None


def ask_name(visit: Visit[Any]) -> Response:
    """Send somebody to give their name, and back to this page."""
    return RedirectResponse(f"/review/name?next={quote(_here(visit), safe='')}", 303)


def _here(visit: Visit[Any]) -> str:
    query = visit.request.url.query
    return visit.request.url.path + (f"?{query}" if query else "")


def _show(visit: Visit[NameQuery]) -> Context | Response:
    if visit.served.settings.has_login:
        return RedirectResponse("/review", 303)
    known = reviewer_of(visit)
    return NameContext(
        title="Your name",
        crumbs=(REVIEW,),
        name=known.name if known else visit.identity.actor,
        next=_after(visit.query.next),
    )


def _keep(visit: Visit[NameQuery]) -> Context | Response:
    name, then = visit.form.get("name", "").strip(), _after(visit.form.get("next"))
    try:
        require_name("the name", name)
        require_own_spelling(visit.project.queue_ports(), "the name", name)
    except InvalidError as error:
        problem = visit.message(error)
        return NameContext(
            title="Your name", crumbs=(REVIEW,), name=name, next=then, problem=problem, status=400
        )
    answer = RedirectResponse(then, 303)
    answer.set_cookie(
        COOKIE, quote(name), max_age=_A_YEAR_S, path="/", httponly=True, samesite="lax"
    )
    return answer


def _after(address: str | None) -> str:
    return own_path(address) if address else "/review"


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/review/name",
        section="review",
        scope="review:write",
        show=_show,
        submit=_keep,
        query=NameQuery,
    ),
)
