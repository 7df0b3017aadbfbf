"""A chat-completions endpoint that answers at the desk of a museum, and a judge of its answers."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from servers.judge_server import conforming
from servers.openai_server import COMPLETION

ANSWERS = {
    "open": "The museum opens at ten.",
    "close": "It closes at six.",
    "ticket": "A ticket costs 12 euros.",
    "dog": "No, only guide dogs may come in.",
    "photo": "Yes, without flash.",
    "wheelchair": "Yes, every floor has a lift.",
    "locker": "Yes, beside the entrance.",
    "tour": "Every day at two.",
    "cafe": "Yes, on the first floor.",
    "shop": "Yes, until six.",
    "student": "Students pay 8 euros.",
    "bus": "Bus 4 stops in front of the museum.",
}
VAGUE = "That depends on the day. Please ask at the entrance."
ENVIRON = {"MODEL": "m-desk", "JUDGE": "m-judge", "MODEL_KEY": "key-of-the-desk"}
REASONS = {1: "It says what was asked.", 0: "It says nothing of what was asked."}


async def answer(request: web.Request) -> web.StreamResponse:
    """What is known, vaguely where one word must do; or the judge's verdict on that."""
    asked: dict[str, Any] = await request.json()
    text = json.dumps(asked["messages"])
    if "response_format" in asked:
        return _says(json.dumps(_verdict(asked["response_format"]["json_schema"]["schema"], text)))
    word = next(word for word in ANSWERS if word in text)
    is_vague = word in {"ticket", "dog", "tour", "student", "bus"} and "one word" in text
    return _says(VAGUE if is_vague else ANSWERS[word])


def _verdict(schema: dict[str, Any], text: str) -> Any:
    made = conforming(schema)
    for said in made.get("answers", {}).values():
        said["value"] = int(VAGUE not in text)
        said["reasoning"] = REASONS[said["value"]]
    return made


def _says(text: str) -> web.Response:
    message = {"role": "assistant", "content": text}
    choice = {"message": message, "finish_reason": "stop"}
    return web.json_response({**COMPLETION, "choices": [choice]})
