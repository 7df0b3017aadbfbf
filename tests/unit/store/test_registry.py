"""The registry on disk."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import pytest

from fakes.published import BASIC, DATA, SHA
from steelyard.errors import RunError, UnreadableFileError
from steelyard.model.published import Published
from steelyard.store.registry import FileRegistry, project_registry


@pytest.fixture
def registry(tmp_path: Path) -> FileRegistry:
    return project_registry(tmp_path)


def content(data: bytes = DATA) -> dict[str, Callable[[], BinaryIO]]:
    return {hashlib.sha256(data).hexdigest(): lambda: BytesIO(data)}


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_nothing_is_published_at_first(registry: FileRegistry) -> None:
    assert registry.all("rubric") == ()


def test_what_was_published_is_found_with_its_content(registry: FileRegistry) -> None:
    stored = registry.add(BASIC, content())

    assert stored == BASIC
    assert registry.all("rubric") == (BASIC,)
    assert registry.all("judge") == ()
    assert registry.place(SHA).read_bytes() == DATA


def test_every_file_is_read_only_and_no_draft_is_left(
    registry: FileRegistry, tmp_path: Path
) -> None:
    registry.add(BASIC, content())
    registry.note(BASIC, {"status": "archived"}, "later")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in files(tmp_path)}

    assert len(files(tmp_path)) == 3
    assert modes == {0o400}


def test_a_version_is_written_once(registry: FileRegistry) -> None:
    registry.add(BASIC, content())
    other = replace(BASIC, sha256="1" * 64, published_at="later")

    assert registry.add(other, {}) == BASIC
    assert registry.all("rubric") == (BASIC,)


def test_of_many_that_publish_at_once_one_wins(registry: FileRegistry) -> None:
    found: list[Published] = []

    def publish(number: int) -> None:
        data = b"%d" % number
        sha256 = hashlib.sha256(data).hexdigest()
        found.append(registry.add(replace(BASIC, sha256=sha256), content(data)))

    threads = [threading.Thread(target=publish, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 8
    assert {one.sha256 for one in found} == {registry.all("rubric")[0].sha256}


def test_versions_are_listed_by_id_and_number(registry: FileRegistry) -> None:
    for name, version in (("b", "1.10.0"), ("b", "1.9.0"), ("a", None)):
        registry.add(replace(BASIC, id=name, version=version), content())

    assert [one.reference for one in registry.all("rubric")] == [
        *("rubric/a", "rubric/b@1.9.0", "rubric/b@1.10.0"),
    ]


def test_what_was_noted_last_counts(registry: FileRegistry) -> None:
    registry.add(replace(BASIC, beside={"status": "published"}), content())
    for status in ("archived", "published", "archived"):
        registry.note(BASIC, {"status": status}, "later")

    assert registry.all("rubric")[0].beside == {"status": "archived"}
    assert registry.all("rubric")[0].status == "archived"


def test_a_note_that_another_process_wrote_meanwhile_stays(
    registry: FileRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.add(BASIC, content())
    registry.note(BASIC, {"status": "published"}, "first")

    def blind(_place: Path) -> list[Path]:
        return []

    monkeypatch.setattr("steelyard.store.registry._notes", blind)
    registry.note(BASIC, {"status": "archived"}, "second")
    monkeypatch.undo()

    assert registry.all("rubric")[0].status == "archived"


def test_content_is_kept_once(registry: FileRegistry) -> None:
    registry.add(BASIC, content())

    def unread() -> BinaryIO:
        raise AssertionError

    again = replace(BASIC, version="2.0.0")

    assert registry.add(again, {SHA: unread}) == again


def test_a_file_that_changes_while_it_is_published_is_not_published(
    registry: FileRegistry, tmp_path: Path
) -> None:
    with pytest.raises(RunError, match="has changed while it was copied"):
        registry.add(BASIC, {SHA: lambda: BytesIO(b"other")})

    assert files(tmp_path) == []


def test_a_disk_that_refuses_is_an_error(
    registry: FileRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)

    with pytest.raises(RunError, match=r"cannot write .*: No space left on device"):
        registry.add(BASIC, content())


@pytest.mark.parametrize("text", ["{", "{}", "[]"])
def test_a_damaged_entry_is_told(registry: FileRegistry, tmp_path: Path, text: str) -> None:
    registry.add(BASIC, content())
    (entry,) = tmp_path.rglob("entry.json")
    entry.chmod(0o644)
    entry.write_text(text, encoding="utf-8")

    with pytest.raises(UnreadableFileError, match=r"entry\.json is damaged"):
        registry.all("rubric")


def test_an_entry_that_cannot_be_read_is_told(registry: FileRegistry, tmp_path: Path) -> None:
    registry.add(BASIC, content())
    (entry,) = tmp_path.rglob("entry.json")
    entry.unlink()
    entry.mkdir()

    with pytest.raises(UnreadableFileError, match="cannot read"):
        registry.all("rubric")


def test_an_entry_says_what_people_may_ask(registry: FileRegistry, tmp_path: Path) -> None:
    registry.add(BASIC, content())
    (entry,) = tmp_path.rglob("entry.json")

    assert entry.relative_to(tmp_path).as_posix() == (
        ".steelyard/registry/rubric/basic/1.0.0/entry.json"
    )
    assert json.loads(entry.read_bytes())["source"] == "rubrics/basic.yaml"
