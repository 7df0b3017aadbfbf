"""Datasets at the limits of contract 2, posted to a real server."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from servers.run_service import document, record
from servers.service_process import QUERY, ServiceProcess, service_of

pytestmark = pytest.mark.trials

MAX_BYTES = 100 * 1024 * 1024
CHUNK = 1024 * 1024


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServiceProcess]:
    root = tmp_path_factory.mktemp("large")
    with service_of(root, "http://127.0.0.1:9", workers=0) as running:
        yield running


def memory(service: ServiceProcess, name: str = "VmRSS") -> int:
    """The bytes that the server holds, or held at most."""
    return memory_of(service.process.pid, name)


def memory_of(process: int, name: str = "VmRSS") -> int:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    found = re.search(rf"{name}:\s+(\d+) kB", status)
    assert found
    return int(found[1]) * 1024


def posted(
    service: ServiceProcess, content: Iterator[bytes] | bytes, **headers: str
) -> httpx.Response:
    """The answer to a body."""
    url = f"http://127.0.0.1:{service.port}/v1/runs"
    given = {"content-type": "application/json", **headers}
    return httpx.post(url, params=QUERY, content=content, headers=given, timeout=300)


def chunks(size: int) -> Iterator[bytes]:
    """A body of so many bytes."""
    for start in range(0, size, CHUNK):
        yield b" " * min(CHUNK, size - start)


def padded(size: int) -> bytes:
    """A document of exactly so many bytes, in records of 200 kB."""
    rows = [record(f"r{n}", "word " * 39_000) for n in range(size // 200_000)]
    text = json.dumps(document(rows)).encode()
    return text + b" " * (size - len(text))


def test_one_byte_more_than_100_mb_is_refused_in_constant_memory(service: ServiceProcess) -> None:
    posted(service, chunks(CHUNK))  # loads what is loaded once
    before = memory(service, "VmHWM")

    counted = posted(service, chunks(MAX_BYTES + 1))
    said = posted(service, chunks(MAX_BYTES + 1), **{"content-length": str(MAX_BYTES + 1)})

    assert (counted.status_code, said.status_code) == (413, 413)
    assert counted.json()["error"]["code"] == "payload_too_large"
    assert memory(service, "VmHWM") - before < 32 * 1024 * 1024
    assert list((service.root / ".steelyard" / "spool").iterdir()) == []


def test_100_mb_are_accepted(service: ServiceProcess) -> None:
    answer = posted(service, padded(MAX_BYTES))

    assert answer.status_code == 202, answer.text
    assert answer.json()["summary"]["rejected_records"] == 0


def test_posted_documents_do_not_stay_in_memory(tmp_path: Path) -> None:
    """Neither in the server nor in its worker, whenever garbage is collected."""
    size, query = 20_000_000, {"target": "echo", "rubric": "rubric/any@1.0"}
    text = json.dumps(document([record("a")])).encode()
    with service_of(tmp_path, "http://127.0.0.1:9") as service:
        [worker] = service.worker_ids()
        held: list[tuple[int, int]] = []
        for _ in range(6):
            url = f"http://127.0.0.1:{service.port}/v1/runs"
            body, given = text + b" " * (size - len(text)), {"content-type": "application/json"}
            answer = httpx.post(url, params=query, content=body, headers=given, timeout=300)
            assert answer.status_code == 202, answer.text
            assert service.when_ended(answer.json()["run_id"])["status"] == "completed"
            held.append((memory(service), memory_of(worker)))

    for before, after in zip(held[0], held[-1], strict=True):
        assert after - before < 2 * size, held


def test_thousands_of_malformed_records_are_in_one_answer(service: ServiceProcess) -> None:
    rows = [record(f"r{n}", n if n % 10 == 0 else "a word") for n in range(50_000)]

    answer = posted(service, json.dumps(document(rows)).encode())

    body = answer.json()
    assert answer.status_code == 202, answer.text[:500]
    assert body["summary"] == {
        "total_records": 50_000,
        "accepted_records": 45_000,
        "rejected_records": 5_000,
    }
    assert [one["index"] for one in body["record_errors"]] == list(range(0, 50_000, 10))


def test_a_full_spool_refuses_uploads(tmp_path: Path) -> None:
    with service_of(tmp_path, "http://127.0.0.1:9", workers=0) as small:
        small.process.terminate()
        small.process.wait(30)
        small.options = ("--spool-quota", "0")
        small.start()

        answer = posted(small, json.dumps(document([record("a")])).encode())

    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "service_unavailable"


BEGIN = b'{"dataset_id":"a","dataset_version":"1","schema_version":"1.0","records":['
BOMBS = {
    "zeros": BEGIN + b"0," * 50_000_000 + b"0]}",
    "members": b"{" + b",".join(b'"k%d":0' % n for n in range(1_000_000)) + b"}",
    "one record": BEGIN + b'{"record_id":"a","b":[' + b"{}," * 5_900_000 + b"0]}]}",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_little_memory_while_others_are_answered(
    service: ServiceProcess, name: str
) -> None:
    before, waits, is_over = memory(service), list[float](), threading.Event()

    def probe() -> None:
        while not is_over.is_set():
            began = time.monotonic()
            httpx.get(f"http://127.0.0.1:{service.port}/healthz", timeout=60)
            waits.append(time.monotonic() - began)

    with ThreadPoolExecutor(1) as pool:
        probing = pool.submit(probe)
        try:
            answer = posted(service, BOMBS[name])
        finally:
            is_over.set()
        probing.result()

    assert answer.status_code == 400
    assert memory(service, "VmHWM") - before < 700 * CHUNK
    assert sorted(waits)[len(waits) // 2] < 1
