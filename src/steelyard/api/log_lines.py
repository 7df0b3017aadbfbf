"""Log lines of a server: JSON for programs, text for people; one line each, whatever they hold."""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import msgspec

LogFormat: TypeAlias = Literal["json", "text"]
Fields: TypeAlias = Mapping[str, Any]
"""What a line is about: `created`, in seconds, and fields that lines have."""
_FIELDS = ("request_id", "actor", "method", "path", "status", "ms")
_MOST_TEXT = 2_000
"""The most characters of a value; a traceback may have ten times as many."""
_HIDDEN = "***"


class ServedRequests(logging.LogRecord):
    """Requests that were served at about the same time, as one log record; a line for each."""

    def __init__(self, level: int, requests: Sequence[Fields]) -> None:
        super().__init__("steelyard.access", level, "", 0, "request", None, None)
        self.requests = requests


class JsonLines(logging.Formatter):
    """One JSON object per line."""

    def __init__(self, hide: Callable[[str], str]) -> None:
        super().__init__()
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        about = {
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _shortened(self._hide(record.getMessage())),
        }
        return "\n".join([self._line(record, about, found) for found in _fields_of(record)])

    def _line(self, record: logging.LogRecord, about: dict[str, str], found: Fields) -> str:
        fields: dict[str, Any] = {"at": _utc(found["created"]), **about}
        for name in _FIELDS:
            if name in found:
                value = found[name]
                fields[name] = _shortened(self._hide(value)) if isinstance(value, str) else value
        if record.exc_info:
            text = "".join(traceback.format_exception(*record.exc_info))
            fields["traceback"] = self._hide(text)[-10 * _MOST_TEXT :]
        return _json_line(fields)


class TextLines(logging.Formatter):
    """A line for people; a traceback follows it, indented."""

    def __init__(self, hide: Callable[[str], str]) -> None:
        super().__init__()
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        return "\n".join(self._lines(record, fields) for fields in _fields_of(record))

    def _lines(self, record: logging.LogRecord, found: Fields) -> str:
        if "ms" in found:
            values = (found[name] for name in ("method", "path", "status", "ms"))
            message = f"{' '.join(map(str, values))} ms"
        else:
            message = record.getMessage()
        named = [found.get(name) for name in ("actor", "request_id")]
        about = f"  ({', '.join(str(one) for one in named if one)})" if any(named) else ""
        clock = time.strftime("%H:%M:%S", time.localtime(found["created"]))
        line = f"{clock} {record.levelname.lower():<7} {message}{about}"
        lines = [_printable(_shortened(self._hide(line)))]
        if record.exc_info:
            text = "".join(traceback.format_exception(*record.exc_info))
            lines += [f"    {_printable(one)}" for one in self._hide(text).splitlines()]
        return "\n".join(lines)


def _fields_of(record: logging.LogRecord) -> Sequence[Fields]:
    return record.requests if isinstance(record, ServedRequests) else (record.__dict__,)


def set_up_logging(style: LogFormat, level: str, secrets: Collection[str] = ()) -> None:
    """Write the log of this process to stderr; values of secrets are replaced.

    Other libraries are heard from warnings on.
    """
    hide = _hider(secrets)
    stream = logging.StreamHandler(sys.stderr)
    stream.setFormatter(JsonLines(hide) if style == "json" else TextLines(hide))
    logging.basicConfig(handlers=[stream], level=logging.WARNING, force=True)
    logging.getLogger("steelyard").setLevel(level.upper())


def _hider(secrets: Collection[str]) -> Callable[[str], str]:
    longest_first = sorted({one for one in secrets if len(one) >= 8}, key=len, reverse=True)

    def hide(text: str) -> str:
        for secret in longest_first:
            text = text.replace(secret, _HIDDEN)
        return text

    return hide


def _json_line(fields: dict[str, Any]) -> str:
    """In ASCII: no control character, no direction mark."""
    try:
        line = msgspec.json.encode(fields).decode("utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair
        line = ""
    if line.isascii() and line.isprintable() and line:
        return line
    return json.dumps(fields, separators=(",", ":"))


def _utc(seconds: float) -> str:
    return f"{_whole_second(int(seconds))}.{int(seconds % 1 * 1000):03}Z"


@lru_cache(maxsize=2)
def _whole_second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"


def _printable(text: str) -> str:
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)
