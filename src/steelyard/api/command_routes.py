"""The routes that do what commands do, for messages that name a command."""

from __future__ import annotations

import re

_ROUTES = (
    (re.compile(r"`steelyard runs`"), "`GET /v1/runs`"),
    (re.compile(r"`steelyard run`"), "`POST /v1/runs`"),
    (re.compile(r"`steelyard (rubric|judge|dataset) list`"), r"`GET /v1/\1s`"),
    (
        re.compile(r"`steelyard (rubric|judge|dataset) show \1/([^\s`]+)`"),
        r"`GET /v1/\1s/\2`",
    ),
    (
        re.compile(r"`steelyard (rubric|judge|dataset) publish \1/([^\s`]+)`"),
        r"`POST /v1/\1s/\2/publish`",
    ),
)


def with_routes(message: str) -> str:
    """A message for clients of the API: routes in the place of commands that have one."""
    for command, route in _ROUTES:
        message = command.sub(route, message)
    return message
