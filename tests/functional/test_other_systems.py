"""Commands work where Windows lacks something, as far as Linux can lack it (docs/platforms.md)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from servers.serve_process import serving
from steelyard.usecases.init import scaffold

ROOT = Path(__file__).parents[2]
WITHOUT_POSIX = ROOT / "tests" / "fakes" / "without_posix"
RUN = ("run", "datasets/first.yaml", "--rubric", "rubric/first@1.0", "--target")
PROGRAMS = """targets:
  agent: {provider: command, command: [PYTHON, -c, "print('Paris, 4 and 12')"]}
  slow: {provider: command, command: [PYTHON, -c, "import time; time.sleep(600)"], timeout_s: 1}
retry: {max_attempts: 1}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    scaffold(tmp_path)
    return tmp_path


@pytest.fixture
def environ() -> dict[str, str]:
    # The terminals of Windows have no arrows and no minus signs.
    return {**os.environ, "PYTHONPATH": str(WITHOUT_POSIX), "PYTHONIOENCODING": "cp1252"}


def command(
    project: Path, environ: dict[str, str], *words: str, code: int = 0
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "steelyard", *words],
        cwd=project,
        env=environ,
        capture_output=True,
        encoding="cp1252",
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_what_windows_lacks_is_lacking(project: Path, environ: dict[str, str]) -> None:
    code = "import os, importlib.util as u; print(hasattr(os, 'fork')); import fcntl"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, env=environ, capture_output=True, check=False
    )

    assert done.stdout == b"False\n"
    assert b"ModuleNotFoundError" in done.stderr


def test_a_dataset_is_run(project: Path, environ: dict[str, str]) -> None:
    done = command(project, environ, *RUN, "echo", "--format", "json")
    run: dict[str, Any] = json.loads(done.stdout)

    assert run["status"] == "completed"
    assert not list(Path(run["artifacts"]).glob(".*.part"))


@pytest.mark.trials
def test_a_run_is_read_compared_exported_and_graded_again(
    project: Path, environ: dict[str, str]
) -> None:
    out = ("--out", "html=a.html", "--out", "junit=a.xml")
    command(project, environ, *RUN, "echo")
    command(project, environ, *RUN, "echo", "--workers", "2", *out)

    assert "pass rate" in command(project, environ, "show", "latest").stdout
    assert "2 records" in command(project, environ, "compare", "latest~1", "latest").stdout
    for form in ("csv", "jsonl", "every-eval", "mlflow", "inspect"):
        command(project, environ, "export", "latest", "--to", form, "-o", f"out-{form}")
    command(project, environ, "report", "latest", "-o", "report.html")
    command(project, environ, "regrade", "latest", "--rubric", "rubric/first@1.0")
    command(project, environ, "rubric", "publish", "rubrics/first.yaml")
    command(project, environ, "backup", "b.tar")
    command(project, environ, "restore", "b.tar", "--into", "there")
    assert "broken" not in command(project, environ, "verify", "latest").stdout
    assert (project / "there" / ".steelyard").is_dir()


@pytest.mark.trials
def test_programs_run_unsupervised_and_it_is_said(project: Path, environ: dict[str, str]) -> None:
    python = json.dumps(sys.executable)
    text = PROGRAMS.replace("PYTHON", python)
    (project / "steelyard.yaml").write_text(text, encoding="utf-8")
    done = command(project, environ, *RUN, "agent", "--format", "json")
    late = command(project, environ, *RUN, "slow", code=4)
    folder = Path(json.loads(done.stdout)["artifacts"])
    manifest = json.loads((folder / "run_manifest.json").read_bytes())

    assert done.stderr.count("warning: this system cannot supervise programs") == 1
    assert manifest["targets"]["agent"]["supervised"] is False
    assert "2 timeout: no answer within 1 s" in late.stdout


@pytest.mark.trials
def test_a_server_executes_runs_and_tells_its_figures(
    project: Path, environ: dict[str, str]
) -> None:
    with serving(project, "--workers", "1", env=environ) as server:
        words = (*RUN, "echo", "--server", server.url)
        done = command(project, environ, *words)
        with urllib.request.urlopen(f"{server.url}/metrics", timeout=60) as answer:
            figures = answer.read().decode("utf-8")

    assert "2 of 2 evaluated" in done.stdout
    assert "process_cpu_seconds_total" in figures
    assert "process_resident_memory_bytes" not in figures
    assert not re.search(r'"level":"error"', server.log.read_text(encoding="utf-8"))
