#!/usr/bin/env python3
"""The agent: it reads a conversation, calls tools until it knows enough, and answers.

A stand-in for a model that decides what to do next, so that the example needs no key and always
does the same. Everything around it is what an agent of yours has, too: tools, a loop, a trace.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

ORDERS = {
    "A-17": {"item": "desk lamp", "status": "shipped", "parcel": "P-902"},
    "B-04": {"item": "office chair", "status": "delivered", "days_ago": 12},
    "C-33": {"item": "bookshelf", "status": "delivered", "days_ago": 45},
}
PARCELS = {"P-902": {"place": "Leeds", "due": "Thursday"}}
RETURN_DAYS = 30
MAX_STEPS = 5


def find_order(order: str) -> dict[str, Any]:
    """Look an order up."""
    return ORDERS.get(order, {"status": "unknown"})


def track_parcel(parcel: str) -> dict[str, Any]:
    """Say where a parcel is."""
    return PARCELS[parcel]


def open_return(order: str) -> dict[str, Any]:
    """Open a return and give its label."""
    return {"label": f"R-{order}"}


TOOLS: dict[str, Callable[..., dict[str, Any]]] = {
    "find_order": find_order,
    "track_parcel": track_parcel,
    "open_return": open_return,
}


def run_agent(conversation: list[dict[str, str]]) -> dict[str, Any]:
    """The trace of what the agent does with a conversation of `role` and `content`."""
    said = " ".join(turn["content"] for turn in conversation if turn["role"] == "user")
    seen: dict[str, dict[str, Any]] = {}
    messages: list[dict[str, Any]] = []
    for step in range(MAX_STEPS):
        tool, arguments, answer = decide(said, seen)
        if tool is None:
            messages.append({"role": "assistant", "content": answer})
            break
        seen[tool] = TOOLS[tool](**arguments)
        call = {"id": f"call-{step + 1}", "tool": tool, "input": arguments, "output": seen[tool]}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
    words = len(said.split())
    return {
        "messages": messages,
        "usage": {"input_tokens": words * len(messages), "output_tokens": 12 * len(messages)},
        "finish_reason": "stop",
        "model": "desk-rules-1",
    }


def decide(said: str, seen: dict[str, dict[str, Any]]) -> tuple[str | None, dict[str, str], str]:
    """The next tool and its arguments, or no tool and the answer; a model would stand here."""
    numbers = re.findall(r"\b[A-Z]-\d\d\b", said)
    if not numbers:
        return None, {}, "Which order is it about? Please tell me its number."
    order = numbers[-1]
    if "find_order" not in seen:
        return "find_order", {"order": order}, ""
    found = seen["find_order"]
    if found["status"] == "unknown":
        return None, {}, f"I cannot find an order {order}."
    if re.search(r"\b(return|refund|send back)\b", said):
        return decide_return(order, found, seen)
    if found["status"] == "shipped" and "track_parcel" not in seen:
        return "track_parcel", {"parcel": found["parcel"]}, ""
    if found["status"] == "shipped":
        parcel = seen["track_parcel"]
        where = f"is in {parcel['place']} and due on {parcel['due']}"
        return None, {}, f"Your {found['item']} {where}."
    return None, {}, f"Your {found['item']} was delivered {found['days_ago']} days ago."


def decide_return(
    order: str, found: dict[str, Any], seen: dict[str, dict[str, Any]]
) -> tuple[str | None, dict[str, str], str]:
    """A return is opened for what was delivered, and not too long ago."""
    if found["status"] != "delivered":
        return None, {}, f"Your {found['item']} is still on its way; please wait for it."
    if found["days_ago"] > RETURN_DAYS:
        return None, {}, f"I am sorry: returns close {RETURN_DAYS} days after delivery."
    if "open_return" not in seen:
        return "open_return", {"order": order}, ""
    return None, {}, f"Done: your return label is {seen['open_return']['label']}."
