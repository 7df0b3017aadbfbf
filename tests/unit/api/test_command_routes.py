"""Messages of the API name routes."""

from __future__ import annotations

import pytest

from steelyard.api.command_routes import with_routes


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("no run 'x'; `steelyard runs` lists them", "no run 'x'; `GET /v1/runs` lists them"),
        ("none yet; `steelyard run` makes one", "none yet; `POST /v1/runs` makes one"),
        ("`steelyard dataset list` shows", "`GET /v1/datasets` shows"),
        (
            "`steelyard judge publish judge/tone@1.0.0` first",
            "`POST /v1/judges/tone@1.0.0/publish` first",
        ),
        (
            "what `steelyard rubric show rubric/q-v1` prints",
            "what `GET /v1/rubrics/q-v1` prints",
        ),
    ],
)
def test_a_command_that_has_a_route_is_named_by_it(message: str, shown: str) -> None:
    assert with_routes(message) == shown


@pytest.mark.parametrize("message", ["`steelyard verify` says more", "a run", "`limit`"])
def test_other_messages_stay_as_they_are(message: str) -> None:
    assert with_routes(message) == message
