"""Each tool gets the same samples, and is believed only what it says itself."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from bench.engine import endpoint
from bench.peers import __main__ as command
from bench.peers import bare_loop, deepeval, environment, inspect_ai, lm_eval, promptfoo, steelyard
from bench.peers.__main__ import (
    CHECKED,
    JUDGED,
    PAGE,
    Comparison,
    alone,
    counted,
    installed,
    main,
    write_section,
)
from bench.peers.process import fresh, measured
from bench.peers.tool import SAMPLES, CannotRunError, Job, Tool, plain_rows, questions

NPM = """
echo "$@" >> asked
mkdir -p node_modules/.bin node_modules/promptfoo
echo '{"version": "0.1.2"}' > node_modules/promptfoo/package.json
printf '#!/bin/sh\\necho v24.0.1\\n' > node_modules/.bin/node
chmod +x node_modules/.bin/node
"""


def program(path: Path, script: str) -> None:
    """A small program in place of one that would have to be installed."""
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{script}", encoding="utf-8")
    path.chmod(0o755)


def marks(name: str) -> tuple[str, str]:
    """Where a table of the page begins and ends."""
    return f"<!-- bench {name}: begin -->", f"<!-- bench {name}: end -->"


def a_job(folder: Path, url: str = "") -> Job:
    return Job(samples=12, at_once=4, url=url, folder=fresh(folder / "job"))


@pytest.mark.parametrize(
    "tool",
    [
        bare_loop.TOOL,
        bare_loop.JUDGED,
        steelyard.TOOL,
        steelyard.JUDGED,
        pytest.param(steelyard.TWO_WORKERS, marks=pytest.mark.trials),
        pytest.param(steelyard.JUDGED_TWO_WORKERS, marks=pytest.mark.trials),
    ],
)
def test_what_needs_no_installation_does_the_job(tmp_path: Path, tool: Tool) -> None:
    with endpoint(0) as url:
        job = a_job(tmp_path, url)
        cost, output = measured(tool.command(job), job.folder, 300)
        calls = counted(url)

    assert calls == tool.calls(12)
    assert tool.passed(job, output) == 12
    assert cost.cpu_s > 0
    assert re.search(r"\d", tool.install())


def test_no_two_questions_are_the_same() -> None:
    assert len(set(questions(50))) == len(list(questions(50))) == 50


def test_a_plain_row_has_what_is_asked_and_what_is_looked_for() -> None:
    assert next(iter(plain_rows(1))) == {
        "id": "case-000000",
        "input": "For how long may a member keep book 0?",
        "target": "three weeks",
    }


@pytest.mark.parametrize(
    ("tool", "output", "passed"),
    [
        (bare_loop.TOOL, "12 of 12 passed\n", 12),
        (bare_loop.TOOL, "Traceback", 0),
        (deepeval.TOOL, "noise\n11 of 12 passed\n", 11),
        (deepeval.TOOL, "", 0),
    ],
)
def test_the_output_says_how_many_passed(
    tmp_path: Path, tool: Tool, output: str, passed: int
) -> None:
    assert tool.passed(a_job(tmp_path), output) == passed


def test_lm_eval_is_read_from_its_results(tmp_path: Path) -> None:
    job = a_job(tmp_path)
    written = job.folder / "results" / "bench-1" / "results_now.json"
    written.parent.mkdir(parents=True)
    found = {"sample_len": 12, "contains,none": 0.75}
    written.write_text(json.dumps({"results": {"loans": found}}), encoding="utf-8")

    assert lm_eval.TOOL.passed(job, "") == 9


def test_promptfoo_is_read_from_its_database(tmp_path: Path) -> None:
    job = a_job(tmp_path)
    (job.folder / "home").mkdir()
    with closing(sqlite3.connect(job.folder / "home" / "promptfoo.db")) as database:
        database.execute("create table eval_results (test_idx integer, success integer)")
        rows = [(0, 1), (0, 1), (1, 0), (2, 1)]
        database.executemany("insert into eval_results values (?, ?)", rows)
        database.commit()

    assert promptfoo.TOOL.passed(job, "") == 2


@pytest.mark.parametrize("name", ["lm_eval", "promptfoo", "inspect_ai"])
def test_a_tool_that_wrote_nothing_has_not_done_its_job(tmp_path: Path, name: str) -> None:
    with pytest.raises(CannotRunError, match="wrote no"):
        CHECKED.tools[name].passed(a_job(tmp_path), "")


@pytest.mark.parametrize(
    ("comparison", "name"),
    [
        (comparison, name)
        for comparison in (CHECKED, JUDGED)
        for name in comparison.tools
        if name not in {"bare_loop", "steelyard", "steelyard_2"}
    ],
)
def test_a_peer_is_given_a_project_and_every_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, comparison: Comparison, name: str
) -> None:
    monkeypatch.setattr(environment, "FOLDER", tmp_path)
    (tmp_path / name).mkdir()
    (tmp_path / name / "installed").touch()
    job = a_job(tmp_path / name, "here")

    command = comparison.tools[name].command(job)

    rows = (job.folder / SAMPLES).read_text(encoding="utf-8").splitlines()
    assert len(rows) == 12
    assert "keep book 11?" in rows[-1]
    assert len(list(job.folder.iterdir())) >= 2
    assert str(command.words[0]).startswith(str(tmp_path / name))
    given = " ".join([*map(str, command.words), *command.environment.values()])
    assert "here" in given
    assert "4" in re.findall(r"\d+", given)


def test_a_peer_is_not_run_where_its_installer_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    versions, absent = installed({"promptfoo": promptfoo.TOOL, "steelyard": steelyard.TOOL})

    assert absent == {"promptfoo": "npm is not on this machine"}
    assert list(versions) == ["steelyard"]


def test_a_failed_installation_gives_no_more_away_than_its_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin" / "npm", "echo secret-host\nexit 7\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    monkeypatch.setattr(environment, "FOLDER", tmp_path)

    _, absent = installed({"promptfoo": promptfoo.TOOL})

    assert absent == {"promptfoo": "npm could not install it (exit code 7)"}
    assert "secret-host" in (tmp_path / "promptfoo" / "install.log").read_text(encoding="utf-8")
    assert not (tmp_path / "promptfoo" / "installed").exists()


def test_an_installation_is_made_once_and_says_its_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin" / "npm", NPM)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    monkeypatch.setattr(environment, "FOLDER", tmp_path)

    versions = [promptfoo.TOOL.install() for _ in range(2)]

    assert versions == ["0.1.2, Node.js 24.0.1"] * 2
    assert (tmp_path / "promptfoo" / "asked").read_text(encoding="utf-8") == (
        "install --no-audit --no-fund node@24 promptfoo@latest\n"
    )


@pytest.mark.parametrize(("status", "accuracy"), [("success", 0.75), ("error", 1.0)])
def test_inspect_is_read_from_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: str, accuracy: float
) -> None:
    monkeypatch.setattr(environment, "FOLDER", tmp_path)
    score = {"scored_samples": 12, "metrics": {"accuracy": {"value": accuracy}}}
    header = json.dumps({"status": status, "results": {"scores": [score]}})
    program(tmp_path / "inspect_ai" / "env" / "bin" / "inspect", f"echo '{header}'\n")
    (tmp_path / "inspect_ai" / "installed").touch()
    job = a_job(tmp_path)
    (job.folder / "logs").mkdir()
    (job.folder / "logs" / "now.eval").touch()

    if status == "success":
        assert inspect_ai.TOOL.passed(job, "") == 9
    else:
        with pytest.raises(CannotRunError, match="its log says 'error'"):
            inspect_ai.TOOL.passed(job, "")


@pytest.mark.trials
def test_the_command_measures_keeps_and_prints_but_leaves_the_page_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "FOLDER", tmp_path)
    page = PAGE.read_bytes()
    words = ["--only", "bare_loop", "--few", "2", "--many", "4", "--turns", "1", "--fresh"]

    main(words)

    said = capsys.readouterr().out
    assert "bare_loop: 4 samples, 256 at once, 50 ms: " in said
    assert "| bare aiohttp loop | aiohttp " in said
    assert len(json.loads((tmp_path / "peers.json").read_bytes())) == 9
    assert PAGE.read_bytes() == page


def test_the_section_goes_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    begin, end = marks("peers")
    page.write_text(f"before\n{begin}\nold\n{end}\nafter\n", encoding="utf-8")

    write_section(page, "peers", "new")

    assert page.read_text(encoding="utf-8") == f"before\n{begin}\nnew\n{end}\nafter\n"


def test_a_page_without_marks_stays_as_it_is(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\nafter\n", encoding="utf-8")

    write_section(page, "peers", "new")

    assert page.read_text(encoding="utf-8") == "before\nafter\n"


@pytest.mark.parametrize("comparison", [CHECKED, JUDGED])
def test_the_page_has_a_place_for_the_tables(comparison: Comparison) -> None:
    text, (begin, end) = PAGE.read_text(encoding="utf-8"), marks(comparison.name)

    assert text.count(begin) == text.count(end) == 1
    assert text.index(begin) < text.index(end)


@pytest.mark.parametrize("comparison", [CHECKED, JUDGED])
def test_every_tool_says_how_it_is_run(comparison: Comparison) -> None:
    tools = comparison.tools.values()

    assert all(len(tool.how) > 40 and not tool.how.endswith(".") for tool in tools)
    assert len({tool.name for tool in tools}) == len(tools)
    assert replace(steelyard.TOOL, name=steelyard.TWO_WORKERS.name) != steelyard.TWO_WORKERS


def test_one_trial_runs_at_a_time(tmp_path: Path) -> None:
    with (
        alone(tmp_path / "new"),
        pytest.raises(SystemExit, match="under way"),
        alone(tmp_path / "new"),
    ):
        pytest.fail("two at once")

    with alone(tmp_path / "new"):
        pass


def test_a_tool_without_a_judge_is_not_part_of_the_judged_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--judged", "--only", "lm_eval"])

    assert "not part of `python -m bench.peers --judged`: lm_eval" in capsys.readouterr().err


def test_an_unknown_tool_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--only", "abacus"])

    assert "inspect_ai" in capsys.readouterr().err
