"""Convert recordings of other tools to a response file, and report what could not be converted."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from typing import cast

from steelyard.contracts.importers.source_row import Import, Imported
from steelyard.contracts.trace.reader import read_trace
from steelyard.formats.json_fields import text_field
from steelyard.formats.json_text import compact
from steelyard.model.conversion import Conversion, Refusal
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.output_forms import RESPONSES, form_source
from steelyard.usecases.convert.tally import Tally

_ANOTHER = Refusal(
    "left_out",
    "another answer of the same candidate to the same record; convert one run at a time",
)
_SAME = Refusal("skipped", "the same row again")


def convert_traces(ports: ConvertPorts, options: ConvertOptions) -> Conversion:
    """Write one row for each trace; without any, nothing is written."""
    opened = form_source(ports, options).responses
    assert opened
    source = opened(ports, options)
    tally = Tally()
    tally.change("", source.changes)
    rows = _Rows(has_repeats=source.has_repeats)
    files: tuple[str, ...] = ()
    with ExitStack() as stack:
        draft = ports.draft(options.output) if options.output else ports.scratch()
        stack.callback(draft.discard)
        for place, found in source.imports:
            tally.read += 1
            made = rows.checked(found)
            if isinstance(made, Refusal):
                tally.refuse(place, made)
                continue
            draft.write(
                json.dumps(made.row, ensure_ascii=False).encode("utf-8", "backslashreplace")
            )
            draft.write(b"\n")
            tally.emit(text_field(made.row, "record_id"), made.changes)
        if tally.emitted and options.output:
            draft.settle()
            files = (str(options.output),)
        elif tally.emitted:
            with draft.read() as stream:
                while chunk := stream.read(1 << 20):
                    ports.show(chunk)
    made_from = cast(str, options.made_from)
    return replace(tally.conversion(str(options.source), made_from, RESPONSES), files=files)


class _Rows:
    """Checks that our own reader accepts every row."""

    def __init__(self, *, has_repeats: bool) -> None:
        self._has_repeats = has_repeats
        self._seen: dict[tuple[object, ...], set[int]] = {}
        self._repeats: dict[tuple[object, object], int] = {}

    def checked(self, found: Import) -> Import:
        """The row itself, or why it is refused."""
        if isinstance(found, Refusal):
            return found
        _, findings = read_trace(found.row["trace"])
        for finding in findings:
            if finding.is_error:
                return Refusal("invalid", f"no trace: {finding.message}", finding.code)
        return self._placed(found)

    def _placed(self, found: Imported) -> Import:
        row = found.row
        key = (row["record_id"], row["candidate_name"])
        mark = hash(compact(row))
        seen = self._seen.setdefault((*key, row.get("repeat", 0)), set())
        if mark in seen:
            return _SAME
        is_first = not seen
        seen.add(mark)
        if is_first:
            return found
        if not self._has_repeats:
            return _ANOTHER
        self._repeats[key] = self._repeats.get(key, 0) + 1
        return found._replace(row={**row, "repeat": self._repeats[key]})
