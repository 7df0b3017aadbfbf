"""The files that cases show: where they are found, which are refused, which are guidelines."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import FileBlock
from strategies.eval_folder import EvalFolder, row

NOTES: JsonObject = {"type": "file", "value": "notes.md"}


@pytest.fixture
def folder(tmp_path: Path) -> EvalFolder:
    return EvalFolder(tmp_path)


def user(*blocks: JsonValue) -> JsonObject:
    return row(input_messages=[{"role": "user", "content": list(blocks)}])


def test_a_file_is_looked_for_in_each_folder_up_to_the_root(folder: EvalFolder) -> None:
    """EC-53"""
    folder.write("steelyard.yaml", "")
    path = folder.write("shared/notes.md", "Notes\n")
    folder.write("deep/er/evals/data.jsonl", [user({"type": "file", "value": "shared/notes.md"})])

    (case,) = folder.load("deep/er/evals/data.jsonl")
    assert case.file_paths == (str(path),)


def test_the_nearest_file_wins_and_every_use_is_listed(folder: EvalFolder) -> None:
    """EC-53"""
    folder.write("notes.md", "far\n")
    near = folder.write("evals/notes.md", "near\n")
    folder.write("evals/data.jsonl", [user(NOTES, "text", NOTES)])

    (case,) = folder.load("evals/data.jsonl")
    assert case.file_paths == (str(near), str(near))


def test_a_missing_file_is_an_error_of_its_case_alone(folder: EvalFolder) -> None:
    """EC-54"""
    folder.write("data.jsonl", [user("a", NOTES), row(id="other")])

    (finding,) = folder.findings("data.jsonl")
    assert finding.message == (
        "Line 1: input_messages[0].content[1].value: no such file: notes.md"
    )
    assert [case.id for case in folder.load("data.jsonl")] == ["other"]


def test_a_missing_file_in_the_reference_is_an_error_too(folder: EvalFolder) -> None:
    """EC-54"""
    found = folder.row_findings(row(expected_messages=[{"role": "assistant", "content": [NOTES]}]))

    assert found == [("missing_file", "expected_messages[0].content[0].value")]


@pytest.mark.parametrize("reference", ["../secret.md", "{outside}/secret.md", "link.md"])
def test_a_file_outside_the_project_is_refused(folder: EvalFolder, reference: str) -> None:
    """EC-55"""
    secret = folder.write("secret.md", "secret\n")
    project = EvalFolder(folder.root / "project")
    project.write("steelyard.yaml", "")
    (project.root / "link.md").symlink_to(secret)
    value = reference.format(outside=folder.root)

    found = project.row_findings(user({"type": "file", "value": value}))
    assert found == [("file_outside_root", "input_messages[0].content[0].value")]


def test_a_folder_that_the_project_allows_may_be_shown(folder: EvalFolder) -> None:
    """EC-55"""
    path = folder.write("shared/notes.md", "Notes\n")
    project = EvalFolder(folder.root / "project")
    project.write("steelyard.yaml", "allow: {folders: [../shared]}\n")

    case = project.case(user({"type": "file", "value": "../shared/notes.md"}))
    assert case.file_paths == (str(path),)


def test_a_dot_file_is_refused_unless_the_project_allows_it(folder: EvalFolder) -> None:
    """EC-55"""
    path = folder.write(".env", "KEY=1\n")
    block = user({"type": "file", "value": ".env"})
    found = folder.row_findings(block)
    folder.write("steelyard.yaml", "allow: {dot_files: true}\n")

    assert found == [("hidden_file", "input_messages[0].content[0].value")]
    assert folder.case(block).file_paths == (str(path),)


@pytest.mark.parametrize(
    ("config", "pattern", "is_guideline"),
    [
        ("steelyard.yaml", "*.instructions.md", True),
        (".agentv/config.yaml", "*.instructions.md", True),
        ("steelyard.yaml", "docs/*.instructions.md", False),
        ("steelyard.yaml", "**/*.instructions.md", True),
        ("steelyard.yaml", "evals/deep/*.md", True),
        ("steelyard.yaml", "*.txt", False),
    ],
)
def test_a_pattern_without_a_slash_looks_at_the_name_alone(
    folder: EvalFolder, config: str, pattern: str, is_guideline: bool
) -> None:
    """EC-57"""
    folder.write(config, f'guideline_patterns: ["{pattern}"]\n')
    path = folder.write("evals/deep/py.instructions.md", "Use types.\n")
    reference: JsonObject = {"type": "file", "value": "py.instructions.md"}
    folder.write("evals/deep/data.jsonl", [user(reference)])

    (case,) = folder.load("evals/deep/data.jsonl")
    assert case.guideline_paths == ((str(path),) if is_guideline else ())


def test_guidelines_come_first_among_the_files(folder: EvalFolder) -> None:
    """EC-56"""
    folder.write("steelyard.yaml", 'guideline_patterns: ["*.guide.md"]\n')
    notes, guide = folder.write("notes.md", "Notes\n"), folder.write("a.guide.md", "Be brief\n")

    case = folder.case(user(NOTES, {"type": "file", "value": "a.guide.md"}))
    assert case.guideline_paths == (str(guide),)
    assert case.file_paths == (str(guide), str(notes))


def test_a_file_of_the_reference_is_no_guideline(folder: EvalFolder) -> None:
    """EC-56"""
    folder.write("steelyard.yaml", 'guideline_patterns: ["*.md"]\n')
    folder.write("notes.md", "Notes\n")
    case = folder.case(row(expected_messages=[{"role": "assistant", "content": [NOTES]}]))

    (block,) = case.expected_messages[0].blocks
    assert isinstance(block, FileBlock)
    assert not block.guideline
    assert (case.guideline_paths, case.file_paths) == ((), ())


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"\xef\xbb\xbfa\r\nb\r\n", None),
        (b"\xff", "invalid_encoding"),
        (b"x" * (10 * 1024 * 1024 + 1), "record_too_large"),
    ],
    ids=["BOM and CRLF", "not UTF-8", "over 10 MB"],
)
def test_a_file_is_utf8_text_of_ten_megabytes_at_most(
    folder: EvalFolder, content: bytes, code: str | None
) -> None:
    """EC-58"""
    folder.write("notes.md", content)

    found = folder.row_findings(user(NOTES))
    assert found == ([(code, "input_messages[0].content[0].value")] if code else [])
    shown = [case.input_messages[0].text for case in folder.load("data.jsonl")]
    assert shown == ([] if code else ["a\nb\n"])
