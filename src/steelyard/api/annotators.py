"""Who answers items of review queues, and who looks at results."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from steelyard.api.call import Call
from steelyard.api.paging import PageQuery
from steelyard.errors import InvalidError, argument
from steelyard.usecases.review.queues.annotating import Annotator

Name = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=200,
        description="Who answers; only where there is no login, else it is the caller.",
    ),
]


class AnnotatorQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whose view is asked for."""

    annotator: Name | None = None


class AnnotatorPageQuery(PageQuery, frozen=True, forbid_unknown_fields=True):
    """Which page of a list, and whose view is asked for."""

    annotator: Name | None = None


def annotator_of(call: Call[Any, Any], given: str | None) -> Annotator:
    """Whoever answers: the caller, or without login the name that a request gives."""
    has_login = call.served.settings.has_login
    if has_login or (given is None and call.identity.credential == "key"):
        if given not in {None, call.identity.actor}:
            raise InvalidError(
                f"{argument('annotator')} is the caller, {call.identity.actor}, where there is a "
                "login"
            )
        return Annotator(name=call.identity.actor, has_login=has_login)
    if given is None:
        raise InvalidError(f"say who answers with {argument('annotator')}: there is no login")
    return Annotator(name=given, has_login=False)


def token_holder(call: Call[Any, Any]) -> Annotator | None:
    """Whoever must hold the token of a write; without login the token alone says who writes."""
    if not call.served.settings.has_login:
        return None
    return Annotator(name=call.identity.actor, has_login=True)
