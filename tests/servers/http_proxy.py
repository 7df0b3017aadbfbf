"""An HTTP proxy on loopback that leads every request to one server, wherever it was meant for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class HttpProxy:
    """What it was asked, and how it answers."""

    upstream: int
    """The port of the server."""
    answer: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n"
    """What it says to `CONNECT`; one that is no 200 ends the connection."""
    port: int = 0
    heads: list[str] = field(default_factory=list[str])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, which leads to the server from its first request on."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head.decode("latin-1"))
            is_tunnel = head.startswith(b"CONNECT ")
            if is_tunnel:
                writer.write(self.answer)
                if b" 200 " not in self.answer:
                    return
            inner, outer = await asyncio.open_connection("127.0.0.1", self.upstream)
            if not is_tunnel:
                outer.write(head)
            await asyncio.gather(_relay(reader, outer), _relay(inner, writer))
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def _relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


@asynccontextmanager
async def proxying(upstream: int, answer: bytes | None = None) -> AsyncGenerator[HttpProxy]:
    """A proxy that leads to a port of this machine."""
    made = HttpProxy(upstream, answer) if answer else HttpProxy(upstream)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
