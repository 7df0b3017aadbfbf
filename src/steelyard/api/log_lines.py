"""Log lines of a server: JSON for programs, text for people; one line each, whatever they hold."""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from collections.abc import Callable, Collection
from typing import Any, Literal, TypeAlias

LogFormat: TypeAlias = Literal["json", "text"]
_FIELDS = ("request_id", "actor", "method", "path", "status", "ms")
_MOST_TEXT = 2_000
"""The most characters of a value; a traceback may have ten times as many."""
_HIDDEN = "***"


class JsonLines(logging.Formatter):
    """One JSON object per line."""

    def __init__(self, hide: Callable[[str], str]) -> None:
        super().__init__()
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        fields: dict[str, Any] = {
            "at": _utc(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _shortened(self._hide(record.getMessage())),
        }
        for name in _FIELDS:
            if hasattr(record, name):
                value = getattr(record, name)
                fields[name] = _shortened(self._hide(value)) if isinstance(value, str) else value
        if record.exc_info:
            text = "".join(traceback.format_exception(*record.exc_info))
            fields["traceback"] = self._hide(text)[-10 * _MOST_TEXT :]
        return json.dumps(fields)  # in ASCII: no control character, no direction mark


class TextLines(logging.Formatter):
    """A line for people; a traceback follows it, indented."""

    def __init__(self, hide: Callable[[str], str]) -> None:
        super().__init__()
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        if hasattr(record, "ms"):
            values = (getattr(record, name) for name in ("method", "path", "status", "ms"))
            message = f"{' '.join(map(str, values))} ms"
        else:
            message = record.getMessage()
        named = [getattr(record, name, None) for name in ("actor", "request_id")]
        about = f"  ({', '.join(str(one) for one in named if one)})" if any(named) else ""
        clock = time.strftime("%H:%M:%S", time.localtime(record.created))
        line = f"{clock} {record.levelname.lower():<7} {message}{about}"
        lines = [_printable(_shortened(self._hide(line)))]
        if record.exc_info:
            text = "".join(traceback.format_exception(*record.exc_info))
            lines += [f"    {_printable(one)}" for one in self._hide(text).splitlines()]
        return "\n".join(lines)


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


def _utc(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03}Z"


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"


def _printable(text: str) -> str:
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)
