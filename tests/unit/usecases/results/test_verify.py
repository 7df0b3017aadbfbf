"""One flipped bit anywhere in a run is found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.projects import Project, row
from fakes.targets import ScriptedTarget, fails
from steelyard.errors import NotFoundError
from steelyard.results.artifacts import ARTIFACTS, MANIFEST
from steelyard.results.sealing import Seal, with_own_hash
from steelyard.store.artifacts import digest_of
from steelyard.usecases.results.verify import verify


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run in which no artifact is empty."""
    project = Project(tmp_path_factory.mktemp("sealed"))
    dataset = project.cases([row("a"), row("b")])
    target = ScriptedTarget({"b": [fails("bad_request")]})
    run = project.run(project.ports(target), dataset, where="id != 'é\x1f'")
    project.close()
    return Path(run.folder)


@pytest.fixture
def folder(sealed: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    for path in sealed.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def changed(folder: Path) -> dict[str, str]:
    """The state of every file that is not intact."""
    found = verify(folder, digest_of)
    assert found.is_intact is all(file.state == "intact" for file in found.files)
    return {file.name: file.state for file in found.files if file.state != "intact"}


def edit(folder: Path, **values: Any) -> None:
    """Change the manifest as somebody would who knows about its hash."""
    manifest = {**json.loads((folder / MANIFEST).read_bytes()), **values}
    (folder / MANIFEST).write_text(json.dumps(with_own_hash(manifest)), encoding="utf-8")


def test_a_run_that_nobody_touched_is_intact(folder: Path) -> None:
    found = verify(folder, digest_of)

    assert found.is_intact
    assert [file.name for file in found.files] == list(ARTIFACTS)
    assert found.run_id.startswith("run_")


@pytest.mark.parametrize("name", ARTIFACTS)
@pytest.mark.parametrize("place", [0.0, 0.3, 0.5, 0.7, 0.999])
@pytest.mark.parametrize("bit", [0, 3, 6])
def test_one_flipped_bit_is_found(folder: Path, name: str, place: float, bit: int) -> None:
    data = bytearray((folder / name).read_bytes())
    data[int(place * len(data))] ^= 1 << bit
    (folder / name).write_bytes(data)

    assert changed(folder)[name] == "changed"


@pytest.mark.trials
def test_every_flipped_bit_of_the_manifest_is_found(folder: Path) -> None:
    """A flip that leaves the same JSON, such as an escape in capitals, is a change as well."""
    whole = (folder / MANIFEST).read_bytes()
    unseen: list[int] = []
    for place in range(len(whole)):
        data = bytearray(whole)
        data[place] ^= 0x20
        (folder / MANIFEST).write_bytes(data)
        if verify(folder, lambda _: Seal(sha256="", size=0)).files[0].state != "changed":
            unseen.append(place)

    assert unseen == []


@pytest.mark.parametrize("name", ARTIFACTS[1:])
def test_a_missing_file_is_found(folder: Path, name: str) -> None:
    (folder / name).unlink()

    assert changed(folder) == {name: "missing"}


@pytest.mark.parametrize("name", ARTIFACTS)
@pytest.mark.parametrize("change", [b"", b"one byte more"])
def test_a_file_that_grew_or_shrank_is_found(folder: Path, name: str, change: bytes) -> None:
    path = folder / name
    path.write_bytes(path.read_bytes() + change if change else path.read_bytes()[:-1])

    assert changed(folder)[name] == "changed"


def test_a_file_that_cannot_be_read_is_told(folder: Path) -> None:
    def failing(path: Path) -> Seal:
        if path.name == "failures.jsonl":
            raise OSError(5, "Input/output error")
        return digest_of(path)

    states = {file.name: (file.state, file.message) for file in verify(folder, failing).files}

    assert states["failures.jsonl"] == ("unreadable", "Input/output error")


def test_a_change_says_what_was_sealed_and_what_is_there(folder: Path) -> None:
    size = (folder / "failures.jsonl").stat().st_size
    (folder / "failures.jsonl").write_bytes(b"other")
    said = next(f.message for f in verify(folder, digest_of).files if f.name == "failures.jsonl")

    assert said.startswith(f"sealed with {size} bytes and sha256 ")
    assert ", now 5 bytes and d9298a10d1b0…" in said


@pytest.mark.parametrize(
    "text", ["", "[]", "7", "{}", '{"artifacts": {}}', '{"artifacts": 7}', "{"]
)
def test_what_is_no_manifest_any_more_is_told(folder: Path, text: str) -> None:
    (folder / MANIFEST).write_text(text, encoding="utf-8")

    assert changed(folder) == {MANIFEST: "changed"}


@pytest.mark.parametrize("entry", [None, 7, {}, {"sha256": "x"}])
def test_a_manifest_that_does_not_know_a_file_is_told(folder: Path, entry: object) -> None:
    artifacts = json.loads((folder / MANIFEST).read_bytes())["artifacts"]
    edit(folder, artifacts={**artifacts, "failures.jsonl": entry})

    assert changed(folder)["failures.jsonl"] == "changed"


@pytest.mark.parametrize("name", ["nowhere", "."])
def test_a_folder_without_a_manifest_is_no_finished_run(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotFoundError, match=r"holds no run_manifest\.json; the run is not finis"):
        verify(tmp_path / name, digest_of)


@pytest.mark.parametrize("left", [ARTIFACTS[1:], ARTIFACTS[3:4]], ids=["all else", "one file"])
def test_a_manifest_that_is_gone_is_a_missing_file(folder: Path, left: tuple[str, ...]) -> None:
    for name in set(ARTIFACTS) - set(left):
        (folder / name).unlink()
    found = verify(folder, digest_of)
    states = {file.name: file.state for file in found.files}

    assert (found.is_intact, found.run_id) == (False, folder.name)
    assert states == {name: "unknown" if name in left else "missing" for name in ARTIFACTS}
    assert found.files[0].message == "it was removed, or the run is not finished"
