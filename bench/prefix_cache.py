"""How much of its prompts a local model has at hand, by the order in which it is asked.

Run it with `python -m bench.prefix_cache`; it needs `gguf` and `xllamacpp`, and serves a tiny
model with llama.cpp, which tells with every answer how many tokens of the prompt were cached.
The same questions about several documents are asked in three orders: grouped by document,
shuffled, and shuffled with the order of the engine (`engine/prefix_order.py`) switched off.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from bench.child import ROOT, run
from bench.page import machine, write_section

FOLDER = ROOT / "bench" / "data" / "prefix_cache"
REAL = ROOT / "tests" / "real"
DOCUMENTS, QUESTIONS = 12, 8
SENTENCES = 60
AT_ONCE = 2
"""As many as the server has slots."""
CACHES_MIB = (0, 8192)
"""The memory of the server for prompts that are in no slot: none, and more than enough."""
_WITHOUT = """
import sys
from steelyard.engine import prefix_order
prefix_order.ALIKE = sys.maxsize
sys.argv[0] = "steelyard"
from steelyard.__main__ import main
main()
"""
"""The same command for which no prompt is long enough to be grouped."""


@dataclass
class Seen:
    """The tokens of prompts that a server has read, and those of them that it had at hand."""

    read: int = 0
    cached: int = 0

    def add(self, answer: Any) -> None:
        """Count one answer."""
        timings = answer["timings"]
        self.cached += timings["cache_n"]
        self.read += timings["prompt_n"] + timings["cache_n"]

    @property
    def rate(self) -> float:
        """The share that was at hand."""
        return self.cached / self.read


def results() -> Iterable[tuple[str, list[Seen]]]:
    """Every order, each with servers that have seen nothing before."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    model = FOLDER / "tiny.gguf"
    subprocess.run([sys.executable, str(REAL / "tiny_model.py"), str(model)], check=True)
    ours, without = ("-m", "steelyard"), ("-c", _WITHOUT)
    grouped = list(rows())
    shuffled = random.Random(7).sample(grouped, len(grouped))
    for name, listed, command in (
        ("grouped by document in the file", grouped, ours),
        ("shuffled in the file", shuffled, ours),
        ("shuffled in the file, and asked in its order", shuffled, without),
    ):
        yield name, [asked(model, listed, command, mib) for mib in CACHES_MIB]


def rows() -> Generator[dict[str, Any]]:
    """Questions about documents, which come first."""
    chance = random.Random(3)
    words = [
        "a",
        "book",
        "loan",
        "member",
        "week",
        "card",
        "desk",
        "shelf",
        "fine",
        "due",
        "early",
        "late",
        "two",
        "three",
        "days",
    ]
    for document in range(DOCUMENTS):
        said = (" ".join(chance.choices(words, k=8)) for _ in range(SENTENCES))
        text = f"Rules of library {document}. " + ". ".join(said)
        for number in range(QUESTIONS):
            yield {
                "id": f"q{document}-{number}",
                "criteria": "Says what the rules say.",
                "input": f"{text}\n\nHow many days has member {number}?",
                "evaluators": [{"name": "said", "type": "regex", "value": ".*"}],
            }


def asked(
    model: Path, listed: Sequence[dict[str, Any]], command: tuple[str, ...], cache_mib: int
) -> Seen:
    """What the server had at hand while a run asked for every row."""
    seen = Seen()
    lines = (json.dumps(row) + "\n" for row in listed)
    (FOLDER / "questions.jsonl").write_text("".join(lines), encoding="utf-8")
    with served(model, cache_mib) as address, counted(address, seen.add) as port:
        target = {
            "provider": "openai",
            "base_url": f"http://127.0.0.1:{port}/v1",
            "model": "tiny-desk",
            "max_concurrency": AT_ONCE,
            "max_new_tokens": 4,
        }
        settings = json.dumps({"targets": {"local": target}})
        (FOLDER / "steelyard.yaml").write_text(settings, encoding="utf-8")
        words = ("run", "questions.jsonl", "--target", "local", "--format", "json")
        run(sys.executable, *command, *words, cwd=FOLDER)
    return seen


@contextmanager
def served(model: Path, cache_mib: int) -> Generator[str]:
    """The address of a llama.cpp server with the model."""
    process = subprocess.Popen(
        [sys.executable, str(REAL / "serve.py"), str(model), "0", str(cache_mib)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    with process:
        yield process.stdout.readline().strip()
        process.stdin.close()


@contextmanager
def counted(address: str, note: Callable[[Any], None]) -> Generator[int]:
    """The port of a server that passes calls on to another and notes the answers."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def begin() -> tuple[aiohttp.ClientSession, web.AppRunner, int]:
        session = aiohttp.ClientSession()

        async def passed_on(request: web.Request) -> web.Response:
            body = await request.read()
            async with session.post(address + request.path, data=body) as response:
                answer = await response.json()
            note(answer)
            return web.json_response(answer)

        application = web.Application(client_max_size=1 << 26)
        application.router.add_post("/{path:.*}", passed_on)
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return session, runner, runner.addresses[0][1]

    async def end() -> None:
        await session.close()
        await runner.cleanup()

    session, runner, port = asyncio.run_coroutine_threadsafe(begin(), loop).result()
    try:
        yield port
    finally:
        asyncio.run_coroutine_threadsafe(end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def main() -> None:
    """Measure, print, and write the page."""
    server = f"llama.cpp with {AT_ONCE} slots"
    data = f"{QUESTIONS} questions about each of {DOCUMENTS} documents"
    lines = [
        f"Measured by `python -m bench.prefix_cache`: {machine()}; {server}, {data}.",
        "",
        "| questions | tokens of prompts | cached, slots alone | cached, with 8 GB beside them |",
        "|---|---|---|---|",
    ]
    for name, found in results():
        shares = " | ".join(f"**{seen.rate:.0%}**" for seen in found)
        lines.append(f"| {name} | {found[0].read:,} | {shares} |")
        print(lines[-1], flush=True)
    write_section("prefix_cache", "\n".join(lines))


if __name__ == "__main__":
    main()
