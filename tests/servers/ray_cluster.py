"""A cluster of three Ray nodes in a network and process namespace of its own, and what becomes of
runs on it when nodes, the driver and the head are killed.

Started by `test_ray_engine.py` inside `unshare`; `ray stop` would end other people's clusters too.
Writes what happened to `found.json` in the project's folder.
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from servers.guide_commands import commands
from servers.ray_projects import COUNT, GRADED, NEAR, REPEATS
from steelyard.project import open_project
from steelyard.targets.processes.supervisor import descendants

QUIET = {
    "RAY_usage_stats_enabled": "0",
    "RAY_AUTH_MODE": "disabled",
    "RAY_enable_worker_prestart": "0",
    "RAY_prestart_worker_first_driver": "0",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_failure_threshold": "10",
}
_SIOCSIFFLAGS, _UP = 0x8914, 0x1 | 0x40
STEELYARD = (sys.executable, "-m", "steelyard")
IS_PLAIN = ("d.jsonl", "--target", "agent")
IS_JUDGED = ("judged.jsonl", "--target", "desk", "--rubric", "rubric/jury@1.0.0")
IS_GRADED = (
    *("judged.jsonl", "--target", "desk", "--rubric", "rubric/quality@1.0.0"),
    *("--limit", str(GRADED), "--repeat", str(REPEATS)),
)
NODE: dict[str, Any] = {
    "num_cpus": 1,
    "object_store_memory": 80 * 1024 * 1024,
    "include_log_monitor": False,
}


def bring_loopback_up() -> None:
    """A fresh network namespace has it, but down."""
    with socket.socket() as any_socket:
        request = struct.pack("16sH14s", b"lo", _UP, b"")
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)


def variables(root: Path) -> dict[str, str]:
    """The environment of the program that is asked."""
    return {**os.environ, "TRIAL_NOTES": f"{root}/trial-"}


class RayTrial:
    """A project on which runs are started, and the cluster that they use."""

    def __init__(self, root: Path) -> None:
        os.environ |= QUIET
        from ray.cluster_utils import Cluster  # noqa: PLC0415 - after the environment is set

        self.root = root
        # Its name is part of the names of sockets, which are short.
        self.folder = tempfile.mkdtemp(prefix="ray-")
        os.environ |= {"RAY_TMPDIR": self.folder, "TMPDIR": self.folder}
        self.hold = root / "trial-hold"
        os.environ |= variables(root)
        head = {**NODE, "include_dashboard": False}
        self.cluster: Any = Cluster(initialize_head=True, head_node_args=head)
        near = {**NODE, "resources": {"near_model": 1}, "env_vars": {"TRIAL_NODE": "near"}}
        # The last of them is the one that dies.
        self.nodes = [self.cluster.add_node(**one) for one in (near, NODE)]

    @property
    def engine(self) -> tuple[str, ...]:
        """The options that lead to the cluster."""
        where = ("--engine", "ray", "--address", self.cluster.address)
        return (*where, "--send-env", "TRIAL_NOTES")

    def on_ray(self, *words: str) -> list[str]:
        """A command that uses the cluster."""
        return [*STEELYARD, *words, *self.engine, "--format", "json"]

    def begin(
        self, words: Sequence[str], held: str, after: int, workers: int = 3
    ) -> subprocess.Popen[str]:
        """A run whose calls of a kind wait after so many, with all workers at work."""
        self.hold_on(held, after)
        process = self.started(self.on_ray("run", *words, "--workers", str(workers)))
        self.wait_until_held(process, held, after, workers)
        return process

    def hold_on(self, held: str, after: int) -> None:
        """Let further calls of a kind wait."""
        self.forget()
        self.hold.write_text(f"{held} {after}", encoding="utf-8")

    def wait_until_held(
        self, process: subprocess.Popen[str], held: str, after: int, workers: int = 3
    ) -> None:
        """Wait for the calls that are free, and for one of each worker."""
        deadline = time.monotonic() + 100
        while len(self.made(held)) <= after or len({one for one, _ in self.made(held)}) < workers:
            assert time.monotonic() < deadline, self.made(held)
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)

    def made(self, kind: str = "calls") -> list[list[str]]:
        """The calls so far: the process and its question."""
        path = self.root / f"trial-{kind}"
        if not path.exists():
            return []
        return [line.split(" ", 1) for line in path.read_text(encoding="utf-8").splitlines()]

    def forget(self) -> None:
        """Count from the beginning."""
        for path in self.root.glob("trial-*"):
            path.unlink()

    def go_on(self) -> None:
        """Let no call wait any longer."""
        self.hold.unlink(missing_ok=True)

    def told(self, process: subprocess.Popen[str]) -> dict[str, Any]:
        """How a run has ended."""
        output, said = process.communicate(timeout=150)
        assert process.returncode or output.startswith("{"), (output, said)
        ended: dict[str, Any] = json.loads(output) if process.returncode == 0 else {}
        return {
            "code": process.returncode,
            "said": said,
            **self.counted(),
            "artifacts": ended.get("artifacts"),
            "metrics": ended.get("metrics"),
        }

    def counted(self) -> dict[str, Any]:
        """The calls that targets and judges have counted, and the processes that made them."""
        made, judged = self.made(), self.made("judged")
        workers = len({pid for pid, _ in [*made, *judged]})
        return {"calls": len(made), "judge_calls": len(judged), "workers": workers}

    def done(self, command: list[str], **known: str) -> dict[str, Any]:
        """How a command ends."""
        return self.told(self.started(command, **known))

    def started(self, command: list[str], **known: str) -> subprocess.Popen[str]:
        """A process in the project's folder, with variables of its own."""
        pipe, env = subprocess.PIPE, {**os.environ, **known}
        return subprocess.Popen(
            command, cwd=self.root, env=env, stdout=pipe, stderr=pipe, text=True
        )


def kill_machine(node: Any) -> None:
    """Kill all processes of a node at once, as when its machine loses power."""
    known: dict[str, list[Any]] = node.all_processes
    for one in [one.process.pid for several in known.values() for one in several]:
        for pid in (one, *descendants(one)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def undisturbed(trial: RayTrial) -> dict[str, Any]:
    """A run that nobody kills, with a jury, a program, images, tools and repeats."""
    process = trial.begin(IS_GRADED, "calls", after=12, workers=2)
    trial.go_on()
    return trial.told(process)


def node_killed(trial: RayTrial) -> dict[str, Any]:
    """A node dies while judges are asked from it, and comes back for the next trial."""
    process = trial.begin(IS_JUDGED, "judged", after=40)
    node = trial.nodes.pop()
    kill_machine(node)
    trial.cluster.remove_node(node, allow_graceful=False)
    trial.go_on()
    ended = _with_warnings(trial, trial.told(process))
    trial.nodes.append(trial.cluster.add_node(**NODE))
    return ended


def near_model(trial: RayTrial) -> dict[str, Any]:
    """Two workers for a target whose model one node has."""
    words = ("run", "d.jsonl", "--target", "near", "--limit", str(NEAR), "--workers", "2")
    return trial.done(trial.on_ray(*words))


def shown(trial: RayTrial) -> dict[str, Any]:
    """A run whose cases show files that are hidden, and such as lie outside the project."""
    words = ("run", "shown.jsonl", "--target", "agent", "--workers", "2")
    return trial.done(trial.on_ray(*words))


def plugins_differ(trial: RayTrial) -> dict[str, Any]:
    """The command has a package of plug-ins that no node has."""
    package = trial.root / "installed" / "exams-1.0.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Name: exams\nVersion: 1.0\n", encoding="utf-8")
    points = "[steelyard.targets]\nexams = exams:make\n"
    (package / "entry_points.txt").write_text(points, encoding="utf-8")
    words = ("run", "d.jsonl", "--target", "agent", "--workers", "1")
    return _with_warnings(trial, trial.done(trial.on_ray(*words), PYTHONPATH=str(package.parent)))


def target_raises(trial: RayTrial) -> dict[str, Any]:
    """The target of a run can be loaded here and on no node."""
    words = ("run", "d.jsonl", "--target", "here", "--workers", "1")
    return _with_warnings(trial, trial.done(trial.on_ray(*words)))


def _with_warnings(trial: RayTrial, ended: dict[str, Any]) -> dict[str, Any]:
    """What the page and the events of the latest run say, too."""
    with open_project(trial.root) as project:
        return {**ended, "warnings": project.store.warnings(project.store.find("latest").run_id)}


def driver_killed(trial: RayTrial) -> dict[str, Any]:
    """The process that holds the run dies, and another resumes it on the cluster."""
    process = trial.begin(IS_PLAIN, "calls", after=60)
    workers = {int(pid) for pid, _ in trial.made()}
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 60
    while (left := [pid for pid in workers if _is_there(pid)]) and time.monotonic() < deadline:
        time.sleep(0.1)
    trial.go_on()
    return {**trial.done(trial.on_ray("resume", "latest")), "left": left}


def service(trial: RayTrial) -> dict[str, Any]:
    """A dataset is posted to a server whose worker uses the cluster; the worker is killed."""
    trial.hold_on("calls", after=60)
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    words = ("serve", "--port", address.partition(":")[2], "--log-level", "warning")
    server = trial.started([*STEELYARD, *words, *trial.engine])
    records = [{"record_id": f"p{one}", "input": {"prompt": f"ask {one}"}} for one in range(COUNT)]
    head = {"dataset_id": "posted", "dataset_version": "1", "schema_version": "1.0"}
    query = "target=agent&rubric=rubric/says@1.0.0&workers=3"
    posted = _answer(f"http://{address}/v1/runs?{query}", {**head, "records": records})
    trial.wait_until_held(server, "calls", after=60)
    (worker,) = [pid for pid in descendants(server.pid) if _is_worker(pid)]
    os.kill(worker, signal.SIGKILL)
    trial.go_on()
    deadline = time.monotonic() + 100
    while (run := _answer(f"http://{address}/v1/runs/{posted['run_id']}"))["completed_at"] is None:
        assert time.monotonic() < deadline, run
        time.sleep(0.2)
    server.terminate()
    said = server.communicate(timeout=60)[1]
    artifacts = trial.root / ".steelyard" / "runs" / posted["run_id"]
    return {**trial.counted(), "artifacts": str(artifacts), "status": run["status"], "said": said}


def head_killed(trial: RayTrial) -> dict[str, Any]:
    """The head dies with the driver's connection; the run is resumed without Ray."""
    process = trial.begin(IS_PLAIN, "calls", after=60)
    kill_machine(trial.cluster.head_node)
    first = trial.told(process)
    trial.go_on()
    resume = [*STEELYARD, "resume", "latest", "--format", "json"]
    return {**_with_warnings(trial, trial.done(resume)), "first": first}


def guide(trial: RayTrial) -> dict[str, Any]:
    """The commands of the guide that use Ray, on this cluster."""
    os.environ["OPENAI_API_KEY"] = "none"
    codes: dict[str, int] = {}
    for command in commands("--engine ray"):
        words = shlex.split(command)[1:]
        known = {"cases.jsonl": "d.jsonl", "live": "agent", "head.internal:6379": None}
        # As many workers as there is room for.
        here = [
            "3" if word == "8" else known.get(word, word) or trial.cluster.address
            for word in words
        ]
        sent = ["--send-env", "TRIAL_NOTES"]
        done = subprocess.run(
            [*STEELYARD, *here, *sent], cwd=trial.root, capture_output=True, check=False
        )
        codes[command] = done.returncode
    return {"codes": codes}


TRIALS = (
    undisturbed,
    guide,
    near_model,
    shown,
    plugins_differ,
    target_raises,
    node_killed,
    driver_killed,
    service,
    head_killed,
)


def _answer(address: str, body: object = None) -> dict[str, Any]:
    """The answer of a server, which may be about to start."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(address, data=data, headers={"content-type": "application/json"})
    deadline = time.monotonic() + 100
    while True:
        try:
            with urlopen(request) as answer:
                return json.load(answer)
        except HTTPError as error:
            raise AssertionError(error.read()) from None
        except URLError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def _is_worker(pid: int) -> bool:
    with suppress(FileNotFoundError):
        return b"steelyard.worker\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except (ProcessLookupError, FileNotFoundError):
        return False


def main(root: Path) -> None:
    """All trials, on one cluster."""
    bring_loopback_up()
    trial = RayTrial(root)
    found: dict[str, Any] = {}
    for one in TRIALS:
        began = time.monotonic()
        trial.forget()
        found[one.__name__] = {**one(trial), "seconds": time.monotonic() - began}
    (root / "found.json").write_text(json.dumps(found), encoding="utf-8")
    shutil.rmtree(trial.folder, ignore_errors=True)
    os.kill(os.getpid(), signal.SIGKILL)  # the namespace ends with it, and all that is in it


if __name__ == "__main__":
    main(Path(sys.argv[1]))
