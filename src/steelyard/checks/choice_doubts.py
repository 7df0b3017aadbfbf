"""Whether the sentence around a choice takes back that it is selected: `I doubt that …`.

Every look is at a window of bounded length, so that a text takes linear time.
"""

from __future__ import annotations

import re

_WINDOW = 160
_SENTENCE = re.compile(r"[.!?;:](?=[\s\"'*_)])|\n")
_CLAUSE = re.compile(
    r",(?!\s*+(?:that|dass|daß|que)\b)"
    r"|(?<![^\W_])(?:but|so|hence|thus|therefore|and|because|aber|also|und|mais|donc|et|pero)\b",
    re.IGNORECASE,
)
_THAT = re.compile(r",\s*+(?:that|dass|daß|que)\b", re.IGNORECASE)
_NO = r"(?:(?<![^\W_])(?:not|never|cannot|hardly|nicht|kaum|pas|no|non)\b|n['’]t\b)"
_SAYING = (
    r"(?:think|believe|say|said|agree|claim|assume|conclude|accept|suggest|mean|see|consider|argue"
    r"|true|certain|sure|convinced|clear|correct|right|case|possible|likely|plausible"
    r"|glaube|denke|meine|sicher|wahr|richtig|pense|crois|sûr|vrai|creo|pienso|cierto"
    r"|credo|penso|vero|acho|verdade)"
)
_UNTRUE = (
    r"(?:wrong|false|untrue|incorrect|mistaken?|an?\s++error|a\s++misconception|a\s++myth|unlikely"
    r"|impossible|doubtful|questionable|falsch|unwahr|faux|falso)"
)
_OTHERS = (
    r"(?:many|some|most|one|people|others|students|lawyers|you|they|someone|somebody|anyone|nobody"
    r"|no\s++one|few)(?:\s++(?:people|students|lawyers|experts|readers))?+"
)
_DOUBT = re.compile(
    rf"{_NO}(?:\s++[\w'’-]++){{0,3}}?\s++{_SAYING}\b"
    r"|(?<![^\W_])(?:I|we)(?:\s++(?!no\b|not\b|little\b)\w++){0,2}?\s++doubt\b"
    r"|(?<![^\W_])(?:deny|disagree|refuse|reject|doubtful|bezweifle|bezweifeln|doute|dudo|dubito)\b"
    rf"|(?<![^\W_]){_UNTRUE}\s*+,?\s*+(?:to|that|dass|que|if)\b"
    rf"|(?<![^\W_])it\s*+(?:['’]s|is|was|would\s++be)\s++(?:also\s++|simply\s++)?+{_UNTRUE}\b"
    r"|(?<![^\W_])(?:nobody|no\s++one)\b"
    rf"|(?<![^\W_]){_OTHERS}(?:\s++(?:would|might|may|could|will|often|can))?+\s++"
    r"(?:say|think|believe|argue|claim|assume|be\s++tempted|suppose|guess)\b"
    r"|(?<![^\W_])(?:used\s++to|(?:thought|believed|assumed|guessed|suspected)"
    r"(?!\s++(?:about|through|over|hard|carefully)))\b",
    re.IGNORECASE,
)
"""What makes a statement that follows it no statement of the writer's own."""
_UNDER_CONDITION = re.compile(r"(?<![^\W_])(?:if|unless|wenn|falls|si)\b", re.IGNORECASE)
_WOULD = re.compile(r"\b(?:would|wäre|serait|sería|sarebbe|seria)\b", re.IGNORECASE)
_NOT_RIGHT = (
    r"(?:wrong|incorrect|false|untrue|mistaken|invalid|misleading|not\s++(?:correct|right|true"
    r"|the\s++case|so|it|valid|the\s++answer)\b|fails?\b|falsch|faux|falso"
    r"|an?\s++(?:\w++\s++)?(?:trap|misconception|mistake|error|myth|fallacy)\b"
    r"|(?:not|n['’]t)\s*+(?=[.!?\n]|\Z))"
)
_BE = r"(?:(?:is|was|would\s++be|does|would|can|could)(?=n['’]t|\b)|['’]s\b)"
_CONTRAST = r"(?:but|yet|however|though|although|aber|mais|pero)"
_THIS = r"(?:(?:that|this|it|which|das|dies|c['’]est|eso)\b(?:\s++answer\b)?)"
_REALLY = r"(?:\s*+(?:actually|in\s++fact|clearly|simply|really|also),?)?+"
_TAKEN_BACK = re.compile(
    r"[\s\"'`*_)\]]*+(?:"
    r"(?:(?:is\s++)?+(?:the\s++)?+(?:correct|right|best|answer|choice|option|one)\b[\s\"*_]*+)*+\?"
    rf"|[^.!?;\n]{{0,80}}?(?<![^\W_]){_CONTRAST}\b,?{_REALLY}"
    rf"(?:\s*+{_THIS})?+{_REALLY}\s*+(?:{_BE}{_REALLY}\s*+)?+{_NOT_RIGHT}"
    rf"|[^.!?;\n]{{0,80}}?[.!;–—]\s*+(?:{_CONTRAST}\b,?\s++)?+"
    rf"{_THIS}{_REALLY}\s*+{_BE}{_REALLY}\s*+{_NOT_RIGHT}"
    r"|\s*+[.!]\s*+(?:no|wrong|nein|falsch|non)\s*+(?:[.,!:;\n–—-]|\Z)"
    r"|(?:is|was|would\s++be)\s++an?\s++(?:\w++\s++)?(?:misconception|mistake|error|myth|trap|fallacy)\b"
    r")",
    re.IGNORECASE,
)
"""What takes a statement back right after it: `, but that is wrong`, `? No.`"""
_ONLY_NAMED = re.compile(
    r"[\s\"'`*_)\]]*+(?:is|looks?|seems?|sounds?|appears?|may|might|could)\s++"
    r"(?:\w++\s++){0,2}?(?:tempting|plausible|attractive|promising|possible|at\s++first)\b"
    rf"|[^.!?;\n]{{0,80}}?(?<![^\W_]){_CONTRAST}\b[^.!?;\n]{{0,60}}?"
    r"(?:(?<![^\W_])(?:not|never|wrong|incorrect|fails?|false|invalid)\b|n['’]t\b)",
    re.IGNORECASE,
)


def is_doubted(text: str, start: int, end: int) -> bool:
    """Whether the statement from `start` to `end` is denied, taken back or another's."""
    before = _sentence_before(text, start) if start else ""
    after = text[end : end + _WINDOW]
    if (before and _DOUBT.search(_clause(before))) or (after and _TAKEN_BACK.match(after)):
        return True
    is_supposed = bool(_WOULD.search(text[start : min(end, start + _WINDOW)]))
    rest = _SENTENCE.split(after, maxsplit=1)[0]
    return is_supposed and bool(_UNDER_CONDITION.search(before) or _UNDER_CONDITION.search(rest))


def is_only_weighed(text: str, end: int) -> bool:
    """Whether a choice that is named and not taken is said to be no more than tempting."""
    return bool(_ONLY_NAMED.match(text[end : end + _WINDOW]))


def _sentence_before(text: str, start: int) -> str:
    before = text[max(0, start - _WINDOW) : start]
    return _SENTENCE.split(before)[-1]


def _clause(sentence: str) -> str:
    """The clause at the end of a sentence, with the one that it depends on."""
    ends = [found.end() for found in _CLAUSE.finditer(sentence)]
    clause = sentence[ends[-1] :] if ends else sentence
    return sentence if _THAT.search(clause) else clause
