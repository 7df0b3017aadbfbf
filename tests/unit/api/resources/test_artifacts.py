"""The files of a run over HTTP."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from fakes.served_runs import make_runs
from servers.service import served
from steelyard.project import open_project
from steelyard.results.artifacts import ARTIFACTS
from steelyard.results.pruned import RAW
from unit.api.conftest import Service

NAME = "predictions.jsonl"


def address(service: Service, name: str = NAME) -> str:
    """Where a file of the finished run is."""
    return f"/v1/runs/{service.runs.done}/artifacts/{name}"


def content(service: Service, name: str = NAME) -> bytes:
    """The same file on the disk."""
    return (service.runs.root / ".steelyard" / "runs" / service.runs.done / name).read_bytes()


def test_every_file_is_listed_with_its_hash(service: Service) -> None:
    page = service.client.get(f"/v1/runs/{service.runs.done}/artifacts").json()
    found = {one["name"]: (one["size"], one["sha256"]) for one in page["data"]}

    assert page["next_cursor"] is None
    assert tuple(found) == ARTIFACTS
    for name in ARTIFACTS:
        data = content(service, name)
        assert found[name] == (len(data), hashlib.sha256(data).hexdigest())


def test_pruned_files_are_listed_as_such(service: Service) -> None:
    page = service.client.get(f"/v1/runs/{service.runs.without_records}/artifacts").json()

    assert {one["name"] for one in page["data"] if one["pruned_at"]} == set(RAW)


@pytest.mark.parametrize("name", ARTIFACTS)
def test_a_file_is_sent_as_an_attachment(service: Service, name: str) -> None:
    answer = service.client.get(address(service, name))
    kind = "application/x-ndjson" if name.endswith(".jsonl") else "application/json"

    assert answer.content == content(service, name)
    assert answer.headers["etag"] == f'"{hashlib.sha256(answer.content).hexdigest()}"'
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert answer.headers["content-type"] == kind
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["accept-ranges"] == "bytes"


def test_head_has_the_headers_and_no_body(service: Service) -> None:
    answer = service.client.head(address(service))

    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) == len(content(service))
    assert answer.headers["etag"] == service.client.get(address(service)).headers["etag"]


@pytest.mark.parametrize(("known", "status"), [("{}", 304), ('"x", W/{}', 304), ('"x"', 200)])
def test_a_known_file_is_not_sent_again(service: Service, known: str, status: int) -> None:
    etag = service.client.head(address(service)).headers["etag"]
    answer = service.client.get(
        address(service), headers={"if-none-match": known.replace("{}", etag)}
    )

    assert answer.status_code == status
    assert answer.headers["etag"] == etag
    assert bool(answer.content) is (status == 200)


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ("bytes=0-0", slice(0, 1)),
        ("bytes=10-19", slice(10, 20)),
        ("bytes=10-", slice(10, None)),
        ("bytes=-7", slice(-7, None)),
        ("bytes=-999999999", slice(None)),
        ("bytes=5-99999999999999999", slice(5, None)),
        ("Bytes = 0-3", slice(0, 4)),
    ],
)
def test_a_range_is_a_part_of_the_file(service: Service, asked: str, part: slice) -> None:
    answer = service.client.get(address(service), headers={"range": asked})
    whole = content(service)
    begin, end, _ = part.indices(len(whole))

    assert answer.status_code == 206
    assert answer.content == whole[part]
    assert answer.headers["content-range"] == f"bytes {begin}-{end - 1}/{len(whole)}"
    assert int(answer.headers["content-length"]) == len(answer.content)


@pytest.mark.parametrize(
    "asked",
    [
        *("bytes=0-1,5-6", "bytes=9-3", "bytes=-", "bytes=", "lines=0-3", "bytes=a-b", "0-3"),
        *("bytes=0-" + "9" * 5000, "bytes=٣-٤".encode().decode("latin-1")),
    ],
)
def test_what_is_no_single_range_gets_the_whole_file(service: Service, asked: str) -> None:
    answer = service.client.get(address(service), headers={b"range": asked.encode("latin-1")})

    assert (answer.status_code, answer.content) == (200, content(service))


@pytest.mark.parametrize("asked", ["bytes=999999999-", "bytes=999999999-9999999999", "bytes=-0"])
def test_a_range_beyond_the_file_is_refused(service: Service, asked: str) -> None:
    answer = service.client.get(address(service), headers={"range": asked})

    assert answer.status_code == 416
    assert answer.headers["content-range"] == f"bytes */{len(content(service))}"
    assert answer.json()["error"]["code"] == "range_not_satisfiable"


@pytest.mark.parametrize(("is_same", "status"), [(True, 206), (False, 200)])
def test_a_range_of_another_file_gets_the_whole(
    service: Service, is_same: bool, status: int
) -> None:
    etag = service.client.head(address(service)).headers["etag"] if is_same else '"other"'
    answer = service.client.get(address(service), headers={"range": "bytes=0-3", "if-range": etag})

    assert answer.status_code == status


@pytest.mark.parametrize(
    "name",
    [
        "steelyard.db",
        "%2e%2e",
        "..%2f..%2fsteelyard.db",
        ".predictions.jsonl",
        "%00",
        "PREDICTIONS.JSONL",
    ],
)
def test_only_artifacts_are_files_of_a_run(service: Service, name: str) -> None:
    assert service.client.get(address(service, name)).status_code == 404


def test_a_pruned_file_is_gone(service: Service) -> None:
    answer = service.client.get(f"/v1/runs/{service.runs.without_records}/artifacts/{NAME}")

    assert answer.status_code == 410


def test_a_file_that_was_changed_is_not_sent(tmp_path: Path) -> None:
    runs = make_runs(tmp_path)
    folder = tmp_path / ".steelyard" / "runs" / runs.done
    with open_project(tmp_path) as project, served(project) as client:
        before = client.get(f"/v1/runs/{runs.done}/artifacts/{NAME}")
        for name in (NAME, "metrics_by_slice.json"):
            changed = (folder / name).read_bytes().replace(b"yes", b"yep").replace(b"1", b"2")
            (folder / name).chmod(0o600)
            (folder / name).write_bytes(changed)
        answers = [
            client.get(f"/v1/runs/{runs.done}/artifacts/{NAME}"),
            client.get(f"/v1/runs/{runs.done}/slices"),
            client.get("/v1/compare", params={"a": runs.done, "b": runs.repeated}),
        ]
        other = client.get(f"/v1/runs/{runs.done}/artifacts/failures.jsonl")
        shutil.rmtree(folder)
        lost = client.get(f"/v1/runs/{runs.done}/artifacts")

    assert before.status_code == other.status_code == 200
    assert [answer.status_code for answer in (*answers, lost)] == [409] * 4
    assert "not what was sealed" in answers[0].json()["error"]["message"]


def test_a_manifest_that_was_changed_is_not_sent(tmp_path: Path) -> None:
    runs = make_runs(tmp_path)
    manifest = tmp_path / ".steelyard" / "runs" / runs.done / "run_manifest.json"
    manifest.chmod(0o600)
    manifest.write_bytes(manifest.read_bytes().replace(b'"seed"', b'"sead"'))
    with open_project(tmp_path) as project, served(project) as client:
        changed = client.get(f"/v1/runs/{runs.done}/artifacts/run_manifest.json")
        manifest.write_bytes(b"{")
        broken = client.get(f"/v1/runs/{runs.done}/artifacts/run_manifest.json")

    assert changed.status_code == broken.status_code == 409
