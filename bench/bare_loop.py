"""What a user would write instead: a plain aiohttp loop over the records of a dataset.

Run as a process of its own: `python -m bench.bare_loop DATASET URL AT_ONCE`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import aiohttp


async def ask(session: aiohttp.ClientSession, url: str, prompt: str) -> str:
    """One answer."""
    body = {"model": "bench-1", "messages": [{"role": "user", "content": prompt}]}
    async with session.post(f"{url}/chat/completions", json=body) as response:
        answer: Any = await response.json()
        return answer["choices"][0]["message"]["content"]


async def main(dataset: str, url: str, at_once: int) -> None:
    """Ask for every record, count the good answers and keep all in a file."""
    with Path(dataset).open(encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    slots = asyncio.Semaphore(at_once)
    connector = aiohttp.TCPConnector(limit=at_once)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def one(row: dict[str, Any]) -> dict[str, Any]:
            async with slots:
                said = await ask(session, url, row["input_messages"][0]["content"])
            return {"id": row["id"], "response": said, "passed": "three weeks" in said}

        results = await asyncio.gather(*(one(row) for row in rows))
    passed = sum(result["passed"] for result in results)
    with Path(dataset).with_suffix(".bare").open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(result) + "\n" for result in results)
    print(f"{passed} of {len(results)} passed")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
