"""Processes that are suspended while they write to a store on a server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.projects import Project, row
from servers.postgres import postgres

pytestmark = pytest.mark.trials

HASTY = """\
import sys, time
from steelyard.store import postgresql
from steelyard.store.runs import leases, row_writer
from steelyard.store.runs import repository as runs
leases.LEASE_S = runs.LEASE_S = 2.0
leases.HEARTBEAT_S, leases._LOOK_S = 0.5, 0.05
postgresql.IDLE_S = 1.0
slow = row_writer.RowWriter._insert
def insert(self, connection, rows):
    slow(self, connection, rows)
    time.sleep(0.1)
row_writer.RowWriter._insert = insert
from steelyard.cli.main import main
main()
"""
"""The command with short leases, and transactions that are long enough to be stopped in."""
AGENT = """\
import asyncio

async def answer(prompt):
    await asyncio.sleep(0.05)
    return "yes"
"""
SETTINGS = """\
store: {store}
targets: {{slow: {{provider: python, callable: "agent:answer", max_concurrency: 2}}}}
"""
IN_TRANSACTION = """
    SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}'
    AND state = 'idle in transaction' AND backend_xid IS NOT NULL
"""
LEASE_LEFT = "SELECT lease_until - extract(epoch FROM clock_timestamp()) FROM runs"


def begin(root: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HASTY, *words, "--format", "json"],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)


def is_suspended(process: subprocess.Popen[str], database: str) -> bool:
    """Whether it was stopped within a transaction that writes."""
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)
    [(found,)] = postgres().execute(IN_TRANSACTION.format(database=database))
    if not found:
        process.send_signal(signal.SIGCONT)
    return bool(found)


@pytest.mark.parametrize("options", [(), ("--workers", "2")], ids=["one", "workers"])
def test_one_who_is_suspended_within_a_transaction_keeps_nobody_from_the_run(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    with postgres().store() as address:
        database = address.partition("?")[0].rpartition("/")[2]
        project = Project(tmp_path, SETTINGS.format(store=address))
        project.write("agent.py", AGENT)
        project.cases(row(f"r{number}") for number in range(60))
        sleeper = begin(tmp_path, "run", "d.jsonl", "--target", "slow", *options)

        def asked(query: str) -> float:
            return float(postgres().execute(query, database=database)[0][0] or 0)

        wait_for(lambda: asked("SELECT count(*) FROM results") > 4, "some results")
        wait_for(lambda: is_suspended(sleeper, database), "a moment within a transaction")
        wait_for(lambda: asked(LEASE_LEFT) < 0, "the end of the lease")
        other = begin(tmp_path, "resume", "latest")
        output, said = other.communicate(timeout=120)
        sleeper.send_signal(signal.SIGCONT)
        left, told = sleeper.communicate(timeout=120)

    assert other.returncode == 0, said
    found = json.loads(output)
    assert found["status"] == "completed"
    assert (sleeper.returncode, left) == (3, "")
    assert f"{found['run_id']} was taken over by another process" in told
    assert "Traceback" not in told
    assert "this is a bug" not in told
    assert Path(found["artifacts"]).is_dir()
