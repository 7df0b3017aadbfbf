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
from contextlib import suppress
from pathlib import Path
from typing import Any

from servers.guide_commands import commands
from steelyard.targets.processes.supervisor import descendants

QUIET = {
    "RAY_usage_stats_enabled": "0",
    "RAY_AUTH_MODE": "disabled",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_failure_threshold": "4",
}
_SIOCSIFFLAGS, _UP = 0x8914, 0x1 | 0x40
STEELYARD = (sys.executable, "-m", "steelyard")
NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 * 1024 * 1024}


def bring_loopback_up() -> None:
    """A fresh network namespace has it, but down."""
    with socket.socket() as any_socket:
        request = struct.pack("16sH14s", b"lo", _UP, b"")
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)


def variables(root: Path) -> dict[str, str]:
    """The environment of the program that is asked."""
    known = {"TRIAL_HOLD": str(root / "hold"), "TRIAL_CALLS": str(root / "calls.txt")}
    return {**os.environ, **known}


class RayTrial:
    """A project on which runs are started, and the cluster that they use."""

    def __init__(self, root: Path) -> None:
        os.environ |= QUIET
        from ray.cluster_utils import Cluster  # noqa: PLC0415 - after the environment is set

        self.root = root
        # Its name is part of the names of sockets, which are short.
        self.folder = tempfile.mkdtemp(prefix="ray-")
        os.environ |= {"RAY_TMPDIR": self.folder, "TMPDIR": self.folder}
        self.hold, self.calls = root / "hold", root / "calls.txt"
        os.environ |= variables(root)
        head = {**NODE, "include_dashboard": False}
        self.cluster: Any = Cluster(initialize_head=True, head_node_args=head)
        self.nodes = [self.cluster.add_node(**NODE) for _ in range(2)]

    def on_ray(self, *words: str) -> list[str]:
        """A command that uses the cluster."""
        sent = ("--send-env", "TRIAL_HOLD", "--send-env", "TRIAL_CALLS")
        where = ("--engine", "ray", "--address", self.cluster.address, *sent)
        return [*STEELYARD, *words, *where, "--format", "json"]

    def run(self) -> list[str]:
        """The run of three workers."""
        return self.on_ray("run", "d.jsonl", "--target", "agent", "--workers", "3")

    def begin(self, held_after: int) -> subprocess.Popen[str]:
        """A run that waits after so many calls, with all three workers at work."""
        self.calls.unlink(missing_ok=True)
        self.hold.write_text(str(held_after), encoding="utf-8")
        process = self._started(self.run())
        deadline = time.monotonic() + 100
        while len(self.made()) <= held_after or len({pid for pid, _ in self.made()}) < 3:
            assert time.monotonic() < deadline, self.made()
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        return process

    def made(self) -> list[list[str]]:
        """The calls so far: the process and its question."""
        if not self.calls.exists():
            return []
        lines = self.calls.read_text(encoding="utf-8").splitlines()
        return [line.split(" ", 1) for line in lines]

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
            "calls": len(self.made()),
            "workers": len({pid for pid, _ in self.made()}),
            "artifacts": ended.get("artifacts"),
            "metrics": ended.get("metrics"),
        }

    def done(self, command: list[str]) -> dict[str, Any]:
        """How a command ends."""
        return self.told(self._started(command))

    def _started(self, command: list[str]) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.root, stdout=pipe, stderr=pipe, text=True)


def kill_machine(node: Any) -> None:
    """Kill all processes of a node at once, as when its machine loses power."""
    known: dict[str, list[Any]] = node.all_processes
    for one in [one.process.pid for several in known.values() for one in several]:
        for pid in (one, *descendants(one)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def undisturbed(trial: RayTrial) -> dict[str, Any]:
    """A run that nobody disturbs."""
    return trial.done(trial.run())


def node_killed(trial: RayTrial) -> dict[str, Any]:
    """A node dies while its calls are on their way, and comes back for the next trial."""
    process = trial.begin(held_after=60)
    node = trial.nodes.pop()
    kill_machine(node)
    trial.cluster.remove_node(node, allow_graceful=False)
    trial.go_on()
    ended = trial.told(process)
    trial.nodes.append(trial.cluster.add_node(**NODE))
    return ended


def driver_killed(trial: RayTrial) -> dict[str, Any]:
    """The process that holds the run dies, and another resumes it on the cluster."""
    process = trial.begin(held_after=60)
    workers = {int(pid) for pid, _ in trial.made()}
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 60
    while (left := [pid for pid in workers if _is_there(pid)]) and time.monotonic() < deadline:
        time.sleep(0.1)
    trial.go_on()
    return {**trial.done(trial.on_ray("resume", "latest")), "left": left}


def head_killed(trial: RayTrial) -> dict[str, Any]:
    """The head dies with the driver's connection; the run is resumed without Ray."""
    process = trial.begin(held_after=60)
    kill_machine(trial.cluster.head_node)
    first = trial.told(process)
    trial.go_on()
    resume = [*STEELYARD, "resume", "latest", "--format", "json"]
    return {**trial.done(resume), "first": first}


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
        sent = ["--send-env", "TRIAL_HOLD", "--send-env", "TRIAL_CALLS"]
        done = subprocess.run(
            [*STEELYARD, *here, *sent], cwd=trial.root, capture_output=True, check=False
        )
        codes[command] = done.returncode
    return {"codes": codes}


TRIALS = (undisturbed, guide, node_killed, driver_killed, head_killed)


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
        found[one.__name__] = {**one(trial), "seconds": time.monotonic() - began}
    (root / "found.json").write_text(json.dumps(found), encoding="utf-8")
    shutil.rmtree(trial.folder, ignore_errors=True)
    os.kill(os.getpid(), signal.SIGKILL)  # the namespace ends with it, and all that is in it


if __name__ == "__main__":
    main(Path(sys.argv[1]))
