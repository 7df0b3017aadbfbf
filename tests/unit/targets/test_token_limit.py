"""Models that refuse `max_tokens` are asked again with the other name, from then on at once."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from fakes.asking import question
from servers.openai_server import COMPLETION, says, serving
from steelyard.errors import TargetError
from steelyard.store.clock import SystemClock
from steelyard.targets.model_settings import ModelSettings
from steelyard.targets.openai import OpenAITarget

if TYPE_CHECKING:
    from aiohttp import web

REFUSAL = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead."
)
models = count()


class Modern:
    """An endpoint of a model that does not know the usual name."""

    def __init__(self, refusal: str = REFUSAL, status: int = 400) -> None:
        self.refusal, self.status = refusal, status
        self.bodies: list[dict[str, Any]] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Refuse it by its name."""
        self.bodies.append(await request.json())
        if "max_tokens" in self.bodies[-1]:
            return await says({"error": {"message": self.refusal}}, self.status)(request)
        return await says(COMPLETION)(request)


def target(url: str, model: str) -> OpenAITarget:
    settings = ModelSettings(base_url=url, model=model, headers={}, sampling={"max_tokens": 9})
    return OpenAITarget("live", settings, SystemClock())


async def told(asked: OpenAITarget) -> str:
    """The code of an error, or the answer."""
    try:
        return (await asked.ask(question())).response
    except TargetError as error:
        return error.code


def test_the_other_name_is_found_out_once_and_known_to_later_targets() -> None:
    server, model = Modern(), f"m-{next(models)}"

    async def main() -> list[str]:
        async with serving(server.answer) as url:
            first, again = target(url, model), [""]
            try:
                again = [await told(first) for _ in range(3)]
                later = target(url, model)
                again.append(await told(later))
                await later.close()
            finally:
                await first.close()
            return again

    assert asyncio.run(main()) == ["adapted", "At nine.", "At nine.", "At nine."]
    names = [set(body) - {"model", "messages"} for body in server.bodies]
    assert names == [{"max_tokens"}, *[{"max_completion_tokens"}] * 3]
    assert {body.get("max_completion_tokens", 9) for body in server.bodies} == {9}


@pytest.mark.parametrize(
    ("refusal", "status"),
    [
        ("max_tokens is too large: 9. This model takes at most 4.", 400),
        ("Unknown field: temperature", 400),
        (REFUSAL, 429),
    ],
)
def test_another_refusal_is_what_it_is(refusal: str, status: int) -> None:
    server = Modern(refusal, status)

    async def main() -> str:
        async with serving(server.answer) as url:
            asked = target(url, f"m-{next(models)}")
            said = await told(asked)
            await asked.close()
            return said

    assert asyncio.run(main()) == ("rate_limited" if status == 429 else "bad_request")
    assert len(server.bodies) == 1
