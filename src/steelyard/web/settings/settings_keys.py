"""API keys as an administrator manages them; a secret is shown once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from starlette.responses import RedirectResponse, Response

from steelyard.api.errors import status_of
from steelyard.errors import InvalidError, RequestError
from steelyard.model.access import ROLES, SCOPE_MEANINGS, SCOPES, ApiKey, Role, Scope
from steelyard.usecases.access.keys import (
    MAX_DAYS,
    CreatedKey,
    KeyRequest,
    create_key,
    list_keys,
    revoke_key,
)
from steelyard.web.page import AnyPage, Context, PlainQuery, Visit, WebPage
from steelyard.web.settings.settings import problem_of


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysContext(Context):
    """What the page of keys shows."""

    template: ClassVar[str] = "settings_keys.html"
    tab: ClassVar[str] = "keys"
    keys: tuple[ApiKey, ...]
    now: str
    roles: tuple[Role, ...] = ROLES
    scopes: tuple[tuple[Scope, str], ...]
    typed: Mapping[str, str]
    created: CreatedKey | None = None
    problem: str = ""
    max_days: int = MAX_DAYS


def _show(visit: Visit[PlainQuery]) -> KeysContext:
    return KeysContext(
        title="Settings",
        keys=tuple(list_keys(visit.project.access_ports())),
        now=visit.project.clock.stamp(),
        scopes=tuple((scope, SCOPE_MEANINGS[scope]) for scope in SCOPES),
        typed={},
    )


def _submit(visit: Visit[PlainQuery]) -> Context | Response:
    ports, form = visit.project.access_ports(), visit.form
    try:
        if key_id := form.get("revoke"):
            revoke_key(ports, key_id, caller=visit.caller)
            return RedirectResponse("/settings/keys", 303)
        created = create_key(ports, _asked(form), caller=visit.caller)
    except RequestError as error:
        status = status_of(error)
        return replace(_show(visit), typed=form, problem=problem_of(visit, error), status=status)
    return replace(_show(visit), created=created, status=201)


def _asked(form: Mapping[str, str]) -> KeyRequest:
    """The key that a form asks for; no scope chosen means all of the role."""
    scopes = [scope for scope in SCOPES if form.get(f"scope {scope}")]
    days = form.get("days", "").strip()
    if days and not (days.isascii() and days.isdigit() and len(days) <= len(str(MAX_DAYS))):
        raise InvalidError(f"a key expires after 1 to {MAX_DAYS:,} days, not '{days[:20]}'")
    return KeyRequest(
        form.get("name", ""), form.get("role", ""), scopes or None, int(days) if days else None
    )


PAGES: tuple[AnyPage, ...] = (
    WebPage(path="/settings/keys", section="settings", scope="admin", show=_show, submit=_submit),
)
