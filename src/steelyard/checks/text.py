"""Text comparison that several kinds share."""

from __future__ import annotations

from steelyard.errors import SettingError


def fold(text: str, *, ignore_case: bool) -> str:
    """The text as it is compared."""
    return text.casefold() if ignore_case else text


def require_phrases(phrases: tuple[str, ...]) -> None:
    """An empty phrase is a SettingError: every response contains it."""
    if "" in phrases:
        raise SettingError("phrases", "a phrase must not be empty")


def require_text(value: str) -> None:
    """A blank value is a SettingError: every response begins and ends with it."""
    if not value.strip():
        raise SettingError("value", "the value must not be blank")


def clip(text: str, limit: int = 60) -> str:
    """A text short enough for a reason."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
