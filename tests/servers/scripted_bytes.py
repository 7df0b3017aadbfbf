"""A server that answers each request with bytes that a test wrote down."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Scripted:
    """What was asked, and over how many connections."""

    answers: list[Sequence[bytes]]
    """The pieces of each answer; after an empty last piece the connection is closed."""
    url: str = ""
    connections: int = 0
    requests: list[bytes] = field(default_factory=list[bytes])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, from the first answer that is left."""
        self.connections += 1
        try:
            while self.answers:
                head = await reader.readuntil(b"\r\n\r\n")
                framed = head.lower().partition(b"content-length:")[2]
                size = int(framed.split(b"\r\n")[0] or 0)
                self.requests.append(head + await reader.readexactly(size))
                for piece in self.answers.pop(0):
                    if not piece:
                        return
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0.005)
            await reader.read()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def scripted(
    *answers: Sequence[bytes], tls: ssl.SSLContext | None = None
) -> AsyncGenerator[Scripted]:
    """A server with so many answers."""
    made = Scripted(list(answers))
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    made.url = f"https://localhost:{port}" if tls else f"http://127.0.0.1:{port}"
    try:
        yield made
    finally:
        server.close()
        await server.wait_closed()
