"""The one function that every write passes: configured secrets never reach a disk."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import cast

from steelyard.formats.encoding import without_surrogates
from steelyard.model.json_value import JsonObject, JsonValue

MIN_SECRET = 8
MARK = "[redacted]"
# Names of fields are plain words; a header whose value is such a word must not break them.
_FIELD = re.compile(r"[a-z_]+")


class Redactor:
    """Replaces secrets by value in the strings of JSON texts, and counts what it replaced."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        plain = {secret for secret in secrets if is_redacted(secret)}
        # A string may itself be JSON, in which the secret stands escaped.
        texts = plain | _escaped(plain)
        self._texts = sorted(texts, key=len, reverse=True)
        forms = texts | _escaped(texts)
        self._forms = [form.encode("utf-8", "surrogatepass") for form in forms]
        self.count = 0

    def __call__(self, data: bytes) -> bytes:
        """A JSON text without any secret; without a hit it is returned as it is."""
        if not any(form in data for form in self._forms):
            return data
        return json_bytes(self._value(cast(JsonValue, json.loads(data))))

    def _value(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, dict):
            return {self._key(key): self._value(item) for key, item in value.items()}
        return value

    def _key(self, key: str) -> str:
        return key if _FIELD.fullmatch(key) else self._text(key)

    def _text(self, text: str) -> str:
        for secret in self._texts:
            self.count += text.count(secret)
            text = text.replace(secret, MARK)
        return text


def is_redacted(secret: str) -> bool:
    """Whether a secret is long enough not to be found in innocent text."""
    return len(secret) >= MIN_SECRET


def json_bytes(value: JsonValue | JsonObject) -> bytes:
    """A value as compact JSON in UTF-8; half a surrogate pair, which is no text, is replaced."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return without_surrogates(text).encode("utf-8")


def _escaped(texts: set[str]) -> set[str]:
    """The forms in which JSON writes texts, in ASCII and in UTF-8."""
    pairs = ((text, is_ascii) for text in texts for is_ascii in (True, False))
    return {json.dumps(text, ensure_ascii=is_ascii)[1:-1] for text, is_ascii in pairs}
