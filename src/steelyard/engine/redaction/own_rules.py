"""What a project has redacted beside the usual: patterns of its own, and fields by their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

import re2  # pyright: ignore[reportMissingTypeStubs]

from steelyard.engine.redaction.text import TextSpan
from steelyard.errors import ConfigError
from steelyard.settings import REDACTED_KINDS

_re2 = cast(Any, re2)
_ANCHORED = re.compile(r"[\^$]|\\[ABQzC]")

_SOUND_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_TAKEN = (*REDACTED_KINDS, "secrets")


class OwnPattern:
    """A pattern of the project's own, in RE2, so that no text can take more than linear time."""

    def __init__(self, name: str, pattern: str) -> None:
        self.name = name
        if not _SOUND_NAME.fullmatch(name) or name in _TAKEN:
            raise ConfigError(
                f"redaction.custom.{name}: a name is up to 40 small letters, digits and _, and "
                f"is none of {', '.join(_TAKEN)}"
            )
        options = _re2.Options()
        options.log_errors = False
        try:
            self._compiled = _re2.compile(pattern, options)
        except _re2.error as error:
            reason: object = error.args[0]
            text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
            raise ConfigError(
                f"redaction.custom.{name}: not a pattern RE2 knows: {text}"
            ) from None
        if self._compiled.search(""):
            raise ConfigError(
                f"redaction.custom.{name} fits the empty text; say what it looks for"
            )
        self._is_local = not _ANCHORED.search(pattern)

    def may_be_in(self, data: bytes) -> bool:
        """Whether the strings of a JSON text must be looked at.

        Where nothing is escaped, what stands in one of them stands in the text as well; what a
        pattern says of edges is another matter.
        """
        return not self._is_local or b"\\" in data or self._compiled.search(data) is not None

    def find(self, text: str) -> Iterator[TextSpan]:
        """Where it fits."""
        data = text.encode("utf-8", "surrogatepass")
        # Between bytes and characters in one pass, however many there are.
        byte = place = 0
        for match in self._compiled.finditer(data):
            start = place + _characters(data[byte : match.start()])
            byte, place = match.end(), start + _characters(data[match.start() : match.end()])
            if place > start:
                yield TextSpan(start, place)


def _characters(data: bytes) -> int:
    return len(data.decode("utf-8", "surrogatepass"))


class OwnFields:
    """Fields whose values are never written, wherever an object has them."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        self._paths = {tuple(path.split(".")): path for path in paths}
        self._names = [f'"{path.rsplit(".", 1)[-1]}"'.encode() for path in paths]
        self._whole = [f'"{path}"'.encode() for path in paths]

    def may_be_in(self, data: bytes) -> bool:
        """Whether a JSON text has a field of such a name."""
        return any(name in data for name in (*self._names, *self._whole))

    def of(self, walked: tuple[str, ...]) -> str | None:
        """The path that ends where one has walked; None where nothing is hidden."""
        if not self._paths:
            return None
        ends = (walked[place:] for place in range(len(walked)))
        found = next((self._paths[end] for end in ends if end in self._paths), None)
        # Slices have the whole path for a name.
        return found or self._paths.get(tuple(walked[-1].split(".")))
