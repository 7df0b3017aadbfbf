"""The values of configured secrets, as callers may send them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from steelyard.engine.redaction.redactor import Redactor, json_bytes

_FRESH_S = 1.0
"""A target that was saved later than this may have a secret that is not known yet."""

_PASSWORDS = frozenset(("password", "current", "again"))
"""The fields of bodies and forms that hold one."""


@dataclass(slots=True)
class SecretValues:
    """Hides the secrets of a project in what is stored of a request beside records."""

    secrets: Callable[[], tuple[str, ...]]
    _known: tuple[str, ...] = ()
    _redactor: Redactor | None = None
    _looked_at: float = field(default=float("-inf"))

    def are_in(self, text: str) -> bool:
        """Whether a text holds one of them."""
        return self._current().text(text) != text

    def without(self, data: bytes) -> bytes:
        """A JSON text with marks in their place; what is no JSON is as it was.

        A password may well be such a value: it is only compared, or stored as its hash.
        """
        try:
            hidden = self._current()(data)
            if hidden == data:
                return data
            given, value = json.loads(data), json.loads(hidden)
        except (ValueError, RecursionError):
            return data
        if isinstance(given, dict):
            value.update((name, given[name]) for name in _PASSWORDS & given.keys())
        return json_bytes(value)

    def without_in(self, form: Mapping[str, str]) -> dict[str, str]:
        """The fields of a form with marks in their place, beside passwords."""
        hide = self._current().text
        return {name: text if name in _PASSWORDS else hide(text) for name, text in form.items()}

    def _current(self) -> Redactor:
        now = time.monotonic()
        if self._redactor is None or now - self._looked_at > _FRESH_S:
            found = self.secrets()
            if self._redactor is None or found != self._known:
                self._known, self._redactor = found, Redactor(found)
            self._looked_at = now
        return self._redactor
