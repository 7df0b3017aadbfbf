"""A handler that answers, and notes what it was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from servers.openai_server import says

if TYPE_CHECKING:
    from aiohttp import web


class Notes:
    """Gives one answer to every request and keeps the last one."""

    def __init__(self, answer: object) -> None:
        self._answer = answer
        self.line = ""
        """Method and path, with the query as it was sent."""
        self.headers: dict[str, str] = {}
        self.data = b""
        self.body: Any = None

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Note the request."""
        self.line = f"{request.method} {request.raw_path}"
        self.headers = {name.lower(): value for name, value in request.headers.items()}
        self.data = await request.read()
        self.body = await request.json() if self.data else None
        return await says(self._answer)(request)
