"""Many clients post runs and poll them at once: every request is answered, every run ends."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web

from servers.in_thread import in_thread
from servers.openai_server import COMPLETION, serving
from servers.run_service import ENDED, document, record
from servers.service_process import QUERY, service_of

pytestmark = pytest.mark.trials

CLIENTS = 50
POSTING_S = [15.0, pytest.param(60.0, marks=pytest.mark.soak)]
PATIENCE_S = 200.0


async def answer(_request: web.Request) -> web.StreamResponse:
    """A completion at once."""
    return web.json_response(COMPLETION)


async def posted_and_polled(url: str, posting_s: float) -> list[Any]:
    """The runs of clients, of which each posts one after the other and waits for its end."""
    ended: list[Any] = []
    until = time.monotonic() + posting_s
    patience = until + PATIENCE_S
    body = document([record(f"r{number}") for number in range(5)])

    async def work(client: httpx.AsyncClient) -> None:
        while True:
            posted = await client.post("/v1/runs", params=QUERY, json=body)
            assert posted.status_code == 202, posted.text
            path = f"/v1/runs/{posted.json()['run_id']}"
            while (run := (await client.get(path)).raise_for_status().json())[
                "status"
            ] not in ENDED:
                assert time.monotonic() < patience, run
                await asyncio.sleep(0.25)
            ended.append(run)
            if time.monotonic() >= until:
                return

    limits = httpx.Limits(max_connections=CLIENTS)
    async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits) as client:
        await asyncio.gather(*(work(client) for _ in range(CLIENTS)))
    return ended


@pytest.mark.parametrize("posting_s", POSTING_S)
def test_no_request_of_many_clients_fails_and_every_run_ends(
    tmp_path: Path, posting_s: float
) -> None:
    with in_thread(serving(answer)) as target, service_of(tmp_path, target, workers=2) as service:
        ended = asyncio.run(posted_and_polled(f"http://127.0.0.1:{service.port}", posting_s))

    assert len(ended) >= CLIENTS
    assert {(run["status"], run["progress"]["done"]) for run in ended} == {("completed", 5)}
