"""Convert what people said on another platform to a table that `review import` reads."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from typing import cast

from steelyard.errors import InvalidError, argument
from steelyard.formats.csv_line import csv_line
from steelyard.formats.json_fields import text_field
from steelyard.model.conversion import Conversion, Refusal
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.labels.sheet import RESERVED
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.output_forms import LABELS, form_source
from steelyard.usecases.convert.tally import Tally

_PLACED = ("record_id", "repeat", "annotator")
_KNOWN = RESERVED - {"passed"} | {"comment"}
_SAME = Refusal("skipped", "the same label again")
_OTHER = Refusal("left_out", "the same person said something else about it before", "other")


def convert_labels(ports: ConvertPorts, options: ConvertOptions) -> Conversion:
    """Write a row for each person and response, a column for each thing that was asked."""
    source = form_source(ports, options)
    assert source.labels
    rows = source.labels(ports, options)
    tally = Tally()
    tally.change("", rows.changes)
    table = _Table(options.split)
    for place, found in rows.imports:
        tally.read += 1
        refused = found if isinstance(found, Refusal) else table.refused(found.row)
        if refused is not None:
            tally.refuse(place, refused)
        elif not isinstance(found, Refusal):
            tally.emit(text_field(found.row, "record_id"), found.changes)
    table.require_one_candidate()
    files: tuple[str, ...] = ()
    if tally.emitted:
        files = _write(ports, options, table.data())
    made = tally.conversion(str(options.source), cast(str, options.made_from), LABELS)
    return replace(made, files=files)


class _Table:
    """The labels, one row for each person and response."""

    def __init__(self, candidate: str | None) -> None:
        self._candidate = candidate
        self._rows: dict[tuple[str, str, str], dict[str, str]] = {}
        self._candidates: Counter[str] = Counter()

    def refused(self, label: JsonObject) -> Refusal | None:
        """Add a label, or say why it is refused."""
        of = text_field(label, "candidate_name")
        if self._candidate not in {None, of}:
            return Refusal("skipped", f"about a response of {of or 'nobody known'}", "candidate")
        placed = [str(label.get(name, "")) for name in _PLACED]
        row = self._rows.setdefault((placed[0], placed[1], placed[2]), {})
        name, value = text_field(label, "name"), text_field(label, "value")
        column = f"{name} score" if name in _KNOWN else name
        if column in row:
            return _SAME if row[column] == value else _OTHER
        row[column] = value
        self._candidates[of] += 1
        if comment := text_field(label, "comment"):
            told = f"{row['comment']}\n" if "comment" in row else ""
            row["comment"] = f"{told}{name}: {comment}"
        return None

    def require_one_candidate(self) -> None:
        """Labels say nothing of the candidate, and a run has one."""
        if len(self._candidates) > 1:
            names = ", ".join(sorted(name or "unknown" for name in self._candidates))
            raise InvalidError(
                f"the labels are about responses of several candidates: {names}; name one with "
                f"{argument('split')}"
            )

    def data(self) -> bytes:
        """The table as CSV."""
        columns = dict.fromkeys(name for row in self._rows.values() for name in row)
        columns.pop("comment", None)
        lines = [csv_line([*_PLACED, *columns, "comment"])]
        for placed, row in self._rows.items():
            cells = [_cell(row.get(name, "")) for name in columns]
            lines.append(csv_line([*placed, *cells, row.get("comment", "")]))
        return "".join(lines).encode("utf-8", "backslashreplace")


def _cell(value: str) -> JsonValue:
    """A number as one, so that a minus does not look like a formula."""
    return float(value) if re.fullmatch(r"-\d+(\.\d+)?", value) else value


def _write(ports: ConvertPorts, options: ConvertOptions, data: bytes) -> tuple[str, ...]:
    if options.output is None:
        ports.show(data)
        return ()
    with ExitStack() as stack:
        draft = ports.draft(options.output)
        stack.callback(draft.discard)
        draft.write(data)
        draft.settle()
    return (str(options.output),)
