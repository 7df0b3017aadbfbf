"""What a user would write instead: a plain aiohttp loop over the records of a dataset.

Run as a process of its own: `python -m bench.bare_loop DATASET URL AT_ONCE`. With the address of
a judge behind these, that one says whether an answer passes.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import aiohttp

_JUDGED = """\
Question: {question}
Answer: {answer}
Criterion: {criterion}
Does the answer meet the criterion? Reply with {{"reason": TEXT, "pass": true or false}}."""


async def ask(session: aiohttp.ClientSession, url: str, prompt: str) -> str:
    """One answer."""
    body = {"model": "bench-1", "messages": [{"role": "user", "content": prompt}]}
    async with session.post(f"{url}/chat/completions", json=body) as response:
        answer: Any = await response.json()
        return answer["choices"][0]["message"]["content"]


async def meets(
    session: aiohttp.ClientSession, judge: str, row: dict[str, Any], said: str
) -> bool:
    """Whether a judge says that an answer is good."""
    asked = row["input_messages"][0]["content"]
    prompt = _JUDGED.format(question=asked, answer=said, criterion=row["expected_outcome"])
    return json.loads(await ask(session, judge, prompt))["pass"]


async def main(dataset: str, url: str, at_once: int, judge: str = "") -> None:
    """Ask for every record, count the good answers and keep all in a file."""
    with Path(dataset).open(encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    slots = asyncio.Semaphore(at_once)
    connector = aiohttp.TCPConnector(limit=at_once)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def one(row: dict[str, Any]) -> dict[str, Any]:
            async with slots:
                said = await ask(session, url, row["input_messages"][0]["content"])
                good = await meets(session, judge, row, said) if judge else "three weeks" in said
            return {"id": row["id"], "response": said, "passed": good}

        results = await asyncio.gather(*(one(row) for row in rows))
    passed = sum(result["passed"] for result in results)
    with Path(dataset).with_suffix(".bare").open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(result) + "\n" for result in results)
    print(f"{passed} of {len(results)} passed")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *sys.argv[4:]))
