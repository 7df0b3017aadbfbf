"""What an endpoint of the Responses protocol answers, at once and as a stream."""

from __future__ import annotations

from typing import Any

from servers.streams import Events, Slice, words

RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "model": "m-1-exact",
    "output": [
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "At nine.", "annotations": []}],
        }
    ],
    "usage": {
        "input_tokens": 12,
        "input_tokens_details": {"cached_tokens": 7},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 15,
    },
}
_DELTAS = {"output_text": ("output_text", "text"), "refusal": ("refusal", "refusal")}


def response_events(response: dict[str, Any], cut: Slice = words) -> Events:
    """A response item by item, and whole in the last event."""
    begun: dict[str, Any] = {**response, "status": "in_progress", "output": [], "usage": None}
    events: Events = [
        (f"response.{kind}", {"response": begun}) for kind in ("created", "in_progress")
    ]
    for index, item in enumerate(response["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        opened = {**item, "status": "in_progress"}
        events.append(("response.output_item.added", {**place, "item": opened}))
        for name, text in _said(item):
            events += [(f"response.{name}.delta", {**place, "delta": said}) for said in cut(text)]
            events.append((f"response.{name}.done", place))
        events.append(("response.output_item.done", {**place, "item": item}))
    events.append((f"response.{response['status']}", {"response": response}))
    return [
        (name, {"type": name, "sequence_number": number, **data})
        for number, (name, data) in enumerate(events)
    ]


def _said(item: dict[str, Any]) -> list[tuple[str, str]]:
    """What the deltas of an item are called, with what they add up to."""
    if item["type"] == "function_call":
        return [("function_call_arguments", item["arguments"])]
    if item["type"] == "message":
        return [
            (_DELTAS[part["type"]][0], part[_DELTAS[part["type"]][1]]) for part in item["content"]
        ]
    return [("reasoning_summary_text", part["text"]) for part in item.get("summary", [])]
