"""Back-ups: consistent, private, without logins; restored whole or not at all."""

from __future__ import annotations

import asyncio
import io
import json
import os
import sqlite3
import stat
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fakes.audit import ANN
from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from steelyard.errors import ConflictError, InvalidError, UnreadableFileError
from steelyard.execution.run_options import RunOptions
from steelyard.project import open_project
from steelyard.project_adapters import restore_ports
from steelyard.store.artifacts import digest_of
from steelyard.store.runs.run_queue import RunQueue
from steelyard.usecases.operations.back_up import back_up, restore
from steelyard.usecases.results.verify import verify
from steelyard.usecases.runs.execute import create_run


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """The back-up of a project with a run, a login and an entry of the registry."""
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root)
    project.run(project.ports(ScriptedTarget()), project.cases([row("a")]))
    project.close()
    data = root / ".steelyard"
    (data / "registry" / "content").mkdir(parents=True)
    (data / "registry" / "content" / "aa").write_bytes(b"rubric")
    (data / "inputs" / "content").mkdir(parents=True)
    (data / "inputs" / "content" / "bb").write_bytes(b"a kept case")
    (data / "inputs" / "run_1").mkdir()
    os.link(data / "inputs" / "content" / "bb", data / "inputs" / "run_1" / "cases.jsonl")
    (data / "spool").mkdir()
    (data / "spool" / "upload").write_bytes(b"ciphertext")
    (data / "spool.key").write_bytes(b"key of the spool")
    with closing(sqlite3.connect(data / "steelyard.db")) as database, database:
        database.execute("INSERT INTO sessions VALUES ('cookie-hash', 'ann', 'form', 1.0, 1.0)")
        database.execute("INSERT INTO login_failures VALUES (1, 'ann-failed', 1.0)")
    with open_project(root) as opened:
        made = back_up(opened.operation_ports(), tmp_path / "backup.tar", caller=ANN)
    assert made.sha256 == digest_of(tmp_path / "backup.tar").sha256
    return tmp_path / "backup.tar"


def restored(backup: Path, root: Path) -> Path:
    restore(restore_ports(backup, root), backup, root, caller=ANN)
    return root / ".steelyard"


def test_a_restored_project_is_as_it_was(backup: Path, tmp_path: Path) -> None:
    data = restored(backup, tmp_path / "new")

    (run,) = (data / "runs").iterdir()
    assert verify(run, digest_of).is_intact
    assert (data / "registry" / "content" / "aa").read_bytes() == b"rubric"
    assert not (data / "inputs").exists()
    with open_project(tmp_path / "new") as project:
        assert set(project.store.ids()) == {run.name}
        verbs = [entry.verb for entry in project.audit_log.list(10)]
    assert verbs[:2] == ["restore", "back_up"]


def test_neither_logins_nor_inputs_nor_uploads_nor_their_key_are_in_a_backup(
    backup: Path, tmp_path: Path
) -> None:
    content = backup.read_bytes()

    for secret in (
        b"cookie-hash",
        b"ann-failed",
        b"ciphertext",
        b"key of the spool",
        b"a kept case",
    ):
        assert secret not in content
    assert not (restored(backup, tmp_path / "new") / "spool.key").exists()


def test_a_run_that_left_the_queue_is_restored_without_its_inputs(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "d.jsonl").write_text(json.dumps(row("a")) + "\n", encoding="utf-8")
    with open_project(root) as project:
        options = RunOptions(dataset=root / "d.jsonl", target="echo")
        run = asyncio.run(create_run(project.run_ports(), options))
        RunQueue(project.store.engine).remove(run.run_id, run.created_at, "cannot go on")
        back_up(project.operation_ports(), tmp_path / "backup.tar")

    restored(tmp_path / "backup.tar", tmp_path / "new")

    with open_project(tmp_path / "new") as project:
        found = project.store.find(run.run_id)
        assert "were not restored" in str(project.standing(found).why_not_resumable)
        assert RunQueue(project.store.engine).waiting() == []


def test_a_backup_and_what_is_restored_are_private(backup: Path, tmp_path: Path) -> None:
    data = restored(backup, tmp_path / "new")

    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (backup, data, *data.rglob("*"))}
    assert not [path for path, mode in modes.items() if mode & 0o077]
    assert not [
        path for path in (*backup.parent.iterdir(), *data.iterdir()) if ".part" in path.name
    ]


def test_a_file_that_is_there_is_not_overwritten(backup: Path, tmp_path: Path) -> None:
    before = backup.read_bytes()

    with (
        open_project(tmp_path / "project") as project,
        pytest.raises(ConflictError, match="there already"),
    ):
        back_up(project.operation_ports(), backup)

    assert backup.read_bytes() == before


def test_a_project_with_data_is_not_overwritten(backup: Path, tmp_path: Path) -> None:
    with pytest.raises(ConflictError, match="holds data"):
        restored(backup, tmp_path / "project")


@pytest.mark.parametrize("place", [100, 3000, -3000, -600])
def test_one_flipped_byte_is_noticed_and_nothing_is_restored(
    backup: Path, tmp_path: Path, place: int
) -> None:
    data = bytearray(backup.read_bytes())
    used = len(data.rstrip(b"\0"))
    data[place if place > 0 else used + place] ^= 1
    backup.write_bytes(data)

    with pytest.raises((UnreadableFileError, InvalidError)):
        restored(backup, tmp_path / "new")

    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("kept", [0.0, 0.1, 0.5, 0.9])
def test_a_backup_that_was_cut_off_is_refused(backup: Path, tmp_path: Path, kept: float) -> None:
    data = backup.read_bytes()
    backup.write_bytes(data[: int(len(data) * kept)])

    with pytest.raises(UnreadableFileError, match="is damaged"):
        restored(backup, tmp_path / "new")

    assert not (tmp_path / "new").exists()


def plain(name: str, content: bytes = b"x") -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    return member, content


def link(kind: bytes) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo("registry/link")
    member.type, member.linkname = kind, "/etc/passwd"
    return member, b""


def manifest(*lines: dict[str, Any], version: int = 1) -> tuple[tarfile.TarInfo, bytes]:
    header = {
        "kind": "header",
        "format": "steelyard_backup_v1",
        "harness_version": "9",
        "schema_version": version,
        "created_at": "",
    }
    return plain(
        "manifest.jsonl", b"".join(json.dumps(one).encode() + b"\n" for one in (header, *lines))
    )


def long_name() -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo("registry/" + "a/" * 900_000)
    return member, b""


@pytest.mark.parametrize(
    "members",
    [
        lambda: [plain("../outside"), manifest()],
        lambda: [plain("/outside"), manifest()],
        lambda: [plain("registry/../../outside"), manifest()],
        lambda: [plain("registry/./a"), manifest()],
        lambda: [plain("registry\\..\\a/b"), manifest()],
        lambda: [plain("spool.key"), manifest()],
        lambda: [plain("runs/run_1/predictions.jsonl"), manifest()],
        lambda: [plain(f"runs/run_{'A' * 26}/evil.py"), manifest()],
        lambda: [link(tarfile.SYMTYPE), manifest()],
        lambda: [link(tarfile.LNKTYPE), manifest()],
        lambda: [link(tarfile.FIFOTYPE), manifest()],
        lambda: [link(tarfile.DIRTYPE), manifest()],
        lambda: [plain("registry/a"), plain("registry/a"), manifest()],
        lambda: [plain("registry/a"), manifest()],
        lambda: [manifest({"kind": "file", "name": "registry/a", "sha256": "", "size": 1})],
        lambda: [manifest({"kind": "link", "name": "inputs/../../x", "target": "registry/a"})],
        lambda: [manifest({"kind": "link", "name": "registry/x", "target": "registry/a"})],
        lambda: [manifest(version=9999)],
        lambda: [manifest(), plain("registry/a")],
        lambda: [plain("manifest.jsonl", b"nonsense")],
        lambda: [long_name(), manifest()],
        list,
    ],
)
def test_a_hostile_backup_is_refused_and_nothing_is_written(
    tmp_path: Path, members: Callable[[], list[tuple[tarfile.TarInfo, bytes]]]
) -> None:
    path, folder = tmp_path / "in" / "hostile.tar", tmp_path / "in" / "new"
    path.parent.mkdir()
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        for member, content in members():
            tar.addfile(member, io.BytesIO(content))

    with pytest.raises((UnreadableFileError, InvalidError)):
        restored(path, folder)

    assert [one.name for one in path.parent.iterdir()] == ["hostile.tar"]
    assert [one.name for one in tmp_path.iterdir()] == ["in"]
