"""What looks like personal data or a key is found, whole and nothing more."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.canaries import CANARIES, INNOCENT, PRIVATE_KEY, WEB_TOKEN
from steelyard.engine.redaction.patterns import FINDERS, emails, ibans, keys
from steelyard.engine.redaction.redactor import Redactor, json_bytes
from steelyard.settings import REDACTED_KINDS as KINDS

HOSTILE = {
    "digits": "4 ",
    "groups": "0123 4",
    "points": "01.23.45",
    "pairs": "0123456789-. ()",
    "signs": "a@a.",
    "percent": "%40a.",
    "plus": "+1 ",
    "prefixes": "sk-",
    "tokens": "-eyJ.",
    "words": "Aa0",
    "accounts": "DE89 3704 ",
    "private": "-----BEGIN PRIVATE KEY-----\nAB.",
    "ended": "-----END PRIVATE KEY-----",
    "dots": "SG.aaaaaaaaaaaaaaaaa.",
    "addresses": "a://a:a",
    "options": "--password a",
    "authorized": "authorization: basic ",
}


def found(text: str) -> dict[str, list[str]]:
    """What every look finds."""
    spans = {
        kind: [text[start:end] for start, end in find(text)] for kind, find in FINDERS.items()
    }
    return {kind: texts for kind, texts in spans.items() if texts}


@pytest.mark.parametrize("text", INNOCENT)
@pytest.mark.parametrize("around", ["{}", "see {} there", "({}),", "“{}”", "号{}号"])
def test_what_is_none_of_it_stays(text: str, around: str) -> None:
    assert found(around.format(text)) == {}


AROUND = ["{}", "see {} there", "({}).", "“{}”;", "它是{}。", "x:\n{}\ny"]
WHOLE = [
    (kind, around, text)
    for kind, texts in CANARIES.items()
    for text in texts
    for around in AROUND
    # Without a space, nothing says where a name in another alphabet begins.
    if kind != "email" or text.isascii() or "它" not in around
]


@pytest.mark.parametrize(("kind", "around", "text"), WHOLE)
def test_the_whole_of_it_is_found(kind: str, around: str, text: str) -> None:
    assert text in found(around.format(text))[kind]


def test_every_kind_has_its_look() -> None:
    assert set(FINDERS) == set(KINDS) == set(CANARIES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mailto:joe@x.org.", ["joe@x.org"]),
        ("'joe@x.org'", ["joe@x.org"]),
        ("...joe@x.org", ["joe@x.org"]),
        ("?to=joe%40x.org&x=ann@x.org", ["joe%40x.org", "ann@x.org"]),
        ("我的邮箱是joe@x.org是我的", ["joe@x.org"]),
        ("a@b@c.org", ["b@c.org"]),
        ("joe@x.org-based", ["joe@x.org"]),
        ("joe@x.o", []),
        ("joe@x.or", ["joe@x.or"]),
        ("joe@x.org2", []),
        ("joe@.org", []),
        ("'@x.org", []),
        ("@x.org", []),
        ("joe@xn--p1ai", []),
        ("icon@3x.PNG icon@1.5x.webp", []),
        ("x" * 70 + "@x.org", ["x" * 64 + "@x.org"]),
    ],
)
def test_addresses(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in emails(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AT61 1904 3002 3457 3201 BANK", ["AT61 1904 3002 3457 3201"]),
        (
            "AT61 1904 3002 3457 3201 GB29 NWBK 6016 1331 9268 19",
            ["AT61 1904 3002 3457 3201", "GB29 NWBK 6016 1331 9268 19"],
        ),
        ("12AT611904300234573201", []),
        ("IBAN:DE89370400440532013000,", ["DE89370400440532013000"]),
        (".DE89370400440532013000", ["DE89370400440532013000"]),
        (".de89370400440532013000", []),
        ("De89370400440532013000", []),
        ("gb29nwbk60161331926819", []),
        ("DE89", []),
    ],
)
def test_account_numbers(text: str, expected: list[str]) -> None:
    """One in small letters that has other letters than its country's is too much like a word."""
    assert [text[start:end] for start, end in ibans(text)] == expected


RANDOM = "Ab1Cd2Ef3Gh4Ij5K"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"sk-{RANDOM}", [f"sk-{RANDOM}"]),
        (f"sk-{RANDOM[:-1]}", []),
        (f"risk-{RANDOM}", []),
        (f"my_sk-{RANDOM}", [f"sk-{RANDOM}"]),
        ("sk-abcdefghij12345xyz", []),
        ("sk-abcdefghij123456xyz", ["sk-abcdefghij123456xyz"]),
        ("sk-abcdefghij123-456xyz", []),
        (f"Authorization: Bearer {RANDOM}", [RANDOM]),
        (f"bearer {RANDOM}", []),
        ("Bearer ....1234567890123456", []),
        (f"token={WEB_TOKEN}&x", [WEB_TOKEN]),
        (WEB_TOKEN.rpartition(".")[0], [WEB_TOKEN.rpartition(".")[0]]),
        (WEB_TOKEN.partition(".")[0], []),
        (f"eyJ{'a' * 20}.{'a' * 20}", []),
        (f"eyJ-{'A' * 20}.{'a' * 20}", []),
        (f"ya29.{'a' * 20}", []),
        (f"AIza{'a' * 35}", []),
        (PRIVATE_KEY * 2, [PRIVATE_KEY] * 2),
        ("-----BEGIN PRIVATE KEY-----\nMII= so, ok", ["-----BEGIN PRIVATE KEY-----\nMII= so"]),
        (f"{PRIVATE_KEY[-29:]} {PRIVATE_KEY}", [PRIVATE_KEY]),
        (
            f"-----BEGIN PRIVATE KEY-----\nsk-{RANDOM}\n-----END PRIVATE KEY-----",
            [f"-----BEGIN PRIVATE KEY-----\nsk-{RANDOM}\n-----END PRIVATE KEY-----"],
        ),
        (
            "-----BEGIN PRIVATE KEY----- -----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----",
            ["-----BEGIN PRIVATE KEY----- -----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----"],
        ),
    ],
)
def test_keys(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in keys(text)] == expected


@given(text=st.text(st.sampled_from("0123456789+-(). /@abAB\u00a0,:_\n"), max_size=80))
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_found_lies_in_order_and_apart(kind: str, text: str) -> None:
    spans = list(FINDERS[kind](text))
    places = [place for span in spans for place in span]

    assert places == sorted(places)
    assert all(span.start < span.end for span in spans)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.trials
def test_ten_times_the_text_takes_ten_times_as_long(kind: str, name: str) -> None:
    """Give or take what a busy machine adds."""

    def seconds(size: int) -> float:
        text = HOSTILE[name] * (size // len(HOSTILE[name]))
        start = time.process_time()
        for _ in FINDERS[kind](text):
            pass
        return time.process_time() - start

    short, long = (min(seconds(size) for _ in range(3)) for size in (10_000, 100_000))
    assert long < 40 * short + 0.05


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password=hunter2", "hunter2"),
        ('password: "correct horse"', "correct"),
        ('"password": "hunter2"', "hunter2"),
        ("PASSWORD = hunter2", "hunter2"),
        ("pwd=hunter2;", "hunter2"),
        ("passwd: hunter2", "hunter2"),
        ("mysql --password hunter2 -h db", "hunter2"),
        ("mysql --password correcthorse --host db", "correcthorse"),
        ("login --db-password 'open sesame'", "open"),
        ("https://user:pass@host", "pass"),
        ("postgresql://app:s3cret@db.example.com:5432/x", "s3cret"),
        ("redis://:opensesame@cache", "opensesame"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalr"),
        ("Authorization: Bearer abc123", "abc123"),
        ("authorization: bearer opensesameopensesame", "opensesame"),
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ('{"Authorization": "Basic dXNlcjpwYXNz"}', "dXNlcjpwYXNz"),
    ],
)
def test_secrets_that_a_text_names_are_found_in_it_and_in_json(text: str, secret: str) -> None:
    redact = Redactor(patterns=["key"])
    for value in (text, json.dumps({"said": text})):
        kept = redact(json_bytes({"response": value})).decode()

        assert secret not in kept
        assert "[redacted:key]" in kept
