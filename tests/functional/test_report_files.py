"""`--out FORMAT=PATH`: several reports of one result, each written whole, and harmless text."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias
from xml.etree import ElementTree as ET

import pytest

from fakes.desk_project import write_desk

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
AGENT = ("run", "datasets/desk.jsonl", "--target", "agent")
FORMATS = {"junit": "r.xml", "markdown": "r.md", "json": "r.json", "html": "r.html"}
OUT = [word for name, path in FORMATS.items() for word in ("--out", f"{name}={path}")]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, steelyard: Steelyard) -> Path:
    """A project with a run that fails its gate, and its reports."""
    folder = tmp_path_factory.mktemp("out")
    write_desk(folder)
    done = steelyard(
        *AGENT,
        *("--fail-under", "0.9"),
        *OUT,
        cwd=folder,
        env={"GITHUB_STEP_SUMMARY": str(folder / "summary.md")},
    )
    assert done.returncode == 1, done.stderr
    return folder


@pytest.fixture
def project(ran: Path, tmp_path: Path) -> Path:
    return shutil.copytree(ran, tmp_path / "p")


def test_one_run_writes_every_format_though_its_gate_fails(ran: Path) -> None:
    root = ET.parse(ran / "r.xml").getroot()
    found = json.loads((ran / "r.json").read_text(encoding="utf-8"))
    markdown = (ran / "r.md").read_text(encoding="utf-8")

    assert root[0].find("testcase[@classname='gate']/failure") is not None
    assert found["metrics"]["pass_count"] == 3
    assert "gate failed" in markdown
    assert "**Not passed: 1 of 4 records**" in markdown
    assert "<details><summary><b>" in markdown
    assert "Question" in markdown
    assert "Answer" in markdown
    assert (ran / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (ran / "summary.md").read_text(encoding="utf-8") == f"{markdown}\n"
    assert list(ran.glob(".*.part")) == []


@pytest.mark.parametrize("command", ["show", "report", "resume"])
def test_a_stored_run_has_the_same_formats(
    command: str, project: Path, steelyard: Steelyard
) -> None:
    markdown = (project / "r.md").read_bytes()
    junit = (project / "r.xml").read_bytes()
    for path in FORMATS.values():
        (project / path).unlink()
    done = steelyard(command, "latest", *OUT, cwd=project)
    printed = steelyard(command, "latest", "--format", "markdown", cwd=project)

    assert done.returncode == (1 if command == "resume" else 0), done.stderr
    assert (project / "r.md").read_bytes() == markdown == printed.stdout.encode()
    assert (project / "r.xml").read_bytes() == junit
    assert not (project / "report.html").exists()


def test_a_comparison_has_the_same_formats(project: Path, steelyard: Steelyard) -> None:
    steelyard("run", "datasets/desk.jsonl", "--target", "echo", cwd=project)
    words = ("compare", "latest~1", "latest", "--fail-if", "worse")
    done = steelyard(*words, *OUT, cwd=project)
    markdown = (project / "r.md").read_text(encoding="utf-8")
    (suite,) = ET.parse(project / "r.xml").getroot()

    assert done.returncode == 0, done.stderr
    assert "### desk × echo against desk × agent: no difference detectable" in markdown
    assert "**gate passed: 'worse' looked at" in markdown
    assert "**Passed in A and not in B: 3**" in markdown
    assert (suite.get("tests"), suite.get("failures")) == ("4", "3")
    assert json.loads((project / "r.json").read_text(encoding="utf-8"))["pairs"] == 4


REFUSED = {
    "xml=r.xml": "unknown format 'xml'; write FORMAT=PATH",
    "r.xml": "no format; write FORMAT=PATH",
    "junit=": "no path; write junit=PATH",
    "junit=no/r.xml": "the folder no does not exist; create it",
    "junit=datasets": "datasets is a folder; name a file in it",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_file_that_cannot_be_written_is_refused_before_anything_runs(
    text: str, project: Path, steelyard: Steelyard
) -> None:
    before = len(list((project / ".steelyard" / "runs").iterdir()))
    done = steelyard(*AGENT, "--out", text, cwd=project)

    assert done.returncode == 2
    assert f"--out {text}: {REFUSED[text]}" in done.stderr
    assert len(list((project / ".steelyard" / "runs").iterdir())) == before


def test_two_formats_in_one_file_and_a_page_of_a_record_are_refused(
    project: Path, steelyard: Steelyard
) -> None:
    twice = steelyard(*AGENT, "--out", "json=a", "--out", "junit=a", cwd=project)
    record = steelyard("show", "latest", "0", "--format", "markdown", cwd=project)

    assert [one.returncode for one in (twice, record)] == [2, 2]
    assert "--out names a twice" in twice.stderr
    assert "one record is shown as text or json" in record.stderr


def test_several_targets_are_compared_with_the_first(project: Path, steelyard: Steelyard) -> None:
    done = steelyard(*AGENT, "--target", "echo", "--out", "markdown=g.md", cwd=project)
    text = (project / "g.md").read_text(encoding="utf-8")

    assert "\ncompared with desk × agent\n  desk × echo  no difference" in done.stdout
    assert "### desk × echo against desk × agent: no difference detectable" in text


def test_a_page_of_several_targets_compares_them(project: Path, steelyard: Steelyard) -> None:
    two = steelyard(*AGENT, "--target", "echo", "--out", "html=two.html", cwd=project)
    names = ("--target", "echo", "--target", "agent", "--out", "html=three.html")
    three = steelyard(*AGENT, *names, cwd=project)
    pair, group = ((project / name).read_text() for name in ("two.html", "three.html"))

    assert (two.returncode, three.returncode) == (0, 0), three.stderr
    assert "What changed, pair by pair" in pair
    assert "<title>3 runs of desk · Steelyard</title>" in group
    assert group.count("no difference detectable</td>") == 2
    assert "Records on which the runs differ, 3</h3>" in group
    assert 'v-fail"' in group
    assert "http://" not in group.replace("http://www.w3.org/", "")


def test_a_page_of_two_datasets_has_a_part_for_each(project: Path, steelyard: Steelyard) -> None:
    shutil.copy(project / "datasets" / "desk.jsonl", project / "datasets" / "other.jsonl")
    done = steelyard(*AGENT, "datasets/other.jsonl", "--out", "html=g.html", cwd=project)
    page = (project / "g.html").read_text()

    assert done.returncode == 0, done.stderr
    assert "2 runs of desk, other" in page
    assert "Compared with" not in page


def test_a_summary_that_cannot_be_written_is_a_warning(
    project: Path, steelyard: Steelyard
) -> None:
    missing = {"GITHUB_STEP_SUMMARY": str(project / "no" / "summary.md")}
    done = steelyard(*AGENT, cwd=project, env=missing)

    assert done.returncode == 0
    assert "warning: GITHUB_STEP_SUMMARY: cannot write" in done.stderr
