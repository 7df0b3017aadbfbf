"""The one function that every write passes: secrets and personal data never reach a disk."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from steelyard.engine.redaction_patterns import FINDERS, KINDS, VERSION
from steelyard.engine.redaction_sieve import SECRETS, Sieve
from steelyard.engine.redaction_text import Span, unescaped
from steelyard.formats.encoding import without_surrogates
from steelyard.model.json_value import JsonObject, JsonValue

MIN_SECRET = 8
MARK = "[redacted]"
# Names of fields are plain words; a header whose value is such a word must not break them.
_FIELD = re.compile(r"[a-z_]+")


class Redactor:
    """Replaces secrets by value and personal data by pattern in JSON texts, and counts them."""

    def __init__(self, secrets: Iterable[str] = (), patterns: Collection[str] = ()) -> None:
        plain = {secret for secret in secrets if is_redacted(secret)}
        # A string may itself be JSON, in which the secret stands escaped.
        texts = plain | _escaped(plain)
        self._texts = sorted(texts, key=len, reverse=True)
        self._patterns = [kind for kind in FINDERS if kind in patterns]
        forms = {form.encode("utf-8", "surrogatepass") for form in texts | _escaped(texts)}
        self._sieve = Sieve(self._patterns, forms)
        self._counts: Counter[str] = Counter()

    def __call__(self, data: bytes, own: bytes = b"") -> bytes:
        """A JSON text without any of it; where there is none it is returned as it is.

        `own` is what Steelyard itself wrote into it, such as a hash, which looks like much.
        """
        kinds = self._sieve.signs(data.replace(own, b"") if own else data)
        if not kinds or self._is_innocent(data, kinds):
            return data
        before = self._counts.total()
        value = _Cleaning(self._texts, kinds, self._counts).value(json.loads(data))
        return data if self._counts.total() == before else json_bytes(value)

    def each(self, texts: list[bytes], own: bytes = b"") -> list[bytes]:
        """The same for several texts; where there is nothing, one look at all of them tells."""
        data = b"\n".join(texts)
        if not self._sieve.signs(data.replace(own, b"") if own else data):
            return texts
        return [self(text, own) for text in texts]

    def _is_innocent(self, data: bytes, kinds: list[str]) -> bool:
        """Whether the exact looks find nothing in the text as a whole.

        Quotes around a string are edges as good as its ends, so that what stands in one of its
        strings is found in the text as well; only escapes could hide it.
        """
        if b"\\" in data:
            return False
        text = data.decode("utf-8")
        if SECRETS in kinds and any(secret in text for secret in self._texts):
            return False
        return not any(
            kind in kinds and any(True for _ in find(text)) for kind, find in FINDERS.items()
        )

    def text(self, text: str) -> str:
        """The same for a name that stands elsewhere too, and is not counted twice."""
        kinds = self._sieve.signs(json_bytes(text))
        return _Cleaning(self._texts, kinds, Counter()).text(text) if kinds else text

    def take_counts(self) -> dict[str, int]:
        """How many of each kind were replaced since this was asked last."""
        if not self._counts:
            return {}
        counts = dict(+self._counts)
        self._counts.clear()
        return counts

    def described(self, before: Mapping[str, int]) -> JsonObject:
        """What the manifest says: what was replaced before and by this, by kind."""
        counts = self._counts + Counter(before)
        patterns: JsonObject = {kind: counts[kind] for kind in KINDS if kind in self._patterns}
        return {SECRETS: counts[SECRETS], "patterns": patterns, "version": VERSION}


class _Cleaning:
    """One pass over one value."""

    def __init__(self, secrets: list[str], kinds: list[str], counts: Counter[str]) -> None:
        self._secrets = secrets if SECRETS in kinds else []
        self._finders = [(kind, find) for kind, find in FINDERS.items() if kind in kinds]
        self._counts = counts

    def value(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return self._object(value)
        return value

    def _object(self, value: JsonObject) -> JsonObject:
        clean: JsonObject = {}
        numbers: Counter[str] = Counter()
        for name, item in value.items():
            key = name if _FIELD.fullmatch(name) else self.text(name)
            clean[_free(key, clean, numbers)] = self.value(item)
        return clean

    def text(self, text: str) -> str:
        for secret in self._secrets:
            self._counts[SECRETS] += text.count(secret)
            text = text.replace(secret, MARK)
        for kind, find in self._finders:
            seen = unescaped(text)
            spans = [seen.origin(span) for span in find(seen.text)]
            self._counts[kind] += len(spans)
            text = _replaced(text, spans, f"[redacted:{kind}]")
        return text


def _replaced(text: str, spans: list[Span], mark: str) -> str:
    parts: list[str] = []
    done = 0
    for start, end in spans:
        parts += (text[done:start], mark)
        done = end
    return "".join((*parts, text[done:])) if spans else text


def _free(key: str, taken: JsonObject, numbers: Counter[str]) -> str:
    """A key that is not taken: two that were different must not become one.

    `numbers` has the last number that each key was given, so that none is tried twice.
    """
    free = key
    while free in taken:
        numbers[key] += 1
        free = f"{key} {numbers[key] + 1}"
    return free


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
