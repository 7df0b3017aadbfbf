"""A chat-completions endpoint that costs next to nothing, so that it is never the bottleneck.

Run as a process of its own: `python -m bench.openai_server DELAY_MS`; it prints its port and
serves until its standard input ends.
"""

from __future__ import annotations

import asyncio
import sys
from typing import cast

_BODY = (
    b'{"id":"chatcmpl-1","object":"chat.completion","created":1767225600,"model":"bench-1",'
    b'"choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"The loan period is three weeks."},'
    b'"finish_reason":"stop"}],"usage":{"prompt_tokens":21,"completion_tokens":7,'
    b'"total_tokens":28}}'
)
_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
    len(_BODY),
    _BODY,
)
_LENGTH = b"content-length:"


class Endpoint(asyncio.Protocol):
    """One connection; requests are counted off by their length and never parsed further."""

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to answer."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Answer every request that is complete."""
        self._data += data
        while (size := _request_size(self._data)) and len(self._data) >= size:
            self._data = self._data[size:]
            if self._delay_s:
                asyncio.get_running_loop().call_later(self._delay_s, self._answer)
            else:
                self._answer()

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(_ANSWER)


def _request_size(data: bytes) -> int | None:
    """The bytes of the first request, head and body; None while the head is not complete."""
    head = data.find(b"\r\n\r\n")
    if head < 0:
        return None
    lower = data[:head].lower()
    start = lower.index(_LENGTH) + len(_LENGTH)
    end = lower.find(b"\r\n", start)
    return head + 4 + int(lower[start : end if end > 0 else head])


async def serve(delay_s: float) -> None:
    """Print the port, then serve until standard input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Endpoint(delay_s), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


def main() -> None:
    """Serve on the fastest loop there is."""
    delay_s = float(sys.argv[1]) / 1000
    try:
        import uvloop  # noqa: PLC0415 - absent on Windows
    except ImportError:
        asyncio.run(serve(delay_s))
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(delay_s))


if __name__ == "__main__":
    main()
