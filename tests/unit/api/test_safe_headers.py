"""Headers that every answer has."""

from __future__ import annotations

import pytest

from steelyard.api.safe_headers import SAFE_HEADERS, with_safe_headers

TYPE = (b"content-type", b"text/plain")
SAFE = [(name.encode(), value.encode()) for name, value in SAFE_HEADERS.items()]
ID = (b"x-request-id", b"one")


COOKIES = [(b"set-cookie", b"a"), (b"set-cookie", b"b")]
CACHED = (b"cache-control", b"private")


@pytest.mark.parametrize(
    ("own", "made"),
    [
        ([TYPE], [TYPE, ID, *SAFE]),
        (COOKIES, [*COOKIES, ID, *SAFE]),
        ([CACHED, TYPE], [CACHED, TYPE, ID, *SAFE[:-1]]),
        ([(b"x-request-id", b"other"), TYPE], [TYPE, ID, *SAFE]),
    ],
)
def test_what_an_answer_lacks_is_added_and_its_id_is_that_of_the_request(
    own: list[tuple[bytes, bytes]], made: list[tuple[bytes, bytes]]
) -> None:
    assert SAFE[-1][0] == b"cache-control"

    assert with_safe_headers(own, "one") == made
