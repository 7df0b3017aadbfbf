"""Log lines: one line each, without secrets."""

from __future__ import annotations

import json
import logging
from collections.abc import Generator

import pytest

from steelyard.api.log_lines import (
    JsonLines,
    LogFormat,
    ServedRequests,
    TextLines,
    set_up_logging,
)

SECRET = "sk-0123456789"


@pytest.fixture
def _root_logging() -> Generator[None]:
    root, own = logging.getLogger(), logging.getLogger("steelyard")
    before = (root.handlers[:], root.level, own.level)
    yield
    root.handlers[:], level, own_level = before
    root.setLevel(level)
    own.setLevel(own_level)


def failed() -> logging.LogRecord:
    """The record of an error whose message holds a secret."""
    error = ValueError(f"bad key {SECRET}\nfaked line\x1b[31m")
    found = (ValueError, error, None)
    return logging.LogRecord("steelyard.api", logging.ERROR, "", 0, "key %s", (SECRET,), found)


@pytest.mark.usefixtures("_root_logging")
@pytest.mark.parametrize("style", ["json", "text"])
def test_values_of_secrets_are_replaced_wherever_they_are(
    capsys: pytest.CaptureFixture[str], style: LogFormat
) -> None:
    set_up_logging(style, "info", [SECRET, "short"])

    logging.getLogger("steelyard.api").handle(failed())
    logging.getLogger("steelyard.access").info("short %s", SECRET, extra={"path": f"/{SECRET}"})
    logging.getLogger("uvicorn.error").warning("of uvicorn")
    logging.getLogger("uvicorn.error").info("chatter")

    written = capsys.readouterr().err
    assert SECRET not in written
    assert "***" in written
    assert "short" in written  # too short to be told from other text
    assert "of uvicorn" in written
    assert "chatter" not in written


def test_a_traceback_is_within_the_one_line_of_json() -> None:
    line = JsonLines(lambda text: text).format(failed())

    assert "\n" not in line
    assert line.isascii()
    assert json.loads(line)["traceback"].startswith("ValueError")


def test_a_traceback_for_people_is_indented_and_escaped() -> None:
    first, *rest = TextLines(lambda text: text).format(failed()).splitlines()

    assert first.endswith(f"error   key {SECRET}")
    assert all(line.startswith("    ") for line in rest)
    assert "\x1b" not in "".join(rest)


def test_a_long_value_is_shortened() -> None:
    record = logging.LogRecord("a", logging.INFO, "", 0, "x" * 100_000, (), None)

    assert len(JsonLines(lambda text: text).format(record)) < 3000


def request(path: str) -> dict[str, object]:
    """The fields of a request, of 2026-01-01."""
    known = {"request_id": "one", "actor": None, "method": "GET", "status": 200, "ms": 1.5}
    return {"created": 1767225600.25, "path": path, **known}


def test_every_request_of_a_record_has_a_line_of_its_own() -> None:
    record = ServedRequests(logging.INFO, [request("/a"), request("/b")])
    lines = JsonLines(lambda text: text).format(record).splitlines()
    text = TextLines(lambda text: text).format(record).splitlines()

    assert [json.loads(line) for line in lines] == [
        {
            "at": "2026-01-01T00:00:00.250Z",
            "level": "info",
            "logger": "steelyard.access",
            "message": "request",
            "request_id": "one",
            "actor": None,
            "method": "GET",
            "path": path,
            "status": 200,
            "ms": 1.5,
        }
        for path in ("/a", "/b")
    ]
    assert [line.partition("info    ")[2] for line in text] == [
        "GET /a 200 1.5 ms  (one)",
        "GET /b 200 1.5 ms  (one)",
    ]


@pytest.mark.parametrize("path", ["/\x7f", "/\x00\n", "/ü\u202e", "/\ud800", '/"\\'])
def test_a_line_of_json_is_printable_ascii_whatever_it_is_about(path: str) -> None:
    line = JsonLines(lambda text: text).format(ServedRequests(logging.INFO, [request(path)]))

    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line)["path"] == path
