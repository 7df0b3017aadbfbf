"""No secret and no personal data reaches a disk, in whatever form it comes."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.canaries import CANARIES
from steelyard.engine.redaction.redactor import MARK, Redactor, is_redacted, json_bytes
from steelyard.model.exemption import NOTHING
from steelyard.model.json_value import JsonValue
from steelyard.settings import REDACTED_KINDS as KINDS

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
    assert redact.take_counts() == {"secrets": 3}


@pytest.mark.parametrize(("length", "redacted"), [(0, False), (1, False), (7, False), (8, True)])
def test_what_is_shorter_than_eight_characters_is_no_secret(length: int, redacted: bool) -> None:
    secret = "x" * length
    redact = Redactor([secret])

    assert is_redacted(secret) is redacted
    assert (MARK.encode() in redact(json_bytes([f"a{secret}b"]))) is redacted
    assert redact.take_counts() == ({"secrets": 1} if redacted else {})


def test_the_longer_of_two_secrets_goes_first() -> None:
    redact = Redactor(["password", "password-and-more"])

    assert json.loads(redact(json_bytes(["password-and-more, password"]))) == [f"{MARK}, {MARK}"]
    assert redact.take_counts() == {"secrets": 2}


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


PLANTED = [(kind, text) for kind, texts in CANARIES.items() for text in texts]


@pytest.mark.parametrize(("kind", "text"), PLANTED)
@pytest.mark.parametrize("writer", WRITERS)
def test_personal_data_is_found_in_every_form_in_which_json_writes_it(
    kind: str, text: str, writer: str
) -> None:
    data = WRITERS[writer]({"said": f"see\n{text}\nthere", "at": {f"x {text}": [1.5, text]}})
    redact = Redactor(patterns=KINDS)
    value = json.loads(redact(data))
    inner = json.loads(value["text"]) if "text" in value else value
    mark = f"[redacted:{kind}]"

    assert inner == {"said": f"see\n{mark}\nthere", "at": {f"x {mark}": [1.5, mark]}}
    assert redact.take_counts() == {kind: 3}
    assert redact.take_counts() == {}


@pytest.mark.parametrize(("kind", "text"), PLANTED)
def test_escapes_of_any_character_hide_nothing(kind: str, text: str) -> None:
    """A string may be JSON in which somebody has escaped what need not be."""
    escaped = "".join(f"\\u{ord(sign):04x}" for sign in text)
    said = Redactor(patterns=KINDS)(json_bytes({"said": f'{{"inner": "{escaped}"}}'}))
    outer = Redactor(patterns=KINDS)(f'{{"said": "{escaped}"}}'.encode())

    assert json.loads(json.loads(said)["said"]) == {"inner": f"[redacted:{kind}]"}
    assert json.loads(outer) == {"said": f"[redacted:{kind}]"}


@pytest.mark.parametrize("chosen", KINDS)
def test_only_the_patterns_that_were_chosen_are_replaced(chosen: str) -> None:
    text = " ; ".join(texts[1] for texts in CANARIES.values())
    redact = Redactor(patterns=[chosen])
    clean = json.loads(redact(json_bytes([text])))[0]
    left = [kind for kind, texts in CANARIES.items() if texts[1] in clean]

    assert left == [kind for kind in CANARIES if kind != chosen]
    assert redact.take_counts() == {chosen: 1}


def test_secrets_go_before_patterns() -> None:
    redact = Redactor(["joe@example.com"], KINDS)

    assert json.loads(redact(b'["joe@example.com, ann@example.com"]')) == [
        f"{MARK}, [redacted:email]"
    ]
    assert redact.take_counts() == {"secrets": 1, "email": 1}


def test_keys_that_were_different_do_not_become_one() -> None:
    row: JsonValue = {"a@x.org": 1, "b@x.org": 2, "[redacted:email] 2": 3}

    assert json.loads(Redactor(patterns=KINDS)(json_bytes(row))) == {
        "[redacted:email]": 1,
        "[redacted:email] 2": 2,
        "[redacted:email] 2 2": 3,
    }


def test_a_false_alarm_leaves_the_bytes_as_they_are() -> None:
    data = b'{"a" : "@nobody MAX_LENGTH +1 (2) \\u00e9"}'

    assert Redactor(patterns=KINDS)(data) is data


def test_a_name_is_cleaned_and_not_counted() -> None:
    redact = Redactor([KEY], KINDS)

    assert redact.text(f"{KEY} of joe@example.com") == f"{MARK} of [redacted:email]"
    assert redact.text("a plain name") == "a plain name"
    assert redact.take_counts() == {}


def test_the_manifest_is_told_all_kinds_that_were_looked_for() -> None:
    redact = Redactor([KEY], ["card", "email"])
    redact(json_bytes([KEY, "joe@example.com"]))

    assert redact.described({"email": 2, "secrets": 1}).json() == {
        "secrets": 2,
        "patterns": {"email": 3, "card": 0},
        "version": "3",
    }
    assert Redactor().described({}).json() == {"secrets": 0, "patterns": {}, "version": "3"}


@given(value=VALUES)
def test_what_is_clean_stays_clean(value: JsonValue) -> None:
    redact = Redactor(patterns=KINDS)
    data = json_bytes(value)
    clean = redact(data)

    assert (clean is data) is (redact.take_counts() == {})
    assert json.loads(clean) == value or b"[redacted:" in clean


@given(st.lists(st.sampled_from([*SECRETS, "nothing", "case-000123", "+49 30 1234567", "a@b.de"])))
def test_several_texts_become_what_each_would_become_alone(said: list[str]) -> None:
    texts = [json_bytes({"said": text}) for text in said]
    together, alone = (Redactor(SECRETS, KINDS) for _ in range(2))

    clean = together.each(texts, lambda: [NOTHING for _ in texts])

    assert clean == [alone(text) for text in texts]
    assert together.take_counts() == alone.take_counts()


def test_what_was_written_by_ourselves_is_not_looked_at_in_any_of_them() -> None:
    own = b"4111111111111111"
    texts = [json_bytes({"record_sha256": own.decode()}), json_bytes({"said": "hello"})]

    assert Redactor((), KINDS).each(texts, lambda: [NOTHING, NOTHING], [own]) == texts
    assert Redactor((), KINDS).each(texts, lambda: [NOTHING, NOTHING]) != texts


def test_a_card_that_json_has_as_a_number_is_found() -> None:
    row: JsonValue = {"card": 4111111111111111, "other": 4111111111111112, "at": 1700000000000}
    redact = Redactor(patterns=KINDS)

    assert json.loads(redact(json_bytes({"rows": [row]}))) == {
        "rows": [{**row, "card": "[redacted:card]"}]
    }
    assert redact.take_counts() == {"card": 1}


GIVEN = {
    "password=hunter2 and more": "password=[redacted:key] and more",
    "postgres://db?user=joe&password=pass-word&x=1": (
        "postgres://db?user=joe&password=[redacted:key]&x=1"
    ),
    "DB_PASSWORD = 'correct horse'": "DB_PASSWORD = '[redacted:key] horse'",
    "password: hunter2": "password: [redacted:key]",
    "Passwd=geheim!": "Passwd=[redacted:key]",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY": (
        "aws_secret_access_key = [redacted:key]"
    ),
    "export API_KEY=abc123def456": "export API_KEY=[redacted:key]",
    '{"client_secret": "a1b2c3d4"}': '{"client_secret": "[redacted:key]"}',
}


@pytest.mark.parametrize("said", GIVEN)
@pytest.mark.parametrize("writer", WRITERS)
def test_what_is_called_a_password_or_key_is_found(said: str, writer: str) -> None:
    value = json.loads(Redactor(patterns=KINDS)(WRITERS[writer]({"said": said})))
    inner = json.loads(value["text"]) if "text" in value else value

    assert inner["said"] == GIVEN[said]
