"""Commands read the runs of a server as they read those of a project."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from servers.hostile import hostile, replied
from servers.run_service import RunService, document, record, run_service, write_project
from servers.service import running
from steelyard.api.serving import ServerSettings
from steelyard.project import open_project
from steelyard.run_execution import executing

Steelyard = Callable[..., subprocess.CompletedProcess[str]]
GRADED = ("--target", "echo", "--rubric", "rubric/found@1.0")
DOCUMENT = document([record("q_0"), record("q_1", "nothing"), record("q_2")])


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, steelyard: Steelyard) -> Path:
    """A project with two runs of a dataset."""
    folder = tmp_path_factory.mktemp("served")
    write_project(folder)
    (folder / "qa.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    for limit in ("2", "3"):
        done = steelyard("run", "qa.json", *GRADED, "--limit", limit, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def url(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    # Tests copy the project: the database that this process has open must be another one.
    copy = shutil.copytree(project, tmp_path_factory.mktemp("copy") / "project")
    with open_project(copy) as opened, running(opened) as url:
        yield url


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunService]:
    """A server whose worker executes what is sent to it."""
    root = tmp_path_factory.mktemp("service")
    write_project(root)
    with run_service(root) as service:
        yield service


def address(service: RunService) -> str:
    return str(service.client.base_url)


def plain(text: str) -> str:
    """A text without what names the machine."""
    return re.sub(r"(/\S+)?/\.steelyard/\S+", "FOLDER", text)


@pytest.mark.parametrize(
    "words",
    [
        ("show", "latest"),
        ("show", "latest~1", "--format", "json"),
        ("show", "latest", "q_1"),
        ("show", "latest", "q_1", "--format", "json"),
        ("compare", "latest~1", "latest"),
        ("compare", "latest~1", "latest", "--format", "json"),
        ("compare", "latest", "latest~1", "--fail-if", "worse by 1"),
        ("compare", "latest", "latest", "--fail-if", "worse"),
        ("verify", "latest"),
        ("show", "run_nowhere"),
    ],
    ids=" ".join,
)
def test_a_server_shows_what_its_project_shows(
    words: tuple[str, ...], project: Path, url: str, steelyard: Steelyard, tmp_path: Path
) -> None:
    here = steelyard(*words, cwd=project)
    there = steelyard(*words, "--server", url, cwd=tmp_path)

    assert (there.returncode, plain(there.stdout)) == (here.returncode, plain(here.stdout))
    assert list(tmp_path.iterdir()) == []


def test_the_runs_of_a_server_are_listed(
    project: Path, url: str, steelyard: Steelyard, tmp_path: Path
) -> None:
    here = json.loads(steelyard("runs", "--format", "json", cwd=project).stdout)["data"]
    done = steelyard("runs", "--format", "json", "--limit", "1", "--server", url, cwd=tmp_path)
    text = steelyard("runs", cwd=tmp_path, env={"STEELYARD_SERVER": url}).stdout

    assert json.loads(done.stdout)["data"] == here[:1]
    assert [line.split()[0] for line in text.splitlines()] == [one["run_id"] for one in here]


def test_a_report_of_a_server_is_that_of_its_project(
    project: Path, url: str, steelyard: Steelyard, tmp_path: Path
) -> None:
    steelyard("report", "latest", "-o", str(tmp_path / "here.html"), cwd=project)
    done = steelyard("report", "latest", "-o", "there.html", "--server", url, cwd=tmp_path)

    assert done.stdout == "wrote there.html\n"
    assert (tmp_path / "there.html").read_text() == (tmp_path / "here.html").read_text()


def test_a_folder_of_this_machine_is_compared_with_a_run_of_the_server(
    project: Path, url: str, steelyard: Steelyard, tmp_path: Path
) -> None:
    first = min((project / ".steelyard" / "runs").iterdir())
    here = steelyard("compare", first, "latest", cwd=project)
    there = steelyard("compare", first, "latest", "--server", url, cwd=tmp_path)

    assert (there.returncode, there.stdout) == (0, here.stdout)


def test_a_changed_artifact_of_the_server_is_found(
    project: Path, steelyard: Steelyard, tmp_path: Path
) -> None:
    shutil.copytree(project, tmp_path / "copy")
    folder = max((tmp_path / "copy" / ".steelyard" / "runs").iterdir())
    path = folder / "predictions.jsonl"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b"nothing", b"changed"))
    with open_project(tmp_path / "copy") as opened, running(opened) as url:
        done = steelyard("verify", "latest", "--server", url, cwd=tmp_path)
        shown = steelyard("show", "latest", "--server", url, cwd=tmp_path)

    assert done.returncode == 1
    assert re.search(
        r"^changed +predictions\.jsonl .*not what was sealed", done.stdout, re.MULTILINE
    )
    assert done.stdout.count("intact") == 7
    assert (shown.returncode, shown.stdout) == (2, "")


def test_a_pruned_artifact_of_the_server_is_called_pruned(
    project: Path, steelyard: Steelyard, tmp_path: Path
) -> None:
    shutil.copytree(project, tmp_path / "copy")
    store = tmp_path / "copy" / ".steelyard"
    folder = max((store / "runs").iterdir())
    path = folder / "predictions.jsonl"
    seal = {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "size": path.stat().st_size}
    row = {"run_id": folder.name, "name": path.name, "at": "2026-02-01T00:00:00Z", **seal}
    path.unlink()
    (store / "pruned.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    with open_project(tmp_path / "copy") as opened, running(opened) as url:
        done = steelyard("verify", "latest", "--server", url, cwd=tmp_path)
        shown = steelyard("show", "latest", "--server", url, cwd=tmp_path)

    assert done.returncode == 0, done.stdout
    assert "pruned    predictions.jsonl  on 2026-02-01" in done.stdout
    assert "the records were pruned on 2026-02-01" in shown.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--plan",), "--plan cannot be used with --server"),
        (("--workers", "2", "--cache"), "--workers, --cache cannot be used with --server"),
        (("--from-run", "latest"), "--from-run cannot be used with --server"),
        (("--responses", "conversation"), "--responses cannot be used with --server"),
    ],
)
def test_options_of_a_project_are_refused(
    words: tuple[str, ...], message: str, project: Path, steelyard: Steelyard
) -> None:
    done = steelyard("run", "qa.json", *words, "--server", "http://localhost:1", cwd=project)

    assert (done.returncode, done.stderr) == (2, f"steelyard: {message}\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({**DOCUMENT, "records": []}, "0 of 0 records are valid"),
        ({**DOCUMENT, "records": [{"record_id": 1}]}, "0 of 1 records are valid"),
        ({"id": "a", "input": 1, "expected_outcome": "y"}, "0 of 1 records are valid"),
        ("nothing", "its top level is a text"),
    ],
)
def test_an_invalid_dataset_is_refused_before_anything_is_sent(
    content: Any, message: str, steelyard: Steelyard, tmp_path: Path
) -> None:
    path = tmp_path / ("data.jsonl" if "input" in content else "data.json")
    path.write_text(json.dumps(content), encoding="utf-8")
    with hostile(replied(b"")) as server:
        done = steelyard("run", path, "--target", "echo", "--server", server.url, cwd=tmp_path)

        assert server.connections == 0
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("address", "code", "message"),
    [
        ("http://127.0.0.1:1", 3, "cannot connect to http://127.0.0.1:1: Connection refused"),
        ("127.0.0.1:1", 2, "is no address of a server"),
    ],
)
def test_a_wrong_address_is_one_line(
    address: str, code: int, message: str, steelyard: Steelyard, tmp_path: Path
) -> None:
    done = steelyard("show", "latest", "--server", address, cwd=tmp_path)

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert message in done.stderr


def test_the_key_comes_from_the_environment_alone(steelyard: Steelyard, tmp_path: Path) -> None:
    error = {"code": "unauthorized", "message": "unknown key sy_secret"}
    body = json.dumps({"error": error, "request_id": "r1"}).encode()
    with hostile(replied(body, "401 Unauthorized")) as server:
        done = steelyard(
            *("show", "latest", "--server", server.url),
            cwd=tmp_path,
            env={"STEELYARD_KEY": "sy_secret"},
        )

        assert server.heads("authorization") == ["Bearer sy_secret"]
    assert (done.returncode, done.stderr) == (2, "steelyard: unknown key *** (request r1)\n")


def written(folder: Path, *prompts: str, **more: Any) -> Path:
    """A dataset with these prompts; an empty one makes an invalid record."""
    records = [
        record(f"q_{number}", text) if text else {"record_id": f"q_{number}"}
        for number, text in enumerate(prompts)
    ]
    path = folder / "data.json"
    path.write_text(json.dumps(document(records, **more)), encoding="utf-8")
    return path


GRADES = ("--rubric", "rubric/found@1.0")


@pytest.mark.parametrize(
    ("prompts", "words", "code"),
    [
        (("a word", "a word"), (), 0),
        (("a word", "nothing"), ("--fail-under", "0.9"), 1),
        (("a word", "nothing"), ("--fail-under", "0.5"), 0),
        (("a word", ""), (), 4),
        (("a word", ""), ("--allow-failures", "1"), 0),
        (("a word", ""), ("--strict",), 2),
        (("a word, cafe\u0301", "\u0041\u030a"), (), 0),
        (("", ""), (), 2),
        (("a word",), ("--target", "nowhere"), 2),
    ],
)
def test_a_run_on_a_server_prints_and_exits_as_one_of_a_project(
    prompts: tuple[str, ...],
    words: tuple[str, ...],
    code: int,
    *,
    service: RunService,
    steelyard: Steelyard,
    tmp_path: Path,
) -> None:
    path = written(tmp_path, *prompts)
    given = ("run", path, *("--target", "echo"), *GRADES, *words, "--format", "markdown")
    (tmp_path / "project").mkdir()
    write_project(tmp_path / "project")
    here = steelyard(*given, cwd=tmp_path / "project")
    there = steelyard(*given, "--server", address(service), cwd=tmp_path)

    assert (here.returncode, there.returncode) == (code, code), there.stderr
    assert _without_ids(there.stdout) == _without_ids(here.stdout)
    assert _graders(there.stderr) == _graders(here.stderr)
    assert bool(_graders(here.stderr)) is (code != 2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--rubric", "./found.yaml"), "--rubric must be a reference such as rubric/id@1.0"),
        (("--where", "input.colour = red"), "--where: no record has"),
        (("--max-concurrency", "99999"), "--max-concurrency must be a whole number"),
        (("--cluster", "colour"), "--cluster names"),
    ],
)
def test_an_error_of_the_server_names_options(
    words: tuple[str, ...],
    message: str,
    service: RunService,
    steelyard: Steelyard,
    tmp_path: Path,
) -> None:
    path = written(tmp_path, "a word")
    given = ("run", path, "--target", "echo", *words, "--server", address(service))
    done = steelyard(*given, cwd=tmp_path)

    assert done.returncode == 2
    assert message in done.stderr


def _graders(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("graded by ")]


def _without_ids(text: str) -> str:
    return re.sub(r"run_[0-9A-Z]{26}|\d+(\.\d+)? m?s\b", "…", text)


def test_the_json_of_a_run_on_a_server_names_its_artifacts_there(
    service: RunService, steelyard: Steelyard, tmp_path: Path
) -> None:
    path = written(tmp_path, "a word", "nothing")
    words = ("--target", "echo", *GRADES, "--format", "json", "--server", address(service))
    done = steelyard("run", path, *words, cwd=tmp_path)

    row = json.loads(done.stdout)
    assert (row["status"], row["metrics"]["pass_count"]) == ("completed", 1)
    assert row["artifacts"] == f"{address(service)}/v1/runs/{row['run_id']}/artifacts"
    assert service.run(row["run_id"])["status"] == "completed"


def test_the_text_of_a_run_on_a_server_says_how_to_go_on(
    service: RunService, steelyard: Steelyard, tmp_path: Path
) -> None:
    path = written(tmp_path, "a word")
    env = {"STEELYARD_SERVER": address(service)}
    done = steelyard("run", path, "--target", "echo", *GRADES, cwd=tmp_path, env=env)

    (inspect,) = re.findall(r"inspect +steelyard (show \S+ --server \S+)", done.stdout)
    shown = steelyard(*inspect.split(), cwd=tmp_path)
    assert (done.returncode, shown.returncode) == (0, 0)


def test_several_targets_make_several_runs(
    service: RunService, steelyard: Steelyard, tmp_path: Path
) -> None:
    path = written(tmp_path, "a word")
    words = ("--target", "echo", "--target", "slow", *GRADES, "--format", "json")
    done = steelyard("run", path, *words, "--server", address(service), cwd=tmp_path)

    assert [one["status"] for one in json.loads(done.stdout)["runs"]] == ["completed"] * 2


def test_a_suite_of_the_server_brings_its_own_dataset(
    service: RunService, steelyard: Steelyard, tmp_path: Path
) -> None:
    words = ("run", "--suite", "saved", "--format", "json", "--server", address(service))
    done = steelyard(*words, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["metrics"]["pass_count"] == 1


def test_a_dataset_of_another_contract_is_kept_by_the_server(
    service: RunService, steelyard: Steelyard, tmp_path: Path
) -> None:
    case = {"id": "a", "input": "a word", "expected_outcome": "Says word."}
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(case) + "\n", encoding="utf-8")
    words = ("--target", "echo", *GRADES, "--format", "json", "--server", address(service))
    first, again = (steelyard("run", path, *words, cwd=tmp_path) for _ in range(2))

    assert (first.returncode, again.returncode) == (0, 0), first.stderr + again.stderr
    assert json.loads(again.stdout)["metrics"]["pass_count"] == 1
    listed = service.client.get("/v1/datasets").json()["data"]
    assert [one["id"] for one in listed] == ["cases"]


def test_an_unfinished_run_of_the_server_shows_its_progress(
    service: RunService, steelyard: Steelyard, tmp_path: Path
) -> None:
    body = document([record(f"r{number}", f"word {number}") for number in range(100)])
    run_id = service.post(body, target="slow").json()["run_id"]
    service.when(run_id, "running")
    words = ("show", run_id, "--server", address(service))
    text, row = (
        steelyard(*words, cwd=tmp_path),
        steelyard(*words, "--format", "json", cwd=tmp_path),
    )
    record_of = steelyard("show", run_id, "r1", "--server", address(service), cwd=tmp_path)
    service.client.post(f"/v1/runs/{run_id}/cancel")

    assert text.stdout.startswith(f"{run_id} is running\n  records    ")
    assert json.loads(row.stdout)["is_finished"] is False
    assert record_of.returncode == 2
    assert service.when(run_id)["status"] == "cancelled"


@pytest.mark.trials
def test_a_run_that_no_worker_takes_is_said_once(tmp_path: Path) -> None:
    write_project(tmp_path)
    path = written(tmp_path, "a word")
    with open_project(tmp_path) as project, running(project) as url:
        words = ["run", path, "--target", "echo", *GRADES, "--server", url]
        with started(words, tmp_path) as process:
            assert process.stderr
            said = [process.stderr.readline() for _ in range(2)]
            with executing(project, ServerSettings(workers=1)):
                rest, _ = process.stderr.read(), process.wait(30)

    assert said[0] == "graded by rubric/found@1.0.0 (1 check): 1 record\n"
    assert said[1] == (
        "steelyard: warning: no worker is running; start one with `steelyard worker`\n"
    )
    assert (process.returncode, "no worker" in rest) == (0, False), rest


@pytest.mark.trials
def test_a_run_behind_another_one_waits_in_silence(service: RunService, tmp_path: Path) -> None:
    slow = document([record(f"r{number}", f"word {number}") for number in range(240)])
    first = service.post(slow, target="slow").json()["run_id"]
    service.when(first, "running")
    path = written(tmp_path, "a word")
    words = ["run", path, "--target", "echo", *GRADES, "--server", address(service)]
    with started(words, tmp_path) as process:
        _, said = process.communicate(timeout=60)

    states = service.run(first)["states"]
    assert process.returncode == 0, said
    assert (_seconds(states[-1]["at"]) - _seconds(states[0]["at"])) > 3
    assert "no worker" not in said


def _seconds(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp()


@contextmanager
def started(words: list[Any], folder: Path) -> Generator[subprocess.Popen[str]]:
    """A command that runs beside the test."""
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "steelyard", *map(str, words)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.trials
def test_ctrl_c_leaves_the_run_on_the_server(service: RunService, tmp_path: Path) -> None:
    path, before = written(tmp_path, *["a word"] * 400), {*_ids(service)}
    words = ["run", path, "--target", "slow", *GRADES, "--server", address(service)]
    with started(words, tmp_path) as process:
        while not (new := {*_ids(service)} - before):
            time.sleep(0.05)
        (run_id,) = new
        service.when(run_id, "running")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)

    assert process.returncode == 130
    assert f"{run_id} was started at {address(service)}" in said
    assert service.run(run_id)["status"] == "running"


def test_settings_in_a_file_have_no_effect_here_or_there(
    service: RunService, steelyard: Steelyard, tmp_path: Path
) -> None:
    settings = {"limit": 1, "fail_under": 1.0, "repeat": 2, "target": "nowhere"}
    path = written(tmp_path, "a word", "nothing", run=settings)
    write_project(tmp_path)
    words = ("run", path, *GRADED, "--format", "json")

    here = steelyard(*words, cwd=tmp_path)
    there = steelyard(*words, "--server", address(service), cwd=tmp_path)
    strict = [
        steelyard(*words, "--strict", *more, cwd=tmp_path)
        for more in ((), ("--server", address(service)))
    ]

    for done in (here, there):
        assert (done.returncode, done.stderr.count("run holds settings of a run")) == (0, 1)
        metrics = json.loads(done.stdout)["metrics"]
        assert (metrics["total_records"], metrics["rows"], metrics["pass_count"]) == (2, 2, 1)
    assert [done.returncode for done in strict] == [2, 2]


def test_a_run_is_named_when_the_server_stays_away(steelyard: Steelyard, tmp_path: Path) -> None:
    path = written(tmp_path, "a word")
    accepted = {"run_id": "run_1", "status": "accepted", "request_id": "r"}
    with hostile(replied(json.dumps(accepted).encode())) as server:
        words = ("run", path, *GRADED, "--server", server.url, "--format", "json")
        done = steelyard(*words, cwd=tmp_path)

    assert done.returncode == 2  # what follows is no description of a run
    assert f"run_1 was started at {server.url}; see: steelyard show run_1" in done.stderr


def _ids(service: RunService) -> list[str]:
    return [one["run_id"] for one in service.client.get("/v1/runs?limit=100").json()["data"]]
