"""Uploads on disk."""

from __future__ import annotations

import base64
import hashlib
import itertools
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.errors import ConfigError, SourceError, UnavailableError
from steelyard.model.upload import upload_name, upload_of
from steelyard.store.spool.spool_key import SPOOL_KEY, require_valid_key, spool_key
from steelyard.store.spool.uploads import CHUNK, KEPT_S, Spool

KEY = bytes(range(32))
HOUR = 3600
SEALED = CHUNK + 16
"""The size of a chunk on disk."""


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool", lambda: KEY, _ids())


def _ids() -> Callable[[], str]:
    numbers = itertools.count()
    return lambda: f"upl_{next(numbers):026}"


def kept(spool: Spool, *parts: bytes) -> str:
    """The id of an upload."""
    writer = spool.writer()
    for part in parts:
        writer.write(part)
    writer.end()
    return writer.upload_id


def read_checked(spool: Spool, upload_id: str) -> bytes:
    """The text of an upload whose end was looked at."""
    spool.digest(upload_id)
    with spool.open(upload_id) as stream:
        return stream.read()


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_what_was_written_is_read_again(spool: Spool, size: int) -> None:
    text = os.urandom(size)

    upload_id = kept(spool, text[: size // 3], text[size // 3 :])

    with spool.open(upload_id) as stream:
        assert stream.read() == text
    assert spool.digest(upload_id) == (hashlib.sha256(text).hexdigest(), size)


def test_no_plain_text_is_on_disk_at_any_time(spool: Spool, tmp_path: Path) -> None:
    writer = spool.writer()
    writer.write(b"planted " * CHUNK)
    found = [path.read_bytes() for path in (tmp_path / "spool").iterdir()]
    writer.end()

    found += [path.read_bytes() for path in (tmp_path / "spool").iterdir()]

    assert len(found) == 2
    assert not any(b"planted" in one for one in found)
    modes = {oct(path.stat().st_mode & 0o777) for path in (tmp_path / "spool").iterdir()}
    assert modes == {"0o600"}


@pytest.mark.parametrize(
    ("begin", "end"),
    [(-1, None), (CHUNK, None), (24 + SEALED, 24 + 2 * SEALED), (100, 101), (0, None), (0, 8)],
)
def test_a_damaged_upload_is_noticed(
    spool: Spool, tmp_path: Path, begin: int, end: int | None
) -> None:
    upload_id = kept(spool, b"x" * 3 * CHUNK)
    path = tmp_path / "spool" / upload_id
    data = path.read_bytes()
    path.write_bytes(data[:begin] + (data[end:] if end else b""))

    with pytest.raises(SourceError):
        read_checked(spool, upload_id)


def test_another_key_reads_nothing(spool: Spool, tmp_path: Path) -> None:
    upload_id = kept(spool, b"text")
    other = Spool(tmp_path / "spool", lambda: bytes(32), _ids())

    with pytest.raises(SourceError, match="key of the spool was replaced"):
        other.digest(upload_id)


def test_a_full_spool_takes_nothing(spool: Spool) -> None:
    kept(spool, b"x" * 1000)

    with pytest.raises(UnavailableError, match="too many uploads"):
        spool.writer(1000)
    spool.writer(10_000).give_up()


def test_an_upload_that_is_given_up_leaves_nothing(spool: Spool, tmp_path: Path) -> None:
    writer = spool.writer()
    writer.write(b"x")

    writer.give_up()

    assert list((tmp_path / "spool").iterdir()) == []


def test_old_uploads_are_swept(spool: Spool, tmp_path: Path) -> None:
    needed, old, left = (kept(spool, b"x") for _ in range(3))
    writer = spool.writer()
    now = (tmp_path / "spool" / needed).stat().st_mtime
    long_ago, ago = now - KEPT_S - HOUR, now - 2 * HOUR
    os.utime(tmp_path / "spool" / old, (long_ago, long_ago))
    os.utime(tmp_path / "spool" / left, (ago, ago))
    os.utime(tmp_path / "spool" / f"{writer.upload_id}.part", (ago, ago))

    assert spool.sweep({needed, old}, now) == 3
    assert [path.name for path in (tmp_path / "spool").iterdir()] == [needed]
    writer.give_up()


def test_an_upload_is_deleted_by_its_name_alone(spool: Spool, tmp_path: Path) -> None:
    upload_id = kept(spool, b"x")

    spool.delete(Path("datasets/qa.json"))
    assert spool.has(upload_id)
    spool.delete(Path(upload_name(upload_id)))

    assert not spool.has(upload_id)
    assert upload_of(tmp_path / upload_name(upload_id)) == upload_id
    assert upload_of(Path("upload/../upl_x.json")) is None


def test_a_key_is_made_once_and_private(tmp_path: Path) -> None:
    first, again = (spool_key(tmp_path, {}) for _ in range(2))

    assert first == again
    assert len(first) == 32
    assert oct((tmp_path / "spool.key").stat().st_mode & 0o777) == "0o600"
    assert [path.name for path in tmp_path.iterdir()] == ["spool.key"]


def test_a_key_of_the_environment_comes_first(tmp_path: Path) -> None:
    given = {SPOOL_KEY: base64.b64encode(KEY).decode()}

    assert spool_key(tmp_path, given) == KEY
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["x", "é" * 32, base64.b64encode(b"short").decode()])
def test_a_key_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="32 bytes in base64"):
        spool_key(tmp_path, {SPOOL_KEY: text})
    with pytest.raises(ConfigError, match="32 bytes in base64"):
        require_valid_key({SPOOL_KEY: text})


def test_a_draft_is_swept_as_soon_as_its_writer_is_gone(spool: Spool, tmp_path: Path) -> None:
    folder, alive = tmp_path / "spool", spool.writer()
    alive.write(b"x")
    left = folder / "upl_left.part"
    left.write_bytes(b"SYSPOOL1")
    now = left.stat().st_mtime

    assert spool.sweep((), now) == 0  # its writer may be about to lock it
    assert spool.sweep((), now + 60) == 1
    assert [path.name for path in folder.iterdir()] == [f"{alive.upload_id}.part"]
    alive.give_up()
