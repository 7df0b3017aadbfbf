"""Differences between two versions, as text and JSON."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator

from steelyard.model.difference import Diff, FieldDifference
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.reports.findings import Paint, printable

_SHOWN = 100
_LONG = 60
_MARKS = {"added": "+", "removed": "-", "changed": "~"}


def diff_lines(diff: Diff, paint: Paint) -> Iterator[str]:
    """A line per difference, texts as a diff, and whether scores can change."""
    found = diff.differences
    if not found:
        yield "nothing differs"
        return
    for difference in found[:_SHOWN]:
        yield from _lines(difference, paint)
    if len(found) > _SHOWN:
        yield f"… and {len(found) - _SHOWN:,} more; --format json lists all"
    breaking = sum(difference.is_breaking for difference in found)
    if breaking:
        yield paint(f"breaking: {breaking:,} of {len(found):,} can move scores", "warning")
    else:
        yield "not breaking: no score depends on what differs"


def diff_json(diff: Diff) -> JsonObject:
    """The differences as one JSON object."""
    return {
        "old": diff.old,
        "new": diff.new,
        "is_breaking": diff.is_breaking,
        "differences": [
            {
                "kind": difference.kind,
                "path": difference.path,
                "old": difference.old,
                "new": difference.new,
                "is_breaking": difference.is_breaking,
            }
            for difference in diff.differences
        ],
    }


def _lines(difference: FieldDifference, paint: Paint) -> Iterator[str]:
    mark = paint(_MARKS[difference.kind], "warning" if difference.is_breaking else "quiet")
    path = printable(difference.path)
    old, new = difference.old, difference.new
    if difference.kind != "changed":
        yield f"{mark} {path}: {_shown(new if difference.kind == 'added' else old)}"
    elif isinstance(old, str) and isinstance(new, str) and ("\n" in old or "\n" in new):
        yield f"{mark} {path}:"
        diff_text = difflib.unified_diff(old.splitlines(), new.splitlines(), n=1, lineterm="")
        yield from (f"    {printable(line)}" for line in list(diff_text)[2:])
    else:
        yield f"{mark} {path}: {_shown(old)} → {_shown(new)}"


def _shown(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return printable(text if len(text) <= _LONG else f"{text[: _LONG - 1]}…")
