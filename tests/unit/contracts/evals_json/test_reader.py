"""What is read from evals files, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from steelyard.checks.catalog import Catalog
from steelyard.contracts.evals_json.reader import MAX_FILE, EvalsJsonReading
from steelyard.contracts.evals_json.writer import write_evals_json
from steelyard.contracts.schemas import load_schema
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import Message
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.open_dataset import open_dataset
from strategies.evals_files import (
    entry,
    entry_errors,
    evals_file,
    opened,
    read_case,
    read_dataset,
    read_rows,
    told,
)

FULL = entry(
    expected_output="A service with injection.",
    expectations=["Uses injection"],
    must_contain_any=["EntityTypeManagerInterface"],
    must_not_contain=["\\Drupal::service("],
    check_php_lint=True,
    check_markdown_structure={"min_headings": 1, "no_h1": True, "required_sections": ["Use"]},
    mode="recipe",
)


def asked(kind: str, **settings: JsonValue) -> Evaluator:
    return Evaluator(name=kind, type=kind, settings={**settings, "required": True})


def test_an_eval_becomes_a_case() -> None:
    """EJ-01, EJ-10, EJ-13"""
    case = read_case(FULL)

    assert (case.id, case.dataset) == ("1", "services")
    assert case.input_messages == (Message(role="user", content="Write a service."),)
    assert case.expected_outcome == "A service with injection."
    assert case.extra == {"expectations": ["Uses injection"], "mode": "recipe"}
    assert case.evaluators == (
        asked("must_contain_any", phrases=["EntityTypeManagerInterface"]),
        asked("must_not_contain", phrases=["\\Drupal::service("]),
        asked("php_lint"),
        asked("markdown_structure", min_headings=1, no_h1=True, required_sections=["Use"]),
        judged("Uses injection"),
    )


def judged(*stated: str) -> Evaluator:
    items = tuple(
        RubricItem(id=f"statement-{number}", description=text)
        for number, text in enumerate(stated, start=1)
    )
    return Evaluator(name="statements", type="rubric", rubrics=items)


@pytest.mark.parametrize(
    ("lists", "stated"),
    [
        ({"expectations": ["a", "b"]}, ("a", "b")),
        ({"assertions": [{"id": "x", "text": "a", "type": "semantic"}, "b"]}, ("a", "b")),
        ({"assertions": [{"description": "a"}], "expectations": ["b"]}, ("b", "a")),
    ],
)
def test_statements_are_for_a_judge(lists: JsonObject, stated: tuple[str, ...]) -> None:
    """EJ-23"""
    assert read_case(entry(**lists)).evaluators == (judged(*stated),)


@pytest.mark.parametrize(
    ("wrong", "told_at"),
    [
        ({"assertions": [{"type": "regex"}]}, ("missing_required_field", "assertions[0].text")),
        ({"expectations": [" "]}, ("value_out_of_range", "expectations[0]")),
        ({"expectations": "all"}, ("invalid_field_type", "expectations")),
        ({"files": [{"path": "a"}]}, ("invalid_field_type", "files[0]")),
        ({"files": ["none.md"]}, ("missing_file", "files[0]")),
    ],
)
def test_statements_and_files_that_cannot_be_meant(
    wrong: JsonObject, told_at: tuple[str, str]
) -> None:
    """EJ-23, EJ-24"""
    code, path = told_at
    assert entry_errors(entry(**wrong)) == [(code, f"evals[0].{path}")]


def test_files_are_shown_before_the_prompt(tmp_path: Path) -> None:
    """EJ-24"""
    (tmp_path / "notes.md").write_text("Notes", encoding="utf-8")
    (tmp_path / "sheet.xlsx").write_bytes(b"PK\x03\x04\xff")
    path = tmp_path / "evals" / "evals.json"
    path.parent.mkdir()
    value = evals_file(entry(files=["notes.md", "sheet.xlsx"]))
    path.write_text(json.dumps(value), encoding="utf-8")
    reading = open_dataset(DiskWorkspace(tmp_path), path).reading
    assert reading
    (row,) = reading.rows()
    case = reading.case(row)

    assert [(one.severity, one.code) for one in row.findings] == [("warning", "unreadable_file")]
    (message,) = case.input_messages
    assert message.text.splitlines() == [
        "Notes",
        "[file sheet.xlsx: not shown]",
        "Write a service.",
    ]
    assert reading.hashed(row, case) != row.value
    written = json.loads(write_evals_json(reading.dataset((case,))))
    assert written["evals"] == value["evals"]


def test_every_inline_check_is_a_check_of_the_catalog() -> None:
    """EJ-13"""
    for evaluator in read_case(FULL).evaluators[:-1]:
        settings = {k: v for k, v in evaluator.settings.items() if k != "required"}

        assert Catalog().make(evaluator.type, settings).kind == evaluator.type


@pytest.mark.parametrize(
    "nothing",
    [
        {},
        {"must_contain_any": []},
        {"must_not_contain": []},
        {"check_php_lint": False},
        {"check_markdown_structure": {}},
        {"check_markdown_structure": {"no_h1": False, "required_sections": []}},
        {"check_markdown_structure": {"forbidden_patterns": [], "our_own": 1}},
    ],
)
def test_what_demands_nothing_is_no_check(nothing: JsonObject) -> None:
    """EJ-14"""
    assert read_case(entry(**nothing)).evaluators == ()


@pytest.mark.parametrize(
    "demand", [{"min_headings": 0}, {"max_heading_level": 6}, {"no_h1": True, "min_paragraphs": 0}]
)
def test_a_demand_that_is_always_met_is_a_check_all_the_same(demand: JsonObject) -> None:
    (evaluator,) = read_case(entry(check_markdown_structure=demand)).evaluators

    assert evaluator == asked("markdown_structure", **demand)


def test_further_fields_of_the_markdown_check_are_kept_apart_from_its_settings() -> None:
    """EJ-09"""
    case = read_case(entry(check_markdown_structure={"min_headings": 1, "our_own": 2}))

    assert case.evaluators == (asked("markdown_structure", min_headings=1),)
    assert case.extra == {"check_markdown_structure": {"our_own": 2}}


def test_the_dataset_has_the_name_of_the_skill() -> None:
    """EJ-02, EJ-09"""
    dataset = read_dataset(evals_file(skill_file="skills/a/SKILL.md", owner="we"))

    assert (dataset.id, dataset.contract, dataset.version) == ("services", "evals_json", None)
    assert dataset.extra == {"skill_file": "skills/a/SKILL.md", "owner": "we"}


@pytest.mark.parametrize("stem", ["caching", "caching.evals"])
def test_without_a_name_the_dataset_is_called_like_its_file(stem: str) -> None:
    """EJ-02"""
    reading = opened({"evals": [entry()]}, stem)
    (row,) = reading.rows()

    assert reading.dataset(()).id == "caching"
    assert reading.case(row).dataset == "caching"


@pytest.mark.parametrize(
    ("written", "read"), [(1, "1"), ("1", "1"), (-7, "-7"), (2.0, "2"), ("a b", "a b"), (0, "0")]
)
def test_an_id_is_a_whole_number_or_a_text(written: JsonValue, read: str) -> None:
    """EJ-05"""
    assert read_case(entry(id=written)).id == read


@pytest.mark.parametrize(
    ("written", "code"),
    [
        (1.5, "invalid_field_type"),
        (True, "invalid_field_type"),
        (None, "invalid_field_type"),
        ([1], "invalid_field_type"),
        ("", "value_out_of_range"),
        (" \t", "value_out_of_range"),
    ],
)
def test_anything_else_is_no_id(written: JsonValue, code: str) -> None:
    """EJ-05"""
    assert entry_errors(entry(id=written)) == [(code, "evals[0].id")]


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, "1"), ("1", 1.0), ("a", "a")])
def test_a_number_and_its_digits_are_the_same_id(first: JsonValue, second: JsonValue) -> None:
    """EJ-06"""
    good, bad, other = read_rows(evals_file(entry(id=first), entry(id=second), entry(id=" 1")))
    (finding,) = bad.findings

    assert (good.findings, other.findings) == ((), ())
    assert (finding.code, finding.path) == ("duplicate_record_id", "evals[1].id")
    assert finding.message == f"id '{good.record_id}' is used by an earlier eval"


def test_the_first_of_two_has_the_id_even_when_it_is_rejected() -> None:
    """EJ-06"""
    bad, second = read_rows(evals_file(entry(prompt=""), entry()))

    assert told(bad.findings) == [("value_out_of_range", "evals[0].prompt")]
    assert told(second.findings) == [("duplicate_record_id", "evals[1].id")]


@pytest.mark.parametrize(
    ("changes", "code", "path"),
    [
        ({"prompt": ""}, "value_out_of_range", "prompt"),
        ({"prompt": " \n"}, "value_out_of_range", "prompt"),
        ({"prompt": 7}, "invalid_field_type", "prompt"),
        ({"expected_output": ["a"]}, "invalid_field_type", "expected_output"),
        ({"expected_output": None}, "invalid_field_type", "expected_output"),
        ({"expectations": "a"}, "invalid_field_type", "expectations"),
        ({"expectations": ["a", 1]}, "invalid_field_type", "expectations[1]"),
        ({"must_contain_any": "a"}, "invalid_field_type", "must_contain_any"),
        ({"must_contain_any": ["a", ""]}, "value_out_of_range", "must_contain_any[1]"),
        ({"must_not_contain": [None]}, "invalid_field_type", "must_not_contain[0]"),
        ({"must_not_contain": [""]}, "value_out_of_range", "must_not_contain[0]"),
        ({"check_php_lint": "yes"}, "invalid_field_type", "check_php_lint"),
        ({"check_php_lint": 1}, "invalid_field_type", "check_php_lint"),
        ({"check_markdown_structure": True}, "invalid_field_type", "check_markdown_structure"),
    ],
)
def test_a_wrong_value_is_an_error_of_its_eval(changes: JsonObject, code: str, path: str) -> None:
    """EJ-04, EJ-07, EJ-11"""
    assert entry_errors(entry(**changes)) == [(code, f"evals[0].{path}")]


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("min_headings", -1, "value_out_of_range"),
        ("min_headings", 1.5, "invalid_field_type"),
        ("max_heading_level", 0, "value_out_of_range"),
        ("max_heading_level", 7, "value_out_of_range"),
        ("no_h1", 1, "invalid_field_type"),
        ("required_sections", "a", "invalid_field_type"),
        ("min_code_blocks", True, "invalid_field_type"),
        ("min_paragraphs", "3", "invalid_field_type"),
    ],
)
def test_a_wrong_demand_is_an_error_of_its_eval(name: str, value: JsonValue, code: str) -> None:
    """EJ-07, EJ-12"""
    path = f"evals[0].check_markdown_structure.{name}"

    assert entry_errors(entry(check_markdown_structure={name: value})) == [(code, path)]


@pytest.mark.parametrize("level", [1, 6])
def test_the_deepest_heading_is_of_level_1_to_6(level: int) -> None:
    """EJ-12"""
    assert entry_errors(entry(check_markdown_structure={"max_heading_level": level})) == []


@pytest.mark.parametrize("missing", ["id", "prompt"])
def test_an_eval_needs_an_id_and_a_prompt(missing: str) -> None:
    """EJ-04"""
    value = {name: item for name, item in FULL.items() if name != missing}

    assert entry_errors(value) == [("missing_required_field", f"evals[0].{missing}")]


@pytest.mark.parametrize("value", [None, 1, "a", [], [entry()]])
def test_an_eval_is_an_object(value: JsonValue) -> None:
    """EJ-04"""
    assert entry_errors(value) == [("invalid_field_type", "evals[0]")]


@pytest.mark.parametrize(
    ("value", "code", "path"),
    [
        ({"skill_name": "a"}, "missing_required_field", "evals"),
        ({"evals": {}}, "invalid_field_type", "evals"),
        ({"evals": None}, "invalid_field_type", "evals"),
        (evals_file(skill_name=" "), "value_out_of_range", "skill_name"),
        (evals_file(skill_name=1), "invalid_field_type", "skill_name"),
        (evals_file(skill_file=["a"]), "invalid_field_type", "skill_file"),
        ([], "invalid_field_type", ""),
        (None, "invalid_field_type", ""),
    ],
)
def test_an_error_of_the_file_leaves_no_eval_accepted(
    value: JsonValue, code: str, path: str
) -> None:
    """EJ-01, EJ-03"""
    reading = opened(value, "stem")

    assert told(reading.findings) == [(code, path)]
    assert reading.is_spoiled
    assert reading.dataset(()).id == "stem"
    assert reading.dataset(()).extra == {}


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("skil_name", "skill_name"),
        ("skillFile", "skill_file"),
    ],
)
def test_a_misspelt_name_of_the_file_is_a_warning(name: str, hint: str) -> None:
    """EJ-08"""
    (finding,) = opened({name: "a", "evals": [{}]}).findings

    assert (finding.severity, finding.code, finding.path) == ("warning", "unknown_field", name)
    assert finding.hint == f"did you mean '{hint}'?"


@pytest.mark.parametrize(
    ("changes", "path", "hint"),
    [
        ({"must_contains_any": ["a"]}, "must_contains_any", "must_contain_any"),
        ({"mustNotContain": ["a"]}, "mustNotContain", "must_not_contain"),
        ({"check_php_lints": True}, "check_php_lints", "check_php_lint"),
        (
            {"check_markdown_structure": {"min_heading": 1}},
            "check_markdown_structure.min_heading",
            "min_headings",
        ),
    ],
)
def test_a_misspelt_name_of_an_eval_is_a_warning(
    changes: JsonObject, path: str, hint: str
) -> None:
    """EJ-08"""
    (row,) = read_rows(evals_file(entry(**changes)))
    (finding,) = row.findings

    assert row.is_accepted
    assert (finding.code, finding.path) == ("unknown_field", f"evals[0].{path}")
    assert finding.hint == f"did you mean '{hint}'?"
    assert finding.strict().is_error


def test_every_error_of_an_eval_is_reported_in_the_order_of_paths() -> None:
    """EJ-04"""
    value: JsonObject = {"must_not_contain": [1, ""], "id": True, "check_php_lint": 0}

    assert entry_errors(value) == [
        ("invalid_field_type", "evals[0].check_php_lint"),
        ("invalid_field_type", "evals[0].id"),
        ("invalid_field_type", "evals[0].must_not_contain[0]"),
        ("value_out_of_range", "evals[0].must_not_contain[1]"),
        ("missing_required_field", "evals[0].prompt"),
    ]


def test_a_finding_names_the_index_and_the_id() -> None:
    """EJ-04"""
    _, row = read_rows(evals_file(entry(), entry(id=7, check_php_lint=0)))
    (finding,) = row.findings

    assert (finding.index, finding.record_id, finding.line) == (1, "7", None)


@pytest.mark.parametrize(("start", "line_break"), [(b"\xef\xbb\xbf", b"\n"), (b"", b"\r\n")])
def test_a_byte_order_mark_and_crlf_change_nothing(start: bytes, line_break: bytes) -> None:
    """EJ-16"""
    data = json.dumps(evals_file(FULL), indent=2).encode()

    assert read_dataset(start + data.replace(b"\n", line_break)) == read_dataset(data)


def test_bytes_that_are_no_utf_8_spoil_the_file() -> None:
    """EJ-16"""
    (finding,) = opened(b'{"evals": [\n"\xff"]}').findings

    assert (finding.code, finding.line) == ("invalid_encoding", 2)


@pytest.mark.parametrize(
    ("data", "line"),
    [(b"{\n'evals': []}", 2), (b'{"evals": [\n1,\n]}', 3), (b"", 1), (b'{"evals": [NaN]}', 1)],
)
def test_text_that_is_no_json_spoils_the_file(data: bytes, line: int) -> None:
    """EJ-03"""
    (finding,) = opened(data).findings

    assert (finding.code, finding.line) == ("invalid_json", line)
    assert finding.message.startswith("invalid JSON: ")


def test_a_nest_that_is_too_deep_spoils_the_file() -> None:
    """EJ-03"""
    (finding,) = opened(b'{"evals": ' + b"[" * 300 + b"]" * 300 + b"}").findings

    assert (finding.code, finding.message) == (
        "invalid_json",
        "invalid JSON: nested deeper than 200 levels",
    )


@pytest.mark.parametrize(
    ("raw", "code", "path"),
    [
        (rb'{"id": 1, "prompt": "a\ud800"}', "invalid_encoding", "prompt"),
        (rb'{"id": 1, "prompt": "a", "note": 1e999}', "value_out_of_range", "note"),
        (rb'{"id": 1, "prompt": "a", "\udc00": 1}', "invalid_encoding", "\ufffd"),
    ],
)
def test_one_odd_text_or_number_rejects_its_eval_alone(raw: bytes, code: str, path: str) -> None:
    """EJ-17"""
    data = b'{"evals": [' + raw + b', {"id": 2, "prompt": "b"}]}'
    bad, good = read_rows(data)

    assert told(bad.findings) == [(code, f"evals[0].{path}")]
    assert good.findings == ()


def test_an_odd_text_in_the_header_spoils_the_file() -> None:
    """EJ-17"""
    reading = opened(rb'{"skill_file": "\ud800", "evals": [{"id": 2, "prompt": "b"}]}')

    assert told(reading.findings) == [("invalid_encoding", "skill_file")]
    assert reading.is_spoiled


def test_an_escaped_nul_is_text() -> None:
    """EJ-17"""
    assert read_case(entry(prompt="a\0b")).input_messages[0].content == "a\0b"


def test_a_file_over_100_mb_is_refused() -> None:
    """EJ-18"""
    small, large = (b'{"evals": [{}]}'.ljust(size) for size in (MAX_FILE, MAX_FILE + 1))

    assert opened(small).findings == ()
    assert told(opened(large).findings) == [("payload_too_large", "")]


YAML = b"""\
skill_name: services
evals:
  - id: 1
    prompt: Write a service.
    must_contain_any: [EntityTypeManagerInterface]
  - id: 2
    prompt: Another.
    check_php_lint: "yes"
"""


def test_the_same_keys_may_be_written_in_yaml() -> None:
    """EJ-15"""
    reading = EvalsJsonReading(parse_yaml(YAML), "data", file="data.yaml")
    good, bad = reading.rows()
    case = reading.case(good)
    (finding,) = bad.findings

    assert case == read_case(entry(must_contain_any=["EntityTypeManagerInterface"]))
    assert (case.place.file, case.place.line, case.place.index) == ("data.yaml", 3, 0)
    assert (finding.path, finding.line) == ("evals[1].check_php_lint", 8)


def test_a_misspelt_name_in_yaml_has_its_line() -> None:
    """EJ-15"""
    reading = EvalsJsonReading(parse_yaml(b"evals: [{}]\nskil_name: a\n"), "data")

    assert [(finding.path, finding.line) for finding in reading.findings] == [("skil_name", 2)]


def test_the_hash_of_an_eval_is_over_the_eval_as_it_stands() -> None:
    reading = opened(evals_file(FULL))
    (row,) = reading.rows()

    assert reading.hashed(row, reading.case(row)) == FULL


def test_the_demands_of_the_schema_are_those_of_the_check() -> None:
    """EJ-12: a list may be empty here, and its texts may not."""
    stated = cast(Any, load_schema("evals_json"))["$defs"]["markdown_structure"]["properties"]
    own = cast(Any, Catalog().fragment("markdown_structure"))["properties"]

    assert stated.keys() == own.keys()
    for name, rule in own.items():
        rule.pop("minItems", None)
        if "items" in rule:
            rule["items"].pop("description")
        assert {**rule, "title": stated[name]["title"]} == stated[name]
