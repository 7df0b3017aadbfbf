"""Progress as notebooks, terminals and others see it."""

from __future__ import annotations

import asyncio
import io
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from steelyard.engine.activity import CallActivity
from steelyard.model.run import Result
from steelyard.notebook import ProgressOutput


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


class Handle:
    """The output of a cell."""

    def __init__(self) -> None:
        self.shown: list[dict[str, str]] = []

    def display(self, data: dict[str, str], **_: Any) -> Handle:
        self.shown.append(data)
        return self

    update = display


def noted(progress: ProgressOutput) -> None:
    """Two results: one without a score, and one that is none of ours to look into."""
    for status in ("timeout", "evaluated"):
        progress.note(_result(status))
    progress.finish()


def _result(status: Any) -> Result:
    return SimpleNamespace(status=status, verdict=None, cost_usd=None)  # pyright: ignore[reportReturnType]


def test_a_terminal_shows_one_line_that_is_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("PYTEST_CURRENT_TEST")

    noted(ProgressOutput("rows × bot", 2))

    assert stream.getvalue().endswith("rows × bot: 2 of 2, 0 passed, 1 without a score\n")
    assert "\x1b" not in stream.getvalue()
    assert stream.getvalue().count("\n") == 1


def test_it_says_what_a_run_waits_for_until_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    calls = CallActivity(in_flight=2, oldest_s=31.0)
    seconds = iter(range(0, 1000, 30))
    progress = ProgressOutput("rows", 2, now=lambda: next(seconds))

    async def run() -> None:
        progress.watch(lambda: calls)

    asyncio.run(run())
    progress.finish()
    _, waiting, last = stream.getvalue().split("\r")

    assert waiting.endswith(" rows: 0 of 2, no result yet, 2 in flight, the longest for 31 s")
    assert last.rstrip().endswith(" rows: 0 of 2, no result yet")
    assert len(last) == len(waiting) + 1, "it covers the line before"


def test_a_line_is_not_longer_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("PYTEST_CURRENT_TEST")

    noted(ProgressOutput("a name that is rather long for this", 2))

    assert {len(line) for line in stream.getvalue().strip().split("\r")} == {59}


@pytest.mark.parametrize("is_wanted", [None, False])
def test_nothing_is_written_in_pytest_nor_where_it_is_turned_off(
    monkeypatch: pytest.MonkeyPatch, is_wanted: bool | None
) -> None:
    monkeypatch.setattr(sys, "stderr", stream := Terminal())

    noted(ProgressOutput("rows", 2, is_wanted=is_wanted))

    assert stream.getvalue() == ""


def test_a_stream_that_is_no_terminal_gets_the_last_line_if_it_is_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())

    noted(ProgressOutput("rows", 2, is_wanted=True))

    assert stream.getvalue() == "rows: 2 of 2, 0 passed, 1 without a score\n"


def test_a_notebook_gets_one_output_without_control_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    handle = Handle()
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=handle.display))
    monkeypatch.delenv("PYTEST_CURRENT_TEST")

    noted(ProgressOutput("<rows>", 2))

    assert handle.shown[-1]["text/html"] == (
        "<div>&lt;rows&gt;: 2 of 2, 0 passed, 1 without a score</div>"
    )
    assert all(text.isprintable() for data in handle.shown for text in data.values())
