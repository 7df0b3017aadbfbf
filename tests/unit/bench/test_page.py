"""The page that measurements are written to."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench import page


@pytest.mark.parametrize("name", ["engine", "grading", "stats"])
def test_a_section_is_replaced_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before = page.PAGE.read_text(encoding="utf-8")
    copy = tmp_path / "performance.md"
    copy.write_text(before, encoding="utf-8")
    monkeypatch.setattr(page, "PAGE", copy)
    old = page.section(name)

    page.write_section(name, "nothing")
    assert page.section(name) == "nothing"
    assert len(copy.read_text(encoding="utf-8")) == len(before) - len(old) + len("nothing")
    page.write_section(name, old)
    assert copy.read_text(encoding="utf-8") == before
