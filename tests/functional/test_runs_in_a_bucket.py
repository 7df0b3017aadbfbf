"""Runs whose artifacts are in a bucket: every verb works, with and without copies on the disk."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from checker import check_run, comparable
from fakes.desk_project import SETTINGS, write_desk
from fakes.warm_command import Done, run_warm
from servers.object_store import ObjectStore, object_store
from servers.seaweed import seaweed
from servers.service import served
from steelyard.project import open_project
from steelyard.results.artifacts import ARTIFACTS, MANIFEST
from steelyard.results.pruned import RAW

DESK = "datasets/desk.jsonl"
RUN = ("run", DESK, "--target", "moody")
ADDRESS = "s3://evals/team/a"
LONG_AGO = "2001-01-01T00:00:00.000+00:00"
JSON = ("--format", "json")
RULE = ("--rubric", "polite", *JSON)


class Desk:
    """A project with a bucket."""

    def __init__(self, root: Path, environ: dict[str, str]) -> None:
        self.root = write_desk(root)
        self.environ = environ
        self.settle(f"artifacts: {ADDRESS}\n")

    def settle(self, more: str) -> None:
        """Write the project file."""
        (self.root / "steelyard.yaml").write_text(f"{SETTINGS}{more}", encoding="utf-8")

    def run(self, *words: str) -> Done:
        """What a command says."""
        return run_warm(self.root, *words, environment={**os.environ, **self.environ})

    @property
    def copies(self) -> Path:
        """The folder of the copies."""
        return self.root / ".steelyard" / "runs"

    @property
    def folder(self) -> Path:
        """The copy of the only run."""
        return next(self.copies.glob("run_*"))

    def forget(self) -> None:
        """Remove every copy."""
        shutil.rmtree(self.copies, ignore_errors=True)


@pytest.fixture
def store() -> Generator[ObjectStore]:
    with object_store() as found:
        yield found


@pytest.fixture
def desk(tmp_path: Path, store: ObjectStore) -> Desk:
    return Desk(tmp_path, store.environ)


def test_every_verb_reads_a_run_that_is_only_in_the_bucket(desk: Desk, store: ObjectStore) -> None:
    made = desk.run(*RUN, *JSON)
    assert made.code == 4, made.stderr
    run_id = json.loads(made.stdout)["run_id"]
    keys = [key.removeprefix(f"team/a/runs/{run_id}/") for key in store.objects]
    assert sorted(key.rpartition("/")[2] for key in keys) == sorted(ARTIFACTS)
    manifest = json.loads(store.objects[f"team/a/runs/{run_id}/{MANIFEST}"])
    assert {key.partition("/")[0] for key in keys} == {manifest["writer"], MANIFEST}

    for words in (
        ("show", "latest"),
        ("show", "latest", "hours"),
        ("report", "latest", "-o", "out.html"),
        ("export", "latest"),
        ("verify", "latest"),
        ("compare", "latest", "latest~1"),
        ("retry", "latest"),
        ("regrade", run_id, "--rubric", "polite"),
        ("resume", run_id),
        ("run", DESK, "--from-run", run_id),
    ):
        desk.forget()
        if words[0] == "compare":
            assert desk.run(*RUN).code == 4
            desk.forget()
        done = desk.run(*words)
        assert done.code in {0, 1, 4}, (words, done)
        assert words[0] not in {"show", "export", "verify"} or done.code == 0, (words, done)
        assert "error" not in done.stderr, (words, done.stderr)

    everything = "".join(
        path.read_bytes().decode("utf-8", "replace")
        for path in desk.root.rglob("*")
        if path.is_file()
    )
    stored = b"".join(store.objects.values()).decode("utf-8", "replace")
    assert store.environ["AWS_SECRET_ACCESS_KEY"] not in everything + stored


def test_a_run_sealed_in_a_bucket_equals_one_on_the_disk(desk: Desk) -> None:
    there = json.loads(desk.run(*RUN, *JSON).stdout)["artifacts"]
    desk.settle("")
    here = json.loads(desk.run(*RUN, *JSON).stdout)["artifacts"]

    assert comparable(Path(there)) == comparable(Path(here))
    check_run(Path(there))


def test_a_changed_object_is_found(desk: Desk, store: ObjectStore) -> None:
    desk.run(*RUN)
    key = next(key for key in store.objects if key.endswith("predictions.jsonl"))
    store.objects[key] = store.objects[key].replace(b"nine", b"nein")

    verified = desk.run("verify", "latest")
    assert verified.code == 1
    assert "changed   predictions.jsonl" in verified.stdout
    desk.forget()
    shown = desk.run("show", "latest")
    assert (shown.code, shown.stdout) == (2, "")
    assert "predictions.jsonl is not what was sealed" in shown.stderr


def test_what_a_manifest_in_the_bucket_was_changed_to_is_told(
    desk: Desk, store: ObjectStore
) -> None:
    desk.run(*RUN)
    key = next(key for key in store.objects if key.endswith(MANIFEST))
    whole = store.objects[key]
    changed = json.dumps({**json.loads(whole), "writer": "../../../../x"}).encode()
    for data in (changed, b"[]", b"garbage"):
        store.objects[key] = data
        desk.forget()
        verified, shown = desk.run("verify", "latest"), desk.run("show", "latest")
        assert verified.code == 1, verified
        assert "changed   run_manifest.json" in verified.stdout
        assert (shown.code, shown.stdout) == (2, "")
        assert f"{ADDRESS}/{key.partition('team/a/')[2]} is damaged" in shown.stderr
        assert str(desk.root) not in shown.stderr

    store.objects[key] = whole
    lost = next(key for key in store.objects if key.endswith("predictions.jsonl"))
    del store.objects[lost]
    desk.forget()
    shown, verified = desk.run("show", "latest"), desk.run("verify", "latest")
    assert shown.code == 2
    assert "predictions.jsonl is gone; `steelyard verify run_" in shown.stderr
    assert verified.code == 1
    assert "missing   predictions.jsonl" in verified.stdout


def test_a_store_that_overwrites_is_refused_before_any_call(
    desk: Desk, store: ObjectStore
) -> None:
    store.overwrites = True
    done = desk.run(*RUN)

    assert done.code == 2
    assert "overwrites objects although it was asked not to" in done.stderr
    assert not (desk.root / "calls.txt").exists()
    served = desk.run("serve", "--port", "0")
    assert served.code == 2
    assert "overwrites objects although it was asked not to" in served.stderr
    store.overwrites = False
    assert desk.run("runs").stdout.count("run_") == 0, "no run was made that could not be sealed"


def stop_at_sealing(desk: Desk, store: ObjectStore) -> None:
    """Run until the store refuses the files."""
    agent = desk.root / "desk_agent.py"
    text = agent.read_text(encoding="utf-8")
    wait = 'def answer(prompt):\n    (CALLS.parent / "asked").touch()\n    time.sleep(1)\n'
    agent.write_text(text.replace("def answer(prompt):\n", wait), encoding="utf-8")

    def go_away() -> None:
        while not (desk.root / "asked").exists():
            time.sleep(0.01)
        store.denies = True

    thread = threading.Thread(target=go_away, daemon=True)
    thread.start()
    stopped = desk.run(*RUN)
    thread.join(10)
    assert stopped.code == 3, stopped
    assert "access to runs/" in stopped.stderr
    assert "steelyard resume" in stopped.stderr
    assert not [key for key in store.objects if key.endswith(MANIFEST)]

    store.denies = False


def test_a_store_that_goes_away_leaves_a_run_to_resume(desk: Desk, store: ObjectStore) -> None:
    stop_at_sealing(desk, store)
    calls = (desk.root / "calls.txt").read_text(encoding="utf-8")
    resumed = desk.run("resume", "latest")
    assert resumed.code == 4, resumed
    assert (desk.root / "calls.txt").read_text(encoding="utf-8") == calls
    assert desk.run("verify", "latest").code == 0
    check_run(desk.folder)


@pytest.mark.parametrize(("place", "left"), [("partNumber=1", 0), (MANIFEST, 7)])
def test_a_command_killed_in_an_upload_has_committed_nothing(
    desk: Desk, store: ObjectStore, place: str, left: int
) -> None:
    answer_at_length(desk)
    store.held_at = place
    environ = {**os.environ, **desk.environ}
    command = [sys.executable, "-m", "steelyard", *RUN]
    killed = subprocess.Popen(command, cwd=desk.root, env=environ, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not store.is_holding:
        assert time.monotonic() < deadline
        assert killed.poll() is None
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    store.held_at = None
    assert not [key for key in store.objects if key.endswith(MANIFEST)]

    calls = (desk.root / "calls.txt").read_text(encoding="utf-8")
    assert desk.run("resume", "latest").code == 4
    assert (desk.root / "calls.txt").read_text(encoding="utf-8") == calls
    pruned = desk.run("prune", "--yes").stdout
    assert (f"removed {left} left-over object(s)" in pruned) is (left > 0)
    assert len([key for key in store.objects if "/runs/" in key]) == len(ARTIFACTS)
    check_run(desk.folder)


def answer_at_length(desk: Desk) -> None:
    """Have a run of more than one part."""
    agent = desk.root / "desk_agent.py"
    text = agent.read_text(encoding="utf-8")
    large = 'return "please " * 400_000\n'
    agent.write_text(text.replace("return next(", f"{large}    return next("), encoding="utf-8")


def test_of_two_machines_that_seal_one_run_the_second_takes_what_the_first_sealed(
    desk: Desk, store: ObjectStore, tmp_path_factory: pytest.TempPathFactory
) -> None:
    stop_at_sealing(desk, store)
    other = Desk(tmp_path_factory.mktemp("other"), store.environ)
    shutil.copytree(desk.root, other.root, dirs_exist_ok=True)
    assert desk.run("resume", "latest").code == 4
    key = next(key for key in store.objects if key.endswith(MANIFEST))
    winner = store.objects[key]
    store.hidden.add(key)  # so that the second begins before it can know of the first

    assert other.run("resume", "latest").code == 4

    assert store.objects[key] == winner
    assert (other.folder / MANIFEST).read_bytes() == winner
    for one in (desk, other):
        assert one.run("verify", "latest").code == 0
        check_run(one.folder)
    assert "removed 7 left-over object(s)" in other.run("prune", "--yes").stdout
    assert desk.run("verify", "latest").code == 0


def test_prune_keeps_the_objects_of_a_sealed_run_whose_manifest_is_gone(
    desk: Desk, store: ObjectStore
) -> None:
    run_id = json.loads(desk.run(*RUN, *JSON).stdout)["run_id"]
    manifest = store.objects.pop(f"team/a/runs/{run_id}/{MANIFEST}")
    kept = [key for key in store.objects if f"/{run_id}/" in key]
    desk.forget()

    assert "left-over" not in desk.run("prune", "--yes").stdout

    assert [key for key in store.objects if f"/{run_id}/" in key] == kept
    store.objects[f"team/a/runs/{run_id}/{MANIFEST}"] = manifest
    assert desk.run("verify", "latest").code == 0


def test_prune_removes_objects_copies_and_what_losers_left(desk: Desk, store: ObjectStore) -> None:
    run_id = json.loads(desk.run(*RUN, *JSON).stdout)["run_id"]
    store.objects[f"team/a/runs/{run_id}/wloser/predictions.jsonl"] = b"half"
    store.objects["team/a/runs/run_01JTESTTESTTESTTESTTESTTE9/w1/predictions.jsonl"] = b"other"
    young = desk.run("prune", "--yes")
    assert "removed 1 left-over object(s) of the bucket" in young.stdout

    with sqlite3.connect(desk.root / ".steelyard" / "steelyard.db") as connection:
        connection.execute("UPDATE run_states SET at = ?", (LONG_AGO,))
    connection.close()
    desk.settle(f"artifacts: {ADDRESS}\nretention: {{summary_days: 20000}}\n")
    desk.forget()
    done = desk.run("prune", "--yes")
    assert "removed 5 file(s)" in done.stdout
    own = [key for key in store.objects if f"/{run_id}/" in key]
    assert not any(key.endswith(RAW) for key in own)
    assert any("TE9/" in key for key in store.objects), "another project's run"
    (desk.root / ".steelyard" / "pruned.jsonl").unlink()
    desk.forget()
    verified = desk.run("verify", "latest")
    assert verified.code == 0
    assert "pruned    predictions.jsonl  on 20" in verified.stdout

    desk.settle(f"artifacts: {ADDRESS}\n")
    assert "removed 3 file(s)" in desk.run("prune", "--yes").stdout
    left = [key for key in store.objects if f"/{run_id}/" in key]
    assert [key.rpartition("/")[2] for key in left] == ["pruned.jsonl"]


def test_the_api_and_the_pages_read_from_the_bucket(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = json.loads(desk.run(*RUN, *JSON).stdout)["run_id"]
    whole = (desk.copies / run_id / "predictions.jsonl").read_bytes()
    for name, value in desk.environ.items():
        monkeypatch.setenv(name, value)
    with open_project(desk.root) as project, served(project) as client:
        address = f"/v1/runs/{run_id}/artifacts"
        desk.forget()
        listed = client.get(address).json()["data"]
        assert [one["name"] for one in listed] == list(ARTIFACTS)
        assert not (desk.copies / run_id / "predictions.jsonl").exists(), "a list needs no rows"
        part = client.get(f"{address}/predictions.jsonl", headers={"Range": "bytes=10-19"})
        assert (part.status_code, part.content) == (206, whole[10:20])
        tag = part.headers["etag"]
        known = client.get(f"{address}/predictions.jsonl", headers={"If-None-Match": tag})
        assert known.status_code == 304
        assert client.get(f"{address}/predictions.jsonl").content == whole
        desk.forget()
        assert client.get(f"/v1/runs/{run_id}/records").status_code == 200
        for page in (f"/runs/{run_id}", f"/runs/{run_id}/slices", "/runs"):
            desk.forget()
            found = httpx.get(f"{client.base_url}{page}", follow_redirects=True, timeout=30)
            assert (found.status_code, "moody" in found.text) == (200, True), page


def test_a_bucket_that_cannot_be_used_is_named(desk: Desk) -> None:
    desk.settle("artifacts: s3://absent/team\n")
    done = desk.run(*RUN)
    assert done.code == 3
    assert "there is no bucket absent at http://127.0.0.1" in done.stderr
    desk.settle("artifacts: /srv/artifacts\n")
    done = desk.run(*RUN)
    assert done.code == 2
    assert "artifacts is no address of a bucket; write s3://bucket/path" in done.stderr


def test_a_dataset_in_a_bucket_is_fetched_once_a_version(desk: Desk, store: ObjectStore) -> None:
    rows = (desk.root / DESK).read_bytes()
    store.objects["data/desk.jsonl"] = rows
    store.objects["data/desk.csv"] = b"question,answer\nWhen do you open?,nine\n"
    run = ("run", "s3://evals/data/desk.jsonl", "--target", "agent", *JSON)
    table = ("--input", "question", "--expected", "answer")

    first, again = desk.run(*run), desk.run(*run)
    assert (first.code, again.code) == (0, 0), first
    assert store.requests.count("GET data/desk.jsonl") == 1
    assert json.loads(again.stdout)["metrics"]["total_records"] == 4
    store.objects["data/desk.jsonl"] = rows.splitlines(keepends=True)[0]
    assert json.loads(desk.run(*run).stdout)["metrics"]["total_records"] == 1
    asked = desk.run("run", "s3://evals/data/desk.csv", *table, "--target", "agent", *RULE)
    assert asked.stdout, asked.stderr
    assert json.loads(asked.stdout)["metrics"]["total_records"] == 1
    absent = desk.run("run", "s3://evals/data/none.jsonl", "--target", "agent")
    assert (absent.code, absent.stderr) == (
        2,
        "steelyard: no such object: s3://evals/data/none.jsonl\n",
    )
    assert desk.run("resume", "latest").code == 0


@pytest.mark.trials
@pytest.mark.parametrize("pause", [0.0, 0.05])
def test_a_server_killed_in_an_upload_leaves_a_run_to_resume(tmp_path: Path, pause: float) -> None:
    with seaweed(tmp_path / "weed") as server:
        (tmp_path / "desk").mkdir()
        desk = Desk(tmp_path / "desk", server.environ)
        answer_at_length(desk)

        def kill() -> None:
            while not any(
                one.stat().st_size > 1 << 20 for one in desk.copies.glob("*/.predictions.*.part")
            ):
                time.sleep(0.005)
            time.sleep(pause)
            server.kill()

        thread = threading.Thread(target=kill, daemon=True)
        thread.start()
        stopped = desk.run(*RUN)
        thread.join(30)
        assert stopped.code in {3, 4}, stopped
        server.start()
        with suppress(FileNotFoundError):
            desk.forget()
        assert desk.run("resume", "latest").code == 4
        assert desk.run("verify", "latest").code == 0
        assert desk.run("prune", "--yes").code == 0
        check_run(desk.folder)
