"""Files of labels: written atomically, or to stdout; the design beside a sheet."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.cli.terminal import show

if TYPE_CHECKING:
    from steelyard.model.json_value import JsonObject


def write_rows(rows: Iterable[JsonObject], path: Path | None, *, force: bool) -> int:
    """Write rows as JSONL and return their number. An existing file is overwritten only with
    `force`: somebody may have filled it in."""
    return write_lines((json.dumps(row, ensure_ascii=False) for row in rows), path, force=force)


def write_table(lines: Iterable[str], path: Path | None, *, force: bool) -> int:
    """Write lines of CSV, which end as spreadsheets end them."""
    return write_lines((line.removesuffix("\r\n") + "\r" for line in lines), path, force=force)


def write_lines(lines: Iterable[str], path: Path | None, *, force: bool) -> int:
    """Write lines, and return their number."""
    from steelyard.store.drafts import FileDraft

    written = 0
    if path is None:
        for line in lines:
            show(line.encode("utf-8", "replace"))
            written += 1
        return written
    draft = FileDraft(path, force=force)
    try:
        for line in lines:
            draft.write(line.encode("utf-8", "replace") + b"\n")
            written += 1
        draft.settle()
    finally:
        draft.discard()
    return written


def read_design(sheet: Path) -> dict[tuple[str, int], JsonObject]:
    """How the records of a sheet were chosen, by record and repeat; empty without that file."""
    from steelyard.errors import InvalidError, UnreadableFileError
    from steelyard.formats.records import jsonl_records
    from steelyard.usecases.review.sheets import design_path, design_place

    path = design_path(sheet)
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UnreadableFileError(f"cannot read {path}: {error.strerror}") from None
    found: dict[tuple[str, int], JsonObject] = {}
    with stream:
        for record in jsonl_records(stream):
            if record.value is None:
                raise InvalidError(f"{path}: {record.place}: {record.fault}")
            found[design_place(record.value)] = record.value
    return found
