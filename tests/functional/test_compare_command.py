"""`compare`: a plain answer about two runs, for people, for programs and for a pipeline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.desk_project import write_desk
from fakes.many_commands import Done, run_many

DESK = "datasets/desk.jsonl"
JSON = ("--format", "json")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    """What `compare` says about a run of `agent` and one of `moody`, which fails once."""
    root = write_desk(tmp_path_factory.mktemp("compare"))
    runs = run_many(root, [("run", DESK, "--target", name, *JSON) for name in ("agent", "moody")])
    first, second = (json.loads(one.stdout)["run_id"] for one in runs)
    folder = str(Path(".steelyard/runs") / first)
    commands = {
        "text": ("compare", first, second),
        "json": ("compare", folder, "latest", *JSON),
        "three": ("compare", first, second, first),
        "three json": ("compare", first, second, first, *JSON),
        "html": ("compare", first, second, "--format", "html", "-o", "found.html"),
        "html of three": ("compare", first, second, first, "--format", "html"),
        "file": ("compare", first, second, *JSON, "-o", "found.json"),
        "nowhere": ("compare", first, second, "-o", "missing/found.txt"),
        "one": ("compare", first),
        "unknown": ("compare", first, "run_unknown"),
        "gate": ("compare", first, second, "--fail-if", "worse"),
    }
    done = dict(zip(commands, run_many(root, list(commands.values())), strict=True))
    page = (root / "found.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert json.loads((root / "found.json").read_text("utf-8"))["a"]["run_id"] == first
    return done


def test_the_answer_stands_with_its_pairs(told: dict[str, Done]) -> None:
    assert told["text"].code == 0
    assert "records with a score in both runs" in told["text"].stdout
    assert "exact McNemar test" in told["text"].stdout
    assert "no difference detectable between A and B" in told["text"].stdout


def test_programs_get_everything(told: dict[str, Done]) -> None:
    found = json.loads(told["json"].stdout)

    assert found["comparable"] is True
    assert found["passes"]["n"] == found["pairs"] > 0
    assert {
        "verdict",
        "basis",
        "passes",
        "scores",
        "corrected",
        "not_alike",
        "gate",
    } <= found.keys()
    assert {"improvements", "regressions", "slices", "dropped", "detectable"} <= found.keys()


def test_three_runs_are_three_comparisons(told: dict[str, Done]) -> None:
    assert told["three"].stdout.count(" against ") == 3
    assert len(json.loads(told["three json"].stdout)["comparisons"]) == 3


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("one", "name two runs to compare"),
        ("html of three", "--format html: a page compares two runs"),
        ("nowhere", "cannot write missing/found.txt"),
        ("unknown", "run_unknown"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_2(
    told: dict[str, Done], name: str, said: str
) -> None:
    assert told[name].code == 2
    assert said in told[name].stderr
    assert "Traceback" not in told[name].stderr


def test_files_are_written_and_a_gate_that_holds_exits_0(told: dict[str, Done]) -> None:
    assert told["html"].stdout == "wrote found.html\n"
    assert told["file"].stdout == "wrote found.json\n"
    assert told["gate"].code == 0
