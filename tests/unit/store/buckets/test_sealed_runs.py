"""One contract for the places where runs are sealed: a disk, a small store and SeaweedFS."""

from __future__ import annotations

import gc
import json
import shutil
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from servers.object_store import ObjectStore, object_store
from servers.seaweed import Seaweed, seaweed
from steelyard.errors import (
    ConfigError,
    RunError,
    SealedElsewhereError,
    UnavailableError,
    UnreadableFileError,
)
from steelyard.model.json_value import JsonObject
from steelyard.results.artifacts import ARTIFACTS, MANIFEST
from steelyard.results.pruned import PrunedFile
from steelyard.results.sealing import Seal, sealed_json, with_own_hash
from steelyard.store.buckets import bucket
from steelyard.store.buckets.bucket import Bucket, part_size
from steelyard.store.buckets.bucket_runs import BucketRuns
from steelyard.store.sealed_runs import DiskRuns, SealedRuns
from steelyard.usecases.results.verify import verify

RUN = "run_01JTESTTESTTESTTESTTESTTE0"
PARENT = "run_01JTESTTESTTESTTESTTESTTE1"
ROWS, METRICS = "predictions.jsonl", "metrics_summary.json"
PLACES = (
    "disk",
    "bucket",
    pytest.param("seaweed", marks=pytest.mark.trials),
)


def bucket_runs(
    folder: Path, environ: dict[str, str], path: str = "s3://evals/team/a"
) -> BucketRuns:
    return BucketRuns(folder / ".steelyard" / "runs", Bucket(path, environ))


@contextmanager
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[SealedRuns]:
    place = request.param
    if place == "disk":
        yield DiskRuns(tmp_path / ".steelyard" / "runs")
    elif place == "bucket":
        with object_store() as store, environment(store.environ):
            yield bucket_runs(tmp_path, store.environ)
    else:
        server = request.getfixturevalue("server")
        with environment(server.environ):
            yield bucket_runs(tmp_path, server.environ, f"s3://evals/{tmp_path.name}")


@contextmanager
def environment(environ: dict[str, str]) -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environ.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Seaweed]:
    with seaweed(tmp_path_factory.mktemp("weed") / "data") as found:
        yield found


@pytest.fixture(params=PLACES)
def runs(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[SealedRuns]:
    with opened(request, tmp_path) as found:
        found.require_ready()
        yield found


@pytest.fixture
def store() -> Generator[ObjectStore]:
    with object_store() as found, environment(found.environ):
        yield found


def write(runs: SealedRuns, name: str, data: bytes, run_id: str = RUN) -> Seal:
    with closing(runs.artifacts(run_id).draft(name)) as draft:
        draft.write(data)
        return draft.seal()


def seal(runs: SealedRuns, rows: bytes = b'{"index": 0}\n', **more: str) -> JsonObject:
    """Seal a run of two files, and return its manifest."""
    artifacts = runs.artifacts(RUN)
    artifacts.clear_drafts()
    seals = {ROWS: write(runs, ROWS, rows), METRICS: write(runs, METRICS, b"{}\n")}
    manifest: JsonObject = {
        "run_id": RUN,
        "artifacts": {
            name: {"sha256": one.sha256, "size": one.size} for name, one in seals.items()
        },
        **more,
    }
    if artifacts.writer:
        manifest["writer"] = artifacts.writer
    manifest = with_own_hash(manifest)
    write(runs, MANIFEST, sealed_json(manifest))
    return manifest


def states(runs: SealedRuns) -> dict[str, str]:
    folder = runs.fetch(RUN, (MANIFEST,))
    with runs.as_sealed(folder) as (place, digest):
        return {file.name: file.state for file in verify(place, digest).files}


def test_a_sealed_run_is_read_as_it_was_written(runs: SealedRuns) -> None:
    manifest = seal(runs)

    folder = runs.fetch(RUN)
    assert json.loads((folder / MANIFEST).read_bytes()) == manifest
    assert (folder / ROWS).read_bytes() == b'{"index": 0}\n'
    assert (folder / ROWS).stat().st_mode & 0o777 == 0o400
    assert runs.brought(folder) == folder
    assert runs.artifacts(RUN).read(METRICS) == b"{}\n"
    assert {states(runs)[name] for name in (MANIFEST, ROWS, METRICS)} == {"intact"}
    assert set(runs.there(RUN)) == {MANIFEST, ROWS, METRICS}


def test_seaweed_seals_a_run_once(tmp_path: Path, server: Seaweed) -> None:
    with environment(server.environ):
        runs = bucket_runs(tmp_path, server.environ)
        runs.require_ready()
        seal(runs)
        shutil.rmtree(runs.folder)
        with pytest.raises(SealedElsewhereError):
            write(runs, MANIFEST, b"{}\n")
        assert (runs.fetch(RUN) / ROWS).read_bytes() == b'{"index": 0}\n'
        assert states(runs)[ROWS] == "intact"


def test_a_manifest_is_written_once(runs: SealedRuns) -> None:
    manifest = seal(runs)

    with pytest.raises(RunError, match=r"is sealed; a correction needs a new run"):
        write(runs, MANIFEST, b"{}\n")
    assert json.loads((runs.fetch(RUN) / MANIFEST).read_bytes()) == manifest


def test_what_a_stop_has_left_is_not_a_run(runs: SealedRuns) -> None:
    write(runs, ROWS, b"half\n")
    artifacts = runs.artifacts(RUN)
    assert artifacts.read(MANIFEST) is None

    artifacts.clear_drafts()

    assert not list(artifacts.folder.iterdir())
    seal(runs)
    assert states(runs)[ROWS] == "intact"


def test_files_are_removed_one_by_one_and_the_folder_at_last(runs: SealedRuns) -> None:
    seal(runs)
    for name in (ROWS, METRICS, MANIFEST):
        runs.remove(RUN, name)
        runs.remove(RUN, name)
        assert name not in runs.there(RUN)
    assert runs.is_empty(RUN)
    runs.remove_folder(RUN)
    assert not runs.fetch(RUN).exists()


def test_a_run_without_its_local_copy_is_whole(tmp_path: Path, store: ObjectStore) -> None:
    runs = bucket_runs(tmp_path, store.environ)
    seal(runs)
    before = {path.name: path.read_bytes() for path in runs.fetch(RUN).iterdir()}
    shutil.rmtree(runs.folder)

    after = {path.name: path.read_bytes() for path in runs.fetch(RUN).iterdir()}

    assert after == before
    asked = len(store.requests)
    runs.fetch(RUN)
    assert len(store.requests) == asked, "what is here is not asked for again"


def test_only_the_files_that_are_read_are_copied(tmp_path: Path, store: ObjectStore) -> None:
    runs = bucket_runs(tmp_path, store.environ)
    seal(runs)
    shutil.rmtree(runs.folder)

    folder = runs.fetch(RUN, (METRICS,))

    assert sorted(path.name for path in folder.iterdir()) == [METRICS, MANIFEST]


def test_of_two_writers_one_wins_and_the_other_reads_what_it_sealed(
    tmp_path: Path, store: ObjectStore
) -> None:
    first = bucket_runs(tmp_path / "first", store.environ)
    second = bucket_runs(tmp_path / "second", store.environ)
    write(second, ROWS, b"of the second\n")
    winner = seal(first)

    with pytest.raises(SealedElsewhereError):
        write(second, MANIFEST, sealed_json({"run_id": RUN, "artifacts": {}}))

    second.artifacts(RUN).clear_drafts()
    assert json.loads(second.artifacts(RUN).read(MANIFEST) or b"") == winner
    assert (second.fetch(RUN) / ROWS).read_bytes() == b'{"index": 0}\n'
    assert second.remove_orphans([RUN], [RUN]) == 1
    assert states(first)[ROWS] == states(second)[ROWS] == "intact"


def test_orphans_of_runs_that_have_not_ended_are_left_alone(
    tmp_path: Path, store: ObjectStore
) -> None:
    runs = bucket_runs(tmp_path, store.environ)
    write(runs, ROWS, b"half\n")

    assert runs.remove_orphans([PARENT], []) == 0
    assert any(key.endswith(ROWS) for key in store.objects)
    assert runs.remove_orphans([RUN], []) == 1
    assert not store.objects


def test_a_changed_object_is_refused_and_named_by_verify(
    tmp_path: Path, store: ObjectStore
) -> None:
    runs = bucket_runs(tmp_path, store.environ)
    seal(runs)
    shutil.rmtree(runs.folder)
    key = next(key for key in store.objects if key.endswith(ROWS))
    store.objects[key] = store.objects[key].replace(b"0", b"1")

    with pytest.raises(UnreadableFileError, match=r"is not what was sealed"):
        runs.fetch(RUN)
    assert states(runs)[ROWS] == "changed"
    assert states(runs)[METRICS] == "intact"
    del store.objects[key]
    assert states(runs)[ROWS] == "missing"


SPOILT: dict[str, Callable[[JsonObject], bytes]] = {
    "garbage": lambda _: b"\x00\xff{",
    "an array": lambda _: b"[]",
    "nothing": lambda _: b"",
    "a writer beside the run": lambda known: sealed_json({**known, "writer": "../../../../x"}),
    "a writer that fits its hash": lambda known: sealed_json(
        with_own_hash({**known, "writer": "a/../b"})
    ),
    "no writer": lambda known: sealed_json(
        with_own_hash({name: value for name, value in known.items() if name != "writer"})
    ),
}
"""What a manifest in a bucket may have become."""


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_damaged_manifest_is_named_and_its_run_is_not_removed(
    spoil: Callable[[JsonObject], bytes], tmp_path: Path, store: ObjectStore
) -> None:
    runs = bucket_runs(tmp_path, store.environ)
    known = seal(runs)
    key = next(key for key in store.objects if key.endswith(MANIFEST))
    store.objects[key] = spoil(known)
    kept = {**store.objects}
    found = states(runs)
    assert found[MANIFEST] == "changed" or found[ROWS] == "missing"
    assert runs.fetch(RUN).joinpath(MANIFEST).is_file(), "the copy is the last that is whole"
    assert runs.remove_orphans({RUN}, {RUN}) == 0
    shutil.rmtree(runs.folder)

    with pytest.raises(UnreadableFileError) as refused:
        runs.fetch(RUN)
    assert f"s3://evals/team/a/runs/{RUN}/{MANIFEST} is damaged" in str(refused.value)
    assert f"`steelyard verify {RUN}`" in str(refused.value)
    assert store.objects == kept


def test_a_lost_object_is_named(tmp_path: Path, store: ObjectStore) -> None:
    runs = bucket_runs(tmp_path, store.environ)
    seal(runs)
    shutil.rmtree(runs.folder)
    key = next(key for key in store.objects if key.endswith(ROWS))
    del store.objects[key]

    with pytest.raises(UnreadableFileError, match=rf"{ROWS} is gone; `steelyard verify {RUN}`"):
        runs.fetch(RUN)


def test_a_changed_copy_is_replaced_when_the_run_is_verified(
    tmp_path: Path, store: ObjectStore
) -> None:
    runs = bucket_runs(tmp_path, store.environ)
    seal(runs)
    copy = runs.fetch(RUN) / ROWS
    copy.chmod(0o600)
    copy.write_bytes(b'{"index": 7}\n')

    assert states(runs)[ROWS] == "intact"
    assert (runs.fetch(RUN) / ROWS).read_bytes() == b'{"index": 0}\n'


def test_what_was_pruned_is_known_on_other_machines(tmp_path: Path, store: ObjectStore) -> None:
    runs = bucket_runs(tmp_path / "one", store.environ)
    manifest = seal(runs)
    seals = manifest["artifacts"]
    assert isinstance(seals, dict)
    row = seals[ROWS]
    assert isinstance(row, dict)
    sha256, size = str(row["sha256"]), int(str(row["size"]))
    file = PrunedFile(run_id=RUN, name=ROWS, at="2026-01-02T00:00", sha256=sha256, size=size)
    runs.note([file])
    runs.note([file])
    runs.remove(RUN, ROWS)

    other = bucket_runs(tmp_path / "two", store.environ)
    other.fetch(RUN)

    assert states(other)[ROWS] == "pruned"
    notes = (other.folder.parent / "pruned.jsonl").read_text(encoding="utf-8")
    assert notes.count("\n") == 1


def test_the_summaries_of_a_parent_come_along(tmp_path: Path, store: ObjectStore) -> None:
    runs = bucket_runs(tmp_path, store.environ)
    seal(runs)
    child: JsonObject = {"run_id": PARENT, "artifacts": {}, "derived_from": {"run_id": RUN}}
    child = with_own_hash({**child, "writer": f"w{'0' * 16}"})
    runs.bucket.create(f"runs/{PARENT}/{MANIFEST}", sealed_json(child))
    shutil.rmtree(runs.folder)

    runs.fetch(PARENT)

    assert sorted(path.name for path in (runs.folder / RUN).iterdir()) == [METRICS, MANIFEST]


def test_a_large_file_goes_and_comes_in_parts(tmp_path: Path, store: ObjectStore) -> None:
    runs = bucket_runs(tmp_path, store.environ)
    rows = b"x" * (1 << 20) + b"\n"
    artifacts = runs.artifacts(RUN)
    with closing(artifacts.draft(ROWS)) as draft:
        for _ in range(20):
            draft.write(rows)
        (begun,) = store.uploads.values()
        assert len(begun) >= 2, "parts leave before the file is whole"
        found = draft.seal()
    manifest: JsonObject = {
        "run_id": RUN,
        "writer": artifacts.writer,
        "artifacts": {ROWS: {"sha256": found.sha256, "size": found.size}},
    }
    write(runs, MANIFEST, sealed_json(with_own_hash(manifest)))
    assert max(store.sizes) == 5 << 20

    shutil.rmtree(runs.folder)
    assert (runs.fetch(RUN) / ROWS).stat().st_size == 20 * len(rows)
    assert states(runs)[ROWS] == "intact"


@pytest.mark.parametrize("why", ["away", "too many parts"])
def test_a_file_whose_parts_were_lost_is_uploaded_as_a_whole(
    why: str, tmp_path: Path, store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why == "too many parts":
        monkeypatch.setattr(bucket, "_MOST_PARTS", 2)
    runs = bucket_runs(tmp_path, store.environ)
    rows = b"x" * (1 << 20) + b"\n"
    artifacts = runs.artifacts(RUN)
    with closing(artifacts.draft(ROWS)) as draft:
        for number in range(20):
            store.denies = why == "away" and number in range(5, 12)
            draft.write(rows)
        draft.seal()

    assert store.objects[f"team/a/runs/{RUN}/{artifacts.writer}/{ROWS}"] == rows * 20


def test_a_file_that_is_given_up_is_no_object(tmp_path: Path, store: ObjectStore) -> None:
    runs = bucket_runs(tmp_path, store.environ)
    for size in (1, 12 << 20):
        with closing(runs.artifacts(RUN).draft(ROWS)) as draft:
            draft.write(b"x" * size)
    gc.collect()

    assert not store.objects


def test_a_store_that_overwrites_is_refused_at_the_start(
    tmp_path: Path, store: ObjectStore
) -> None:
    store.overwrites = True
    with pytest.raises(ConfigError, match=r"overwrites objects although it was asked not to"):
        bucket_runs(tmp_path, store.environ).require_ready()
    store.overwrites = False
    runs = bucket_runs(tmp_path, store.environ)
    runs.require_ready()
    asked = len(store.requests)
    runs.require_ready()
    assert len(store.requests) == asked
    assert not store.objects


@pytest.mark.parametrize(
    ("path", "denies", "message"),
    [
        ("s3://evals/team", True, r"access to probe/\w+ was denied \(AccessDenied\)"),
        ("s3://absent/team", False, r"there is no bucket absent at http://127\.0\.0\.1"),
    ],
)
def test_what_the_store_refuses_is_said_in_words(
    tmp_path: Path, store: ObjectStore, path: str, denies: bool, message: str
) -> None:
    store.denies = denies
    with pytest.raises(UnavailableError, match=message) as found:
        bucket_runs(tmp_path, store.environ, path).require_ready()
    assert store.environ["AWS_SECRET_ACCESS_KEY"] not in str(found.value)


@pytest.mark.parametrize("size", [1, 6 << 20, 12 << 20])
def test_a_store_that_refuses_writes_while_a_file_is_written_is_named(
    tmp_path: Path, store: ObjectStore, size: int
) -> None:
    runs = bucket_runs(tmp_path, store.environ)
    with closing(runs.artifacts(RUN).draft(ROWS)) as draft:
        store.denies = True
        for begin in range(0, size, 1 << 20):
            draft.write(b"x" * min(1 << 20, size - begin))
        with pytest.raises(UnavailableError) as found:
            draft.seal()
    said = str(found.value)

    assert said.startswith("s3://evals/team/a: access to runs/run_")
    assert "was denied (AccessDenied)" in said
    assert not (runs.folder / RUN / ROWS).exists()


def test_a_break_in_an_upload_leaves_nothing_sealed(tmp_path: Path, store: ObjectStore) -> None:
    runs = bucket_runs(tmp_path, store.environ)
    store.breaks_parts = True
    with pytest.raises(UnavailableError, match=r"cannot be reached"):
        write(runs, ROWS, b"x" * (9 << 20))
    assert not list((runs.folder / RUN).iterdir())
    assert not store.objects
    store.breaks_parts = False
    seal(runs)
    assert states(runs)[ROWS] == "intact"


def test_an_upload_never_has_more_parts_than_s3_takes() -> None:
    assert part_size(1) == part_size(70 << 30) == 8 << 20
    for size in (1 << 40, 5 << 40):
        assert size / part_size(size) < 10_000


@pytest.mark.parametrize(
    "path",
    ["s3://", "s3:/evals/a", "s3://e/a", "s3://evals//a", "s3://evals/../a", "gs://evals/a"],
)
def test_an_address_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(ConfigError, match=r"is no address of a bucket; write s3://bucket/path"):
        Bucket(path, {})


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"])
def test_an_endpoint_that_holds_a_password_is_refused_and_not_shown(name: str) -> None:
    environ = {name: "http://me:hidden@127.0.0.1:9000", "AWS_ALLOW_HTTP": "true"}
    with pytest.raises(ConfigError) as refused:
        Bucket("s3://evals/a", environ)

    said = str(refused.value)
    assert said.startswith(
        f"{name} holds a user or password; take it out, and set AWS_ACCESS_KEY_"
    )
    assert "hidden" not in said
    assert "127.0.0.1" not in said


def test_a_plain_endpoint_must_be_allowed() -> None:
    environ = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    with pytest.raises(ConfigError, match=r"AWS_ALLOW_HTTP=true"):
        Bucket("s3://evals/a", environ)
    Bucket("s3://evals/a", {**environ, "AWS_ALLOW_HTTP": "true"})


def test_only_artifacts_have_names(runs: SealedRuns) -> None:
    with pytest.raises(RunError, match=r"is no artifact of a run"):
        runs.artifacts(RUN).draft("../evil")
    assert ROWS in ARTIFACTS
