"""What a finding would have in the place of what is there, where one word mends it."""

from __future__ import annotations

import re
from typing import NamedTuple

from steelyard.formats.json_place import parse_path
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonValue, Path

_MEANT = re.compile(r"did you mean '([^']+)'\?")
_SPELLING = re.compile(r"write small letters, digits and (_|hyphens), such as [a-z0-9_-]+")


class WordFix(NamedTuple):
    """One word of one line, and the word that would be right."""

    line: int
    old: str
    new: str
    is_name: bool
    """Whether it is the name of a field, and not its value."""

    @property
    def label(self) -> str:
        """What a button says that makes the change."""
        return f"{'Rename' if self.is_name else 'Change'} to {self.new}"

    def applied(self, text: str) -> str:
        """The text with the word in the place of the first one like it in its line."""
        lines = text.split("\n")
        if self.line > len(lines):
            return text
        word = rf"(?<![\w-]){re.escape(self.old)}(?![\w-])"
        if self.is_name:
            word += r"(?=[\"']?\s*:)"
        lines[self.line - 1] = re.sub(word, lambda _: self.new, lines[self.line - 1], count=1)
        return "\n".join(lines)


def fix_of(finding: Finding, row: JsonValue) -> WordFix | None:
    """The word that mends a finding; None where more is to do, or nobody knows what."""
    path = parse_path(finding.path)
    if finding.line is None or not finding.hint or not path:
        return None
    meant = _MEANT.search(finding.hint)
    if meant and finding.code == "unknown_field" and isinstance(path[-1], str):
        if taken_name(finding, row):
            return None
        return WordFix(finding.line, path[-1], meant[1], is_name=True)
    value = _value_at(row, path)
    if not isinstance(value, str) or not value:
        return None
    word = meant[1] if meant else _spelt(value, finding.hint)
    if word is None or word == value:
        return None
    return WordFix(finding.line, value, word, is_name=False)


def taken_name(finding: Finding, row: JsonValue) -> str | None:
    """The name that an unknown field seems to mean, where its object has that field, too.

    Renaming the one would give the other twice, and a parser keeps the last alone.
    """
    path, meant = parse_path(finding.path), _MEANT.search(finding.hint or "")
    if finding.code != "unknown_field" or not path or not meant:
        return None
    beside = _value_at(row, path[:-1])
    return meant[1] if isinstance(beside, dict) and meant[1] in beside else None


def _spelt(value: str, hint: str) -> str | None:
    """A name as its hint asks for it; None where the hint asks for something else."""
    asked = _SPELLING.search(hint)
    if asked is None:
        return None
    words = re.findall(r"[a-z0-9]+", value.lower())
    return ("_" if asked[1] == "_" else "-").join(words) or None


def _value_at(row: JsonValue, path: Path) -> JsonValue:
    found = row
    for part in path:
        if isinstance(found, dict) and isinstance(part, str):
            found = found.get(part)
        elif isinstance(found, list) and isinstance(part, int) and part < len(found):
            found = found[part]
        else:
            return None
    return found
