"""Every fault of an endpoint in one run: each record ends as its fault demands, and no other."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from codecs import BOM_UTF8
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from checker import check_run
from fakes.projects import Project, json_of, row, rows_of
from servers.openai_server import (
    COMPLETION,
    Answer,
    cuts_off,
    floods,
    hangs,
    packs,
    resets,
    says,
    sends,
    serving,
    trickles,
)
from steelyard.usecases.runs.execute import FinishedRun, start_run

pytestmark = pytest.mark.trials

if TYPE_CHECKING:
    from aiohttp import web

SETTINGS = """\
targets:
  live: {{provider: openai, base_url: "{url}", model: m, timeout_s: 1.5, max_concurrency: 32}}
  gone: {{provider: openai, base_url: "http://127.0.0.1:{port}/v1", model: m}}
retry: {{max_attempts: 3, backoff_s: [0, 0]}}
"""
GOOD = says(COMPLETION)
WHOLE = json.dumps(COMPLETION).encode()
TWO_MEMBERS = gzip.compress(WHOLE[:50], mtime=0) + gzip.compress(WHOLE[50:], mtime=0)
EVALUATED = ("evaluated", None)


def failed(label: str) -> tuple[str, str]:
    return ("timeout" if label == "timeout" else "evaluation_error", label)


def in_a_second() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=1), usegmt=True)  # noqa: TID251


@dataclass(frozen=True)
class Fault:
    """What an endpoint answers, call by call; the last answer again and again."""

    answers: tuple[Answer, ...]
    end: tuple[str, str | None]
    calls: int


FAULTS = {
    "good": Fault((GOOD,), EVALUATED, 1),
    "reset": Fault((resets,), failed("service_unavailable"), 3),
    "reset once": Fault((resets, GOOD), EVALUATED, 2),
    "429 with seconds": Fault((says({}, 429, retry_after="1"), GOOD), EVALUATED, 2),
    "429 with a date": Fault((says({}, 429, retry_after=in_a_second()), GOOD), EVALUATED, 2),
    "429 with an absurd wait": Fault(
        (says({}, 429, retry_after="86400"),), failed("rate_limited"), 1
    ),
    "429 for ever": Fault((says({}, 429),), failed("rate_limited"), 3),
    "500": Fault((says({}, 500), says({}, 500), GOOD), EVALUATED, 3),
    "503": Fault((says({}, 503),), failed("service_unavailable"), 3),
    "no headers": Fault((hangs, GOOD), EVALUATED, 2),
    "a byte now and then": Fault((trickles,), failed("timeout"), 3),
    "endless body": Fault((floods,), failed("bad_response"), 1),
    "gzip bomb": Fault((packs(bytes(32 * 1024 * 1024)),), failed("bad_response"), 1),
    "gzip in two members": Fault((sends(TWO_MEMBERS, content_encoding="gzip"),), EVALUATED, 1),
    "byte order mark": Fault((sends(BOM_UTF8 + WHOLE),), EVALUATED, 1),
    "wrong content type": Fault((sends(WHOLE, kind="text/html"),), EVALUATED, 1),
    "not JSON": Fault((sends(b"<html>", kind="text/html"),), failed("internal_error"), 3),
    "truncated": Fault((cuts_off,), failed("internal_error"), 3),
    "invalid UTF-8": Fault((sends(b'{"choices": "\xff"}'),), failed("internal_error"), 3),
    "error in a 200": Fault((says({"error": {"message": "no"}}),), failed("bad_request"), 1),
    "redirect": Fault((says({}, 307, location="http://127.0.0.1:1/"),), failed("bad_request"), 1),
    "401": Fault((says({}, 401),), failed("unauthorized"), 1),
}


class Endpoint:
    """Answers each record with the fault that its prompt names, and counts the calls."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        asked: Any = await request.json()
        name = asked["messages"][-1]["content"]
        answers = FAULTS[name].answers
        place = min(self.calls[name], len(answers) - 1)
        self.calls[name] += 1
        return await answers[place](request)


@dataclass(frozen=True)
class Outcome:
    """What a run came to, and what the endpoint saw."""

    run: FinishedRun
    calls: Counter[str]


def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """One run over all faults, and a target that nobody answers beside it."""
    endpoint = Endpoint()
    says_nine = [{"type": "contains", "value": "nine"}]
    rows = [
        row(name, input=name, evaluators=says_nine, execution={"target": "live"})
        for name in FAULTS
    ]
    rows.append(row("refused", execution={"target": "gone"}))

    async def main() -> FinishedRun:
        async with serving(endpoint.answer) as url:
            settings = SETTINGS.format(url=url, port=closed_port())
            project = Project(tmp_path_factory.mktemp("faults"), settings)
            ports = project.ports()
            prepared = project.prepare(ports, project.cases(rows), target=None)
            run = await start_run(ports, prepared, lambda _: None, project.seen.append)
            project.close()
            return run

    return Outcome(asyncio.run(main()), endpoint.calls)


def is_lost(row: Any) -> bool:
    """A call under which a kept connection was closed: it is made again and uses no attempt."""
    return bool(row["error_code"] == "outage")


def tries_of(outcome: Outcome, name: str) -> list[Any]:
    rows = rows_of(outcome.run, "attempt_logs.jsonl")
    return [row for row in rows if row["record_id"] == name and not is_lost(row)]


def test_a_run_over_all_faults_is_what_the_engine_promises(outcome: Outcome) -> None:
    refused = 3
    calls = outcome.calls.total() + refused

    assert len(rows_of(outcome.run, "attempt_logs.jsonl")) == calls
    check_run(Path(outcome.run.folder))
    assert outcome.run.status == json_of(outcome.run)["status"] == "completed_with_failures"


@pytest.mark.parametrize("name", [*FAULTS, "refused"])
def test_a_fault_ends_its_own_record_as_it_demands(outcome: Outcome, name: str) -> None:
    known = FAULTS.get(name, Fault((), failed("service_unavailable"), 3))
    (found,) = [entry for entry in rows_of(outcome.run) if entry["record_id"] == name]
    failures = rows_of(outcome.run, "failures.jsonl")
    labels = [entry["label"] for entry in failures if entry["record_id"] == name]
    tries = tries_of(outcome, name)

    assert (found["status"], next(iter(labels), None)) == known.end
    assert len(tries) == known.calls or (name, len(tries)) == ("reset once", 1)
    if name in FAULTS and not name.startswith("reset"):
        assert outcome.calls[name] == known.calls
