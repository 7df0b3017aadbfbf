"""Paths of a project written from its root on, so that nobody learns where it lies."""

from __future__ import annotations

import os
import re
from pathlib import Path

from steelyard.model.json_value import JsonValue


def path_from(root: Path, path: Path) -> Path:
    """An absolute path as it is found from a root on; a relative one stays as it is."""
    return Path(os.path.relpath(path, root)) if path.is_absolute() else path


def text_from(root: Path, text: str) -> str:
    """A message with every path below a root written from there on."""
    place = str(root)
    if place not in text or root == root.parent:
        return text
    # A folder of the same name elsewhere, or one whose name is longer, is not meant.
    below = re.compile(rf"(?<![\w./-]){re.escape(place)}(?:/|(?![\w-]))")
    return below.sub(lambda found: "" if found[0].endswith("/") else ".", text)


def value_from(root: Path, value: JsonValue) -> JsonValue:
    """The same for all texts of a value."""
    if isinstance(value, dict):
        return {key: value_from(root, item) for key, item in value.items()}
    if isinstance(value, list):
        return [value_from(root, item) for item in value]
    return text_from(root, value) if isinstance(value, str) else value
