"""What personal data and keys look like; every look takes time in proportion to the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from steelyard.engine.redaction.numbers import DASHES, cards, phones
from steelyard.engine.redaction.secrets import aws_secrets, given_secrets, sent_secrets
from steelyard.engine.redaction.text import SPACES, TextSpan, is_word, last_of, without_overlap

VERSION = "3"
"""Of the patterns as a whole: another one may find other things in the same text."""

_LOCAL_SIGNS = 64
_NAME = re.compile("[0-9A-Za-z_.%+'\u00c0-\u052f-]+")
_ANY_NAME = re.compile(r"\w+")
_AT = re.compile("@|%40")
_HOST = re.compile(
    r"(?:[^\W_][\w-]{0,62}\.){1,8}"
    r"(?:xn--[0-9A-Za-z-]{2,59}|[A-Za-z]{2,24}(?![0-9A-Za-z])|[^\W\d_A-Za-z]{2,24})"
)
_PICTURE = re.compile(r"[0-9.]{1,3}x\.(?:png|jpe?g|gif|webp|svg|avif)", re.IGNORECASE)

_COUNTRIES = {
    15: "NO",
    16: "BE",
    18: "DK FI FK FO GL NL SD",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "AO CV GW LY MZ PT ST",
    26: "DZ IR IS TR",
    27: "BI CF CG CM DJ FR GA GQ GR IT KM MC MG MR SM TD",
    28: "AL AZ BF BJ BY CI CY DO GT HN HU LB MA ML NE NI PL SN SV TG",
    29: "BR EG PS QA UA",
    30: "JO KW MU YE",
    31: "MT SC",
    32: "LC",
    33: "RU",
}
"""How many letters and digits the account numbers of a country have."""
_SIZES = {country: size for size, listed in _COUNTRIES.items() for country in listed.split()}
_GAP = f"[{re.escape(SPACES + DASHES)}]"
_DIGITS = re.compile("[0-9]+")
_ACCOUNT = re.compile(
    rf"[A-Z]{{2}}[0-9]{{2}}(?:{_GAP}?[0-9A-Z]{{4}}){{2,7}}(?:{_GAP}?[0-9A-Z]{{1,3}})?"
    rf"|[a-z]{{2}}[0-9]{{2}}(?:{_GAP}?[0-9]{{4}}){{2,7}}(?:{_GAP}?[0-9]{{1,3}})?"
)

_RANDOM_SIGNS = 6
_WORD = re.compile(r"[0-9A-Za-z_.-]{19,}")
"""What no key is without; the rest of a text need not be looked at as closely."""
_STRETCH = re.compile("[0-9A-Za-z]+")
_ORDERED = re.compile("[a-z]")
_TOKEN = re.compile(
    r"(?<![0-9A-Za-z])(?:sk-|[prs]k_(?:live|test)_|whsec_|gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-"
    r"|xapp-|hf_|npm_|pypi-|gsk_|xai-|dop_v1_|GOCSPX-|steelyard_)([0-9A-Za-z_-]{16,})"
)
_BEARER = re.compile(r"(?<![0-9A-Za-z])Bearer ([0-9A-Za-z._~+/=-]{16,})")
_WEB_TOKEN = re.compile(
    r"(?<![0-9A-Za-z_-])eyJ([0-9A-Za-z_-]{10,}+)\.[0-9A-Za-z_-]{10,}+(?:\.[0-9A-Za-z_-]*+)?"
)
_FIXED_KEY = re.compile(
    r"(?<![0-9A-Za-z])(?:A[KS]IA[0-9A-Z]{16}(?![0-9A-Za-z])"
    r"|SG\.[0-9A-Za-z_-]{16,}+\.[0-9A-Za-z_-]{16,}+|AGE-SECRET-KEY-1[0-9A-Z]{20,}+)"
)
_GOOGLE_KEY = re.compile(
    r"(?<![0-9A-Za-z])(?:AIza([0-9A-Za-z_-]{35})|ya29\.([0-9A-Za-z_-]{20,}+))"
)
_BEGIN = re.compile(r"-----BEGIN (?:[0-9A-Z]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [0-9A-Z ]{1,60}-----")
_KEY_TEXT = re.compile(r"[0-9A-Za-z+/=\s]*")


def emails(text: str) -> Iterator[TextSpan]:
    """Addresses: a name, an at sign (as it is or as `%40`), and a host with a top-level domain."""
    done = 0
    for at in _AT.finditer(text):
        host = _HOST.match(text, at.end())
        start = max(done, at.start() - _LOCAL_SIGNS)
        before = text[start : at.start()][::-1]
        name = _name(before)
        if host is None or not name or _PICTURE.fullmatch(host[0]):
            continue
        done = host.end()
        yield TextSpan(at.start() - len(name), done)


def _name(backwards: str) -> str:
    """What stands before an at sign; in other alphabets only where nothing else does."""
    found = _NAME.match(backwards) or _ANY_NAME.match(backwards)
    return found[0].rstrip(".'%+-") if found else ""


def ibans(text: str) -> Iterator[TextSpan]:
    """Account numbers in one piece or in groups of four, whose checksum is right.

    In small letters only those that have no letter beside the country.
    """
    done = 0
    for digits in _DIGITS.finditer(text):
        start = digits.start() - 2
        match = _ACCOUNT.match(text, start) if start >= done else None
        before = last_of(text, start)
        if match is None or is_word(before) or (before == "." and match[0][0].islower()):
            continue
        size = _account_size(match[0])
        if size and not is_word(text[start + size : start + size + 1]):
            done = start + size
            yield TextSpan(start, done)


def _account_size(text: str) -> int:
    """How long an account number at the start of a text is, with its gaps; 0 when it is none."""
    size = _SIZES.get(text[:2].upper(), 0)
    places = [place for place, sign in enumerate(text) if sign.isalnum()][:size]
    if not size or len(places) < size:
        return 0
    signs = "".join(text[place] for place in places).upper()
    # The check digits make the number, with its start moved to its end, 1 more than 97 times any.
    number = int("".join(str(int(sign, 36)) for sign in signs[4:] + signs[:4]))
    return places[-1] + 1 if number % 97 == 1 else 0


def keys(text: str) -> Iterator[TextSpan]:
    """Keys of well-known services, web tokens, private keys, and what is called a password."""
    begun = _private_keys(text) if "-----BEGIN" in text else ()
    named = (*given_secrets(text), *sent_secrets(text))
    yield from without_overlap([*_tokens(text), *begun, *named, *aws_secrets(text)])


def _tokens(text: str) -> Iterator[TextSpan]:
    for word in _WORD.finditer(text):
        for pattern, looks_right in _WORDS:
            for match in pattern.finditer(text, *word.span()):
                if looks_right(match):
                    yield TextSpan(*match.span())
    for match in _BEARER.finditer(text) if "Bearer" in text else ():
        if _is_random(_first_stretch(match[1])):
            yield TextSpan(*match.span(1))


def _first_stretch(text: str) -> str:
    found = _STRETCH.match(text)
    return found[0] if found else ""


def _is_random(text: str, least: int = _RANDOM_SIGNS) -> bool:
    """Whether a text has digits and capitals as no words have."""
    return len(_ORDERED.sub("", text)) >= least


_WORDS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], bool]], ...] = (
    (_TOKEN, lambda match: any(map(_is_random, _STRETCH.findall(match[1])))),
    (_WEB_TOKEN, lambda match: _is_random(_first_stretch(match[1]), _RANDOM_SIGNS - 1)),
    (_GOOGLE_KEY, lambda match: _is_random(match[1] or match[2], 3)),
    (_FIXED_KEY, lambda _: True),
)


def _private_keys(text: str) -> Iterator[TextSpan]:
    """From the first line to the last; to where it no longer reads as one when that is missing."""
    ends = [(match.start(), match.end()) for match in _END.finditer(text)]
    done = number = 0
    for begin in _BEGIN.finditer(text):
        if begin.start() < done:
            continue
        while number < len(ends) and ends[number][0] < begin.end():
            number += 1
        if number < len(ends):
            done = ends[number][1]
        else:
            rest = _KEY_TEXT.match(text, begin.end())
            done = rest.end() if rest else begin.end()
        yield TextSpan(begin.start(), done)


FINDERS: Mapping[str, Callable[[str], Iterator[TextSpan]]] = {
    "key": keys,
    "email": emails,
    "iban": ibans,
    "card": cards,
    "phone": phones,
}
"""In the order in which they look: a number inside a key or an account is no card and no phone."""
