"""Messages as sentences of a page."""

from __future__ import annotations


def sentence(text: str) -> str:
    """A text as a sentence; names of definitions, such as judge/helpful@1.0, stay as they are."""
    if not text:
        return ""
    is_name = "/" in text.partition(" ")[0]
    first = text[0] if is_name else text[0].upper()
    return f"{first}{text[1:].rstrip('.')}."
