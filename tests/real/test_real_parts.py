"""A missing part is a skipped test on a newcomer's machine and a failed one on CI."""

from __future__ import annotations

import pytest

from real_parts import require


def test_what_is_there_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")

    require("json", "pytest")


def test_what_is_missing_skips_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)

    with pytest.raises(
        pytest.skip.Exception, match="needs no_such_part: pip install no_such_part"
    ):
        require("json", "no_such_part")


def test_what_is_missing_on_ci_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")

    with pytest.raises(pytest.fail.Exception, match="needs no_such_part"):
        require("no_such_part")
