"""What hosts share in a bucket: published versions, validations, uploads and inputs."""

from __future__ import annotations

import base64
import os
import tarfile
from collections.abc import Generator
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from fakes.published import BASIC, DATA, SHA
from fakes.validations import a_validation
from servers.object_store import ObjectStore, object_store
from steelyard.errors import ConfigError, RunError, SourceError, UnreadableFileError
from steelyard.model.upload import upload_name
from steelyard.store.buckets import bucket_once
from steelyard.store.buckets.bucket import Bucket
from steelyard.store.buckets.bucket_runs import BucketRuns
from steelyard.store.buckets.shared_files import SharedFiles
from steelyard.store.registry import FileRegistry
from steelyard.store.spool.spool_key import SPOOL_KEY

CONTENT = {SHA: lambda: BytesIO(DATA)}
RUN = "run_01JTESTTESTTESTTESTTESTTE0"
HOUR = 3600.0


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Generator[ObjectStore]:
    monkeypatch.setattr(bucket_once, "_FRESH_S", 0.0)
    monkeypatch.setenv(SPOOL_KEY, base64.b64encode(bytes(32)).decode())
    with object_store() as found, pytest.MonkeyPatch.context() as patch:
        for name, value in found.environ.items():
            patch.setenv(name, value)
        yield found


def host(folder: Path, store: ObjectStore) -> SharedFiles:
    """What one host has, in a folder of its own."""
    data = folder / ".steelyard"
    runs = BucketRuns(data / "runs", Bucket("s3://evals/team/a", store.environ))
    return SharedFiles(data, runs, lambda: f"upl_{os.urandom(13).hex().upper()}")


@pytest.fixture
def one(tmp_path: Path, store: ObjectStore) -> SharedFiles:
    return host(tmp_path / "one", store)


@pytest.fixture
def two(tmp_path: Path, store: ObjectStore) -> SharedFiles:
    return host(tmp_path / "two", store)


def test_a_version_that_one_host_publishes_the_other_finds(
    one: SharedFiles, two: SharedFiles
) -> None:
    assert two.registry.all("rubric") == ()
    assert one.registry.add(BASIC, CONTENT) == BASIC
    one.registry.note(BASIC, {"status": "archived"}, BASIC.published_at)

    (found,) = two.registry.all("rubric")

    assert found == replace(BASIC, beside={"status": "archived"})
    assert two.registry.place(SHA).read_bytes() == DATA
    other = replace(BASIC, source="other.yaml")
    assert two.registry.add(other, CONTENT) == found, "the first stands"


def test_of_notes_of_two_hosts_the_later_counts(one: SharedFiles, two: SharedFiles) -> None:
    one.registry.add(BASIC, CONTENT)
    for number, each in enumerate((one, two, one)):
        each.registry.note(BASIC, {"number": number}, BASIC.published_at)

    assert [each.registry.all("rubric")[0].beside for each in (one, two)] == [{"number": 2}] * 2


def test_validations_and_looks_at_test_labels_are_counted_over_all_hosts(
    one: SharedFiles, two: SharedFiles
) -> None:
    assert one.validations.add(a_validation())
    assert not two.validations.add(a_validation()), "the same was found before"
    assert two.validations.last_validated(a_validation().judge) == a_validation().validated_at
    assert [each.validations.read_test("judge/x@1.0.0", "now") for each in (one, two)] == [1, 2]
    assert one.validations.test_reads("judge/x@2.0.0") == 2


def test_a_content_that_was_changed_in_the_bucket_is_refused(
    one: SharedFiles, two: SharedFiles, store: ObjectStore
) -> None:
    one.registry.add(BASIC, CONTENT)
    store.objects[f"team/a/registry/content/{SHA}"] = b"{}"

    with pytest.raises(UnreadableFileError, match="is not what was published"):
        two.registry.place(SHA)
    assert not (two.registry.place("0" * 64)).exists()


def test_a_registry_of_a_folder_moves_into_the_bucket_once(
    tmp_path: Path, store: ObjectStore
) -> None:
    for name in ("one", "two"):
        folder = tmp_path / name / ".steelyard" / "registry"
        source = f"{name}.yaml"
        FileRegistry(folder).add(replace(BASIC, source=source), CONTENT)
    first = host(tmp_path / "one", store)
    assert first.registry.all("rubric") == (replace(BASIC, source="one.yaml"),)
    assert f"team/a/registry/content/{SHA}" in store.objects

    with pytest.raises(ConfigError, match=r"two registries cannot be put together; move .*two"):
        host(tmp_path / "two", store).registry.all("rubric")

    store.requests.clear()
    assert host(tmp_path / "one", store).registry.all("rubric")
    assert {one.split()[0] for one in store.requests} == {"GET"}, "nothing is written again"


def post(files: SharedFiles, data: bytes) -> str:
    draft = files.spool.writer()
    draft.write(data)
    draft.end()
    return draft.upload_id


def test_an_upload_is_read_and_removed_by_any_host(
    one: SharedFiles, two: SharedFiles, store: ObjectStore
) -> None:
    upload_id = post(one, b"canary " * 1000)

    with two.spool.open(upload_id) as stream:
        assert stream.read() == b"canary " * 1000
    assert two.spool.digest(upload_id).size == 7000
    assert one.spool.used() == two.spool.used() > 7000
    assert not any(b"canary" in data for data in store.objects.values())

    two.spool.delete(Path(upload_name(upload_id)))
    assert not one.spool.has(upload_id)
    assert one.spool.sweep(set()) == 0, "younger than an hour"
    assert not any("upl_" in key for key in store.objects)


def test_uploads_that_nobody_needs_are_swept_with_their_copies(
    one: SharedFiles, two: SharedFiles, store: ObjectStore
) -> None:
    kept, old, left = (post(one, b"x") for _ in range(3))
    for upload_id in (kept, old, left):
        store.ages_s[f"team/a/spool/{upload_id}"] = 2 * HOUR
    store.ages_s[f"team/a/spool/{old}"] = 8 * 24 * HOUR

    assert two.spool.sweep({kept, old}) == 2
    assert [one.spool.has(upload_id) for upload_id in (kept, old, left)] == [True, False, False]


def test_an_upload_that_does_not_reach_the_bucket_is_not_there(
    one: SharedFiles, store: ObjectStore, tmp_path: Path
) -> None:
    draft = one.spool.writer()
    draft.write(b"x")
    store.denies = True
    with pytest.raises(RunError, match="access to spool/"):
        draft.end()
    draft.give_up()
    store.denies = False

    assert not one.spool.has(draft.upload_id)
    assert not list((tmp_path / "one" / ".steelyard" / "spool").iterdir())


def test_another_key_is_refused(
    one: SharedFiles, two: SharedFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    one.spool.require_ready()
    monkeypatch.setenv(SPOOL_KEY, base64.b64encode(bytes([1] * 32)).decode())

    for spool in (two.spool.require_ready, two.spool.writer):
        with pytest.raises(ConfigError, match="another key than this host has: set STEELYARD_SP"):
            spool()


def keep(files: SharedFiles, root: Path) -> None:
    """Keep a dataset and the settings of a run."""
    source = root / "datasets" / "d.jsonl"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_bytes(b"secret question\n")
    files.inputs.keep(RUN, {source: source}, {Path("rubrics/r.json"): DATA}, b"retry: {}\n")


def test_inputs_of_a_run_are_read_by_any_host_until_it_ends(
    one: SharedFiles, two: SharedFiles, store: ObjectStore, tmp_path: Path
) -> None:
    keep(one, tmp_path / "one")
    assert not (tmp_path / "one" / ".steelyard" / "inputs" / RUN).exists(), "no copy is left"
    assert not any(b"secret question" in data for data in store.objects.values())

    folder = two.inputs.folder(RUN)

    assert folder
    assert (folder / "datasets" / "d.jsonl").read_bytes() == b"secret question\n"
    assert (folder / "rubrics" / "r.json").read_bytes() == DATA
    assert (folder / "steelyard.yaml").read_bytes() == b"retry: {}\n"
    assert {path.stat().st_mode & 0o077 for path in folder.rglob("*")} == {0}
    assert two.inputs.folder(RUN) == folder
    two.inputs.delete(RUN)
    assert [each.inputs.folder(RUN) for each in (one, two)] == [None, None]
    assert not [key for key in store.objects if "/inputs/" in key]


def test_inputs_that_are_left_are_found_by_every_host(
    one: SharedFiles, two: SharedFiles, store: ObjectStore, tmp_path: Path
) -> None:
    keep(one, tmp_path / "one")
    assert list(two.inputs.left()) == []
    store.ages_s[f"team/a/inputs/{RUN}"] = 2 * HOUR
    assert list(two.inputs.left()) == [RUN]


def test_inputs_that_were_exchanged_in_the_bucket_are_refused(
    one: SharedFiles, two: SharedFiles, store: ObjectStore, tmp_path: Path
) -> None:
    keep(one, tmp_path / "one")
    other = RUN[:-1] + "1"
    store.objects[f"team/a/inputs/{other}"] = store.objects[f"team/a/inputs/{RUN}"]
    with pytest.raises(SourceError, match=f"the inputs kept for {other} are damaged"):
        two.inputs.folder(other)
    draft = two.inputs._sealed.writer_of(other)  # pyright: ignore[reportPrivateUsage]
    draft.write(b"no archive" * 100)
    draft.end()
    with pytest.raises(SourceError, match="are damaged"):
        one.inputs.folder(other)
    with tarfile.open(fileobj=(found := BytesIO()), mode="w") as archive:
        archive.addfile(tarfile.TarInfo(f"{other}/../../out"))
    draft = two.inputs._sealed.writer_of(other)  # pyright: ignore[reportPrivateUsage]
    draft.write(found.getvalue())
    draft.end()
    with pytest.raises(SourceError, match="are damaged"):
        one.inputs.folder(other)
    assert not list((tmp_path / "one" / ".steelyard" / "inputs").glob(".*"))
