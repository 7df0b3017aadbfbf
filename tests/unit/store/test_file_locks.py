"""A lock says whether the process that holds it lives; without locks nobody can say."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.store.file_locks import hold, is_let_go

if TYPE_CHECKING:
    import pytest


def test_a_held_file_is_not_let_go_until_it_is_closed(tmp_path: Path) -> None:
    with (tmp_path / "draft").open("wb") as held, (tmp_path / "draft").open("rb") as other:
        hold(held)
        assert not is_let_go(other)
        held.close()
        assert is_let_go(other)


def test_without_locks_no_file_counts_as_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with (tmp_path / "draft").open("wb") as held:
        hold(held)

    with (tmp_path / "draft").open("rb") as other:
        assert not is_let_go(other)
