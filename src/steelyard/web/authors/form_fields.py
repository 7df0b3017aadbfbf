"""Errors of settings at the fields of the forms that they were typed into."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

_PREFIX = r"(?:suites|targets)\.\S+?(?:\.|: )'?"
_NAMES = ("is not a valid name", "cannot be called", "take another name", "update it instead")


class FieldError(NamedTuple):
    """What is wrong with one field, in the words of its page."""

    field: str
    message: str


def field_error(message: str, labels: Mapping[str, str]) -> FieldError | None:
    """The field that an error of the settings is about; None where it is about none of them.

    Settings are named by their places, such as `suites.nightly.fail_under must …`.
    """
    if "name" in labels and any(words in message for words in _NAMES):
        return FieldError("name", message)
    named = re.match(rf"{_PREFIX}({'|'.join(map(re.escape, labels))})'? ", message)
    if named is None:
        return None
    return FieldError(named[1], f"{labels[named[1]]} {message[named.end() :]}")
