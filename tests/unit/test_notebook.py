"""Progress as notebooks, terminals and others see it."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace
from typing import Any

import pytest

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
    return SimpleNamespace(status=status, verdict=None)  # pyright: ignore[reportReturnType]


def test_a_terminal_shows_one_line_that_is_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    monkeypatch.delenv("PYTEST_CURRENT_TEST")

    noted(ProgressOutput("rows × bot", 2))

    assert stream.getvalue().endswith("rows × bot: 2 of 2, 0 passed, 1 without a score\n")
    assert "\x1b" not in stream.getvalue()
    assert stream.getvalue().count("\n") == 1


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
