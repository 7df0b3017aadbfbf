"""The steps of the CI workflows that the repository shows, run in a project without network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from steelyard.usecases.init import scaffold

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS: list[Any] = [yaml.safe_load(text) for text in BLOCK.findall(PAGE)]
SUITE = (
    "\nsuites:\n  release: {dataset: datasets/first.yaml, target: echo, "
    "rubric: rubric/first@1.0, fail_under: FAIL}\n"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    scaffold(tmp_path)
    write_suite(tmp_path, "0.5")
    return tmp_path


def write_suite(folder: Path, least: str) -> None:
    file = folder / "steelyard.yaml"
    text = file.read_text(encoding="utf-8").split("\nsuites:")[0]
    file.write_text(text + SUITE.replace("FAIL", least), encoding="utf-8")


def shell(folder: Path, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub does; `steelyard` is installed already, and no index is asked."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        **variables,
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def workflow() -> Iterator[str]:
    (jobs,) = (block["jobs"] for block in BLOCKS if "jobs" in block)
    return (step["run"] for step in jobs["evals"]["steps"] if "run" in step)


def gitlab() -> Iterator[str]:
    (job,) = (block["evals"] for block in BLOCKS if "evals" in block)
    return iter(job["script"])


def action() -> Iterator[tuple[str, dict[str, str]]]:
    text = (ROOT / "examples" / "ci" / "action.yml").read_text(encoding="utf-8")
    found = yaml.safe_load(text)
    given = {name: one.get("default", "") for name, one in found["inputs"].items()}
    given["run"] = "--suite release"
    for step in found["runs"]["steps"]:
        variables = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda named: given[named[1]], value)
            for name, value in step["env"].items()
        }
        yield step["run"], variables


def test_the_steps_of_the_workflow_run_and_leave_reports(project: Path) -> None:
    for _ in range(2):
        for step in workflow():
            done = shell(project, step)
            assert done.returncode == 0, done.stdout + done.stderr
        runs = sorted((project / ".steelyard" / "runs").iterdir())
        shutil.copytree(runs[0], project / "baseline", dirs_exist_ok=True)

    reports = project / "reports"
    suite = ET.parse(reports / "run.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "0")
    assert "**gate passed**" in (reports / "run.md").read_text(encoding="utf-8")
    assert "no difference detectable" in (reports / "compare.md").read_text(encoding="utf-8")
    summary = (project / "summary.md").read_text(encoding="utf-8")
    assert summary.count("### first × echo: ") == 2
    assert summary.count("### first × echo against first × echo: ") == 1


def test_a_failed_gate_fails_the_job_and_its_reports_say_so(project: Path) -> None:
    write_suite(project, "1.0")
    rubric = project / "rubrics" / "first.yaml"
    rubric.write_text(rubric.read_text(encoding="utf-8").replace("Paris", "Rome"), "utf-8")
    codes = [shell(project, step).returncode for step in list(workflow())[:3]]

    assert codes == [0, 0, 1]
    assert "gate failed" in (project / "reports" / "run.md").read_text(encoding="utf-8")
    assert "gate failed" in (project / "summary.md").read_text(encoding="utf-8")


def test_the_gitlab_job_runs(project: Path) -> None:
    for line in gitlab():
        done = shell(project, line)
        assert done.returncode == 0, done.stdout + done.stderr

    assert (project / "reports" / "run.xml").is_file()


@pytest.mark.trials
def test_the_composite_action_runs_and_compares_with_the_baseline(project: Path) -> None:
    for _ in range(2):
        for step, variables in action():
            done = shell(project, step, **variables)
            assert done.returncode == 0, done.stdout + done.stderr
        runs = sorted((project / ".steelyard" / "runs").iterdir())
        shutil.copytree(runs[0], project / "baseline", dirs_exist_ok=True)

    reports = project / "reports"
    names = {path.name for path in reports.iterdir()}
    assert names == {"run.xml", "run.md", "run.json", "run.html", "compare.md"}
    assert "no difference detectable" in (reports / "compare.md").read_text(encoding="utf-8")


def test_the_comment_has_the_run_and_its_comparison(project: Path) -> None:
    (comment,) = re.findall(r"^(cat reports/.*) \| gh pr comment", PAGE, re.MULTILINE)
    (project / "reports").mkdir()
    (project / "reports" / "run.md").write_text("run\n", encoding="utf-8")
    alone = shell(project, comment)
    (project / "reports" / "compare.md").write_text("comparison\n", encoding="utf-8")

    assert alone.stdout == "run\n"
    assert shell(project, comment).stdout == "run\ncomparison\n"


def test_the_hook_refuses_an_invalid_file(project: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    named = [block["repos"] for block in BLOCKS if "repos" in block]
    valid, wrong = "datasets/first.yaml", "datasets/wrong.jsonl"
    (project / wrong).write_text('{"id": "a"}\n', encoding="utf-8")

    assert named[0][0]["hooks"] == [{"id": hook["id"]}]
    assert re.search(hook["files"], valid)
    assert re.search(hook["files"], wrong)
    assert shell(project, f"{hook['entry']} {valid}").returncode == 0
    assert shell(project, f"{hook['entry']} {valid} {wrong}").returncode == 1
