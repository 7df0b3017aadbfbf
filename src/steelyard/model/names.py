"""Names and paths that callers give."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from pathlib import PurePath

from steelyard.errors import InvalidError

MAX_NAME = 200
"""The most characters of a name."""
_USER = re.compile(r"\w[\w.@+-]{0,99}")
_SETTING = re.compile(r"\w[\w.-]{0,99}")
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]"
)
"""Characters that show nothing and are no format characters."""
_MOST_PATH, _MOST_PART = 4095, 255


def require_name(what: str, name: object) -> None:
    """Refuse what is not a short printable text; control characters and surrogates are not."""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME:
        raise InvalidError(f"{what} must be a text of 1 to {MAX_NAME} characters")
    if not name.isprintable():
        raise InvalidError(f"{what} must be printable, not {name!a}")


def folded_name(name: str) -> str:
    """A name by which spellings of one person are compared; empty if nothing of it is visible."""
    text = unicodedata.normalize("NFKC", name).casefold()
    visible = (one for one in text if not _INVISIBLE.fullmatch(one) and not _is_format(one))
    return " ".join(unicodedata.normalize("NFKC", "".join(visible)).split())


def other_spelling(name: str, known: Iterable[str]) -> str | None:
    """Whose name this is another spelling of; None where it is one of those, or new."""
    names, folded = {*known}, folded_name(name)
    if name in names:
        return None
    return next((one for one in sorted(names) if folded_name(one) == folded), None)


def _is_format(character: str) -> bool:
    return unicodedata.category(character) in {"Cf", "Cc", "Cs"} and not character.isspace()


def is_user_name(name: str) -> bool:
    """Whether a user may have such a name."""
    return _USER.fullmatch(name) is not None


def is_setting_name(name: str) -> bool:
    """Whether a suite or a target that is saved may have such a name."""
    return _SETTING.fullmatch(name) is not None


def can_be_path(path: PurePath) -> bool:
    """Whether a file system may have such a path: neither it nor a part of it is too long."""
    parts = (part.encode("utf-8", "surrogatepass") for part in path.parts)
    return len(str(path)) <= _MOST_PATH and all(len(part) <= _MOST_PART for part in parts)
