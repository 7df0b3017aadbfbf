# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
"""The program a user of DeepEval writes; runs in the environment of DeepEval."""

import asyncio
import json
import sys
from pathlib import Path

import aiohttp
from bench.bare_loop import ask
from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import BaseMetric, GEval, PatternMatchMetric
from deepeval.models import LocalModel
from deepeval.test_case import LLMTestCase, SingleTurnParams


async def answers(prompts: list[str], url: str, at_once: int) -> list[str]:
    """Ask for every prompt as the bare loop does."""
    slots = asyncio.Semaphore(at_once)
    connector = aiohttp.TCPConnector(limit=at_once)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def one(prompt: str) -> str:
            async with slots:
                return await ask(session, url, prompt)

        return await asyncio.gather(*(one(prompt) for prompt in prompts))


def metric(judge: str) -> BaseMetric:
    """A judge at an address, or a phrase to look for."""
    if not judge:
        return PatternMatchMetric(pattern="(?s).*three weeks.*")
    return GEval(
        name="right",
        evaluation_params=[SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT],
        evaluation_steps=["Check that the answer says how long a book may be kept."],
        model=LocalModel(model="bench-1", base_url=judge, api_key="none"),
    )


def main(samples: str, url: str, at_once: int, judge: str = "") -> None:
    """Ask, grade, and say how many passed."""
    rows = [json.loads(line) for line in Path(samples).read_text(encoding="utf-8").splitlines()]
    said = asyncio.run(answers([row["input"] for row in rows], url, at_once))
    cases = [
        LLMTestCase(input=row["input"], actual_output=answer, expected_output=row["target"])
        for row, answer in zip(rows, said, strict=True)
    ]
    result = evaluate(
        cases,
        metrics=[metric(judge)],
        async_config=AsyncConfig(max_concurrent=at_once),
        cache_config=CacheConfig(write_cache=False),
        display_config=DisplayConfig(
            show_indicator=False,
            print_results=False,
            inspect_after_run=False,
            results_folder="results",
        ),
    )
    passed = sum(one.success for one in result.test_results)
    print(f"{passed} of {len(rows)} passed")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
