"""The probe tells a server that holds to a schema from one that ignores it."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.engine.judging.judge_probe import PROBE_MESSAGES, PROBE_SCHEMA, is_enforced

SCHEMA: Any = PROBE_SCHEMA
NONSENSE: str = SCHEMA["properties"]["colour"]["enum"][0]


@pytest.mark.parametrize("text", [f'{{"colour": "{NONSENSE}"}}', f' {{"colour":"{NONSENSE}"}}\n'])
def test_only_the_nonsense_of_the_schema_shows_that_it_is_enforced(text: str) -> None:
    assert is_enforced(text)


@pytest.mark.parametrize(
    "text",
    [
        *('{"colour": "blue"}', "blue", "", NONSENSE, f'"{NONSENSE}"', "null", "[" * 5_000),
        f'```json\n{{"colour": "{NONSENSE}"}}\n```',
        f'{{"colour": "{NONSENSE}", "more": 1}}',
    ],
)
def test_anything_else_shows_that_it_is_not(text: str) -> None:
    assert not is_enforced(text)


def test_the_question_does_not_give_the_nonsense_away() -> None:
    assert NONSENSE not in str(PROBE_MESSAGES)
