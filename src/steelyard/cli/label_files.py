"""Writes rows of labels to a file, atomically, or to stdout."""

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
    from steelyard.store.drafts import FileDraft

    lines = (json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") for row in rows)
    written = 0
    if path is None:
        for line in lines:
            show(line)
            written += 1
        return written
    draft = FileDraft(path, force=force)
    try:
        for line in lines:
            draft.write(line + b"\n")
            written += 1
        draft.settle()
    finally:
        draft.discard()
    return written
