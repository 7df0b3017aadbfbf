"""Reading Inspect's log files."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import pytest

from fakes.inspect_logs import as_zstandard, sample, write_json, write_zip
from steelyard.errors import NotFoundError, RequestError, UnreadableFileError
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.convert.inspect_logs import LogFile, LogSample, open_logs


def opened(path: Path) -> list[LogFile]:
    return open_logs(DiskWorkspace(path.parent), path)


def samples(path: Path) -> list[LogSample]:
    return [one for log in opened(path) for one in log.samples()]


def ids(path: Path) -> list[object]:
    return [one.value and one.value["id"] for one in samples(path)]


@pytest.mark.parametrize("ending", [".json", ".eval"])
def test_a_log_gives_its_samples(tmp_path: Path, ending: str) -> None:
    write = write_json if ending == ".json" else write_zip
    path = write(tmp_path / f"log{ending}", sample(id="a"), sample(id="b"))
    (log,) = opened(path)

    assert ids(path) == ["a", "b"]
    assert (log.head.model, log.head.task, log.changes) == ("openai/m-1", "loans", ())


def test_newer_logs_are_compressed_with_zstandard(tmp_path: Path) -> None:
    path = as_zstandard(write_zip(tmp_path / "log.eval", sample(id="a"), sample(id="b")))
    with zipfile.ZipFile(path) as archive:
        methods = {info.compress_type for info in archive.infolist()}

    assert methods == {93}
    assert ids(path) == ["a", "b"]


def test_without_the_extra_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = as_zstandard(write_zip(tmp_path / "log.eval", sample()))
    monkeypatch.setitem(sys.modules, "zstandard", None)

    with pytest.raises(UnreadableFileError, match=r"pip install 'steelyard\[inspect\]'"):
        opened(path)


@pytest.mark.parametrize(
    ("damage", "told"),
    [("size", "does not have the size stated in the log"), ("bytes", "cannot be unpacked")],
)
def test_a_sample_that_is_damaged_is_told_and_the_others_are_read(
    tmp_path: Path, damage: str, told: str
) -> None:
    path = as_zstandard(write_zip(tmp_path / "log.eval", sample(id="a"), sample(id="b")))
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("samples/a_epoch_1.json")
        directory = archive.start_dir
    whole = bytearray(path.read_bytes())
    if damage == "bytes":
        start = info.header_offset + 30 + len(info.filename)
        whole[start : start + 4] = b"none"
    else:
        place = whole.index(info.filename.encode(), directory) - 46 + 24
        whole[place : place + 4] = (5).to_bytes(4, "little")
    path.write_bytes(bytes(whole))
    first, second = samples(path)

    assert first.value is None
    assert told in first.fault
    assert second.value


def test_samples_are_in_the_order_of_their_names(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "log.eval", *(sample(id=name) for name in (10, 2, "b", 1)))

    assert ids(path) == [1, 2, 10, "b"]


def test_a_run_that_crashed_has_no_header(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "log.eval", sample(id="a"), eval=None)
    (log,) = opened(path)

    assert ids(path) == ["a"]
    assert [change.message for change in log.changes] == [
        "the run of log.eval ended as unknown; samples may be missing"
    ]


@pytest.mark.parametrize("status", ["error", "cancelled"])
def test_a_run_that_did_not_succeed_is_told(tmp_path: Path, status: str) -> None:
    (log,) = opened(write_json(tmp_path / "log.json", sample(), status=status))

    assert f"ended as {status}" in log.changes[0].message


@pytest.mark.parametrize("samples", [None, []])
def test_a_log_without_samples_is_told(tmp_path: Path, samples: object) -> None:
    path = write_json(tmp_path / "log.json", samples=samples)
    (log,) = opened(path)

    assert ids(path) == []
    assert log.changes[0].message == "log.json holds no samples"


def test_a_log_of_the_head_alone_has_no_samples(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"eval": {"model": "m"}}), encoding="utf-8")

    assert opened(path)[0].changes[0].field == "samples"


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("log.json", b"{", "the text ends too early"),
        ("log.json", b"[]", "the top level must be an object"),
        ("log.json", b"{}", "this is not an Inspect log"),
        ("log.eval", b"no zip", "is not a ZIP file"),
    ],
)
def test_what_is_no_log_is_unreadable(tmp_path: Path, name: str, data: bytes, told: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)

    with pytest.raises(UnreadableFileError, match=told):
        opened(path)


def test_another_zip_file_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "x")

    with pytest.raises(UnreadableFileError, match="it has no header"):
        opened(path)


@pytest.mark.parametrize(
    ("value", "told"), [("7", "a sample must be an object"), ("{", "ends too early")]
)
def test_a_sample_that_is_none_is_told(tmp_path: Path, value: str, told: str) -> None:
    path = write_zip(tmp_path / "log.eval", sample(id="a"))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("samples/b_epoch_1.json", value)
    first, second = samples(path)

    assert first.value
    assert (second.place, second.value) == ("b_epoch_1.json", None)
    assert told in second.fault


def test_a_sample_that_is_too_large_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_zip(
        tmp_path / "log.eval", sample(id="a"), sample(id="b", metadata={"x": "y" * 9000})
    )
    monkeypatch.setattr("steelyard.usecases.convert.inspect_logs.MAX_SAMPLE", 9000)

    assert [one.fault for one in samples(path)] == [
        *("", "samples/b_epoch_1.json is larger than 256 MB"),
    ]


def test_a_log_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_json(tmp_path / "log.json", sample())
    monkeypatch.setattr("steelyard.usecases.convert.inspect_logs.MAX_LOG", 100)

    with pytest.raises(UnreadableFileError, match="larger than 1 GB"):
        opened(path)


def test_a_zip_member_in_a_way_nobody_knows_is_told(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "log.eval", sample(id="a"))
    whole = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("samples/a_epoch_1.json")
        directory = archive.start_dir
    place = whole.index(info.filename.encode(), directory) - 46 + 10
    whole[place : place + 2] = (77).to_bytes(2, "little")
    path.write_bytes(bytes(whole))
    (found,) = samples(path)

    assert "compression" in found.fault


def test_all_logs_of_a_folder_are_read_and_a_broken_one_is_told(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", sample(id="a"))
    write_zip(tmp_path / "b.eval", sample(id="b"))
    (tmp_path / "c.json").write_text("{}", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    found = samples(tmp_path)

    assert [one.place for one in found] == ["a.json sample 1", "b.eval b_epoch_1.json", "c.json"]
    assert "this is not an Inspect log" in found[2].fault


def test_a_folder_without_logs_and_another_file_are_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")

    with pytest.raises(NotFoundError, match="no logs in"):
        opened(tmp_path)
    with pytest.raises(RequestError, match=r"end in \.eval or \.json"):
        opened(tmp_path / "notes.txt")
