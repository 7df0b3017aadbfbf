"""`fact_match`: the response states enough of the expected facts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, ClassVar, NamedTuple, TypeAlias

from steelyard.checks.setting_rules import Rule
from steelyard.checks.text import clip
from steelyard.errors import SettingError
from steelyard.formats.json_fields import text_list
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace

# A comma before three digits groups them; a point or colon between digits belongs to the number.
_GROUPING = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_MINUS = re.compile(
    r"(?<![\w-])(?:[\u2212\u2013](?=[$€£¥₹]?\d)|minus\s++(?=[$€£¥₹]?\d))", re.IGNORECASE
)
_SIGN_BEFORE_SYMBOL = re.compile(r"(?<![\w-])-([$€£¥₹])(?=\d)")
_SHORT = {"can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not"}
_SHORT_FORM = re.compile(r"\b(?:can't|cannot|won't|shan't)\b|(?<=[^\W\d_]) ?n't\b", re.IGNORECASE)
_AT_LEAST = re.compile(r"([<>])=(?=[ \t]?-?\d)")
_SIGNS = {"<": "≤", ">": "≥"}
_DOTTED = re.compile(r"\b([ap])\.m\b\.?|\bper cent\b", re.IGNORECASE)
_MAGNITUDES = {
    **dict.fromkeys(("k", "thousand", "tausend", "mille"), "thousand"),
    **dict.fromkeys(("mn", "mio", "million", "millionen"), "million"),
    **dict.fromkeys(("bn", "mrd", "billion", "milliarde", "milliarden"), "billion"),
    **dict.fromkeys(("trillion", "hundred", "dozen"), ""),
}
# A comparison sign, a magnitude and a letter such as that of `Article 5a` make another number;
# letters that are units do not.
_WORD = re.compile(
    r"[^\W\d_]+|[%‰$€£¥₹]"
    r"|(?P<number>(?:[<>≤≥][ \t]?)?(?:(?<![\w-])-)?\d+(?:[.:]\d+)*)"
    rf"(?i:[ \t]?(?P<magnitude>{'|'.join(_MAGNITUDES)})s?(?![^\W_])"
    r"|(?P<letter>[a-fi-knoprux-z])(?![^\W_]))?"
)
_SAME = {
    **dict.fromkeys(("$", "dollar", "dollars"), "usd"),
    **dict.fromkeys(("€", "euro", "euros"), "eur"),
    **dict.fromkeys(("£", "pound", "pounds"), "gbp"),
    **dict.fromkeys(("¥", "yen"), "jpy"),
    **dict.fromkeys(("₹", "rupee", "rupees"), "inr"),
    **dict.fromkeys(("percent", "prozent", "pct"), "%"),
}
_SMALL = 3
_DENYING = frozenset(
    (
        *("no", "not", "nor", "non", "ne", "pas", "nie", "never", "neither", "nicht", "kein"),
        *("keine", "keinen", "nunca", "hardly", "barely", "scarcely", "kaum"),
    )
)
_UNITS = frozenset(
    (
        *("eur", "usd", "gbp", "chf", "jpy", "cny", "inr", "km", "m", "cm", "mm"),
        *("kg", "g", "mg", "t", "l", "ml", "s", "ms", "h", "min", "kb"),
        *("mb", "gb", "tb", "w", "kw", "mw", "v", "hz", "ft", "lb", "oz"),
        *("mi", "am", "pm"),
    )
)
"""What a number counts; as words of their own they are too small to tell."""
_FUNCTION_WORDS = frozenset(
    (
        *("a", "an", "the", "of", "in", "on", "at", "to", "by", "as", "is"),
        *("are", "be", "it", "its", "and", "or", "for", "per", "der", "die", "das"),
        *("ein", "le", "la", "les", "un", "une", "el"),
    )
)
"""Small words that say nothing on their own, whatever stands before them."""
_BETWEEN = _FUNCTION_WORDS | {
    *("longer", "all", "way", "yet", "always", "ever", "any", "anymore", "now", "still", "even"),
    *("so", "very", "been", "being", "have", "has", "had", "need", "deemed", "considered"),
    *("mehr", "immer", "derzeit", "zurzeit", "aktuell", "encore", "toujours", "tout", "du"),
}
"""Words over which a denial reaches the next one, as those in `ly` are: `not at all allowed`."""
_NO_DENIAL = {"only", "just", "merely", "until", "nur", "seulement"}
"""Words that turn a denial before them into something else: `not only`."""
_REACH = 4

_OPENING = frozenset(
    {"The", "A", "An", "It", "In", "On", "At", "Der", "Die", "Das", "Ein", "Le", "La", "Les", "El"}
)
_NEAR_FROM = 5
_NEAR = 90
_NO_SPOTS: Sequence[int] = ()
# A passage has twice as many words as the fact, and so many more for what stands between them.
_WORDS_BETWEEN = 10

FactText: TypeAlias = Annotated[str, Rule("A fact; not blank.", {"pattern": r"\S"})]


class FactWord(NamedTuple):
    """A word, and how it stands in its text."""

    form: str
    """As it is compared: without case, and the same for a symbol and its name."""
    written: str
    is_denied: bool = False
    """Whether a word that denies stands before it, with nothing that matters between."""
    is_unit: bool = False
    """Whether it says what the number right before it counts."""

    @property
    def is_small(self) -> bool:
        """Whether it tells nothing."""
        if len(self.written) > _SMALL or not self.written.islower():
            return False
        return not (self.form in _DENYING or self.is_unit or not self.written.isalpha())


class SoughtFact(NamedTuple):
    """What a text must have that states a fact."""

    text: str
    wanted: frozenset[str]
    """The words that must stand close to each other."""
    unspaced: frozenset[str]
    """Those of scripts without capitals, which may be written without spaces."""
    deniable: frozenset[str]
    """The words that are wanted as well where the text denies them."""
    is_denying: bool
    span: int
    """So many words may lie between the first and the last."""


@lru_cache(maxsize=1024)
def _fact(text: str) -> SoughtFact:
    """A fact as it is looked for; remembered, for those of a check are asked of every response."""
    words = [FactWord(*word) for word in _fact_words(text)]
    forms = frozenset(word.form for word in words)
    telling = {word.form for word in words if not word.is_small}
    if words and words[0].written in _OPENING:
        telling.discard(words[0].form)
    wanted = telling or forms
    unspaced = frozenset(word for word in wanted if word.isalpha() and word.upper() == word)
    return SoughtFact(
        text=text.strip(),
        wanted=frozenset(wanted - unspaced),
        unspaced=unspaced,
        # A small word tells after all where the text denies it: "will not pay".
        deniable=forms - _FUNCTION_WORDS - unspaced,
        is_denying=not _DENYING.isdisjoint(forms),
        span=2 * len(words) + _WORDS_BETWEEN,
    )


class Passages:
    """A text in which facts are looked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._length = 0
        self._denied: dict[int, str] = {}
        self._spots: dict[str, list[int]] = {}
        for spot, (form, _, is_denied, _) in enumerate(_fact_words(text)):
            if form in self._spots:
                self._spots[form].append(spot)
            else:
                self._spots[form] = [spot]
            self._length = spot + 1
            if is_denied:
                self._denied[spot] = form

    def state(self, fact: str) -> bool:
        """Whether the text states the fact."""
        sought = _fact(fact)
        if not (sought.wanted or sought.unspaced):
            return sought.text in self._text
        if not all(word in self._run_together for word in sought.unspaced):
            return False
        wanted: Set[str] = sought.wanted
        denied: Mapping[int, str] = {}
        if self._denied and not sought.is_denying:
            denied = self._denied
            wanted = wanted | sought.deniable.intersection(denied.values())
        # Words that are only near make more stretches possible, and none less.
        return self._stand_together(
            wanted, sought.span, denied, self._same
        ) or self._stand_together(wanted, sought.span, denied, self._near)

    @cached_property
    def _run_together(self) -> str:
        """The words without spaces: scripts without capitals may not have any."""
        placed = ((spot, form) for form, spots in self._spots.items() for spot in spots)
        return "".join(form for _, form in sorted(placed))

    @cached_property
    def _alike(self) -> dict[str, list[str]]:
        """The words by their first letter."""
        alike: dict[str, list[str]] = {}
        for form in self._spots:
            alike.setdefault(form[0], []).append(form)
        return alike

    def _stand_together(
        self,
        wanted: Set[str],
        span: int,
        denied: Mapping[int, str],
        spots_of: Callable[[str], Sequence[int]],
    ) -> bool:
        """Whether some stretch of so many words has all that is wanted."""
        found: list[tuple[int, str]] = []
        for word in wanted:
            spots = spots_of(word)
            if denied:
                spots = [spot for spot in spots if spot not in denied]
            if not spots:
                return False
            if self._length > span:
                found.extend([(spot, word) for spot in spots])
        if self._length <= span:
            return True
        last: dict[str, int] = {}
        for spot, word in sorted(found):
            last[word] = spot
            if len(last) == len(wanted) and spot - min(last.values()) < span:
                return True
        return not wanted

    def _same(self, word: str) -> Sequence[int]:
        return self._spots.get(word, _NO_SPOTS)

    def _near(self, word: str) -> Sequence[int]:
        """Where a word stands, or one that is spelt nearly so."""
        if len(word) < _NEAR_FROM or not word.isalpha():
            return self._same(word)
        from rapidfuzz import fuzz, process  # noqa: PLC0415 - few runs look for facts

        near = process.extract(
            word, self._alike.get(word[0], []), scorer=fuzz.ratio, score_cutoff=_NEAR, limit=None
        )
        return [spot for other, _, _ in near for spot in self._spots[other]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactMatch:
    """Pass when the share of facts that are found, which is the score, reaches the threshold."""

    kind: ClassVar[str] = "fact_match"
    revision: ClassVar[int] = 3

    facts: Annotated[
        tuple[FactText, ...], Rule("The facts; without them the case's expected_facts.")
    ] = ()
    threshold: Annotated[
        float, Rule("The share of facts to be found.", {"minimum": 0, "maximum": 1})
    ] = 0.7

    def __post_init__(self) -> None:
        """Refuse a fact that says nothing."""
        if not all(fact.strip() for fact in self.facts):
            raise SettingError("facts", "a fact must not be blank")

    def check(self, trace: Trace, case: Case) -> Outcome:
        """Look for each fact."""
        facts = self.facts or tuple(text_list(case.expected, "expected_facts"))
        if not facts:
            return Outcome.skipped("neither the check nor the case states facts")
        passages = Passages(trace.response)
        missing = [fact for fact in facts if not passages.state(fact)]
        found = len(facts) - len(missing)
        score = found / len(facts)
        reason = f"{found} of {len(facts)} fact(s) found"
        if missing:
            reason += f"; missing: {clip(missing[0])!r}"
            reason += f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        return Outcome(passed=score >= self.threshold, score=score, reason=reason)


def _fact_words(text: str) -> Iterator[tuple[str, str, bool, bool]]:
    """The words of a text in order, as a `FactWord` has them; short forms are written out."""
    plain = _plain(text)
    left = end = 0
    is_counted = False
    for found in _WORD.finditer(plain):
        written = found[0]
        folded = written.casefold()
        is_number = found.lastgroup is not None
        form = _number(found) if is_number else _SAME.get(folded, folded)
        is_denied = is_unit = False
        if left or is_counted:
            start = found.start()
            is_next = start == end or plain[end:start].isspace()
            is_denied = left > 0 and is_next and form not in _NO_DENIAL
            is_unit = is_counted and is_next and folded in _UNITS
        yield form, written, is_denied, is_unit
        is_counted = is_number
        if form in _DENYING:
            left = _REACH
        elif left:
            left = _reach(form, left - 1 if is_denied else 0)
        if left or is_counted:
            end = found.end()


def _reach(form: str, left: int) -> int:
    """How many words behind this one a denial still reaches."""
    return left if left and (form in _BETWEEN or form.endswith("ly")) else 0


def _number(found: re.Match[str]) -> str:
    """A number as it is compared, with its sign, its magnitude or its letter."""
    magnitude = (found["magnitude"] or "").casefold()
    number = "".join(found["number"].split())
    return number + (_MAGNITUDES.get(magnitude) or magnitude) + (found["letter"] or "").casefold()


def _plain(text: str) -> str:
    """A text in which what may be written in several ways is written in one."""
    plain = unicodedata.normalize("NFKC", text).replace("’", "'")
    # Beyond ASCII there are further signs that count as these where case does not.
    is_plain, low = plain.isascii(), plain.lower()
    for signs, rewrite in _REWRITES:
        if not is_plain or signs[0] in low or signs[-1] in low:
            plain = rewrite(plain)
            low = plain.lower()
    return plain


_REWRITES: tuple[tuple[tuple[str, ...], Callable[[str], str]], ...] = (
    ((",",), lambda text: _GROUPING.sub("", text)),
    (("minus",), lambda text: _MINUS.sub("-", text)),
    (("-",), lambda text: _SIGN_BEFORE_SYMBOL.sub(r"\1 -", text)),
    (
        (".m", "per cent"),
        lambda text: _DOTTED.sub(lambda found: f"{found[1]}m" if found[1] else "percent", text),
    ),
    (("=",), lambda text: _AT_LEAST.sub(lambda found: _SIGNS[found[1]], text)),
    (
        ("n't", "cannot"),
        lambda text: _SHORT_FORM.sub(lambda found: _SHORT.get(found[0].casefold(), " not"), text),
    ),
)
"""In this order; each with the one or two that a text has that it changes, in small letters."""
