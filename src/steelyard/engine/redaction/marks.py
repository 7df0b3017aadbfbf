"""The marks that a redaction leaves, counted where its texts are kept once more."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

BEGIN = b"[redacted"
_MARK = re.compile(rb"\[redacted(?::([^\]\"\\\n]{1,200}))?\]")


def marks_in(texts: Iterable[bytes]) -> Counter[str]:
    """How many marks of each name stand in JSON texts; those of secrets have none."""
    found = (name for text in texts for name in _MARK.findall(text))
    return Counter(name.decode("utf-8", "replace") for name in found)
