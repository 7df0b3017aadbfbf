"""`Retry-After` as servers write it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from steelyard.targets.retry_after import retry_after_s

NOW = datetime(2026, 11, 15, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        ("7", 7.0),
        (" 1.5 ", 1.5),
        ("-3", 0.0),
        ("86400000", 86_400_000.0),
        ("1e400", float("inf")),
        ("nan", 0.0),
        ("Sun, 15 Nov 2026 12:00:30 GMT", 30.0),
        ("Sun, 15 Nov 2026 13:00:30 +0100", 30.0),
        ("Sun, 15 Nov 2026 12:00:30 -0000", 30.0),
        ("Sun, 15 Nov 2026 12:00:30", 30.0),
        ("Sun, 15 Nov 2026 11:00:00 GMT", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", pytest.approx(2.5e11, rel=0.1)),
        ("Sun, 99 Nov 2026 12:00:30 GMT", None),
        ("Sun, 15 Nov 99999 12:00:30 GMT", None),
        ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None),
        ("Mon, 01 Jan 2024 00:00:00 +99999999999999", None),
        ("soon", None),
        ("", None),
    ],
)
def test_is_seconds_a_date_or_nothing(text: str | None, seconds: float | None) -> None:
    assert retry_after_s(text, NOW) == seconds
