"""Loading raises for what spoils a file, and logs what is wrong with a case."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

import steelyard
from steelyard.errors import NotFoundError, UnreadableFileError
from steelyard.model.json_value import JsonObject
from strategies.eval_folder import EvalFolder, jsonl, row, without

BOMB = (
    "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
        for before, name in ("ab", "bc", "cd", "de")
    )
    + "evalcases: []\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> EvalFolder:
    return EvalFolder(tmp_path)


@pytest.mark.parametrize(
    ("name", "shown"),
    [("data.json", "'.json'"), ("data.txt", "'.txt'"), ("data", "''"), ("data.jsonl.gz", "'.gz'")],
)
def test_another_extension_is_refused_with_the_list_of_supported_ones(
    folder: EvalFolder, name: str, shown: str
) -> None:
    """EC-03"""
    folder.write(name, jsonl(row()))

    with pytest.raises(UnreadableFileError) as raised:
        folder.load(name)
    assert str(raised.value) == (
        f"{folder.root / name}: unsupported file format {shown}; "
        "supported formats: .yaml, .yml, .jsonl"
    )


@pytest.mark.parametrize("name", ["UPPER.JSONL", "Upper.Jsonl", "UPPER.YAML", "UPPER.Yml"])
def test_the_case_of_the_extension_does_not_matter(folder: EvalFolder, name: str) -> None:
    """EC-04"""
    lines = jsonl(row()) if name.lower().endswith("jsonl") else json.dumps({"cases": [row()]})
    folder.write(name, lines)

    (case,) = folder.load(name)
    assert case.dataset == name.partition(".")[0]


def test_a_file_with_an_upper_case_extension_has_its_sidecar(folder: EvalFolder) -> None:
    """EC-04, EC-28"""
    folder.write("UPPER.JSONL", [row()])
    folder.write("UPPER.yaml", "dataset: beside\n")

    assert folder.load("UPPER.JSONL")[0].dataset == "beside"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no-such.jsonl", "no such file: .*no-such.jsonl"),
        ("folder.yaml", "folder.yaml is a folder; name a file in it"),
    ],
)
def test_a_path_that_leads_to_no_file_is_not_found(
    folder: EvalFolder, name: str, said: str
) -> None:
    (folder.root / "folder.yaml").mkdir()

    with pytest.raises(NotFoundError, match=said):
        folder.load(name)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("data.jsonl", jsonl(row()) * 4 + "{", ":5: Line 5: Invalid JSON - the text ends"),
        ("data.jsonl", b'{"id": "\xff"}', ":1: Line 1: Invalid JSON - not UTF-8"),
        ("data.yaml", "evalcases: [\n", ":1: invalid YAML: "),
        ("data.yaml", b"evalcases: \xff\n", ":1: not UTF-8: byte 0xff"),
        ("data.yaml", BOMB, ":5: invalid YAML: aliases stand for more than 100000 values"),
        (
            "data.yaml",
            "evalcases: " + "[" * 500,
            ":1: invalid YAML: nested deeper than 100 levels",
        ),
        ("data.yaml", "dataset: a\n", ":1: Line 1: missing evalcases"),
        ("data.yaml", "tests: 7\n", ":1: Line 1: tests must be "),
        (
            "data.yaml",
            "prompts: []\ntests: []\n",
            ":1: Line 1: prompts is not supported (write each case's own 'input')",
        ),
    ],
)
def test_what_spoils_the_file_is_raised_with_its_place(
    folder: EvalFolder, name: str, content: str | bytes, said: str
) -> None:
    """EC-11, EC-12, EC-34"""
    path = folder.write(name, content)

    with pytest.raises(UnreadableFileError) as raised:
        folder.load(name)
    assert str(raised.value).startswith(f"{path}{said}")


def test_a_spoilt_file_logs_the_bad_cases_before_but_not_the_bad_line(
    folder: EvalFolder, caplog: pytest.LogCaptureFixture
) -> None:
    """EC-11"""
    folder.write("data.jsonl", jsonl(without("id"), row()) + "oops\n")

    with pytest.raises(UnreadableFileError, match="Line 3: Invalid JSON"):
        folder.load("data.jsonl")
    assert [record.getMessage().rsplit(": ", 1)[-1] for record in caplog.records] == ["missing id"]


@pytest.mark.parametrize("name", ["data.jsonl", "data.yaml"])
def test_every_finding_of_a_bad_case_is_a_warning_on_the_logger(
    folder: EvalFolder, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """EC-16"""
    bad: JsonObject = {"id": "b", "outcome": 5}
    rows = [row(), bad, row(id="c", convesation_id="x")]
    path = folder.write(name, rows if name == "data.jsonl" else {"evalcases": [*rows]})

    assert [case.id for case in folder.load(name)] == ["case-1", "c"]
    assert {(record.name, record.levelname) for record in caplog.records} == {
        ("steelyard", "WARNING")
    }
    said = [record.getMessage().removeprefix(f"{path}:") for record in caplog.records]
    assert [text.partition(": ")[2].partition(": ")[2] for text in said] == [
        "missing input_messages",
        "outcome must be a string",
        "unknown field 'convesation_id' (did you mean 'conversation_id'?)",
    ]


def test_warnings_of_the_header_and_the_sidecar_are_logged(
    folder: EvalFolder, caplog: pytest.LogCaptureFixture
) -> None:
    """EC-21"""
    folder.write("data.jsonl", [row()])
    beside = folder.write("data.yaml", "datset: a\n")

    assert len(folder.load("data.jsonl")) == 1
    assert [record.getMessage() for record in caplog.records] == [
        f"{beside}:1: Line 1: unknown field 'datset' (did you mean 'dataset'?)"
    ]


def test_a_missing_sidecar_is_a_debug_message(
    folder: EvalFolder, caplog: pytest.LogCaptureFixture
) -> None:
    """EC-31"""
    caplog.set_level(logging.DEBUG, "steelyard")
    folder.write("data.jsonl", [row()])

    folder.load("data.jsonl")
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("DEBUG", f"no sidecar {folder.root / 'data.yaml'}; defaults are used")
    ]


def test_a_yaml_file_with_cases_is_no_sidecar(folder: EvalFolder) -> None:
    """EC-28"""
    folder.write("data.jsonl", [row(id="line")])
    folder.write("data.yaml", {"dataset": "other", "evalcases": [row(id="yaml")]})

    assert [(case.id, case.dataset) for case in folder.load("data.jsonl")] == [("line", "data")]
    assert [case.id for case in folder.load("data.yaml")] == ["yaml"]


def test_loading_a_sidecar_on_its_own_is_an_error(folder: EvalFolder) -> None:
    """EC-28"""
    folder.write("data.jsonl", [row()])
    folder.write("data.yaml", "dataset: a\n")

    with pytest.raises(UnreadableFileError, match="missing evalcases"):
        folder.load("data.yaml")


def test_the_package_offers_it_for_a_path_or_a_text(
    folder: EvalFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EC-01"""
    path = folder.write("data.jsonl", [row()])
    monkeypatch.chdir(folder.root)

    assert steelyard.load_eval_cases("data.jsonl") == steelyard.load_eval_cases(path)
