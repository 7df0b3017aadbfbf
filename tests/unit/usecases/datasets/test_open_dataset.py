"""Opening a file of any contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.contracts import CONTRACTS
from steelyard.model.judge import Judge
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.open_dataset import MAX_YAML, Opened, find_sidecar, open_dataset

HEADER = '"dataset_id": "d", "dataset_version": "1", "schema_version": "1.0"'
DOCUMENT = "{" + HEADER + ', "records": [{"record_id": "q", "input": {"prompt": "?"}}]}'
ROW = '{"id": "a", "expected_outcome": "Says so.", "input": "?"}\n'
CASES = "evalcases:\n- {id: a, expected_outcome: Says so., input: '?'}\n"
LEGAL = '{"task_type": "mcq"}\n'


@pytest.fixture
def disk(tmp_path: Path) -> DiskWorkspace:
    """The test's own folder."""
    return DiskWorkspace(tmp_path)


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def codes(opened: Opened) -> list[str]:
    return [finding.code for finding in opened.findings]


@pytest.mark.parametrize(
    ("name", "content", "contract"),
    [
        ("a.json", DOCUMENT, "dataset_document"),
        ("a.JSON", DOCUMENT, "dataset_document"),
        ("a.json", b"\xef\xbb\xbf" + DOCUMENT.encode(), "dataset_document"),
        ("a.json", DOCUMENT.replace("?", "\\ud800"), "dataset_document"),
        ("a.yaml", DOCUMENT, "dataset_document"),
        ("a.yaml", CASES, "eval_cases"),
        ("a.yml", CASES, "eval_cases"),
        ("a.jsonl", ROW, "eval_cases"),
        ("a.evals.json", '{"evals": []}', "evals_json"),
        ("a.yaml", "evals: []", "evals_json"),
        ("a.jsonl", b"\xef\xbb\xbf\n" + ROW.encode(), "eval_cases"),
    ],
)
def test_a_file_of_a_contract_that_is_read_is_opened(
    disk: DiskWorkspace, tmp_path: Path, name: str, content: str | bytes, contract: str
) -> None:
    opened = open_dataset(disk, write(tmp_path / name, content))

    assert opened.contract == contract
    assert opened.reading
    assert opened.is_recognised
    assert codes(opened) == []


@pytest.mark.parametrize(
    ("name", "content", "contract"),
    [
        ("a.json", '{"questions": [{"input": "?"}]}', "question_set"),
        ("a.yaml", "questions: [{key: a}, {input: b}]", "question_set"),
        ("a.json", '{"questions": [{"id": "a"}, {"inptu": "?"}]}', "question_set"),
        ("a.json", '{"questions": [{"input": "\\ud800"}]}', "question_set"),
        ("rubrics.json", '{"questoins": [{"input": "?"}]}', "question_set"),
    ],
)
def test_questions_with_an_input_are_a_dataset(
    disk: DiskWorkspace, tmp_path: Path, name: str, content: str, contract: str
) -> None:
    opened = open_dataset(disk, write(tmp_path / name, content))

    assert (opened.contract, opened.is_single) == (contract, False)
    assert opened.reading


@pytest.mark.parametrize(
    ("name", "content", "contract"),
    [
        ("a.yaml", "template: '?'", "judge"),
        ("judges/a.json", "{}", "judge"),
        ("a.json", '{"questions": [{"key": "?"}]}', "question_rubric"),
        ("rubrics/a.json", '{"questions": [{"key": "?"}]}', "question_rubric"),
        ("a.json", '{"questions": 7, "checks": []}', "check_rubric"),
    ],
)
def test_a_rubric_or_judge_is_one_thing(
    disk: DiskWorkspace, tmp_path: Path, name: str, content: str, contract: str
) -> None:
    opened = open_dataset(disk, write(tmp_path / name, content))

    assert (opened.contract, opened.is_single, opened.reading) == (contract, True, None)
    assert opened.findings
    assert opened.content is None


@pytest.mark.parametrize("content", [b"", b"\n \r\n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.yaml", "a.json"])
def test_an_empty_file_is_an_error(
    disk: DiskWorkspace, tmp_path: Path, name: str, content: bytes
) -> None:
    opened = open_dataset(disk, write(tmp_path / name, content))

    assert [finding.message for finding in opened.findings] == ["the file is empty"]
    assert (opened.reading, opened.is_recognised) == (None, True)


@pytest.mark.parametrize(("name", "has_lines"), [("a.yaml", True), ("a.json", False)])
def test_a_sound_judge_is_handed_on_with_its_lines(
    disk: DiskWorkspace, tmp_path: Path, name: str, has_lines: bool
) -> None:
    text = '{"id": "a", "version": "1.0", "template": "{{ output }}"}'
    opened = open_dataset(disk, write(tmp_path / name, text))

    assert isinstance(opened.content, Judge)
    assert (opened.lines is not None) is has_lines


@pytest.mark.parametrize(
    ("kind", "contract"),
    [
        *(("judge", "judge"), ("rubric", "check_rubric"), ("question_rubric", "question_rubric")),
        *(("question_set", "question_set"), ("evals_json", "evals_json")),
    ],
)
def test_rows_that_are_said_to_be_a_document_do_not_fit_it(
    disk: DiskWorkspace, tmp_path: Path, kind: str, contract: str
) -> None:
    one = open_dataset(disk, write(tmp_path / "a.jsonl", ROW), kind)
    two = open_dataset(disk, write(tmp_path / "b.jsonl", ROW + ROW), kind)
    findings = (*one.findings, *(one.reading.findings if one.reading else ()))

    assert (one.contract, two.contract) == (contract, contract)
    assert {found.code for found in findings if found.is_error} == {"missing_required_field"}
    assert codes(two) == ["invalid_json"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", ROW),
        ("a", ROW),
        ("a.json", "{}"),
        ("a.json", "[]"),
        ("a.yml", "- 1"),
    ],
)
def test_a_file_that_fits_nothing_is_unsupported(
    disk: DiskWorkspace, tmp_path: Path, name: str, content: str
) -> None:
    opened = open_dataset(disk, write(tmp_path / name, content))

    assert not opened.is_recognised
    assert codes(opened) == ["unsupported_format"]
    assert "dataset documents (.json with 'records')" in opened.findings[0].message


TABLE = "id,question,answer\n1,Why?,So.\n"


@pytest.mark.parametrize("kind", [None, "dataset"])
@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.yaml", "hello", "its top level is a text"),
        ("a.yaml", "- a: 1", "its top level is a list"),
        ("a.yaml", "5", "its top level is a single value"),
        ("a.yaml", TABLE, "this is a table (CSV)"),
        ("a.yaml", "id;answer\n1;why: so\n", "this is a table (CSV)"),
        ("a.json", TABLE, "this is a table (CSV)"),
        ("a.jsonl", TABLE, "this is a table (CSV)"),
        ("a.jsonl", TABLE.replace(",", "\t"), "this is a table (CSV)"),
    ],
)
def test_what_has_no_fields_gets_one_finding(
    tmp_path: Path, name: str, content: str, said: str, kind: str | None
) -> None:
    opened = open_dataset(DiskWorkspace(tmp_path), write(tmp_path / name, content), kind)

    assert (opened.contract, opened.reading) == (None, None)
    assert [(finding.code, finding.line) for finding in opened.findings] == [
        ("unsupported_format", 1)
    ]
    assert opened.findings[0].message.startswith(said)


@pytest.mark.parametrize(
    ("content", "said"),
    [('"{}"', "its top level is a text"), ("[1]", "its top level is a list")],
)
def test_json_without_fields_is_of_no_contract(
    disk: DiskWorkspace, tmp_path: Path, content: str, said: str
) -> None:
    opened = open_dataset(disk, write(tmp_path / "a.json", content))

    assert opened.findings[0].message.startswith(said)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.yaml", "questions: [a, b]\nnext: [a, b]\n"),
        ("a.jsonl", '{"id": "a", "x": 1}\n{"id": "b", "x": 2}\n'),
        ("a.jsonl", "broken, row\n"),
    ],
)
def test_commas_alone_make_no_table(
    disk: DiskWorkspace, tmp_path: Path, name: str, content: str
) -> None:
    opened = open_dataset(disk, write(tmp_path / name, content), "dataset")

    assert opened.reading is not None


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.json", '{\n"records": [}', ("invalid_json", 2)),
        ("a.yaml", "a: 1\nb: [", ("invalid_yaml", 2)),
        ("a.yaml", "a: 1\na: 2", ("invalid_yaml", 2)),
        ("a.yaml", b"a: 1\nb: \xff", ("invalid_encoding", 2)),
    ],
)
def test_a_file_that_cannot_be_parsed_is_told_with_its_line(
    disk: DiskWorkspace, tmp_path: Path, name: str, content: str | bytes, told: tuple[str, int]
) -> None:
    opened = open_dataset(disk, write(tmp_path / name, content))

    assert (opened.contract, opened.reading) == (None, None)
    assert [(finding.code, finding.line) for finding in opened.findings] == [told]


def test_a_file_that_cannot_be_opened_is_a_finding(disk: DiskWorkspace, tmp_path: Path) -> None:
    opened = open_dataset(disk, tmp_path / "gone.json")

    assert codes(opened) == ["unreadable_file"]
    assert opened.findings[0].message == "cannot read: No such file or directory"


def test_a_yaml_file_over_its_size_is_refused(disk: DiskWorkspace, tmp_path: Path) -> None:
    path = write(tmp_path / "a.yaml", "")
    with path.open("r+b") as stream:
        stream.truncate(MAX_YAML + 1)

    assert codes(open_dataset(disk, path)) == ["payload_too_large"]


@pytest.mark.parametrize(
    ("name", "content", "kind", "contract"),
    [
        ("a.json", "{}", "dataset", "dataset_document"),
        ("a.json", "[]", "dataset", "dataset_document"),
        ("a.json", '{"evalcases": []}', "eval_cases", "eval_cases"),
        ("a.yaml", "name: x", "dataset", "eval_cases"),
        ("a.jsonl", LEGAL, "eval_cases", "eval_cases"),
        ("a.jsonl", DOCUMENT, "dataset_document", "dataset_document"),
    ],
)
def test_a_kind_settles_the_contract(
    tmp_path: Path, name: str, content: str, kind: str, contract: str
) -> None:
    opened = open_dataset(DiskWorkspace(tmp_path), write(tmp_path / name, content), kind)

    assert opened.contract == contract
    assert opened.reading


def test_a_kind_names_the_contract_of_a_file_that_cannot_be_parsed(
    disk: DiskWorkspace, tmp_path: Path
) -> None:
    opened = open_dataset(disk, write(tmp_path / "a.json", "{"), "dataset")

    assert (opened.contract, codes(opened)) == ("dataset_document", ["invalid_json"])


@pytest.mark.parametrize(
    ("sidecar", "found", "codes_found"),
    [
        (None, False, []),
        ("dataset: help\n", True, []),
        ("", True, ["unsupported_format"]),
        ("# nothing yet", True, []),
        ("descripton: x\n", True, ["unknown_field"]),
        ("dataset: 7\n", True, ["invalid_field_type"]),
        ("a: [", True, ["invalid_yaml"]),
        ("tests: []\n", False, []),
    ],
)
def test_the_sidecar_of_rows_is_read_with_them(
    disk: DiskWorkspace,
    tmp_path: Path,
    sidecar: str | None,
    found: bool,
    codes_found: list[str],
) -> None:
    if sidecar is not None:
        write(tmp_path / "a.yaml", sidecar)
    opened = open_dataset(disk, write(tmp_path / "a.jsonl", ROW))

    assert opened.reading
    assert opened.sidecar
    assert opened.sidecar.is_found is found
    assert [finding.code for finding in opened.sidecar.findings] == codes_found


@pytest.mark.parametrize(
    ("name", "content", "is_sidecar"),
    [
        ("a.yaml", "dataset: help", True),
        ("a.yaml", "- 1", True),
        ("a.yaml", "a: [", True),
        ("a.yaml", CASES, False),
        ("a.yml", "dataset: help", False),
        ("b.yaml", "dataset: help", False),
        ("a.json", "{}", False),
    ],
)
def test_a_sidecar_is_a_yaml_file_without_cases_beside_its_rows(
    disk: DiskWorkspace, tmp_path: Path, name: str, content: str, is_sidecar: bool
) -> None:
    rows = write(tmp_path / "a.jsonl", ROW)

    found = find_sidecar(disk, write(tmp_path / name, content), CONTRACTS)

    assert found == (rows if is_sidecar else None)


def test_one_very_deep_record_does_not_hide_what_the_file_is(tmp_path: Path) -> None:
    deep = b'{"record_id":"b","input":{"prompt":"x","a":' + b"[" * 5000 + b"]" * 5000 + b"}}"
    path = tmp_path / "deep.json"
    path.write_bytes(
        b'{"dataset_id":"d","dataset_version":"1","schema_version":"1.0","records":['
        b'{"record_id":"a","input":{"prompt":"x"}},' + deep + b"]}"
    )

    opened = open_dataset(DiskWorkspace(tmp_path), path)

    assert opened.contract == "dataset_document"
    assert opened.reading is not None
    assert [row.is_accepted for row in opened.reading.rows()] == [True, False]


def test_a_utf_16_file_is_told_to_be_saved_as_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "wide.json"
    path.write_text('{"records": []}', encoding="utf-16")

    opened = open_dataset(DiskWorkspace(tmp_path), path)

    assert opened.findings[0].code == "invalid_encoding"
    assert "UTF-8" in opened.findings[0].message


RUBRIC = """\
id: a
version: 1.0.0
checks: [{id: c, kind: is, pattern: x}]
scoring: {combine: all_pass}
"""


@pytest.mark.parametrize(
    ("name", "content", "places"),
    [
        ("a.yaml", RUBRIC.replace("kind: is", "kind: regex"), []),
        ("rubrics/a.yaml", "name: x", [("checks", 1), ("id", 1), ("scoring", 1), ("version", 1)]),
        ("a.yaml", RUBRIC, [("checks[0].kind", 3)]),
        ("a.json", '{"id": "a", "version": "1.0", "checks": 1, "scoring": {}}', None),
    ],
)
def test_a_check_rubric_is_checked_as_one_thing(
    disk: DiskWorkspace,
    tmp_path: Path,
    name: str,
    content: str,
    places: list[tuple[str, int]] | None,
) -> None:
    opened = open_dataset(disk, write(tmp_path / name, content))

    assert (opened.contract, opened.is_single) == ("check_rubric", True)
    if places is None:
        assert {finding.line for finding in opened.findings} == {None}
    else:
        assert [(finding.path, finding.line) for finding in opened.findings] == places
