"""Tells in a few microseconds that there is nothing to redact in a JSON text.

Nearly every text is innocent, and most of a text is small letters, which no pattern needs: they
are dropped first, which is quick, and one automaton looks at the rest. What it lets pass has
nothing that the exact looks would find; what it holds back may still be innocent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, cast

import re2  # pyright: ignore[reportMissingTypeStubs]

from steelyard.engine.redaction.secrets import (
    RAW_ADDRESS,
    RAW_AUTHORIZED,
    RAW_AWS,
    RAW_GIVEN,
    RAW_OPTION,
)

_re2 = cast(Any, re2)

SECRETS = "secrets"
_ESCAPE = "escape"
_MEMORY = 64 * 1024 * 1024
# `u` stays, so that escapes show.
_DROPPED = bytes(sign for sign in b"abcdefghijklmnopqrstuvwxyz" if sign != ord("u"))
_ESCAPED = rb"\\[u/]"
_EDGE = rb"[^0-9A-Zu]"
_NUMBER_EDGE = rb"[^0-9A-Zu.]"
_GAP = rb"(?:[ ()./-]|\xc2\xa0|\xe2\x80[\x80-\xbf])"
_DASH = rb"(?:-|\xe2\x80[\x90-\x95])"
_ONE_GAP = rb"(?:[ -]|\xc2\xa0|\xe2\x80[\x80-\xbf])"
_PATTERNS: dict[str, tuple[bytes, ...]] = {
    "email": (rb"@", rb"%40"),
    "phone": (
        _EDGE + rb"\+\(?[1-9][0-9]{0,3}(?:[0-9]{4}|" + _GAP + rb")",
        _EDGE + rb"0[0-9](?:" + _GAP + rb"{0,3}[0-9]){7}",
        _EDGE + rb"[2-9][0-9]{2}" + _GAP + rb"{1,2}[2-9][0-9]{2}" + _GAP + rb"[0-9]{4}",
        rb"\([1-9][0-9]\) ?9[0-9]{4}-",
    ),
    "card": (
        _NUMBER_EDGE
        + rb"[2-6](?:[0-9]{12,18}|[0-9]{3}(?:"
        + _ONE_GAP
        + rb"[0-9]{3,6}){2,3})[^0-9A-Zu]",
        _EDGE + rb"[0-8][0-9]{2}" + _DASH + rb"[0-9]{2}" + _DASH + rb"[0-9]{4}[^0-9A-Zu]",
    ),
    "iban": (
        _EDGE + rb"[A-Z]{2}[0-9]{2}" + _ONE_GAP + rb"?[0-9A-Z]{4}" + _ONE_GAP + rb"?[0-9A-Z]{4}",
        _NUMBER_EDGE
        + rb"u{0,2}[0-9]{2}(?:[0-9]{11,31}|(?:"
        + _ONE_GAP
        + rb"?[0-9]{4}){2,7})[^0-9A-Zu]",
    ),
    "key": (
        rb"[-_][0-9A-Zu]{6}",
        rb"B [0-9A-Zu]{6}",
        _EDGE + rb"J[0-9A-Zu]{5}",
        _EDGE + rb"(?:AI|29\.)[0-9A-Zu_-]{3}",
        _EDGE + rb"SG\.",
        _EDGE + rb"A[KS]IA[0-9A-Z]{16}",
        rb"-----BEGIN",
    ),
}


def _options() -> Any:
    options = _re2.Options()
    options.encoding = _re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.never_capture = True
    return options


_RAW_EDGE = rb"(?:^|[^0-9A-Za-z_]|\\[bfnrt])"
_SURE: dict[str, bytes] = {
    "key": rb"(?:sk-|[prs]k_(?:live|test)_|whsec_|gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-"
    rb"|xapp-|hf_|npm_|pypi-|gsk_|xai-|dop_v1_|GOCSPX-|steelyard_)[0-9A-Za-z_-]{16}"
    rb"|Bearer [0-9A-Za-z._~+/=-]{16}"
    rb"|eyJ[0-9A-Za-z_-]{10}|A[KS]IA[0-9A-Z]{16}|SG\.[0-9A-Za-z_-]{16}|AGE-SECRET-KEY-1"
    rb"|AIza[0-9A-Za-z_-]{35}|ya29\.[0-9A-Za-z_-]{20}|-----BEGIN",
    "email": rb"(?:@|%40)(?:[0-9A-Za-z\x80-\xff][0-9A-Za-z_\x80-\xff-]*\.)+"
    rb"[A-Za-z\x80-\xff]{2}",
    "phone": _RAW_EDGE
    + rb"(?:\+\(?[1-9][0-9]{0,3}(?:[0-9]{4}|"
    + _GAP
    + rb")|0[0-9](?:"
    + _GAP
    + rb"{0,3}[0-9]){7}|[2-9][0-9]{2}"
    + _GAP
    + rb"{1,2}[2-9][0-9]{2}"
    + _GAP
    + rb"[0-9]{4}|\([1-9][0-9]\) ?9[0-9]{4}-)",
    "card": _RAW_EDGE
    + rb"(?:[2-6][0-9]{3}(?:[0-9]{9}|(?:"
    + _ONE_GAP
    + rb"[0-9]{3,6}){2})|[0-8][0-9]{2}"
    + _DASH
    + rb"[0-9]{2}"
    + _DASH
    + rb"[0-9]{4})",
    "iban": _RAW_EDGE
    + rb"(?:[A-Z]{2}[0-9]{2}(?:"
    + _ONE_GAP
    + rb"?[0-9A-Z]{4}){2}"
    + _ONE_GAP
    + rb"?[0-9A-Z]{3}|[a-z]{2}[0-9]{2}(?:"
    + _ONE_GAP
    + rb"?[0-9]{4}){2}"
    + _ONE_GAP
    + rb"?[0-9]{3})",
}
"""A second look at the text as it is: ids such as `case-000123`, hashes and names such as
`judge/first@1.0.0` look like keys, cards and addresses without their small letters.

No escape but `\\u` and `\\/` stands for a sign of what is looked for; the others end in a letter,
which is no part of the word after it.
"""
_LOOKS: dict[str, tuple[bytes, bytes]] = {
    "given": (rb"=|: ?(?:\\+[\"\\]|')|: [^ \"]*[0-9]", RAW_GIVEN),
    "option": (rb"--[^ ]* ", RAW_OPTION),
    "address": (rb"://[^/ \"@]*:[^/ \"@]*@", RAW_ADDRESS),
    "authorized": (
        rb"[uU][A-Z]*[\\\"']* {0,3}[=:] {0,3}[\\\"']*[A-Z]{0,6} {1,3}[^ ]",
        RAW_AUTHORIZED,
    ),
    "mixed": (
        rb"[A-Z/+][0-9A-Zu/+]{8}|[0-9A-Zu/+]{8}[A-Z/+]",
        RAW_AWS,
    ),
}
"""Signs of keys that innocent texts have as well, each with what looks at the text as it is."""


class Sieve:
    """Looks for signs of some kinds of patterns, and of secrets."""

    def __init__(self, kinds: Collection[str], secrets: Collection[bytes]) -> None:
        self._kinds = list(kinds)
        rests = {secret: secret.translate(None, _DROPPED) for secret in secrets}
        self._whole = [secret for secret, rest in rests.items() if len(rest) < 3]
        """Secrets of which too little is left; they are looked for as they are."""
        signs = [b"|".join((*_PATTERNS[kind], _ESCAPED)) for kind in kinds]
        if "key" in kinds:
            self._kinds += _LOOKS
            signs += [sign for sign, _ in _LOOKS.values()]
        if len(self._whole) < len(rests):
            self._kinds.append(SECRETS)
            left = (rest for secret, rest in rests.items() if secret not in self._whole)
            signs.append(b"|".join(map(_re2.escape, left)))
        self._set = _compiled(signs) if signs else None
        exact = {kind: _SURE[kind] for kind in kinds if kind in _SURE}
        exact[_ESCAPE] = _ESCAPED
        if "key" in kinds:
            exact |= {name: pattern for name, (_, pattern) in _LOOKS.items()}
        self._exact_kinds = list(exact)
        self._exact = _compiled(exact.values())

    def signs(self, data: bytes) -> list[str]:
        """The kinds of which there may be something in a JSON text."""
        numbers: list[int] | None = None
        if self._set is not None:
            numbers = self._set.Match(data.translate(None, _DROPPED))
        found = [self._kinds[number] for number in numbers] if numbers else []
        if found:
            found = self._confirmed(found, data)
        if self._whole and any(secret in data for secret in self._whole):
            found.append(SECRETS)
        return found

    def _confirmed(self, found: list[str], data: bytes) -> list[str]:
        """Those kinds for which a look at the text as it is finds something as well.

        One automaton for all of them: each on its own takes half as long as all together.
        """
        numbers: list[int] = self._exact.Match(data) or []
        seen = {self._exact_kinds[number] for number in numbers}
        looked = seen.intersection(_LOOKS, found)
        kept = [kind for kind in found if kind not in _LOOKS]
        if _ESCAPE not in seen:
            kept = [kind for kind in kept if kind not in _SURE or kind in seen]
        if looked and "key" not in kept:
            kept.append("key")
        return kept


def _compiled(signs: Iterable[bytes]) -> Any:
    options = _options()
    options.max_mem = _MEMORY
    compiled = _re2.Set.SearchSet(options)
    for sign in signs:
        compiled.Add(sign)
    compiled.Compile()
    return compiled
