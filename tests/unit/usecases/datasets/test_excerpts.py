"""The spot of a finding in its file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from steelyard.model.finding import Finding, error
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.excerpts import Excerpt, excerpts

DOCUMENT = """{
  "dataset_id": "d",
  "metadata": {"data": 1},
  "records": [
    {"record_id": "q1", "input": {"prompt": "a"}},
    {
      "record_id": "q2",
      "input": {"prompt": 7},
      "tags": ["x", 8]
    }
  ]
}
"""
Find: TypeAlias = Callable[..., Excerpt | None]


@pytest.fixture
def find(tmp_path: Path) -> Find:
    """Writes a file and looks for the spot of one finding in it."""

    def find(
        name: str, content: str | bytes, path: str, line: int | None = None
    ) -> Excerpt | None:
        file = tmp_path / name
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        finding = error("a_code", "wrong", path=path, line=line)
        return excerpts(DiskWorkspace(tmp_path), file, [finding]).get(finding)

    return find


def marked(excerpt: Excerpt | None) -> tuple[int, str]:
    assert excerpt
    return excerpt.line, excerpt.text[excerpt.start : excerpt.end]


@pytest.mark.parametrize(
    ("path", "line", "text"),
    [
        ("dataset_id", 2, '"dataset_id"'),
        ("metadata.data", 3, '"data"'),
        ("records", 4, '"records"'),
        ("records[0]", 5, '{"record_id": "q1", "input": {"prompt": "a"}}'),
        ("records[0].record_id", 5, '"record_id"'),
        ("records[1]", 6, "{"),
        ("records[1].input.prompt", 8, '"prompt"'),
        ("records[1].tags[1]", 9, "8"),
        ("records[1].expected", 6, "{"),
        ("records[7].input", 4, '"records"'),
        ("dataset_version", 1, "{"),
        ("dataset_id[0].x", 2, '"dataset_id"'),
        ("tests[0].id", 1, "{"),
        ("", 1, "{"),
    ],
)
@pytest.mark.parametrize("document", [DOCUMENT, "\ufeff" + DOCUMENT.replace("\n", "\r\n")])
def test_a_path_of_a_document_leads_to_its_key_or_the_nearest_part(
    find: Find, path: str, line: int, text: str, document: str
) -> None:
    assert marked(find("a.json", document, path)) == (line, text)


def test_a_document_that_stops_being_json_still_shows_what_comes_before(find: Find) -> None:
    broken = DOCUMENT.replace('"tags"', "tags")

    assert marked(find("a.json", broken, "records[0].input.prompt")) == (5, '"prompt"')
    assert marked(find("a.json", broken, "records[1].input.prompt")) == (4, '"records"')


def test_a_control_character_inside_a_string_does_not_hide_later_records(find: Find) -> None:
    odd = DOCUMENT.replace('"a"', '"a\x07"')

    assert marked(find("a.json", odd, "records[1].input.prompt")) == (8, '"prompt"')


@pytest.mark.parametrize(("line", "text"), [(2, '  "dataset_id": "d",'), (99, "")])
def test_a_line_of_a_document_is_shown_without_a_mark(find: Find, line: int, text: str) -> None:
    excerpt = find("a.json", DOCUMENT, "", line)

    assert excerpt
    assert (excerpt.text, excerpt.start == excerpt.end) == (text, True)


def test_of_a_long_line_only_the_part_around_the_spot_is_kept(find: Find) -> None:
    content = '{"a": "%s", "wrong": 1, "b": "%s"}' % ("x" * 9000, "y" * 9000)  # noqa: UP031
    for name, line in (("a.json", None), ("a.jsonl", 1)):
        excerpt = find(name, content, "wrong", line)

        assert marked(excerpt) == (1, '"wrong"')
        assert excerpt
        assert len(excerpt.text) <= 800


def test_a_document_over_16_mb_has_no_excerpts(find: Find) -> None:
    assert find("a.json", b" " * (16 * 1024 * 1024) + b"{}", "") is None


@pytest.mark.parametrize(
    ("path", "text"),
    [("id", '"id"'), ("input[0].content", '"content"'), ("missing", "{"), ("", "")],
)
def test_a_path_of_a_row_is_found_in_its_line(find: Find, path: str, text: str) -> None:
    rows = '\n{"id": 1, "input": [{"content": 2}]}\r\n'

    assert marked(find("a.jsonl", rows, path, 2)) == (2, text)


@pytest.mark.parametrize(
    ("line", "path", "text"),
    [
        (1, "evalcases", "evalcases"),
        (2, "evalcases[0].id", "id"),
        (3, "evalcases[0].data", "data"),
        (3, "evalcases[0].metadata", "metadata"),
        (4, "evalcases[0].quoted", "quoted"),
        (4, "evalcases[0].elsewhere", ""),
        (5, "evalcases[0].tags[1]", ""),
    ],
)
def test_in_yaml_the_key_is_marked_where_the_line_shows_it(
    find: Find, line: int, path: str, text: str
) -> None:
    content = (
        "evalcases:\n"
        "  - id: video\n"
        "    {metadata: 1, data: 2}\n"
        '    "quoted" : quoted\n'
        "    tags: [1, 2]\n"
    )

    assert marked(find("a.yaml", content, path, line)) == (line, text)


def test_a_line_that_the_file_does_not_have_is_left_out(find: Find) -> None:
    assert find("a.jsonl", "{}\n", "id", 5) is None


def test_bytes_that_are_no_text_are_replaced(find: Find) -> None:
    excerpt = find("a.jsonl", b"\xff\xfe{}\n", "", 1)

    assert excerpt
    assert excerpt.text == "��{}"


@pytest.mark.parametrize("name", ["gone.json", "gone.jsonl"])
def test_a_file_that_is_gone_has_no_excerpts(tmp_path: Path, name: str) -> None:
    finding = error("a_code", "wrong", line=1)

    assert excerpts(DiskWorkspace(tmp_path), tmp_path / name, [finding]) == {}


def test_many_findings_are_found_in_one_reading(tmp_path: Path) -> None:
    rows = ",\n".join('{"prompt": 1}' for _ in range(3000))
    (tmp_path / "a.json").write_text('{"records": [\n' + rows + "]}", encoding="utf-8")
    findings = [
        Finding(severity="error", code="a_code", message="no", path=f"records[{index}].prompt")
        for index in range(3000)
    ]
    found = excerpts(DiskWorkspace(tmp_path), tmp_path / "a.json", findings)

    assert [found[finding].line for finding in findings] == list(range(2, 3002))
