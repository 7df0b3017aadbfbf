"""A question that tells whether an endpoint holds its model to a schema.

Many servers accept a schema and ignore it. The schema of this call allows one answer that nobody
would give, and the question asks for another.
"""

from __future__ import annotations

import json
from typing import cast

from steelyard.model.json_value import JsonObject, JsonValue

_NONSENSE = "vexiloquar-7"
PROBE_MESSAGES: tuple[tuple[str, str], ...] = (
    ("system", 'Reply with a JSON object of the form {"colour": "…"} and nothing else.'),
    ("user", "What colour is the sky on a clear day?"),
)
PROBE_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": [_NONSENSE]}},
    "required": ["colour"],
    "additionalProperties": False,
}


def is_enforced(text: str) -> bool:
    """Whether the reply to the probe is the one that the schema allows."""
    try:
        said = cast(JsonValue, json.loads(text))
    except (ValueError, RecursionError):
        return False
    return said == {"colour": _NONSENSE}
