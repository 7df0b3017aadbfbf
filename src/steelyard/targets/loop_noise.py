"""What an event loop would print though nobody can do anything about it."""

from __future__ import annotations

import asyncio
from typing import Any


def without_noise(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Say nothing of a connection that failed when nobody waited for it any more.

    Whoever waited first was told, as for the name of a host that nobody knows.
    """
    is_late = "never retrieved" in str(context.get("message"))
    if not (is_late and isinstance(context.get("exception"), OSError)):
        loop.default_exception_handler(context)
