"""An endpoint that is away for a while, closes connections, or refuses every call."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from aiohttp import web

from checker import check_run
from fakes.projects import row
from servers.in_thread import in_thread
from servers.judge_server import conforming
from servers.openai_server import COMPLETION, Answer, says, sends, serving

pytestmark = pytest.mark.trials

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
SAYS_NINE = [{"type": "contains", "value": "nine"}]
SETTINGS = """\
targets:
  live: {{provider: openai, base_url: "{url}", model: m, max_concurrency: 8}}
retry: {{max_attempts: 3, backoff_s: [0.1, 0.1]}}
"""
RUN = ("run", "d.jsonl", "--target", "live", "--format", "json")


def write(folder: Path, url: str, count: int, settings: str = SETTINGS) -> None:
    (folder / "steelyard.yaml").write_text(settings.format(url=url), encoding="utf-8")
    rows = (json.dumps(row(f"r{n}", evaluators=SAYS_NINE, input=f"q{n}")) for n in range(count))
    (folder / "d.jsonl").write_text("\n".join(rows), encoding="utf-8")


def after(calls: int, seconds: float, fault: Answer) -> Answer:
    """A good answer, but for some seconds after so many calls."""
    seen, good = [0.0, 0.0], says(COMPLETION)

    async def answer(request: web.Request) -> web.StreamResponse:
        seen[0] += 1
        now = asyncio.get_running_loop().time()
        if seen[0] == calls:
            seen[1] = now + seconds
        await asyncio.sleep(0.005)
        return await (fault if now < seen[1] else good)(request)

    return answer


@asynccontextmanager
async def away_after(calls: int, seconds: float) -> AsyncGenerator[str]:
    """The address of a server that refuses connections for some seconds after so many calls."""
    made, writers = [0], set[asyncio.StreamWriter]()
    body = json.dumps(COMPLETION).encode()
    said = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
                await reader.readexactly(size)
                made[0] += 1
                writer.write(said)
                if made[0] == calls:
                    gone.set()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def leave() -> None:
        await gone.wait()
        server.close()
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(seconds)
        again.append(await asyncio.start_server(serve, "127.0.0.1", port))

    gone, again = asyncio.Event(), list[asyncio.Server]()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    leaving = asyncio.ensure_future(leave())
    yield f"http://127.0.0.1:{port}/v1"
    leaving.cancel()
    for one in (server, *again):
        one.close()


@pytest.mark.parametrize(
    "seconds", [2.0, pytest.param(15.0, marks=pytest.mark.trials)], ids=["2 s", "15 s"]
)
@pytest.mark.parametrize("fault", [pytest.param("503", marks=pytest.mark.trials), "refused"])
def test_no_record_is_lost_while_an_endpoint_is_away(
    steelyard: Steelyard, tmp_path: Path, fault: str, seconds: float
) -> None:
    away = serving(after(50, seconds, says({}, 503)))
    with in_thread(away if fault == "503" else away_after(50, seconds)) as url:
        write(tmp_path, url, 300)
        done = steelyard(*RUN, cwd=tmp_path)
    metrics = json.loads(done.stdout)["metrics"]

    assert (done.returncode, metrics["pass_count"]) == (0, 300)
    assert "is away" in done.stderr
    assert "answers again after" in done.stderr


def test_a_run_stops_when_an_endpoint_is_away_too_long_and_goes_on_when_it_is_back(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    settings = SETTINGS + "limits: {{outage_s: 0.5}}\n"
    with in_thread(away_after(50, 5.0)) as url:
        write(tmp_path, url, 300, settings)
        done = steelyard(*RUN, cwd=tmp_path)
    with in_thread(serving(says(COMPLETION))) as url:
        write(tmp_path, url, 300, settings)
        again = steelyard("resume", "latest", "--format", "json", cwd=tmp_path)

    assert (done.returncode, "limits.outage_s" in done.stderr) == (3, True), done.stderr
    assert "steelyard resume run_" in done.stderr
    assert (again.returncode, json.loads(again.stdout)["metrics"]["pass_count"]) == (0, 300)


@pytest.mark.parametrize("seconds", [1.5, 15.0])
def test_the_last_records_outlive_an_outage_and_every_call_has_a_row(
    steelyard: Steelyard, tmp_path: Path, seconds: float
) -> None:
    made: list[web.Request] = []
    answers = after(10, seconds, says({}, 503))

    async def answer(request: web.Request) -> web.StreamResponse:
        made.append(request)
        return await answers(request)

    with in_thread(serving(answer)) as url:
        write(tmp_path, url, 12, SETTINGS.replace("max_concurrency: 8", "max_concurrency: 1"))
        done = steelyard(*RUN, cwd=tmp_path)
    run = json.loads(done.stdout)
    lines = Path(run["artifacts"], "attempt_logs.jsonl").read_text(encoding="utf-8").splitlines()
    away = [row for row in map(json.loads, lines) if row["error_code"] == "outage"]

    assert (done.returncode, run["metrics"]["pass_count"]) == (0, 12), done.stderr
    assert len(lines) == len(made)
    assert len(away) == run["metrics"]["outage_calls"] > 0
    assert Counter(row["http_status"] for row in away)[200] == 1  # the probe that was answered
    assert {row["http_status"] for row in away} == {200, 503}
    check_run(Path(run["artifacts"]))


def test_an_endpoint_that_never_answered_fails_fast(steelyard: Steelyard, tmp_path: Path) -> None:
    with in_thread(serving(says({}, 503))) as url:
        write(tmp_path, url, 20)
        done = steelyard(*RUN, cwd=tmp_path)

    assert (done.returncode, "is away" in done.stderr) == (4, False)


def test_a_target_that_refuses_every_call_is_stopped_while_others_go_on(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    with in_thread(serving(refuses)) as url:
        more = f'  bad: {{{{provider: openai, base_url: "{url}/bad", model: m}}}}\nretry'
        write(tmp_path, url, 60, SETTINGS.replace("retry", more))
        lines = (tmp_path / "d.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        for number, one in enumerate(rows):
            one["execution"] = {"target": "bad" if number % 2 else "live"}
        text = "\n".join(map(json.dumps, rows))
        (tmp_path / "d.jsonl").write_text(text, encoding="utf-8")
        done = steelyard("run", "d.jsonl", cwd=tmp_path)
        shown = steelyard("runs", "--format", "json", cwd=tmp_path)

    assert done.returncode == 3
    assert "'bad' was stopped: its first 10 calls all failed for good" in done.stderr
    assert "HTTP 401: wrong key" in done.stderr
    (run,) = json.loads(shown.stdout)["data"]
    assert run["status"] in {"running", "retrying"}


def test_records_that_failed_before_a_target_was_stopped_are_asked_again_by_resume(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    """Whoever mends the key loses none of them; where it is still wrong, the run stops again."""
    refused: list[web.Request] = []

    async def refuse(request: web.Request) -> web.StreamResponse:
        refused.append(request)
        return await says({"error": {"message": "wrong key"}}, 401)(request)

    with in_thread(serving(refuse)) as url:
        write(tmp_path, url, 30)
        done = steelyard(*RUN, cwd=tmp_path)
        still = steelyard("resume", "latest", cwd=tmp_path)
    with in_thread(serving(says(COMPLETION))) as url:
        write(tmp_path, url, 30)
        again = steelyard("resume", "latest", "--format", "json", cwd=tmp_path)
    run = json.loads(again.stdout)
    lines = Path(run["artifacts"], "attempt_logs.jsonl").read_text(encoding="utf-8").splitlines()
    codes = Counter(json.loads(line)["error_code"] for line in lines)

    assert (done.returncode, still.returncode, again.returncode) == (3, 3, 0), still.stderr
    assert (run["metrics"]["pass_count"], run["metrics"]["failed_records"]) == (30, 0)
    assert codes["unauthorized"] <= len(refused) <= len(lines) - 30
    assert (codes["unauthorized"] >= 20, codes[None]) == (True, 30)
    check_run(Path(run["artifacts"]))


def test_the_end_of_a_run_says_why_records_have_no_score(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    wrong = says({"error": {"message": "Incorrect API key"}}, 401)
    with in_thread(serving(wrong)) as url:
        write(tmp_path, url, 9)
        done = steelyard("run", "d.jsonl", "--target", "live", cwd=tmp_path)

        shown = steelyard("show", "latest", cwd=tmp_path)
        marked = steelyard(*RUN[:-1], "markdown", cwd=tmp_path)
        steelyard("report", "latest", "-o", "r.html", cwd=tmp_path)
        why = "9 unauthorized: HTTP 401: Incorrect API key"

    assert done.returncode == 4
    assert f"  no score   {why}\n" in done.stdout
    assert f"  no score   {why}\n" in shown.stdout
    assert f"| no score | {why} |\n" in marked.stdout
    assert f"<span>No score: {why}</span>" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_host_that_nobody_knows_is_told_without_noise(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    write(tmp_path, "http://no-such-host.invalid:9/v1", 60)
    done = steelyard("run", "d.jsonl", "--target", "live", cwd=tmp_path)
    graded, told = done.stderr.splitlines()

    assert done.returncode == 3
    assert graded.startswith("graded by their own expectations")
    assert "cannot connect to no-such-host.invalid:9" in told


def test_a_run_that_was_stopped_shows_why_records_have_no_score(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    wrong = says({"error": {"message": "Incorrect API key"}}, 401)
    with in_thread(serving(wrong)) as url:
        write(tmp_path, url, 40)
        done = steelyard("run", "d.jsonl", "--target", "live", cwd=tmp_path)
        shown = steelyard("show", "latest", cwd=tmp_path)

    assert (done.returncode, shown.returncode) == (3, 0)
    assert shown.stdout.startswith("not finished: stopped, can be resumed; ")
    assert " unauthorized: HTTP 401: Incorrect API key\n" in shown.stdout


async def refuses(request: web.Request) -> web.StreamResponse:
    """Knows nobody under one address, and answers under the other."""
    if "/bad/" in request.path:
        return await says({"error": {"message": "wrong key"}}, 401)(request)
    return await says(COMPLETION)(request)


def test_connections_that_are_closed_silently_cost_no_record(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    seen: set[object] = set()

    async def answer(request: web.Request) -> web.StreamResponse:
        """One answer for a connection; the second request on it is not answered."""
        if request.transport in seen:
            assert request.transport
            request.transport.abort()
            return web.Response()
        seen.add(request.transport)
        return await says(COMPLETION)(request)

    with in_thread(serving(answer)) as url:
        write(tmp_path, url, 100)
        done = steelyard(*RUN, cwd=tmp_path)
    metrics = json.loads(done.stdout)["metrics"]

    assert (done.returncode, metrics["pass_count"]) == (0, 100)
    assert (metrics["attempts"], metrics["retried_records"]) == (100, 0)


@pytest.mark.parametrize("poisoned", [range(12, 18), range(24, 30), range(29, 30)])
@pytest.mark.parametrize("role", ["target", "judge"])
def test_records_that_are_always_answered_with_503_are_no_outage(
    steelyard: Steelyard, tmp_path: Path, poisoned: range, role: str
) -> None:
    made: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        text = json.dumps(asked["messages"])
        made.append(asked["model"])
        is_meant = asked["model"] == ("m" if role == "target" else "j")
        if is_meant and any(f"q{number}!" in text for number in poisoned):
            return await says({}, 503)(request)
        return await says(judged(asked) if asked["model"] == "j" else COMPLETION)(request)

    with in_thread(serving(answer)) as url:
        write(tmp_path, url, 30, JUDGED)
        rows = ({"id": f"r{n}", "expected_outcome": "Nine.", "input": f"q{n}!"} for n in range(30))
        text = "\n".join(map(json.dumps, rows))
        (tmp_path / "d.jsonl").write_text(text, encoding="utf-8")
        done = steelyard(*RUN, cwd=tmp_path)
    run = json.loads(done.stdout)
    lines = Path(run["artifacts"], "attempt_logs.jsonl").read_text(encoding="utf-8").splitlines()

    assert (done.returncode, run["metrics"]["pass_count"]) == (4, 30 - len(poisoned)), done.stderr
    assert run["metrics"]["failed_records"] == len(poisoned)
    assert len(lines) == len(made)
    check_run(Path(run["artifacts"]))


JUDGED = SETTINGS.replace(
    "retry",
    '  judge: {{provider: openai, base_url: "{url}", model: j, max_concurrency: 8}}\n'
    "judges: {{default: {{target: judge}}}}\nretry",
)


def judged(asked: dict[str, Any]) -> dict[str, Any]:
    """The reply of a judge that is content with everything."""
    said = json.dumps(conforming(asked["response_format"]["json_schema"]["schema"]))
    return {**COMPLETION, "choices": [{"message": {"role": "assistant", "content": said}}]}


def test_an_answer_that_is_no_text_is_told_with_its_place(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    with in_thread(serving(sends(b'{"choices": "caf\xe9"}'))) as url:
        write(tmp_path, url, 1)
        done = steelyard("run", "d.jsonl", "--target", "live", cwd=tmp_path)

    advice = "have the endpoint send JSON in UTF-8"
    assert f"the answer is not UTF-8: byte 0xe9 at offset 16; {advice}" in done.stdout


def test_workers_share_what_they_know_of_an_endpoint_that_is_away(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    """One process at a time probes, and the calls of all of them wait."""
    away: list[float] = []

    async def fault(request: web.Request) -> web.StreamResponse:
        away.append(asyncio.get_running_loop().time())
        return await says({}, 503)(request)

    with in_thread(serving(after(150, 10.0, fault))) as url:
        write(tmp_path, url, 600)
        done = steelyard(*RUN, "--workers", "3", cwd=tmp_path)
    run = json.loads(done.stdout)
    probes = [at for at in away if at > away[0] + 0.9]

    assert (done.returncode, run["metrics"]["pass_count"]) == (0, 600), done.stderr
    assert run["metrics"]["outage_calls"] > 0
    assert done.stderr.count("is away") == 1
    assert 2 <= len(probes) <= 5, probes
    check_run(Path(run["artifacts"]))
