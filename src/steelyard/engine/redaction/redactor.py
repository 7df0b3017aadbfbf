"""The one function that every write passes: secrets and personal data never reach a disk."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from msgspec import UNSET

from steelyard.engine.redaction.hidden_values import hidden_values
from steelyard.engine.redaction.json_text import inner_texts, is_json_text, replaced_in_json
from steelyard.engine.redaction.marks import BEGIN, marks_in
from steelyard.engine.redaction.numbers import payment_cards
from steelyard.engine.redaction.own_rules import OwnFields, OwnPattern
from steelyard.engine.redaction.patterns import FINDERS, VERSION
from steelyard.engine.redaction.sieve import SECRETS, Sieve
from steelyard.engine.redaction.text import TextSpan, unescaped, with_marks
from steelyard.formats.encoding import without_surrogates
from steelyard.model.exemption import NOTHING, Exemption
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.run import Private
from steelyard.results.manifest import Redaction
from steelyard.settings import MIN_SECRET, NO_RULES, REDACTED_KINDS, RedactionRules

_LEAST_CARD = 10**12
MARK = "[redacted]"
# Names of fields are plain words; a header whose value is such a word must not break them.
_FIELD = re.compile(r"[a-z_]+")
FIELDS = "field:"
"""Before the path of a field where things are counted; a pattern may have the same name."""
_Find: TypeAlias = Callable[[str], Iterator[TextSpan]]


class Redactor:
    """Replaces secrets by value and personal data by pattern in JSON texts, and counts them."""

    def __init__(
        self,
        secrets: Iterable[str] = (),
        patterns: Collection[str] = (),
        own: RedactionRules = NO_RULES,
    ) -> None:
        plain = {secret for secret in secrets if is_redacted(secret)}
        # A string may itself be JSON, in which the secret stands escaped.
        texts = plain | _escaped(plain)
        self._texts = sorted(texts, key=len, reverse=True)
        self._patterns = [kind for kind in FINDERS if kind in patterns]
        forms = {form.encode("utf-8", "surrogatepass") for form in texts | _escaped(texts)}
        self._sieve = Sieve(self._patterns, forms)
        self._own = [OwnPattern(name, pattern) for name, pattern in own.custom]
        self._fields = OwnFields(own.fields)
        self._rules = own
        self._counts: Counter[str] = Counter()

    @classmethod
    def by(cls, rules: RedactionRules, secrets: Iterable[str]) -> Redactor:
        """One that follows the rules of a project."""
        return cls(secrets, rules.patterns, rules)

    def __call__(self, data: bytes, *own: bytes, exempt: Exemption = NOTHING) -> bytes:
        """A JSON text without any of it; where there is none it is returned as it is.

        What is exempt stays whatever it looks like. `own` has hashes that stand there: a text
        with nothing else in it that looks like much is passed sooner.
        """
        kinds = self._signs(data, own) if data else []
        if not kinds or self._is_innocent(data, kinds):
            return data
        before = self._counts.total()
        value = self._cleaning(kinds, self._counts, exempt).value(json.loads(data))
        return data if self._counts.total() == before else json_bytes(value)

    def each(
        self,
        texts: list[bytes],
        exempt: Callable[[], Iterable[Exemption]],
        own: Collection[bytes] = (),
        seen: Sequence[bytes] = (),
    ) -> list[bytes]:
        """The same for several texts; where there is nothing, one look at all of them tells.

        `seen` is what to look at, in pieces of whole texts, where it is known: what stands twice
        is enough to see once, and a long text without signs is not looked at again for others'.
        """
        if not any(self._signs(piece, own) for piece in seen or (b"\n".join(texts),)):
            return texts
        each = zip(texts, exempt(), strict=True)
        return [self(text, *own, exempt=ours) for text, ours in each]

    def carry(self, *texts: bytes, seen: Sequence[bytes] = ()) -> None:
        """Count the marks that stand in texts already: of another run, or of a target's error.

        Where none stands in `seen`, none stands in the texts.
        """
        if seen and not any(BEGIN in piece for piece in seen):
            return
        marked = [text for text in texts if BEGIN in text]
        if not marked:
            return
        marks = marks_in(marked)
        self._counts[SECRETS] += marks[""]
        for kind in (*self._patterns, *(pattern.name for pattern in self._own)):
            self._counts[kind] += marks[kind]
        for path in self._rules.fields:
            self._counts[FIELDS + path] += marks[path]

    def without(
        self, data: bytes, private: Collection[tuple[str, str]], exempt: Exemption = NOTHING
    ) -> bytes:
        """A JSON text without what fields of one record hold: pairs of a path and its value."""
        found = [(path, value) for path, value in private if _stands_in(value, data)]
        if not found:
            return data
        counts: Counter[str] = Counter()
        finders = [(path, partial(_places, value)) for path, value in found]
        cleaning = _Cleaning([], finders, self._fields, counts, exempt)
        cleaning.numbers = {value: path for path, value in found}
        clean = cleaning.value(json.loads(data))
        for path, count in counts.items():
            self._counts[FIELDS + path.removeprefix(FIELDS)] += count
        return json_bytes(clean)

    def whole(self, value: JsonValue, exempt: Exemption = NOTHING) -> bytes:
        """A value as JSON, without what its hidden fields hold, wherever in it that stands."""
        private = hidden_values(self._rules.fields, value)
        return self(self.without(json_bytes(value), private, exempt), exempt=exempt)

    def _signs(self, data: bytes, own: Iterable[bytes]) -> list[str]:
        """The kinds of which there may be something in a JSON text."""
        for one in own:
            if one:
                data = data.replace(one, b"")
        kinds = self._sieve.signs(data)
        if self._own:
            kinds += [pattern.name for pattern in self._own if pattern.may_be_in(data)]
        if self._rules.fields and self._fields.may_be_in(data):
            kinds.append(FIELDS)
        return kinds

    def _cleaning(
        self, kinds: list[str], counts: Counter[str], exempt: Exemption = NOTHING
    ) -> _Cleaning:
        own = [(pattern.name, pattern.find) for pattern in self._own if pattern.name in kinds]
        usual = [(kind, find) for kind, find in FINDERS.items() if kind in kinds]
        secrets = self._texts if SECRETS in kinds else []
        return _Cleaning(secrets, [*own, *usual], self._fields, counts, exempt)

    def _is_innocent(self, data: bytes, kinds: list[str]) -> bool:
        """Whether the exact looks find nothing in the text as a whole.

        Quotes around a string are edges as good as its ends, so that what stands in one of its
        strings is found in the text as well; only escapes could hide it.
        """
        if b"\\" in data or any(kind not in FINDERS for kind in kinds if kind != SECRETS):
            return False
        text = data.decode("utf-8")
        if SECRETS in kinds and any(secret in text for secret in self._texts):
            return False
        return not any(
            kind in kinds and any(True for _ in find(text)) for kind, find in FINDERS.items()
        )

    def text(self, text: str) -> str:
        """The same for a name that stands elsewhere too, and is not counted twice."""
        kinds = self._signs(json_bytes(text), ())
        return self._cleaning(kinds, Counter()).text(text) if kinds else text

    def name(self, text: str, private: Private) -> str:
        """The same for a name in a record whose fields hold such values."""
        for path, value in private:
            text = text.replace(value, f"[redacted:{path}]")
        return self.text(text)

    def take_counts(self) -> dict[str, int]:
        """How many of each kind were replaced since this was asked last."""
        if not self._counts:
            return {}
        counts = dict(+self._counts)
        self._counts.clear()
        return counts

    def described(self, before: Mapping[str, int]) -> Redaction:
        """What the manifest says: what was replaced before and by this, by kind."""
        counts = self._counts + Counter(before)
        return Redaction(
            secrets=counts[SECRETS],
            patterns={kind: counts[kind] for kind in REDACTED_KINDS if kind in self._patterns},
            custom={pattern.name: counts[pattern.name] for pattern in self._own} or UNSET,
            fields={path: counts[FIELDS + path] for path in self._rules.fields} or UNSET,
            version=VERSION,
        )


class _Cleaning:
    """One pass over one value."""

    def __init__(
        self,
        secrets: list[str],
        finders: list[tuple[str, _Find]],
        fields: OwnFields,
        counts: Counter[str],
        exempt: Exemption,
    ) -> None:
        self._exempt = exempt
        self._secrets = secrets
        self._finders = finders
        self._kinds = {kind for kind, _ in finders}
        self._fields = fields
        self._counts = counts
        self.numbers: dict[str, str] = {}
        """Numbers that nobody may see, each with its kind."""

    def value(self, value: JsonValue, walked: tuple[str, ...] = ()) -> JsonValue:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item, walked) for item in value]
        if isinstance(value, dict):
            return self._object(value, walked)
        return self._number(value, walked)

    def _object(self, value: JsonObject, walked: tuple[str, ...]) -> JsonObject:
        clean: JsonObject = {}
        numbers: Counter[str] = Counter()
        for name, item in value.items():
            key = name if _FIELD.fullmatch(name) else self.text(name)
            clean[_free(key, clean, numbers)] = self._member(item, (*walked, name))
        return clean

    def _member(self, item: JsonValue, walked: tuple[str, ...]) -> JsonValue:
        """The value of a field, unless its name alone says that nobody may see it."""
        if self._is_ours(item, walked):
            return item
        field = None if item is None else self._fields.of(walked)
        if field and not self._exempt.covers_part(walked):
            mark = f"[redacted:{field}]"
            self._counts[FIELDS + field] += item != mark
            return mark
        return self.value(item, walked)

    def _is_ours(self, item: JsonValue, walked: tuple[str, ...]) -> bool:
        is_number = isinstance(item, int | float)
        return self._exempt.covers(walked) or (is_number and self._exempt.covers_number(walked))

    def _number(self, value: JsonValue, walked: tuple[str, ...]) -> JsonValue:
        """A number as it is, unless it is that of a card, or what a hidden field holds."""
        kind = self.numbers.get(str(value)) or ("card" if self._is_card(value) else None)
        if kind is None or self._exempt.covers_number(walked):
            return value
        self._counts[kind] += 1
        return f"[redacted:{kind}]"

    def _is_card(self, value: JsonValue) -> bool:
        if not isinstance(value, int) or abs(value) < _LEAST_CARD or "card" not in self._kinds:
            return False
        return any(payment_cards(str(abs(value))))

    def text(self, text: str) -> str:
        replaced = _replaced
        if is_json_text(text):
            text, replaced = inner_texts(text, self.text), replaced_in_json
        for secret in self._secrets:
            spans = list(_places(secret, text))
            self._counts[SECRETS] += len(spans)
            text = replaced(text, spans, MARK)
        for kind, find in self._finders:
            seen = unescaped(text)
            spans = [seen.origin(span) for span in find(seen.text)]
            self._counts[kind] += len(spans)
            text = replaced(text, spans, f"[redacted:{kind}]")
        return text


def _stands_in(value: str, data: bytes) -> bool:
    forms = _escaped({value} | _escaped({value}))
    return any(form.encode("utf-8", "surrogatepass") in data for form in forms)


def _places(value: str, text: str) -> Iterator[TextSpan]:
    place = text.find(value)
    while place >= 0:
        yield TextSpan(place, place + len(value))
        place = text.find(value, place + len(value))


def _replaced(text: str, spans: list[TextSpan], mark: str) -> str:
    return with_marks(text, [(span, mark) for span in spans])


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
