"""`Retry-After`: how long a server asks to be left alone."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after_s(text: str | None, now: datetime) -> float | None:
    """Seconds, written as such or as a date; anything else counts as absent."""
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        due = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    # A date without a zone is meant as GMT, as every HTTP date is.
    due = due if due.tzinfo else due.replace(tzinfo=UTC)
    return max(0.0, (due - now).total_seconds())
