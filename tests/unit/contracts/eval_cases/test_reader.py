"""Bytes to rows: lines, encodings, headers and sidecars."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pytest

from steelyard.contracts.eval_cases.defaults import Defaults
from steelyard.contracts.eval_cases.reader import MAX_LINE, EvalCasesJsonl
from steelyard.contracts.reading import Row
from steelyard.errors import UnreadableFileError
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.read_dataset import read_dataset
from strategies.eval_folder import EvalFolder, jsonl, row, without

GOOD = json.dumps(row())
BAD = json.dumps(without("expected_outcome", id="bad"))
SEPARATED = GOOD.replace("Query", "a\u2028b\u2029c\u0085d")


@pytest.fixture
def folder(tmp_path: Path) -> EvalFolder:
    return EvalFolder(tmp_path)


def opened(data: bytes) -> EvalCasesJsonl:
    return EvalCasesJsonl(lambda: BytesIO(data), Defaults.without_file("data"))


def rows(data: bytes) -> list[Row]:
    return list(opened(data).rows())


def places(found: list[Finding]) -> list[tuple[int | None, int | None]]:
    return [(finding.line, finding.index) for finding in found]


@pytest.mark.parametrize(
    ("text", "line", "index"),
    [
        (f"{GOOD}\n{BAD}\n", 2, 1),
        (f"{GOOD}\n{BAD}", 2, 1),
        (f"\n\n{GOOD}\n \t \n{BAD}\n", 5, 1),
        (f"\r\n{GOOD}\r\n\r\n{BAD}\r\n", 4, 1),
        (f"\ufeff{BAD}\n", 1, 0),
        (f"\ufeff\n{BAD}\n", 2, 0),
        (f"\u00a0\u2028\n{BAD}\n", 2, 0),
        (f"{SEPARATED}\n{BAD}\n", 2, 1),
    ],
    ids=["LF", "no end", "blank", "CRLF", "BOM", "BOM alone", "wide blanks", "U+2028"],
)
def test_line_numbers_are_physical(folder: EvalFolder, text: str, line: int, index: int) -> None:
    """EC-05, EC-09, EC-10"""
    folder.write("data.jsonl", text)

    (finding,) = folder.findings("data.jsonl")
    assert finding.message == f"Line {line}: missing expected_outcome"
    assert places([finding]) == [(line, index)]
    assert (finding.path, finding.record_id) == ("expected_outcome", "bad")


def test_a_separator_inside_a_string_is_text(folder: EvalFolder) -> None:
    """EC-05"""
    text = "a\u2028b\u2029c\u0085d\u000be"
    case = folder.case(row(expected_outcome=text))

    assert case.expected_outcome == text


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_yaml_finding_stands_on_the_line_of_its_field(folder: EvalFolder, end: str) -> None:
    """EC-05, EC-10"""
    lines = (
        *("\ufeff# cases", "", "evalcases:", "  - id: a", "    input: Hi", "    outcome: 5"),
        *("  - id: b", "    input: Hi", ""),
    )
    folder.write("data.yaml", end.join(lines))

    wrong, missing = folder.findings("data.yaml")
    assert (wrong.message, wrong.path, wrong.line, wrong.index) == (
        "Line 6: outcome must be a string",
        "evalcases[0].outcome",
        6,
        0,
    )
    assert (missing.message, missing.line, missing.record_id) == (
        "Line 7: missing expected_outcome",
        7,
        "b",
    )


def test_yaml_is_read_by_the_rules_of_1_2(folder: EvalFolder) -> None:
    """EC-06"""
    content = "{day: 2025-01-01, at: 12:30:00, no: yes, big: 1_000, ten: 010, oct: 0o17}"
    text = f"evalcases:\n- {{id: no, outcome: yes, input: {content}}}\n"
    folder.write("data.yaml", text)

    (case,) = folder.load("data.yaml")
    assert (case.id, case.expected_outcome) == ("no", "yes")
    assert case.input_messages[0].content == {
        "day": "2025-01-01",
        "at": "12:30:00",
        "no": "yes",
        "big": "1_000",
        "ten": 10,
        "oct": 15,
    }


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"id": "a"', "the text ends too early (column 11)"),
        ('{"id": NaN}', "invalid character"),
        ('{"id": Infinity}', "invalid character"),
        ("{'id': 1}", "object keys must be strings"),
        ('{"id": 1}}', "trailing characters"),
        ("[" * 100_000, "nested deeper than 200 levels"),
    ],
    ids=["cut", "NaN", "Infinity", "quotes", "trailing", "deep"],
)
def test_a_line_that_is_not_json_spoils_the_file(
    folder: EvalFolder, line: str, reason: str
) -> None:
    """EC-11"""
    folder.write("data.jsonl", f"{GOOD}\n\n{line}\n{jsonl(row(id='other'))}")

    (file,) = folder.report("data.jsonl").files
    (finding,) = file.findings
    assert (file.total, file.accepted) == (3, 0)
    assert finding.message.startswith(f"Line 3: Invalid JSON - {reason}")
    assert (finding.code, finding.line, finding.index) == ("invalid_json", 3, 1)


def test_a_line_that_is_not_utf8_spoils_the_file(folder: EvalFolder) -> None:
    """EC-05, EC-11"""
    folder.write("data.jsonl", b'{"id": "\xff"}\n')

    (finding,) = folder.findings("data.jsonl")
    assert finding.code == "invalid_encoding"
    assert finding.message.startswith("Line 1: Invalid JSON - not UTF-8")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (GOOD.replace("Query", "\\ud800"), [("invalid_encoding", "input_messages[0].content")]),
        (GOOD[:-1] + ', "rate": 1e999}', [("value_out_of_range", "rate")]),
    ],
)
def test_an_odd_string_or_number_is_an_error_of_its_row_alone(
    folder: EvalFolder, line: str, found: list[tuple[str, str]]
) -> None:
    """EC-16"""
    folder.write("data.jsonl", f"{line}\n{jsonl(row(id='other'))}")

    assert [(item.code, item.path) for item in folder.findings("data.jsonl")] == found
    assert [case.id for case in folder.load("data.jsonl")] == ["other"]


@pytest.mark.parametrize("line", ["5", "[]", '"text"', "null"])
def test_a_line_that_is_no_object_is_a_bad_case(folder: EvalFolder, line: str) -> None:
    """EC-13"""
    folder.write("data.jsonl", f"{line}\n{GOOD}\n")

    (finding,) = folder.findings("data.jsonl")
    assert finding.message == "Line 1: the value must be an object"
    assert len(folder.load("data.jsonl")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "evalcases: [\n",
        "evalcases:\n- {id: a, id: b}\n",
        "evalcases: []\n---\nevalcases: []\n",
        "a: &a [x, x]\nb: &b [*a, *a]\n"
        + "".join(
            f"c{n}: &c{n} [{', '.join([f'*c{n - 1}'] * 9) if n else '*b'}]\n" for n in range(9)
        ),
        "evalcases: " + "[" * 300,
        "evalcases: !!python/object x\n",
    ],
    ids=["broken", "duplicate key", "two documents", "alias bomb", "deep", "tag"],
)
def test_broken_yaml_spoils_the_file(folder: EvalFolder, text: str) -> None:
    """EC-12"""
    folder.write("data.yaml", text)

    (file,) = folder.report("data.yaml").files
    assert (file.total, [finding.code for finding in file.findings]) == (0, ["invalid_yaml"])
    with pytest.raises(UnreadableFileError, match=r"data\.yaml:\d+: invalid YAML: "):
        folder.load("data.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("evalcases: 5\n", "Line 1: evalcases must be an array"),
        ("evalcases: [{}]\ndataset: 5\n", "Line 2: dataset must be a string"),
        (
            "evalcases: [{}]\nexecution:\n  target: 5\n",
            "Line 3: execution.target must be a string",
        ),
        ("- evalcases\n", "Line 1: the value must be an object"),
        ("dataset: a\n", "Line 1: missing evalcases"),
    ],
)
def test_a_wrong_header_spoils_the_file(folder: EvalFolder, text: str, message: str) -> None:
    """EC-34"""
    folder.write("data.yaml", text)

    with pytest.raises(UnreadableFileError, match=message):
        folder.load("data.yaml")


def test_the_cases_of_a_spoilt_file_are_still_counted(folder: EvalFolder) -> None:
    """EC-34"""
    folder.write("data.yaml", {"dataset": 5, "evalcases": [row(), without("id")]})

    (file,) = folder.report("data.yaml").files
    assert (file.total, file.accepted, len(file.findings)) == (2, 0, 2)


@pytest.mark.parametrize(
    ("header", "name"), [({"dataset": " qa "}, "qa"), ({"dataset": " "}, "data"), ({}, "data")]
)
def test_a_dataset_without_a_name_is_called_after_its_file(
    folder: EvalFolder, header: JsonObject, name: str
) -> None:
    """EC-30, EC-33"""
    folder.write("data.yaml", {**header, "evalcases": [row()]})

    assert folder.load("data.yaml")[0].dataset == name


def test_the_header_describes_the_dataset(folder: EvalFolder) -> None:
    """EC-29, EC-33"""
    header: JsonObject = {"dataset": "qa", "description": "d", "version": 2, "zone": [1]}
    header["metadata"] = {"owner": "x"}
    folder.write("data.yaml", {**header, "evalcases": [row()]})
    folder.write("lines/data.jsonl", [row()])
    folder.write("lines/data.yaml", header)

    for name in ("data.yaml", "lines/data.jsonl"):
        dataset, _ = read_dataset(DiskWorkspace(folder.root), folder.root / name)
        assert (dataset.id, dataset.contract, dataset.version) == ("qa", "eval_cases", "2")
        assert (dataset.description, dataset.metadata) == ("d", {"owner": "x"})
        assert dataset.extra == {"zone": [1]}


@pytest.mark.parametrize(
    ("sidecar", "code", "path"),
    [
        ("dataset: [\n", "invalid_yaml", ""),
        ("- dataset\n", "invalid_field_type", ""),
        ("execution: live\n", "invalid_field_type", "execution"),
        ("evaluator: llm_juge\n", "invalid_enum_value", "evaluator"),
        ("evaluators: [{type: cost}]\n", "missing_required_field", "evaluators[0].budget"),
        (
            "evaluators: [{type: llm_judge, prompt: a.md}]\n",
            "missing_file",
            "evaluators[0].prompt",
        ),
    ],
)
def test_a_broken_sidecar_is_an_error_under_its_own_entry(
    folder: EvalFolder, sidecar: str, code: str, path: str
) -> None:
    """EC-32"""
    folder.write("data.jsonl", [row()])
    folder.write("data.yaml", sidecar)

    lines, beside = folder.report("data.jsonl").files
    assert (Path(beside.path).name, beside.total, lines.findings) == ("data.yaml", 0, ())
    assert [(found.severity, found.code, found.path) for found in beside.findings] == [
        ("error", code, path)
    ]
    with pytest.raises(UnreadableFileError, match=r"data\.yaml:\d+: "):
        folder.load("data.jsonl")


def test_an_empty_sidecar_gives_the_defaults(folder: EvalFolder) -> None:
    """EC-30"""
    folder.write("data.yaml", "# nothing yet\n")

    assert folder.case(row()).target == "default"


def test_a_list_of_no_cases_is_an_error(folder: EvalFolder) -> None:
    """EC-08, EC-66"""
    folder.write("data.yaml", "evalcases: []\n")

    (finding,) = folder.findings("data.yaml")
    assert (finding.code, finding.path) == ("value_out_of_range", "evalcases")


@pytest.mark.parametrize("content", ["", "\n"])
def test_a_file_without_content_spoils_the_file(folder: EvalFolder, content: str) -> None:
    """EC-08, EC-30"""
    folder.write("lines.jsonl", content)
    folder.write("data.yaml", content)

    with pytest.raises(UnreadableFileError, match="the file is empty"):
        folder.load("lines.jsonl")
    with pytest.raises(UnreadableFileError, match="the file is empty"):
        folder.case(row())


def test_rows_are_read_as_they_are_asked_for() -> None:
    """EC-59"""
    stream = BytesIO(f"{GOOD}\n".encode() * 1000)

    reading = EvalCasesJsonl(lambda: stream, Defaults.without_file("data")).rows()
    assert next(reading).record_id == "case-1"
    assert stream.tell() == len(GOOD) + 1


@pytest.mark.parametrize("end", [b"\r\n", b""])
def test_a_line_of_64_megabytes_is_the_longest(end: bytes) -> None:
    """EC-59"""
    filler = MAX_LINE - len(GOOD.replace("Query", ""))
    longest = GOOD.replace("Query", "x" * filler).encode()
    after = [json.dumps(row(id="next")).encode()] if end else []

    found = [(item.line, item.is_accepted) for item in rows(end.join([longest, *after]))]
    assert len(longest) == MAX_LINE
    assert found == [(number, True) for number in range(1, 2 + len(after))]


def test_a_longer_line_spoils_the_file_and_the_next_is_still_counted() -> None:
    """EC-59"""
    data = GOOD.replace("Query", "x" * (2 * MAX_LINE)).encode() + f"\n{GOOD}\n".encode()
    reading = opened(data)

    long, after = list(reading.rows())
    assert long.findings[0].message == "Line 1: Invalid JSON - longer than 64 MB"
    assert (after.line, after.index, after.record_id) == (2, 1, "case-1")
    assert reading.is_spoiled


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(json.dumps(row(id=name)) for name in "abcde"),
        "\ufeff\n \n" + "\r\n\r\n".join(json.dumps(row(id=name)) for name in "abcde"),
        "\n".join(json.dumps(row(id=name, tags=[f"{name}\u00e9\u2028"])) for name in "abcde"),
    ],
)
@pytest.mark.parametrize("wanted", [{0, 1, 2, 3, 4}, {1, 3}, {4}, set[int]()])
def test_rows_that_are_read_again_are_the_same(text: str, wanted: set[int]) -> None:
    reading = opened(text.encode())
    first = {one.index: one._replace(content=b"") for one in reading.rows()}

    assert list(reading.reread(wanted.__contains__)) == [first[index] for index in sorted(wanted)]
