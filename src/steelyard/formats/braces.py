"""Where a JSON object ends that stands in other text."""

from __future__ import annotations

import re

# A string is one step: braces in it do not count. One that never ends goes on to the end.
_STEP = re.compile(r'[{}]|"(?:[^"\\]++|\\.?)*+(?:"|\Z)', re.DOTALL)


def closed_at(text: str, start: int) -> int | None:
    """Where the brace at `start` is closed; None where it is not."""
    depth = 0
    for step in _STEP.finditer(text, start):
        if step[0] == "{":
            depth += 1
        elif step[0] == "}":
            depth -= 1
            if depth == 0:
                return step.end()
    return None
