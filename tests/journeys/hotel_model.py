"""A chat-completions endpoint that knows a hotel, and a judge of what it says."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from servers.judge_server import conforming
from servers.openai_server import COMPLETION

ANSWERS = {"desk": "At nine.", "kitchen": "At ten.", "lift": "Yes, since 2020."}
ENVIRON = {"MODEL": "m-hotel", "JUDGE": "m-judge", "MODEL_KEY": "key-of-the-hotel"}


async def answer(request: web.Request) -> web.StreamResponse:
    """What the hotel answers, rudely where nobody is kind; or the judge's verdict on that."""
    asked: dict[str, Any] = await request.json()
    text = json.dumps(asked["messages"])
    if asked["model"] == ENVIRON["JUDGE"]:
        return _says(json.dumps(_verdict(asked["response_format"]["json_schema"]["schema"], text)))
    known = next(said for word, said in ANSWERS.items() if word in text)
    return _says("Who asks?" if "one sentence" in text and "lift" in text else known)


def _verdict(schema: dict[str, Any], text: str) -> Any:
    made = conforming(schema)
    if "answers" in made and "Who asks?" in text:
        made["answers"]["score"]["value"] = 0
    return made


def _says(text: str) -> web.Response:
    message = {"role": "assistant", "content": text}
    choice = {"message": message, "finish_reason": "stop"}
    return web.json_response({**COMPLETION, "choices": [choice]})
