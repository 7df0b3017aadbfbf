"""A document with a list of records is opened once, and a bad record spoils no other."""

from __future__ import annotations

import json

import pytest

from steelyard.contracts.listed_document import ListedDocument
from steelyard.formats.lines import Located
from steelyard.formats.schema import Schema
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.json_value import JsonObject

HEADER: JsonObject = {
    "type": "object",
    "required": ["items"],
    "properties": {"items": {"type": "array"}, "title": {"type": "string"}},
}
MOST = 1024 * 1024


def opened(content: bytes | Located, most: int | None = None) -> ListedDocument:
    return ListedDocument(content, "items", Schema(HEADER), most)


def test_has_the_header_and_the_items() -> None:
    document = opened(b'{"title": "t", "items": [1, {"a": 2}]}')

    assert document.header["title"] == "t"
    assert document.items == [1, {"a": 2}]
    assert (document.findings, document.is_spoiled) == ((), False)
    assert [document.line(0), document.line(1)] == [None, None]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"{", "invalid_json"),
        (b"\xff", "invalid_encoding"),
        (b"[]", "invalid_field_type"),
        (b"{}", "missing_required_field"),
        (b'{"items": {}}', "invalid_field_type"),
        (b'{"items": [], "title": 7}', "invalid_field_type"),
        (b'{"items": [], "title": "\\ud800"}', "invalid_encoding"),
    ],
)
def test_a_document_that_is_wrong_as_a_whole_has_no_header(content: bytes, code: str) -> None:
    document = opened(content)

    assert [finding.code for finding in document.findings] == [code]
    assert document.is_spoiled
    assert document.header == {}


def test_what_cannot_be_read_of_an_item_is_that_items_own() -> None:
    document = opened(b'{"items": [{"a": "x"}, {"a": "\\ud800"}]}')

    assert not document.is_spoiled
    assert not document.odd(0)
    assert [problem.path for problem in document.odd(1)] == [("a",)]
    assert document.place(1, "b").start == ("items", 1)


def test_items_of_a_format_with_lines_know_theirs() -> None:
    document = opened(parse_yaml(b"title: t\nitems:\n  - a\n  - b\n"))

    assert [document.line(0), document.line(1)] == [3, 4]


@pytest.mark.parametrize(("more", "codes"), [(0, []), (1, ["payload_too_large"])])
def test_a_file_may_have_so_many_bytes(more: int, codes: list[str]) -> None:
    text = json.dumps({"items": []}).encode()
    document = opened(text + b" " * (MOST - len(text) + more), MOST)

    assert [finding.code for finding in document.findings] == codes
