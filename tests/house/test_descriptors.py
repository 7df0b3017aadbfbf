"""Every descriptor is closed once."""

from __future__ import annotations

from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "steelyard"


def test_no_pipe_is_left_to_the_event_loop() -> None:
    """Uvloop closes a pipe twice; the second time it may be a file that another thread opened."""
    names = ("connect_read_pipe", "connect_write_pipe", "create_subprocess_")
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    users = [path.name for path, text in texts.items() if any(name in text for name in names)]

    assert users == []
