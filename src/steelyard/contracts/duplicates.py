"""Records that say the same under other ids: no new evidence."""

from __future__ import annotations

from array import array
from operator import itemgetter

from steelyard.contracts.content import content_of
from steelyard.contracts.reading import Row
from steelyard.model.finding import Finding

_PARTS = 256


class Duplicates:
    """Finds records with the content of an earlier one, in 16 bytes a record.

    Hashes are parted by their first byte, so that only one part at a time is in a dictionary.
    """

    def __init__(self) -> None:
        self._parts = [(array("q"), array("I"), array("I")) for _ in range(_PARTS)]

    def add(self, row: Row) -> None:
        """One more record of a file."""
        content = row.content
        if not content:
            if not isinstance(row.value, dict):
                return
            content = content_of(row.value)
        found = hash(content)
        hashes, indices, lines = self._parts[found % _PARTS]
        hashes.append(found)
        indices.append(row.index)
        lines.append(row.line or 0)

    def summary(self, records: int) -> str:
        """How many of so many records have the content of an earlier one; empty without any."""
        repeated = sum(len(hashes) - len(set(hashes)) for hashes, _, _ in self._parts)
        if not repeated:
            return ""
        return (
            f"{repeated:,} of {records:,} record(s) have the content of another under a new id; "
            "they count as new evidence and make intervals too narrow (validate lists them)"
        )

    def findings(self) -> list[Finding]:
        """A warning for each record that repeats an earlier one, in the order of the file."""
        found: list[tuple[int, Finding]] = []
        for hashes, indices, lines in self._parts:
            firsts: dict[int, int] = {}
            for place, content in enumerate(hashes):
                first = firsts.setdefault(content, place)
                if first != place:
                    where = _where(indices[first], lines[first])
                    found.append((indices[place], _finding(indices[place], lines[place], where)))
        return [finding for _, finding in sorted(found, key=itemgetter(0))]


def _where(index: int, line: int) -> str:
    return f"line {line}" if line else f"item {index + 1}"


def _finding(index: int, line: int, where: str) -> Finding:
    return Finding(
        severity="warning",
        code="duplicate_content",
        message=f"the same content as the record of {where}, under another id",
        line=line or None,
        index=index,
        hint="it counts as new evidence and makes intervals too narrow; remove one of them",
    )
