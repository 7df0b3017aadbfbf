"""The patterns by which choices are found in a text.

No repetition can take back what it has read, so that no text takes more than linear time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

THOUGHT_END = re.compile(r"</(?:think|thinking|reason|reasoning)>", re.IGNORECASE)
CUE = re.compile(
    r"(?<![^\W_])(?:answers?[\s\"'`*_]*+(?:(?:is|are)\b[\s\"'`*_]*+:?|[:=])"
    r"|(?P<option>(?:option|choice)s?)(?![^\W_]))",
    re.IGNORECASE,
)
"""What comes before a choice: `answer is`, `Answer:`, `Option`."""
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
_NOUN = r"(?:(?:option|choice)s?\s++)?+"
# A choice with a verb of its own begins a new clause: "C, and A is wrong".
_NO_CLAUSE = r"(?!\s++(?:is|was|does|would|could|can|cannot|has|isn)\b)"


class Patterns(NamedTuple):
    """What depends on the ids of the choices; `ids` is the group with one id or several."""

    label: re.Pattern[str]
    listed: re.Pattern[str]
    alone: re.Pattern[str]
    labelled: re.Pattern[str]


@lru_cache(maxsize=256)
def patterns_of(ids: tuple[str, ...]) -> Patterns:
    """The patterns for choices with these ids; most cases of a dataset share them."""
    names = sorted({name.strip(MARKS) or name for name in ids}, key=len, reverse=True)
    one = "|".join(r"\s++".join(re.escape(part) for part in name.split()) for name in names)
    label = rf"(?<![^\W_])(?:{one})(?![^\W_]|[-'’]\w|\.\d)"
    more = rf"{_CLOSE}(?:[,;/&+]|{_AND}){_OPEN}(?:{_AND}\s*+)?+{_NOUN}{_OPEN}"
    ids_group = rf"(?P<ids>{label}(?:{more}{label}{_NO_CLAUSE}){{0,99}}+)"
    start = rf"{_OPEN}(?:both\s++)?+{_NOUN}{_OPEN}"
    return Patterns(
        label=re.compile(label, re.IGNORECASE),
        listed=re.compile(start + ids_group, re.IGNORECASE),
        alone=re.compile(rf"[-•>#]?+{start}{ids_group}{_CLOSE}[:;,!]?+", re.IGNORECASE),
        labelled=re.compile(rf"{_OPEN}(?P<ids>{label})[\s\"'`*_]*+[).:\]–—-]", re.IGNORECASE),
    )
