"""Numbers that are about a person: payment cards, telephone and social security numbers.

A number in a text may be anything, so that only forms which are hardly ever anything else count:
a card has the length and the beginning that its issuer gives it and a right checksum; a telephone
number begins with `+`, or has clear separators. Dates, decimals, ids and hashes stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from steelyard.engine.redaction.text import SPACES, TextSpan, is_word, last_of, without_overlap

DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015-"
_DIGITS = set("0123456789")
_SEPARATORS = f"{SPACES}{DASHES}./()"
_CHAIN = re.compile(rf"[0-9](?:[{re.escape(_SEPARATORS)}]{{0,3}}+[0-9]){{6,}}+")
_GROUP = re.compile("[0-9]+")
_JOINING = f"{DASHES}."
_PHONE_JOINING = f"{_JOINING}:/("
_CARD_DIGITS = range(13, 20)
_PLUS_DIGITS = range(8, 16)
_TRUNK_DIGITS = range(9, 13)
_DIAL_DIGITS = range(11, 18)
_DIALLED_DIGITS = range(12, 17)
_BARE_PLUS = 10
"""A sign and fewer digits in one piece may be a number."""
_ISSUERS: tuple[tuple[range, range], ...] = (
    (range(2200, 2205), range(16, 20)),
    (range(2221, 2721), range(16, 17)),
    (range(3000, 3060), range(14, 20)),
    (range(3400, 3500), range(15, 16)),
    (range(3528, 3590), range(16, 20)),
    (range(3600, 3700), range(14, 20)),
    (range(3700, 3800), range(15, 16)),
    (range(3800, 4000), range(14, 20)),
    (range(4000, 5000), range(13, 20, 3)),
    (range(5000, 5100), _CARD_DIGITS),
    (range(5100, 5600), range(16, 17)),
    (range(5600, 5900), _CARD_DIGITS),
    (range(6000, 7000), _CARD_DIGITS),
)
"""The first four digits of cards, and how many digits such a card has."""

_SOCIAL_SECURITY = re.compile(
    rf"(?<![0-9A-Za-z_.])(?<![{re.escape(DASHES)}/])(?!000|666|9)[0-9]{{3}}([{re.escape(DASHES)}])"
    rf"(?!00)[0-9]{{2}}\1(?!0000)[0-9]{{4}}(?![0-9A-Za-z_])(?![{re.escape(DASHES)}/.][0-9A-Za-z])"
)


class _Chain(NamedTuple):
    """Groups of digits with what stands between them, and where they are."""

    text: str
    groups: list[TextSpan]

    def digits(self, first: int, end: int) -> str:
        return "".join(self.text[group.start : group.end] for group in self.groups[first:end])

    def number(self, place: int) -> str:
        return self.text[self.groups[place].start : self.groups[place].end]

    def between(self, place: int) -> str:
        """What stands before a group that is not the first."""
        return self.text[self.groups[place - 1].end : self.groups[place].start]

    def is_over(self, end: int, joining: str) -> bool:
        """Whether nothing that belongs to the same word or number follows a group.

        After a sign that joins, only a gap is an end.
        """
        place = self.groups[end - 1].end
        after, one_more = self.text[place : place + 1], self.text[place + 1 : place + 2]
        return not is_word(after) and not (after and after in joining and is_word(one_more))


def cards(text: str) -> Iterator[TextSpan]:
    """The numbers of cards that a person has: payment cards and social security cards."""
    yield from without_overlap([*payment_cards(text), *social_security_numbers(text)])


def payment_cards(text: str) -> Iterator[TextSpan]:
    """Payment cards: 13 to 19 digits in one piece or in the groups that are printed on cards."""
    for chain in _chains(text):
        first = 0
        while first < len(chain.groups):
            end = _card_end(chain, first) if _may_start_card(chain, first) else 0
            if end:
                yield TextSpan(chain.groups[first].start, chain.groups[end - 1].end)
            first = end or first + 1


def phones(text: str) -> Iterator[TextSpan]:
    """Telephone numbers: with `+` and country, or national ones with clear separators."""
    for chain in _chains(text):
        first = 0
        while first < len(chain.groups):
            end = _phone_end(chain, first)
            if end:
                yield _phone_span(chain, first, end)
            first = end or first + 1


def social_security_numbers(text: str) -> Iterator[TextSpan]:
    """Social security numbers of the United States, with their dashes: `123-45-6789`."""
    for match in _SOCIAL_SECURITY.finditer(text):
        yield TextSpan(*match.span())


def _chains(text: str) -> Iterator[_Chain]:
    for match in _CHAIN.finditer(text):
        found = _GROUP.finditer(text, match.start(), match.end())
        yield _Chain(text, [TextSpan(group.start(), group.end()) for group in found])


def _may_start_card(chain: _Chain, first: int) -> bool:
    number = chain.number(first)
    if len(number) < 4 or number[0] not in "23456":
        return False
    before = last_of(chain.text, chain.groups[first].start)
    is_part = is_word(before) or before in {".", "+"}
    return not is_part and not (first and before in DASHES)


def _card_end(chain: _Chain, first: int) -> int:
    """The group before which a card that starts with a group ends; 0 when none does."""
    found, digits = 0, ""
    for place in range(first, min(first + 6, len(chain.groups))):
        digits += chain.number(place)
        if len(digits) not in range(4, 20) or (place > first and not _is_card_group(chain, place)):
            break
        is_whole = place == first or len(chain.number(first)) == 4
        if is_whole and chain.is_over(place + 1, _JOINING) and _is_card(digits):
            found = place + 1
    return found


def _is_card_group(chain: _Chain, place: int) -> bool:
    between = chain.between(place)
    is_gap = len(between) == 1 and between in SPACES + DASHES
    return is_gap and 3 <= len(chain.number(place)) <= 6


def _is_card(digits: str) -> bool:
    start = int(digits[:4])
    is_issued = any(start in starts and len(digits) in sizes for starts, sizes in _ISSUERS)
    return is_issued and _luhn(digits) % 10 == 0


def _luhn(digits: str) -> int:
    """The sum of the digits from the right, every second one doubled."""
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return sum(map(int, digits[-1::-2])) + sum(doubled)


def _phone_end(chain: _Chain, first: int) -> int:
    """The group before which a telephone number that starts with a group ends; 0 for none."""
    has_plus = _sign(chain, first) == "+"
    is_area = has_plus or chain.number(first)[0] == "0" or len(chain.number(first)) <= 3
    if not is_area or not _may_start_phone(chain, first):
        return 0
    fits = _is_international if has_plus else _is_national
    for end in range(min(first + 8, len(chain.groups)), first, -1):
        if fits(chain, first, end) and chain.is_over(end, _PHONE_JOINING):
            return end
    return 0


def _sign(chain: _Chain, first: int) -> str:
    """The plus, where one stands before a group."""
    start = chain.groups[first].start
    before = last_of(chain.text, start)
    return last_of(chain.text, start - 1) if before == "(" else before


def _opening(chain: _Chain, first: int) -> int:
    """Where a number may start: at the plus and the parentheses before its first group."""
    start = chain.groups[first].start
    for sign in "(+(":
        if last_of(chain.text, start) == sign:
            start -= 1
    return start


def _phone_span(chain: _Chain, first: int, end: int) -> TextSpan:
    """A number with its plus, and with the parentheses that are its own."""
    start, over = chain.groups[first].start, chain.groups[end - 1].end
    closed = chain.text.count(")", start, over) - chain.text.count("(", start, over)
    for sign in "(+(":
        if last_of(chain.text, start) == sign and (sign == "+" or closed > 0):
            start -= 1
            closed -= sign == "("
    return TextSpan(start, over)


def _may_start_phone(chain: _Chain, first: int) -> bool:
    """Whether what stands before a group does not belong to the same word or number."""
    start = _opening(chain, first)
    before, one_more = last_of(chain.text, start), last_of(chain.text, start - 1)
    if is_word(before):
        return False
    if before and before in f"{DASHES}/":
        return not is_word(one_more)
    return not (before in ".:" and one_more in _DIGITS)


def _is_international(chain: _Chain, first: int, end: int) -> bool:
    digits = chain.digits(first, end)
    if len(digits) not in _PLUS_DIGITS or digits[0] == "0":
        return False
    if end - first == 1:
        return len(digits) >= _BARE_PLUS
    later = [group.end - group.start for group in chain.groups[first + 1 : end]]
    is_thousands = set(later) == {3} and len(digits) < _BARE_PLUS
    return not is_thousands


def _is_national(chain: _Chain, first: int, end: int) -> bool:
    if chain.number(first)[0] != "0" and end - first > 4:
        return False
    numbers = [chain.number(place) for place in range(first, end)]
    between = [chain.between(place) for place in range(first + 1, end)]
    is_open = last_of(chain.text, chain.groups[first].start) == "("
    if len(numbers) == 1:
        return _is_dialled(numbers[0])
    if numbers[0][0] == "0":
        return _has_trunk(numbers, between, is_alone=end - first == len(chain.groups))
    return _is_north_american(numbers, between, is_open=is_open) or (
        is_open and _is_brazilian(numbers, between)
    )


def _is_dialled(number: str) -> bool:
    """Two zeros, a country and the rest in one piece, as it is dialled from abroad."""
    is_abroad = number.startswith("00") and number[2:3] not in {"", "0", "1"}
    is_american = number.startswith("001") and len(number) == 13 and number[3] not in "01"
    return (is_abroad and len(number) in _DIALLED_DIGITS) or is_american


def _has_trunk(numbers: list[str], between: list[str], *, is_alone: bool) -> bool:
    """A zero and an area, or two and a country, and groups of two digits or more."""
    total = sum(map(len, numbers))
    is_abroad = numbers[0].startswith("00")
    area = numbers[0][2:] if is_abroad else numbers[0][1:]
    if not area or area[0] == "0" or len(area) > (3 if is_abroad else 5) or not between:
        return False
    if total not in (_DIAL_DIGITS if is_abroad else _TRUNK_DIGITS):
        return False
    if any(len(number) < 2 for number in numbers) or _is_date(numbers, between):
        return False
    if "." in "".join(between) and (len(numbers) < 4 or set(between) != {"."}):
        return False
    is_pairs = all(len(number) == 2 for number in numbers)
    return is_alone or not is_pairs


def _is_date(numbers: list[str], between: list[str]) -> bool:
    """Whether the first three groups are a day, with something after it."""
    if len(numbers) < 3 or between[0] != between[1] or between[0] not in {".", "/", "-"}:
        return False
    is_more = len(between) > 2 and between[2] == between[0]
    return not is_more and [len(number) for number in numbers[:2]] == [2, 2]


def _is_north_american(numbers: list[str], between: list[str], *, is_open: bool) -> bool:
    if numbers[0] == "1":
        numbers, between = numbers[1:], between[1:]
    if [len(number) for number in numbers] != [3, 3, 4]:
        return False
    if numbers[0][0] in "01" or numbers[1][0] in "01":
        return False
    first, last = between
    if first in {")", ") ", ")-"}:
        return is_open and last in {"-", " ", "."}
    return (first, last) in {("-", "-"), (".", "."), (" ", "-"), ("/", "-")}


def _is_brazilian(numbers: list[str], between: list[str]) -> bool:
    sizes = [len(number) for number in numbers]
    is_mobile = sizes == [2, 5, 4] and numbers[1][0] == "9"
    return is_mobile and between[0] in {")", ") "} and between[1] == "-"
