"""An endpoint that closes a connection when it is used again, without a byte of an answer."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from checker import check_run
from fakes.projects import row
from servers.in_thread import in_thread
from servers.openai_server import COMPLETION

Steelyard = Callable[..., subprocess.CompletedProcess[str]]
PACE_S = 0.1
SETTINGS = """\
targets:
  live: {{provider: openai, base_url: "{0}", model: m, max_concurrency: 4,
         requests_per_minute: 600, price: {{input: 1, output: 1}}}}
judges: {{default: {{target: live}}}}
retry: {{max_attempts: 1}}
"""
GRADERS = {
    "live": {"type": "contains", "value": "nine"},
    "echo": {"type": "llm-grader", "prompt": "Is it true?"},
}
RECORDS = 12


class Closing:
    """Answers the first request of each connection, reads the second and closes."""

    def __init__(self, *, resets: bool) -> None:
        self.asked: list[float] = []
        self._resets = resets

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[str]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._read(reader)
            body = json.dumps(COMPLETION).encode()
            head = (
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
            )
            writer.write(head % len(body) + body)
            await self._read(reader)
            if self._resets:
                writer.transport.abort()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        await reader.readexactly(size)
        self.asked.append(time.monotonic())


@pytest.mark.parametrize(
    ("target", "resets", "options"),
    [
        ("live", False, ()),
        ("live", True, ()),
        ("echo", False, ()),
        pytest.param("live", False, ("--workers", "2"), marks=pytest.mark.trials),
    ],
    ids=["target", "resets", "judge", "workers"],
)
def test_a_call_that_a_kept_connection_loses_is_paced_and_logged_as_every_other(
    tmp_path: Path, steelyard: Steelyard, target: str, resets: bool, options: tuple[str, ...]
) -> None:
    rows = [row(f"r{n}", evaluators=[GRADERS[target]], input=f"q{n}") for n in range(RECORDS)]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    endpoint = Closing(resets=resets)
    with in_thread(endpoint.serving()) as url:
        (tmp_path / "steelyard.yaml").write_text(SETTINGS.format(url), encoding="utf-8")
        command = ("run", "d.jsonl", "--target", target, "--format", "json", *options)
        done = steelyard(*command, cwd=tmp_path)
    run: dict[str, Any] = json.loads(done.stdout)
    folder = Path(run["artifacts"])
    check_run(folder)
    text = (folder / "attempt_logs.jsonl").read_text(encoding="utf-8")
    logged = [one for one in map(json.loads, text.splitlines()) if one["target"] == "live"]
    lost = [one for one in logged if one["error_code"] == "outage"]
    took_s = endpoint.asked[-1] - endpoint.asked[0]

    assert len(lost) == run["metrics"]["outage_calls"] > 0
    assert len(logged) == len(endpoint.asked) >= RECORDS + len(lost)
    assert took_s > PACE_S * (len(endpoint.asked) - 1) * 0.9
    assert all("kept from an earlier call" in one["message"] for one in lost)
    assert target == "echo" or run["metrics"]["pass_count"] == RECORDS
