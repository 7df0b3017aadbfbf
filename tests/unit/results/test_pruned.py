"""Notes of what was pruned, as lines."""

from __future__ import annotations

import pytest

from steelyard.results.artifacts import ARTIFACTS, MANIFEST
from steelyard.results.pruned import (
    RAW,
    SUMMARIES,
    PrunedFile,
    pruned_line,
    read_pruned,
)

FILE = PrunedFile(
    run_id="run_1", name="failures.jsonl", at="2026-01-15T12:00:00.000+00:00", sha256="0f", size=7
)


def test_every_artifact_is_raw_or_a_summary_and_the_manifest_goes_last() -> None:
    assert sorted((*RAW, *SUMMARIES)) == sorted(ARTIFACTS)
    assert SUMMARIES[-1] == MANIFEST


def test_a_note_is_read_as_it_was_written() -> None:
    assert list(read_pruned([pruned_line(FILE)])) == [FILE]
    assert FILE.day == "2026-01-15"


@pytest.mark.parametrize(
    "line", [b"", b"\n", b"{", b"[]", b'{"run_id": "x"}', b"\xff", pruned_line(FILE)[:-9]]
)
def test_a_line_that_is_no_note_is_passed_over(line: bytes) -> None:
    assert list(read_pruned([line, pruned_line(FILE)])) == [FILE]
