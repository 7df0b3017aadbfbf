"""The least that any tool must do: ask as often as a run of a shape does, and read the answers.

Run as a process of its own: `python -m bench.asking_loop SHAPE RECORDS URL`.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import aiohttp
from bench.shapes import AT_ONCE, question, shapes


async def main(name: str, count: int, url: str) -> None:
    """Ask for every record; nothing is graded and nothing is kept."""
    shape = shapes()[name]
    slots = asyncio.Semaphore(AT_ONCE)
    connector = aiohttp.TCPConnector(limit=AT_ONCE)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask(number: int, answer: str) -> object:
            content: object = question(number)
            if shape.image:
                picture = {"type": "image_url", "image_url": {"url": shape.image}}
                content = [{"type": "text", "text": content}, picture]
            body = {"model": "bench-1", "messages": [{"role": "user", "content": content}]}
            address = f"{url}/{answer}/chat/completions"
            async with slots, session.post(address, json=body) as response:
                said: Any = await response.json()
                return said["choices"][0]["message"]["content"]

        calls = (ask(number, answer) for number in range(count) for answer in shape.answers)
        await asyncio.gather(*calls)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
