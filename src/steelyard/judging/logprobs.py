"""How likely each value was, from the probabilities of the token that decided it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from math import exp, fsum

from steelyard.judging.answer_schema import offered
from steelyard.judging.questions_asked import AnswerField, Choice
from steelyard.model.judgement import TokenChoice

# In JSON the quotes of a name that stands inside a string are escaped, so that this is the key.
_VALUE = re.compile(r'"value"\s*:\s*')
_BEFORE_VALUES = ' \t\n\r":'


def probabilities(
    field: AnswerField, text: str, tokens: Sequence[TokenChoice]
) -> Mapping[Choice, float]:
    """The probabilities of the field's values, which add up to 1; empty where they are unknown.

    They come from the first token of the value alone, and so only where that token tells the
    values apart. What else could have stood there is left out, and the rest scaled up.
    """
    places = list(_VALUE.finditer(text))
    if not places or "".join(choice.token for choice in tokens) != text:
        return {}
    start = places[-1].end()
    token = _token_at(tokens, start)
    if token is None:
        return {}
    weights: dict[Choice, list[float]] = {}
    for other, logprob in token.logprobs.items():
        value = _value_of(field, other)
        if value is not None:
            weights.setdefault(value, []).append(exp(min(logprob, 0.0)))
    total = fsum(weight for some in weights.values() for weight in some)
    if total <= 0:
        return {}
    return {value: fsum(some) / total for value, some in weights.items()}


def _token_at(tokens: Sequence[TokenChoice], start: int) -> TokenChoice | None:
    """The token that a value begins with: white space and a quote may come before it."""
    begin = 0
    for choice in tokens:
        inside = choice.token[max(0, start - begin) :]
        begin += len(choice.token)
        if inside.strip(_BEFORE_VALUES):
            return choice
    return None


def _value_of(field: AnswerField, token: str) -> Choice | None:
    """The one value that a token begins or is; None where it is none or several."""
    begun = token.strip(_BEFORE_VALUES + ",}")
    if not begun:
        return None
    written = {value: _written(value) for value in offered(field)}
    possible = [value for value, text in written.items() if text.startswith(begun)]
    return possible[0] if len(possible) == 1 else None


def _written(value: Choice) -> str:
    return value if isinstance(value, str) else json.dumps(value)
