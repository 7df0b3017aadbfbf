"""`runs`, `show`, `report`, `export` and `verify` read what a run has left."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest

from fakes.desk_project import case, jsonl, write_desk
from fakes.many_commands import Done, run_many

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

DESK = "datasets/desk.jsonl"
JSON = ("--format", "json")
ESCAPES = {"\x1b", "\x07", "\x9b"}


class Project(NamedTuple):
    """A project in which two runs were made, and their ids."""

    root: Path
    older: str
    newer: str

    def folder(self, run_id: str) -> Path:
        return self.root / ".steelyard" / "runs" / run_id


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """`agent`, each record twice; then `moody`, which gives no answer to one."""
    root = write_desk(tmp_path_factory.mktemp("results"))
    older = ("run", DESK, "--target", "agent", "--repeat", "2", *JSON)
    newer = ("run", DESK, "--target", "moody", *JSON)
    done = run_many(root, [older, newer])
    return Project(root, *(json.loads(one.stdout)["run_id"] for one in done))


@pytest.fixture(scope="module")
def told(project: Project) -> dict[str, Done]:
    """What every command says about those runs."""
    commands = {
        "runs": ("runs",),
        "runs json": ("runs", *JSON),
        "runs one": ("runs", "--limit", "1", *JSON),
        "show": ("show", "latest"),
        "show json": ("show", project.newer, *JSON),
        "show record": ("show", "latest", "hours"),
        "show failed": ("show", "latest", "fees"),
        "show by index": ("show", project.older, "3", *JSON),
        "show twice": ("show", project.older, "loans"),
        "verify": ("verify", "latest"),
        "verify json": ("verify", project.older, *JSON),
        "report": ("report", "latest"),
        "report json": ("report", project.older, "-o", "older.html", *JSON),
        "export": ("export", "latest"),
        "export csv": ("export", "latest", "--to", "csv"),
        "export file": ("export", project.older, "-o", "rows.jsonl"),
        "export json": ("export", "latest", "--to", "csv", "-o", "rows.csv", *JSON),
    }
    done = dict(zip(commands, run_many(project.root, commands.values()), strict=True))
    assert {name: one.code for name, one in done.items()} == dict.fromkeys(commands, 0)
    return done


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_runs_lists_the_newest_first(project: Project, told: dict[str, Done]) -> None:
    listed = json.loads(told["runs json"].stdout)["data"]

    assert [row["run_id"] for row in listed] == [project.newer, project.older]
    assert [row["target"] for row in listed] == ["moody", "agent"]
    assert {"status", "created_at", "dataset", "metrics", "group"} <= set(listed[0])
    assert len(json.loads(told["runs one"].stdout)["data"]) == 1


def test_runs_has_a_line_for_each(project: Project, told: dict[str, Done]) -> None:
    first, second = told["runs"].stdout.splitlines()

    assert first.startswith(project.newer)
    assert "completed_with_failures" in first
    assert second.endswith("75.0 % [30.1, 95.4] n = 4        desk × agent")


def test_show_tells_what_did_not_pass_and_why(told: dict[str, Done]) -> None:
    said = told["show"].stdout

    assert said.startswith("desk × moody  completed with failures  scores missing\n")
    no_mood = "  fees  evaluation_error: target_error  RuntimeError: no mood for this\n"
    assert (
        f"\n  no score   1 target_error: RuntimeError: no mood for this\n\nnot passed:\n{no_mood}"
        in said
    )
    assert "  parking  fail  says: does not contain 'garage'\n" in said


def test_show_gives_manifest_metrics_and_slices(project: Project, told: dict[str, Done]) -> None:
    shown = json.loads(told["show json"].stdout)

    standing = ["is_finished", "cancelling", "waiting", "resumable", "unresumable"]
    assert list(shown) == ["manifest", "metrics", "slices", *standing, "failures"]
    assert shown["failures"] == {"target_error": 1}
    assert shown["manifest"]["run_id"] == project.newer
    assert shown["slices"][0]["value"] == "desk"


def test_show_tells_everything_about_a_record(told: dict[str, Done]) -> None:
    said = told["show record"].stdout

    assert said.startswith(
        "hours  pass  score 1.000\n  user: When do you open?\n  assistant: At nine, please.\n"
        "  expected outcome: Says nine.\n"
    )
    assert "  check says (must_contain_any): pass, contains 'nine'\n" in said
    assert re.search(r"  attempt 1 at 20\S+: answered\n", said)


def test_show_tells_why_a_record_has_no_score(told: dict[str, Done]) -> None:
    said = told["show failed"].stdout

    assert said.startswith("fees  evaluation_error: target_error  RuntimeError: no mood for ")
    assert ": target_error: RuntimeError: no mood for this\n" in said


def test_show_finds_a_record_by_its_place_with_all_repeats(told: dict[str, Done]) -> None:
    shown = json.loads(told["show by index"].stdout)

    assert [(row["record_id"], row["repeat"]) for row in shown["records"]] == [
        ("parking", 0),
        ("parking", 1),
    ]
    assert [row["repeat"] for row in shown["attempts"]] == [0, 1]
    assert shown["failures"] == []
    assert told["show twice"].stdout.startswith("loans (repeat 0)  pass")
    assert "  attempt 1 of repeat 0 at " in told["show twice"].stdout
    assert "loans (repeat 1)  pass" in told["show twice"].stdout
    assert "  attempt 1 of repeat 1 at " in told["show twice"].stdout


def test_verify_names_every_file(told: dict[str, Done]) -> None:
    checked = json.loads(told["verify json"].stdout)

    assert told["verify"].stdout.count("intact") == 8
    assert checked["intact"] is True
    assert {file["state"] for file in checked["files"]} == {"intact"}


def test_a_report_is_one_page_that_needs_nothing_else(
    project: Project, told: dict[str, Done]
) -> None:
    page = (project.root / "report.html").read_text(encoding="utf-8")

    assert told["report"].stdout == "wrote report.html\n"
    assert "no mood for this" in page
    assert not re.search(r"""(src|href)=["']https?:""", page)
    assert json.loads(told["report json"].stdout) == {
        "run_id": project.older,
        "report": "older.html",
    }
    assert (project.root / "older.html").exists()


def test_an_export_has_a_row_for_each_record_and_repeat(
    project: Project, told: dict[str, Done]
) -> None:
    table = list(csv.DictReader(io.StringIO(told["export csv"].stdout)))
    kept = (project.root / "rows.jsonl").read_text(encoding="utf-8")

    assert [row["record_id"] for row in lines(told["export"].stdout)] == [
        row["record_id"] for row in table
    ]
    assert [row["check:says"] for row in table] == ["1.0", "1.0", "", "0.0"]
    assert (told["export file"].stdout, told["export file"].stderr) == ("", "wrote rows.jsonl\n")
    assert len(lines(kept)) == 8
    assert json.loads(told["export json"].stdout) == {
        "run_id": project.newer,
        "export": "rows.csv",
        "form": "csv",
    }


def test_a_run_is_known_by_id_prefix_latest_and_folder(project: Project) -> None:
    folder = str(project.folder(project.newer))
    names = (project.newer, project.newer[:-2], "latest", folder, f"{folder}/")
    found = run_many(project.root, [("show", name, *JSON) for name in names])

    assert [json.loads(one.stdout)["manifest"]["run_id"] for one in found] == [project.newer] * 5


def test_a_folder_alone_is_enough(project: Project, tmp_path: Path) -> None:
    shutil.copytree(project.folder(project.newer), tmp_path / "kept")
    words = ("kept", "-o", "out")
    commands = [("show", "kept"), ("show", "kept", "hours"), ("verify", "kept")]
    done = run_many(tmp_path, [*commands, ("report", *words), ("export", *words)])

    assert [one.code for one in done] == [0, 0, 0, 0, 0]


@pytest.mark.parametrize("change", ["flip", "remove"])
def test_one_changed_byte_or_missing_file_is_found(
    project: Project, tmp_path: Path, change: str
) -> None:
    shutil.copytree(project.folder(project.newer), tmp_path / "kept")
    path = tmp_path / "kept" / "predictions.jsonl"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.unlink()
    if change == "flip":
        path.write_bytes(data)
    text, found = run_many(tmp_path, [("verify", "kept"), ("verify", "kept", *JSON)])
    states = {file["name"]: file["state"] for file in json.loads(found.stdout)["files"]}

    assert (text.code, found.code) == (1, 1)
    assert states["predictions.jsonl"] == {"flip": "changed", "remove": "missing"}[change]
    assert sum(state != "intact" for state in states.values()) == 1
    assert text.stdout.count("intact") == 7


def test_a_removed_manifest_is_found_by_verify_and_told_by_the_others(
    project: Project, tmp_path: Path
) -> None:
    shutil.copytree(project.folder(project.newer), tmp_path / "kept")
    (tmp_path / "kept" / "run_manifest.json").unlink()
    verified, shown = run_many(tmp_path, [("verify", "kept"), ("show", "kept")])

    assert verified.code == 1
    assert verified.stdout.startswith("missing   run_manifest.json  it was removed, or")
    assert verified.stdout.count("no manifest says what it was") == 7
    assert (shown.code, shown.stdout) == (2, "")
    assert "kept holds no run_manifest.json: no finished run" in shown.stderr


def test_what_cannot_be_shown_is_told_with_2(project: Project) -> None:
    refused = {
        ("show", "run_NO"): "no run 'run_NO' in this project",
        ("show", "run_"): "'run_' fits several runs; give more of the id",
        ("show", "latest", "nobody"): "no record 'nobody'",
        ("show", "latest", "9" * 23): f"no record '{'9' * 23}'",
        ("verify", "run_NO"): "no run 'run_NO'",
        ("export", "latest", "--to", "xlsx"): "'xlsx' is not one of",
        ("export", "latest", "-o", "no/such/folder"): "cannot write no/such/folder: No such",
        ("export", "latest", *JSON): "name one with -o",
        ("report", "latest", "-o", "no/such/folder"): "cannot write no/such/folder: No such",
    }
    for (_, said), done in zip(refused.items(), run_many(project.root, refused), strict=True):
        assert (done.code, done.stdout) == (2, "")
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_a_project_without_runs_says_how_to_make_one(tmp_path: Path) -> None:
    text, listed, latest = run_many(tmp_path, [("runs",), ("runs", *JSON), ("show", "latest")])

    assert text.stdout.startswith("no runs yet; `steelyard run DATASET --target NAME`")
    assert json.loads(listed.stdout) == {"data": []}
    assert (latest.code, latest.stdout) == (2, "")


@pytest.mark.parametrize(
    "words", [("show", "latest"), ("verify", "run_NO"), ("compare", "a", "b")]
)
def test_looking_for_a_run_where_none_was_made_leaves_nothing_behind(
    steelyard: Steelyard, tmp_path: Path, words: tuple[str, ...]
) -> None:
    listed, looked = steelyard("runs", cwd=tmp_path), steelyard(*words, cwd=tmp_path)

    assert (listed.returncode, looked.returncode, looked.stdout) == (0, 2, "")
    assert looked.stderr == (
        f"steelyard: no run '{words[1]}' in this project, which has none yet; "
        "`steelyard run` makes one\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_nothing_that_a_model_says_reaches_the_terminal_as_a_command(tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m nine"
    jsonl(tmp_path / "datasets" / "evil.jsonl", [case("evil", f"{evil}\nsecond line", "ten")])
    run = ("run", "datasets/evil.jsonl", "--target", "echo")
    done = run_many(tmp_path, [run, ("show", "latest"), ("show", "latest", "evil")])

    assert [one.code for one in done] == [0, 0, 0]
    assert all(not ESCAPES & set(one.stdout + one.stderr) for one in done)
    assert "\n    second line\n" in done[2].stdout


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of twenty records whose recorded agent used a tool and said too much."""
    root = tmp_path_factory.mktemp("agents")
    names = [f"case-{number:02d}" for number in range(20)]
    jsonl(root / "cases.jsonl", [case(name, "When?", "never said") for name in names])
    call = {"id": "t1", "tool": "calendar", "input": {"day": 7}, "output": ["closed", "\x1b[2J"]}
    said = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "assistant", "content": {"day": "Sunday", "words": ["closed"] * 2000}},
    ]
    jsonl(root / "said.jsonl", [{"record_id": n, "trace": {"messages": said}} for n in names])
    done = run_many(root, [("run", "cases.jsonl", "--responses", "said.jsonl")])
    assert done[0].code == 0
    assert done[0].stdout.startswith("cases × recorded  completed\n")
    return root


def test_show_tells_of_tools_and_of_no_more_failures_than_fit(agents: Path) -> None:
    run, record = run_many(agents, [("show", "latest"), ("show", "latest", "case-03")])
    failed = run.stdout.split("not passed:\n")[1].splitlines()

    assert len(failed) == 16
    assert failed[-1] == "  … and more; `steelyard export` gives all"
    assert '    calendar({"day": 7}) → ["closed", "\\u001b[2J"]\n' in record.stdout
    assert '  assistant: {"day": "Sunday", "words": ["closed"' in record.stdout


def test_a_reader_that_goes_early_is_no_error(agents: Path) -> None:
    command = f"'{sys.executable}' -m steelyard export latest | head -c 12"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=agents,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == '{"index": 0,'


def test_a_scaffold_runs_at_once(steelyard: Steelyard, tmp_path: Path) -> None:
    made = steelyard("init", "my desk", cwd=tmp_path)
    hint = made.stdout.splitlines()[-1]
    words = hint.removeprefix("try: cd 'my desk' && steelyard ").split()
    done = steelyard(*words, *JSON, cwd=tmp_path / "my desk")
    again = steelyard("init", "my desk", cwd=tmp_path)

    assert (made.returncode, made.stderr) == (0, "")
    assert "wrote my desk/steelyard.yaml" in made.stdout
    assert words[:4] == ["run", "datasets/first.yaml", "--target", "echo"]
    assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "completed")
    assert (again.returncode, again.stdout) == (2, "")
    assert "exists already" in again.stderr
