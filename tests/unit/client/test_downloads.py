"""Artifacts arrive as they were sealed, or not at all."""

from __future__ import annotations

import hashlib
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import steelyard
from servers.hostile import Hostile, Script, hang_up, hostile, replied
from steelyard.errors import ConflictError, InvalidError, SourceError
from steelyard.results.sealing import sealed_json, with_own_hash

RUN = "run_01ARZ3NDEKTSV4RRFFQ69G5FAV"
ROWS = b'{"index": 0}\n' * 50_000


def seal(data: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}


def manifest(**more: Any) -> bytes:
    row: dict[str, Any] = {
        "run_id": RUN,
        "status": "completed",
        "created_at": "2026",
        "completed_at": "2026",
        "states": [],
        "dataset_id": "d",
        "dataset_version": None,
        "schema_version": None,
        "contract": "dataset_document",
        "source": {},
        "targets": {},
        "rubrics": [],
        "options": {},
        "derived_from": None,
        "artifacts": {"predictions.jsonl": seal(ROWS)},
    }
    return sealed_json(with_own_hash({**row, **more}))


class Files:
    """Answers as the API does, from these files; `changed` replaces single answers."""

    def __init__(self, files: dict[str, bytes], **pruned: str) -> None:
        self.files = files
        self.listed = [{"name": name, **seal(data)} for name, data in files.items()]
        self.pruned = pruned
        self.changed: list[tuple[str, Script]] = []

    def answer(self, server: Hostile, connected: socket.socket) -> None:
        path = server.requests[-1].split(b" ")[1].decode()
        name = path.rsplit("/", 1)[-1]
        for one, script in self.changed:
            if one == name:
                self.changed.remove((one, script))
                script(connected)
                return
        if name == RUN:
            row = {"run_id": RUN, "status": "completed", "created_at": "2026"}
            replied(json.dumps(row).encode())(connected)
        elif name == "artifacts":
            replied(json.dumps({"data": self.listed}).encode())(connected)
        else:
            self._file(name, server, connected)

    def _file(self, name: str, server: Hostile, connected: socket.socket) -> None:
        data = self.files[name]
        asked = server.requests[-1].partition(b"range: bytes=")[2].split(b"-")[0]
        if not asked:
            replied(data, kind="application/json")(connected)
            return
        begin = int(asked)
        place = f"content-range: bytes {begin}-{len(data) - 1}/{len(data)}\r\n"
        replied(data[begin:], "206 Partial Content", head=place)(connected)


def serving(files: Files) -> tuple[Any, list[Hostile]]:
    made: list[Hostile] = []
    return hostile(lambda connected: files.answer(made[0], connected)), made


def downloaded(files: Files, folder: Path) -> tuple[Any, Hostile]:
    serve, made = serving(files)
    with serve as server:
        made.append(server)
        return steelyard.Client(server.url).download(RUN, folder), server


def both() -> Files:
    return Files({"predictions.jsonl": ROWS, "run_manifest.json": manifest()})


def test_all_files_arrive_and_the_manifest_first(tmp_path: Path) -> None:
    found, server = downloaded(both(), tmp_path / "run")

    assert found.files == ("run_manifest.json", "predictions.jsonl")
    assert (tmp_path / "run" / "predictions.jsonl").read_bytes() == ROWS
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == sorted(found.files)
    assert b"run_manifest.json" in server.requests[2].split(b"\r\n")[0]


def test_what_is_there_and_right_is_not_fetched_again(tmp_path: Path) -> None:
    downloaded(both(), tmp_path)
    (tmp_path / "run_manifest.json").write_bytes(b"changed")
    _, server = downloaded(both(), tmp_path)

    assert [one.split(b" ")[1].rsplit(b"/")[-1] for one in server.requests[2:]] == [
        b"run_manifest.json"
    ]


def cut(connected: socket.socket) -> None:
    head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(ROWS)}\r\n\r\n".encode()
    connected.sendall(head + ROWS[:100_000])
    hang_up(connected)


def test_a_download_that_was_cut_goes_on_where_it_ended(tmp_path: Path) -> None:
    files = both()
    files.changed = [("predictions.jsonl", cut)]
    _, server = downloaded(files, tmp_path)

    assert server.heads("range") == ["bytes=100000-"]
    assert server.heads("if-range") == [f'"{seal(ROWS)["sha256"]}"']
    assert (tmp_path / "predictions.jsonl").read_bytes() == ROWS


def test_a_download_of_another_process_goes_on_where_it_ended(tmp_path: Path) -> None:
    (tmp_path / ".predictions.jsonl.part").write_bytes(ROWS[:4000])
    _, server = downloaded(both(), tmp_path)

    assert server.heads("range") == ["bytes=4000-"]
    assert (tmp_path / "predictions.jsonl").read_bytes() == ROWS


def test_a_server_without_ranges_sends_the_whole_file_again(tmp_path: Path) -> None:
    files = both()
    files.changed = [("predictions.jsonl", cut), ("predictions.jsonl", replied(ROWS))]
    downloaded(files, tmp_path)

    assert (tmp_path / "predictions.jsonl").read_bytes() == ROWS


def wrong_bytes(files: Files) -> None:
    files.changed = [("predictions.jsonl", replied(ROWS[:-1] + b"x"))]


def too_long(files: Files) -> None:
    files.changed = [("predictions.jsonl", replied(ROWS + b"x"))]


def too_short(files: Files) -> None:
    files.changed = [("predictions.jsonl", replied(ROWS[:-1]))]


def other_list(files: Files) -> None:
    """The list agrees with changed bytes, but the manifest does not."""
    files.files["predictions.jsonl"] = b"[]\n"
    files.listed = [{"name": name, **seal(data)} for name, data in files.files.items()]


def changed_manifest(files: Files) -> None:
    changed = manifest().replace(b'"completed"', b'"cancelled"')
    files.files["run_manifest.json"] = changed
    files.listed = [{"name": name, **seal(data)} for name, data in files.files.items()]


def manifest_of_another(files: Files) -> None:
    files.files["run_manifest.json"] = manifest(run_id="run_other")
    files.listed = [{"name": name, **seal(data)} for name, data in files.files.items()]


def no_manifest(files: Files) -> None:
    files.files["run_manifest.json"] = b"[1, 2]\n"
    files.listed = [{"name": name, **seal(data)} for name, data in files.files.items()]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (wrong_bytes, "arrived with 650,000 bytes and sha256"),
        (too_long, "more are sent"),
        (too_short, "arrived with 649,999 bytes"),
        (other_list, "was sealed with 650,000 bytes"),
        (changed_manifest, "not what was sealed"),
        (manifest_of_another, "not what was sealed"),
        (no_manifest, "is none"),
    ],
)
def test_what_differs_from_the_seal_is_refused(
    spoil: Callable[[Files], None], message: str, tmp_path: Path
) -> None:
    files = both()
    spoil(files)
    with pytest.raises(SourceError, match=message):
        downloaded(files, tmp_path)

    assert not (tmp_path / "predictions.jsonl").exists()


def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    files = both()
    files.listed.append({"name": "../../evil", **seal(b"")})
    with pytest.raises(InvalidError, match="is no artifact of a run"):
        downloaded(files, tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_pruned_files_are_named_and_not_fetched(tmp_path: Path) -> None:
    files = both()
    files.listed[0]["pruned_at"] = "2026-02-01T00:00:00Z"
    found, _ = downloaded(files, tmp_path)

    assert [one.name for one in found.pruned] == ["predictions.jsonl"]
    assert found.files == ("run_manifest.json",)


def test_a_file_that_the_server_refuses_is_an_error(tmp_path: Path) -> None:
    body = b'{"error": {"code": "conflict", "message": "changed"}, "request_id": "r"}'
    files = both()
    files.changed = [("predictions.jsonl", replied(body, "409 Conflict"))]
    with pytest.raises(ConflictError, match="changed"):
        downloaded(files, tmp_path)
