"""The commands of docs/postgresql.md, executed as far as one machine allows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeAlias

import pytest

from fakes.stores import SETTING
from servers.postgres import postgres

pytestmark = pytest.mark.trials
Steelyard: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]
PAGE = Path(__file__).parents[2] / "docs" / "postgresql.md"
PASSWORD = "p@ss/w0rd that is long"
CASE = """\
{"id": "a", "expected_outcome": "x", "input": "hello", "expected_output": "hello", \
"evaluators": [{"type": "contains", "value": "hello"}]}
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A project whose store was set up as the page says."""
    server = postgres()
    (sql,) = blocks("sql")
    role, database = sql.replace("a long random password", PASSWORD).strip().split("\n")
    server.execute(role, database)
    (setting,) = blocks("yaml")
    setting = re.sub(r"@.*", f"@/steelyard?host={server.socket}", setting)
    (tmp_path / "steelyard.yaml").write_text(setting)
    (tmp_path / "cases.jsonl").write_text(CASE)
    monkeypatch.setenv("STORE_PASSWORD", PASSWORD)
    yield tmp_path
    server.execute("DROP DATABASE steelyard WITH (FORCE)", "DROP ROLE steelyard")


def executed(script: str, root: Path) -> None:
    """A script of the page, by the tools of the server."""
    programs = f"{postgres().programs}{os.pathsep}{os.environ['PATH']}"
    address = f"postgresql://steelyard@/steelyard?host={postgres().socket}"
    environ = {**os.environ, "PATH": programs, SETTING: address}
    subprocess.run(["sh", "-e", "-c", script], cwd=root, env=environ, check=True)


def test_a_run_comes_back_from_the_backup_of_the_page(root: Path, steelyard: Steelyard) -> None:
    done = steelyard("run", "cases.jsonl", "--target", "echo", cwd=root)
    assert done.returncode == 0, done.stderr
    before = steelyard("show", "latest", cwd=root)
    _, dump, restore = blocks("bash")
    executed(dump, root)
    shutil.rmtree(root / ".steelyard")
    postgres().execute("TRUNCATE runs CASCADE", database="steelyard")
    assert steelyard("show", "latest", cwd=root).returncode != 0
    executed(restore, root)

    assert before.returncode == 0, before.stderr
    assert steelyard("show", "latest", cwd=root).stdout == before.stdout
    assert steelyard("verify", "latest", cwd=root).returncode == 0
    assert not (root / ".steelyard" / "steelyard.db").exists()


def test_the_password_is_nowhere(root: Path, steelyard: Steelyard) -> None:
    done = steelyard("run", "cases.jsonl", "--target", "echo", cwd=root)
    kept = b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())

    assert done.returncode == 0, done.stderr
    assert PASSWORD not in done.stdout + done.stderr
    assert PASSWORD.encode() not in kept
    assert b"p%40ss" not in kept


def test_backups_of_files_are_refused_with_what_to_do(root: Path, steelyard: Steelyard) -> None:
    made = steelyard("backup", "backup.tar", cwd=root)
    back = steelyard("restore", "backup.tar", cwd=root)

    assert made.returncode != 0
    assert "use pg_dump for it" in made.stderr
    assert back.returncode != 0
    assert "use pg_restore for it" in back.stderr


def test_old_runs_are_pruned(root: Path, steelyard: Steelyard) -> None:
    assert steelyard("run", "cases.jsonl", "--target", "echo", cwd=root).returncode == 0
    long_ago = "UPDATE run_states SET at = '2020-01-01T00:00:00.000+00:00'"
    postgres().execute(long_ago, database="steelyard")
    pruned = steelyard("prune", "--older-than", "30", "--yes", cwd=root)

    assert pruned.returncode == 0, pruned.stderr
    query = "SELECT (SELECT count(*) FROM results), (SELECT count(*) FROM runs)"
    assert postgres().execute(query, database="steelyard") == [(0, 1)]
