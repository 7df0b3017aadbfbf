"""A chat-completions endpoint that costs next to nothing, so that it is never the bottleneck.

Run as a process of its own: `python -m bench.openai_server DELAY_MS`; it prints its port and
serves until its standard input ends. It counts what it answers: a call to `/counts` says so.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Mapping
from typing import cast

_SAID = "The loan period is three weeks."
_JUDGED = '{"answers": {"score": {"evidence": "three weeks", "reasoning": "Right.", "value": 1}}}'
_CRITERION = '{"reason": "It says three weeks.", "pass": true, "score": 1}'
_GEVAL = '{"reason": "It says three weeks.", "score": 10}'
_CALL = {"name": "look_up", "arguments": '{"book": "1"}'}


def _reply(message: Mapping[str, object]) -> bytes:
    """A whole response with this message."""
    return _response(_completion(message))


def _completion(message: Mapping[str, object]) -> Mapping[str, object]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1767225600,
        "model": "bench-1",
        "choices": [
            {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 21, "completion_tokens": 7, "total_tokens": 28},
    }


def _response(value: Mapping[str, object]) -> bytes:
    body = json.dumps(value, separators=(",", ":")).encode()
    head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
    return f"{head}{len(body)}\r\n\r\n".encode() + body


ANSWERS = {
    "weeks": _reply({"content": _SAID}),
    "choice": _reply({"content": "The answer is A"}),
    "judge": _reply({"content": _JUDGED}),
    "criterion": _reply({"content": _CRITERION}),
    "geval": _reply({"content": _GEVAL}),
    "grade": _reply({"content": "It says three weeks.\n\nGRADE: C"}),
    "tool": _reply(
        {"content": None, "tool_calls": [{"id": "c1", "type": "function", "function": _CALL}]}
    ),
    "long": _reply({"content": " ".join([_SAID] * 256)}),
}
"""What is answered, by the last part of an address; any other is answered as `weeks`."""
_OTHER = "weeks"
_COUNTS = "counts"
_BY_PATH = {f"/{name}/chat/".encode(): name for name in (*ANSWERS, _COUNTS)}
_LENGTH = b"content-length:"


class Endpoint(asyncio.Protocol):
    """One connection; requests are counted off by their length and never parsed further."""

    def __init__(self, delay_s: float, counts: Counter[str]) -> None:
        self._delay_s = delay_s
        self._counts = counts
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to answer."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Answer every request that is complete."""
        self._data += data
        while (size := _request_size(self._data)) and len(self._data) >= size:
            answer = self._answer_to(_asked(self._data))
            self._data = self._data[size:]
            if self._delay_s:
                asyncio.get_running_loop().call_later(self._delay_s, self._answer, answer)
            else:
                self._answer(answer)

    def _answer_to(self, name: str) -> bytes:
        if name == _COUNTS:
            return _response(self._counts)
        self._counts[name] += 1
        return ANSWERS[name]

    def _answer(self, answer: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(answer)


def _asked(data: bytes) -> str:
    """The name of the answer that a request is for."""
    line = data[: data.find(b"\r\n")]
    return next((name for path, name in _BY_PATH.items() if path in line), _OTHER)


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
    counts = Counter[str]()
    server = await loop.create_server(
        lambda: Endpoint(delay_s, counts), "127.0.0.1", 0, backlog=1024
    )
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
