"""Names and paths that callers give."""

from __future__ import annotations

import re
from pathlib import PurePath

from steelyard.errors import InvalidError

MAX_NAME = 200
"""The most characters of a name."""
_USER = re.compile(r"\w[\w.@+-]{0,99}")
_SETTING = re.compile(r"\w[\w.-]{0,99}")
_MOST_PATH, _MOST_PART = 4095, 255


def require_name(what: str, name: object) -> None:
    """Refuse what is not a short printable text; control characters and surrogates are not."""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME:
        raise InvalidError(f"{what} must be a text of 1 to {MAX_NAME} characters")
    if not name.isprintable():
        raise InvalidError(f"{what} must be printable, not {name!a}")


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
