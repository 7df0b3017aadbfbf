"""All secrets of a project are known, whichever target a run asks."""

from __future__ import annotations

import pytest

from steelyard.model.json_value import JsonObject
from steelyard.settings import OidcSettings, Settings, TargetEntry
from steelyard.targets.configured_secrets import configured_secrets

ENVIRON = {"KEY": "sk-1\n", "TENANT": "t-7", "EMPTY": "", "APP_TOKEN": "tok-9"}


def entries(**targets: JsonObject) -> dict[str, TargetEntry]:
    return {name: TargetEntry.of({"provider": "http", **row}) for name, row in targets.items()}


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
        ({"body": {"a": [{"b": "${TENANT} ${APP_TOKEN}"}], "c": "${UNSET_KEY:-x}"}}, ("tok-9",)),
        ({"command": ["x", "--key=${APP_TOKEN}", "${EMPTY}"]}, ("tok-9",)),
        ({"url": "https://x/${APP_TOKEN}/ask", "timeout_s": 7}, ("tok-9",)),
    ],
)
def test_keys_and_headers_are_secrets(target: JsonObject, expected: tuple[str, ...]) -> None:
    assert configured_secrets(Settings(targets=entries(live=target)), ENVIRON) == expected


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [
        ("KEY", True),
        ("MY_KEY", True),
        ("my_api_key", True),
        ("APIKEY", True),
        ("KEY_2", True),
        ("TOKEN1", True),
        ("GITHUB_TOKEN", True),
        ("CLIENT_SECRET", True),
        ("DB_PASSWORD", True),
        ("AWS_CREDENTIALS", True),
        ("MODEL", False),
        ("MAX_TOKENS", False),
        ("KEYBOARD", False),
        ("MONKEY", False),
        ("TOKENIZER", False),
    ],
)
def test_a_variable_says_by_its_name_that_it_is_a_secret(name: str, is_secret: bool) -> None:
    targets = entries(live={"body": {"x": f"${{{name}}}"}})

    assert configured_secrets(Settings(targets=targets), {name: "value"}) == (
        ("value",) if is_secret else ()
    )


def test_every_target_has_its_own() -> None:
    targets = entries(a={"api_key_env": "KEY"}, b={"headers": {"x": "y"}})

    assert configured_secrets(Settings(targets=targets), ENVIRON) == ("sk-1", "y")


@pytest.mark.parametrize(("variable", "found"), [("APP_TOKEN", ("tok-9",)), (None, ())])
def test_the_secret_of_the_openid_client_is_one(
    variable: str | None, found: tuple[str, ...]
) -> None:
    oidc = OidcSettings(client_secret_env=variable)

    assert configured_secrets(Settings(oidc=oidc), ENVIRON) == found


def test_the_keys_of_the_product_itself_are_secrets() -> None:
    environ = {"STEELYARD_SPOOL_KEY": "spool-key-1", "STEELYARD_KEY": "sy_key_1"}

    assert configured_secrets(Settings(), environ) == ("spool-key-1", "sy_key_1")


def test_what_opens_the_bucket_is_secret() -> None:
    environ = {
        "AWS_ACCESS_KEY_ID": "id-1",
        "AWS_SECRET_ACCESS_KEY": "secret-1",
        "AWS_SESSION_TOKEN": "token-1",
    }

    assert configured_secrets(Settings(), environ) == ()
    found = configured_secrets(Settings(artifacts="s3://evals"), environ)
    assert found == ("id-1", "secret-1", "token-1")
