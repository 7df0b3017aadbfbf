"""The patterns by which choices are found in a text.

No repetition can take back what it has read, so that no text takes more than linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple


class WordPattern:
    """A pattern whose matches begin with the first letter of a word, in any case.

    It is tried at those words alone that begin with one of the letters; to try it at every place
    of a long answer takes six times as long, and finds the same.
    """

    def __init__(self, letters: str, pattern: str) -> None:
        either = f"{letters}{letters.upper()}"
        # What else is an i, a k or an s where case does not count.
        alike = "\u0130\u0131\u212a\u017f"
        self._starts = re.compile(rf"(?<![^\W_])[{either}{alike}]")
        self.pattern = re.compile(rf"(?<![^\W_])(?:{pattern})", re.IGNORECASE)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """The matches in order; none overlaps the one before."""
        end = 0
        for start in self._starts.finditer(text):
            place = start.start()
            if place >= end and (found := self.pattern.match(text, place)):
                end = found.end()
                yield found


THOUGHT_END = re.compile(r"</(?:think|thinking|reason|reasoning)>", re.IGNORECASE)
# Words that may stand between a verb and what it is about: "is therefore C".
_SO = r"(?:(?:therefore|thus|hence|clearly|definitely|indeed|probably|daher|somit|donc)\s++)?+"
_IS = (
    r"(?:is|are|would\s++be|will\s++be|should\s++be|must\s++be|ist|sind|lautet|lauten|wäre"
    r"|est|sont|serait|es|son|sería|è|sono|sarebbe|é|são|seria|zijn)\b"
)
_NOUNS = (
    r"(?:answers?|antwort(?:en)?|lösung|r[ée]ponses?|respuestas?|rispost[ae]|respostas?|antwoord"
    r"|(?:option|choice|selection|pick|opci[óo]n|opzione|opção|alternativa))"
)
_KINDS = (
    r"(?:\s++(?:correcte?s?|juste|exacte|finale?|correctas?|corrett[ae]|giust[ae]|corretas?|certa)\b"
    r"|\s++to\s++(?:this|the|that)\s++(?:question|problem))?+"
)
_TAKING = (
    r"(?:I|we)(?:['’]d|['’]ll|\s++would|\s++will|\s++must)?+\s++"
    r"(?:choose|chose|pick|picked|select|selected|go\s++with|opt\s++for)"
    r"|ich\s++(?:wähle|nehme)|je\s++(?:choisis|sélectionne)|elijo|escojo|scelgo|escolho|ik\s++kies"
    r"|(?:richtig|korrekt)\s++(?:ist|sind)"
)
CUE = WordPattern(
    "aceijkloprsw",
    rf"{_NOUNS}{_KINDS}[\s\"'`*_]*+(?:{_IS}[\s\"'`*_]*+:?+\s*+{_SO}|[:=])"
    rf"|{_NOUNS}\s++[–—-](?=\s)|(?:{_TAKING})\b",
)
"""What announces a choice: `answer is`, `Answer:`, `I choose`, in several languages."""
IT_IS = re.compile(r"(?<![^\W_])it(?:['’]s|\s++is)(?![^\W_])", re.IGNORECASE)
"""What takes a choice only where nothing but the choice follows: `It's C.`"""
CLAUSE_END = re.compile(r"[\s\"'`*_)\]]*+(?:[.,;:!–—]|\Z|(?:because|since|as|due)\b)|[ \t]*+\n")
NAMED = re.compile(r"(?<![^\W_])(?:option|choice)s?(?![^\W_])", re.IGNORECASE)
"""What names a choice and need not take it: `Option`."""
_GOOD = (
    r"(?:correct[aeo]?s?|right|best|richtige?|korrekte?|zutreffend|bonnes?|justes?|exactes?"
    r"|giust[aeo]|corrett[aeo]|corret[ao]s?|cert[ao]s?|juiste?)"
)
_THE = r"(?:the|my|die|der|das|la|le|les|el|il|a|o|de|het)"
PRAISE = WordPattern(
    "aeilmswzèé",
    rf"{_IS}\s++{_SO}(?:{_THE}\s++)?+(?:only\s++|most\s++)?+"
    rf"(?:{_GOOD}|(?<=\s)(?:final\s++)?+(?:answer|antwort|réponse|respuesta))\b",
)
"""What is said of the choice that is taken: `is correct`, `ist die richtige Antwort`."""
_DENIED = r"(?:not|never|out|ruled|nicht|pas)\b"
_WRONG = (
    r"(?:cannot|[^\W\d_]{1,6}?n['’]t|wrong|incorrect[eao]?s?|invalid|false|untrue|implausible|unlikely"
    r"|inaccurate|irrelevant|inapplicable|misleading|eliminated|excluded|rejected|dismissed|fails?"
    r"|contradicts|falsch|unzutreffend|faux|fausse|fals[ao]|sbagliat[ao]|errat[ao]|errad[ao]"
    r"|onjuist|fout)\b"
)
_VERBS = (
    r"(?:is|are|was|were|be|been|can|could|may|might|must|should|would|seems?|appears?|ist|sind"
    r"|kann|est|sont|es|son|è|sono|é|são|n['’]est|no)"
)
_RATHER = r"(?:clearly|also|simply|obviously|therefore|thus|just|most|highly|definitely|eindeutig)"
REJECTED = re.compile(
    r"[\s\"'`*_)\]]*+(?:"
    rf"(?:,?+\s*+(?:which|that)\s++)?+(?:{_VERBS}\s++){{1,3}}+(?:{_RATHER}\s++)?+(?:{_DENIED}|{_WRONG})"
    rf"|(?:[(:–—-]\s*+)?+(?:{_RATHER}\s++)?+{_WRONG})",
    re.IGNORECASE,
)
"""What is said of a choice that is not taken, right after it."""
PASSED_OVER = re.compile(
    r"(?<![^\W_])(?:not|never|nor|neither|or|than|over|unlike|against|except|instead\s++of"
    r"|reject\w*+|eliminat\w*+|exclud\w*+|dismiss\w*+|rul\w++\s++out|whether|if|nicht|statt|weder"
    r"|noch|oder|ob|ni|ou)\s++(?:the\s++|die\s++|la\s++)?+"
    r"(?:(?:option|choice|answer|antwort|réponse|respuesta)s?\s++)?+[\"'`*_(\[]*+\Z",
    re.IGNORECASE,
)
"""What stands right before a choice that is not taken."""
NOT_BUT = re.compile(
    r"\s*+(?:not|nicht|pas|no|non)\b[^.;!?\n]{0,40}?\b(?:but|sondern|mais|sino|ma)\b"
    r"(?:\s++rather\b)?",
    re.IGNORECASE,
)
"""A choice that is only named for the contrast: `not A but`."""
TAGGED = re.compile(
    r"<(?P<tag>answer|final_answer|choice)>(?P<inside>[^<]{1,2000}+)</(?P=tag)>", re.IGNORECASE
)
BOXED = re.compile(r"\\(?:f?boxed|fbox)\s*+\{((?:[^{}]++|\{[^{}]*+\})*+)\}")
MARKUP = re.compile(r"\\[a-z]++\s*+\{|[{}$]")
HASHES = re.compile(r"###([^#\n]{1,200}+)(?=###)")
KEYED = re.compile(
    r"""["'](?:answer|choice|final_answer)["']\s*+:\s*+"""
    r"""(?:"(?P<double>(?:[^"\\]++|\\.?)*+)|'(?P<single>[^'\n]*+)"""
    r"""|\[(?P<list>[^\]]*+)|(?P<bare>[\w.-]++))""",
    re.IGNORECASE | re.DOTALL,
)
"""A key with its value, in JSON that is broken around it."""
LISTED_VALUE = re.compile(r"""["']([^"']*+)["']|([\w.-]++)""")
PLACEHOLDER = re.compile(r"(?:<.*>|\.\.\.|…)?", re.DOTALL)
"""What stands for an answer in instructions that are said again."""
# What follows a letter that is meant as a choice, and not as the word `a` or `I`.
_JOINING = "because|as|since|for|is|and|or|due|with|which|that|given|but|not|while"
WORD_AFTER = re.compile(rf"[ \t]++(?!(?:{_JOINING})\b)[^\W\d_]", re.IGNORECASE)

MARKS = " \t\r\n\"'`*_()[]{}<>.,:;!"
_OPEN = r"[\s\"'`*_(\[{<]*+"
_CLOSE = r"[\s\"'`*_)\]}>.]*+"
_AND = r"(?:and|und|et)\b"
_NOUN = (
    r"(?:(?:the|die|la|le|el)\s++)?+"
    r"(?:(?:option|choice|answer|letter|antwort|buchstabe|réponse|lettre|opción|letra|opzione"
    r"|opção|alternativa)s?\s++)?+"
)
# A choice with a verb of its own begins a new clause: "C, and A is wrong".
_NO_CLAUSE = r"(?!\s++(?:is|was|does|would|could|can|cannot|has|isn)\b)"


class Patterns(NamedTuple):
    """What depends on the ids of the choices; `ids` is the group with one id or several."""

    label: re.Pattern[str]
    listed: re.Pattern[str]
    alone: re.Pattern[str]
    labelled: re.Pattern[str]
    last: re.Pattern[str]
    alternative: re.Pattern[str]
    other_label: re.Pattern[str]


@lru_cache(maxsize=256)
def patterns_of(ids: tuple[str, ...]) -> Patterns:
    """The patterns for choices with these ids; most cases of a dataset share them."""
    names = sorted({name.strip(MARKS) or name for name in ids}, key=len, reverse=True)
    one = "|".join(r"\s++".join(re.escape(part) for part in name.split()) for name in names)
    either = r"(?:or|oder|ou)\b,?+\s*+(?:(?:else|perhaps|maybe|possibly)\b,?+\s*+)?+"
    label = rf"(?<![^\W_])(?:{one})(?![^\W_]|[-'’]\w|\.\d)"
    more = rf"{_CLOSE}(?:[,;/&+]|{_AND}){_OPEN}(?:{_AND}\s*+)?+{_NOUN}{_OPEN}"
    ids_group = rf"(?P<ids>{label}(?:{more}{label}{_NO_CLAUSE}){{0,99}}+)"
    subject = rf"(?P<ids>{label}(?:{more}{label}){{0,9}}+)"
    start = rf"{_OPEN}(?:both\s++)?+{_NOUN}{_OPEN}"
    return Patterns(
        label=re.compile(label, re.IGNORECASE),
        listed=re.compile(start + ids_group, re.IGNORECASE),
        alone=re.compile(
            rf"(?:[-•>]|#{{1,6}}+)?+{start}{ids_group}{_CLOSE}[:;,!]?+", re.IGNORECASE
        ),
        last=re.compile(rf"{subject}{_CLOSE}\Z", re.IGNORECASE),
        labelled=re.compile(rf"{_OPEN}(?P<ids>{label})[\s\"'`*_]*+[).:\]–—-]", re.IGNORECASE),
        alternative=re.compile(
            rf"{_CLOSE}[,/]?+\s*+{either}{_NOUN}{_OPEN}(?P<ids>{label})", re.IGNORECASE
        ),
        other_label=re.compile(
            rf"(?<![^\W_]){either}{_NOUN}{_OPEN}{label}\s*+[).:\]]", re.IGNORECASE
        ),
    )
