"""What an endpoint of Anthropic's protocol answers."""

from __future__ import annotations

from typing import Any

MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m-1-exact",
    "content": [{"type": "text", "text": "At nine."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 12,
        "output_tokens": 3,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 7,
    },
}
