"""No secret reaches a disk, in whatever form it comes."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.engine.redaction import MARK, Redactor, is_redacted, json_bytes
from steelyard.model.json_value import JsonValue

KEY = "sk-0123456789abcdef"
SECRETS = [
    KEY,
    'with "quotes" inside',
    "back\\slash\\es",
    "line\nbreak\tand tab",
    "Schlüssel-mit-ß",
    "密码密码密码密码",
    "🔑🔑🔑🔑🔑🔑🔑🔑",
    "control\x01\x1fcharacters",
    "/slashes/and/\u2028",
    "12345678",
]


WRITERS: dict[str, Callable[[JsonValue], bytes]] = {
    "msgspec": msgspec.json.encode,
    "json": lambda value: json.dumps(value).encode(),
    "json-utf8": lambda value: json.dumps(value, ensure_ascii=False).encode(),
    "json-in-json": lambda value: json_bytes({"text": json.dumps(value)}),
    "json-utf8-in-json": lambda value: json_bytes({"text": json_bytes(value).decode()}),
}


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("writer", WRITERS)
def test_a_secret_is_found_in_every_form_in_which_json_writes_it(secret: str, writer: str) -> None:
    data = WRITERS[writer]({"said": f"my key is {secret}.", "at": {secret: [secret]}})
    redact = Redactor([secret])
    clean = redact(data)
    value = json.loads(clean)
    inner = json.loads(value["text"]) if "text" in value else value

    assert inner == {"said": f"my key is {MARK}.", "at": {MARK: [MARK]}}
    assert redact.count == 3


@pytest.mark.parametrize(("length", "redacted"), [(0, False), (1, False), (7, False), (8, True)])
def test_what_is_shorter_than_eight_characters_is_no_secret(length: int, redacted: bool) -> None:
    secret = "x" * length
    redact = Redactor([secret])

    assert is_redacted(secret) is redacted
    assert (MARK.encode() in redact(json_bytes([f"a{secret}b"]))) is redacted
    assert redact.count == int(redacted)


def test_the_longer_of_two_secrets_goes_first() -> None:
    redact = Redactor(["password", "password-and-more"])

    assert json.loads(redact(json_bytes(["password-and-more, password"]))) == [f"{MARK}, {MARK}"]
    assert redact.count == 2


def test_without_a_secret_the_bytes_are_the_same_object() -> None:
    data = b'{"a" : 1.0}'

    assert Redactor()(data) is data
    assert Redactor([KEY])(data) is data


def test_numbers_and_the_names_of_fields_are_no_secrets() -> None:
    """A header may have a value such as `messages`; the rows must keep their shape."""
    row: JsonValue = {"messages": [{"role": "user"}], "latency_ms": 123456789, "note": "messages"}
    redact = Redactor(["messages", "23456789"])

    assert json.loads(redact(json_bytes(row))) == {
        "messages": [{"role": "user"}],
        "latency_ms": 123456789,
        "note": MARK,
    }


def test_a_secret_of_odd_bytes_from_the_environment_is_one_too() -> None:
    secret = b"odd\xff\xfebytes".decode("utf-8", "surrogateescape")

    assert Redactor([secret])(b'["nothing"]') == b'["nothing"]'
    assert json.loads(Redactor([secret])(json.dumps([secret]).encode())) == [MARK]


TEXTS = st.text(max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=10,
)


@given(value=VALUES, secrets=st.lists(st.text(min_size=8, max_size=12), max_size=3))
def test_whatever_the_secret_json_stays_json_and_clean_json_stays_itself(
    value: JsonValue, secrets: list[str]
) -> None:
    clean = json.loads(Redactor(secrets)(json_bytes(value)))

    assert clean == value or MARK in json.dumps(clean)


@given(before=TEXTS, after=TEXTS, secret=st.text(min_size=8, max_size=12))
def test_no_neighbour_hides_a_secret(before: str, after: str, secret: str) -> None:
    clean = json.loads(Redactor([secret])(json_bytes([before + secret + after])))[0]

    assert secret not in clean


@pytest.mark.parametrize(
    ("text", "written"), [("é", '"é"'), ("a\ud800b", '"a\ufffdb"'), ("\udcff", '"\ufffd"')]
)
def test_what_is_no_text_is_replaced(text: str, written: str) -> None:
    assert json_bytes(text) == written.encode()
