"""The page about traces: its examples are valid."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from steelyard.contracts.trace.reader import read_trace
from steelyard.contracts.trace.writer import trace_row

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "contracts" / "trace.md").read_text(encoding="utf-8")
FENCED: list[str] = re.findall(r"^```json\n(.+?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", FENCED, ids=range(len(FENCED)))
def test_an_example_of_the_page_is_valid(text: str) -> None:
    trace, findings = read_trace(json.loads(text))

    assert findings == []
    assert trace is not None
    assert trace.response


def test_the_example_file_reads_and_writes_back_the_same() -> None:
    """TR-01, TR-07, TR-10, TR-11"""
    path = ROOT / "examples" / "trace" / "agent.json"
    written = json.loads(path.read_text(encoding="utf-8"))
    trace, findings = read_trace(written)

    assert findings == []
    assert trace is not None
    assert trace.response == "Done: your ticket is 4711."
    assert trace.extra == {"cost_usd": 0.0011, "region": "eu"}
    again, _ = read_trace(trace_row(trace))
    assert again == trace
