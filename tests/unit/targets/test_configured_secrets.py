"""All secrets of a project are known, whichever target a run asks."""

from __future__ import annotations

import pytest

from steelyard.model.json_value import JsonObject
from steelyard.targets.configured_secrets import configured_secrets

ENVIRON = {"KEY": "sk-1\n", "TENANT": "t-7", "EMPTY": ""}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ({}, ()),
        ({"api_key_env": "KEY"}, ("sk-1",)),
        ({"api_key_env": "EMPTY"}, ()),
        ({"api_key_env": "UNSET"}, ()),
        ({"headers": {"x-a": "plain", "x-b": "of ${TENANT}", "x-c": 7}}, ("plain", "of t-7", "7")),
        ({"headers": {"x-a": "${UNSET}", "x-b": "${UNSET:-some}"}}, ("some",)),
        ({"api_key_env": "KEY", "headers": {"x-a": "b"}}, ("sk-1", "b")),
        ({"env": {"A": "plain", "B": "${TENANT}", "C": "${UNSET}", "D": 7}}, ("t-7",)),
    ],
)
def test_keys_and_headers_are_secrets(target: JsonObject, expected: tuple[str, ...]) -> None:
    assert configured_secrets({"live": target}, ENVIRON) == expected


def test_every_target_has_its_own() -> None:
    targets: JsonObject = {"a": {"api_key_env": "KEY"}, "b": {"headers": {"x": "y"}}}

    assert configured_secrets(targets, ENVIRON) == ("sk-1", "y")
