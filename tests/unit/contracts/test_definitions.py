"""Reading a rubric or judge of any contract from the text of its file."""

from __future__ import annotations

import json

import pytest

from steelyard.checks.catalog import Catalog
from steelyard.contracts.definitions import fixed_bytes, read_definition, read_definition_file
from steelyard.errors import ParseError
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.judge import Judge
from steelyard.model.question import QuestionRubric
from steelyard.model.rubric import Rubric

CHECKS = {
    "id": "basic",
    "version": "1.0",
    "checks": [{"id": "a", "kind": "equals"}],
    "scoring": {"combine": "min"},
}
ASKED = {
    "name": "Q",
    "version": "q-v1",
    "questions": [{"key": "a", "label": "A", "type": "yes_no"}],
}
JUDGE = {"id": "tone", "version": "1.0", "template": "{{ output }}"}


@pytest.mark.parametrize(
    ("value", "folder", "made"),
    [
        (CHECKS, "rubrics", Rubric),
        (CHECKS, "elsewhere", Rubric),
        (ASKED, "rubrics", QuestionRubric),
        (ASKED, "elsewhere", QuestionRubric),
        (JUDGE, "judges", Judge),
        (JUDGE, "elsewhere", Judge),
    ],
)
@pytest.mark.parametrize("extension", [".json", ".yaml"])
def test_a_file_is_read_as_what_its_folder_or_its_keys_say(
    value: object, folder: str, made: type, extension: str
) -> None:
    content, findings = read_definition_file(
        json.dumps(value).encode(), extension, folder, Catalog()
    )

    assert isinstance(content, made)
    assert findings == []


@pytest.mark.parametrize("extension", [".json", ".yaml"])
def test_a_file_that_says_nothing_is_taken_for_a_check_rubric(extension: str) -> None:
    content, findings = read_definition_file(b"{}", extension, "elsewhere", Catalog())

    assert content is None
    assert [finding.path for finding in findings] == ["checks", "id", "scoring", "version"]


def test_json_has_paths_and_no_lines() -> None:
    """CR-25"""
    data = b'{"id": "a", "version": "1.0", "template": "{{ a }}"}'
    _, findings = read_definition(data, "judge", Catalog())
    _, located = read_definition(parse_yaml(data), "judge", Catalog())

    assert [(finding.path, finding.line) for finding in findings] == [("template", None)]
    assert [(finding.path, finding.line) for finding in located] == [("template", 1)]


def test_an_odd_string_is_told_once_and_spoils_the_file() -> None:
    data = json.dumps({**JUDGE, "description": "\ud800", "id": "\ud800"}).encode()
    content, findings = read_definition(data, "judge", Catalog())

    assert content is None
    assert sorted((finding.code, finding.path) for finding in findings) == [
        ("invalid_encoding", "description"),
        ("invalid_encoding", "id"),
    ]


def test_text_that_is_no_json_is_a_parse_error() -> None:
    with pytest.raises(ParseError):
        read_definition(b"{", "judge", Catalog())


@pytest.mark.parametrize(
    "text",
    [
        "version: '1.0'\nid: tone\ntemplate: '{{ output }}'",
        "# the same\nid: tone\nversion: 1.0.0\ntemplate: '{{ output }}'\n",
        "{id: tone, version: 1.0.0, template: '{{ output }}', validation: {tpr: 0.9}}",
        "{id: tone, version: 1.0.0, template: '{{ output }}', applicable_to: [rag]}",
    ],
)
def test_the_hash_is_of_what_a_version_fixes_however_it_is_written(text: str) -> None:
    content, _ = read_definition_file(text.encode(), ".yaml", "judges", Catalog())
    plain, _ = read_definition_file(json.dumps(JUDGE).encode(), ".json", "judges", Catalog())

    assert content
    assert plain
    assert content.sha256 == plain.sha256


@pytest.mark.parametrize(
    "change", [{"id": "other"}, {"version": "1.1"}, {"template": "{{output}}!"}]
)
def test_another_content_has_another_hash(change: dict[str, str]) -> None:
    content, _ = read_definition(json.dumps({**JUDGE, **change}).encode(), "judge", Catalog())
    plain, _ = read_definition(json.dumps(JUDGE).encode(), "judge", Catalog())

    assert content
    assert plain
    assert content.sha256 != plain.sha256


def test_a_question_rubric_keeps_its_hash_when_its_status_changes() -> None:
    found = [
        read_definition(json.dumps({**ASKED, "status": status}).encode(), "question_rubric", kinds)
        for kinds in (Catalog(),)
        for status in ("draft", "published", "archived")
    ]

    assert len({content.sha256 for content, _ in found if content}) == 1


def test_one_is_the_same_number_however_it_is_written() -> None:
    whole, written = (
        fixed_bytes({"checks": [{"weight": weight}], "version": "1.2"}, "check_rubric")
        for weight in (1, 1.0)
    )

    assert whole == written == b'{"checks":[{"weight":1}],"version":"1.2.0"}'
