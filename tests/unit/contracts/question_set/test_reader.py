"""Question sets: what is read, and what is wrong with them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from steelyard.contracts.question_set.reader import QuestionSetReading
from steelyard.contracts.reading import Row
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.case import Case, Place
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonValue
from steelyard.model.message import Message

BUNDLES = {"rag": ["expected_fact", "documents"]}
PAGE = Path(__file__).parents[4] / "docs" / "contracts" / "question_set.md"


def opened(text: str | bytes) -> QuestionSetReading:
    """A question set from YAML, or from JSON when it comes as bytes."""
    content = text if isinstance(text, bytes) else parse_yaml(text.encode())
    return QuestionSetReading(content, "data", file="data.yaml")


def rows(*questions: Any, **header: Any) -> list[Row]:
    document = json.dumps({**header, "questions": list(questions)})
    reading = opened(document)
    assert reading.findings == ()
    return list(reading.rows())


def told(row: Row) -> list[tuple[str, str, str | None]]:
    return [(finding.code, finding.path, finding.hint) for finding in row.findings]


def case(**fields: JsonValue) -> Case:
    """The case of one question."""
    reading = opened(json.dumps({"questions": [{"id": "a", "input": "What?", **fields}]}))
    (row,) = reading.rows()
    assert row.findings == ()
    return reading.case(row)


def test_the_examples_of_the_documentation_are_read() -> None:
    """QS-01"""
    examples = re.findall("```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)

    for example in examples:
        reading = opened(example)
        assert reading.findings == ()
        assert [row.findings for row in reading.rows()] == [()] * len(list(reading.rows()))
    assert examples


class TestCases:
    def test_a_question_is_one_message_of_the_user(self) -> None:
        """QS-08"""
        assert case() == Case(
            id="a", dataset="data", input_messages=(Message(role="user", content="What?"),)
        )

    def test_what_has_a_field_of_its_own_stands_there(self) -> None:
        """QS-08"""
        found = case(
            rubric_ref="rubric/basic@1.2", bundle="rag", metadata={"topic": "x"}, note=[1]
        )

        assert (found.rubric_ref, found.bundle) == ("rubric/basic@1.2", "rag")
        assert (found.metadata, found.extra) == ({"topic": "x"}, {"note": [1]})

    @pytest.mark.parametrize(
        ("expected", "answers", "demands"),
        [
            ("At nine.", ("At nine.",), {}),
            ("", ("",), {}),
            ({"answer": "At nine."}, ("At nine.",), {}),
            ({"answer": "9", "format": "json"}, ("9",), {"format": "json"}),
            ({"format": "text", "tone": "polite"}, (), {"format": "text", "tone": "polite"}),
            ({}, (), {}),
        ],
    )
    def test_an_expected_answer_is_a_reference_answer(
        self, expected: JsonValue, answers: tuple[str, ...], demands: dict[str, Any]
    ) -> None:
        """QS-04"""
        found = case(expected=expected)

        assert (found.reference_answers, found.expected) == (answers, demands)

    def test_facts_and_tools_stay_under_their_names(self) -> None:
        """QS-05"""
        tools: list[JsonValue] = ["search", {"name": "book", "args": {"seats": 2}}]
        found = case(expected={"format": "text"}, expected_facts=["a"], expected_tools=tools)

        assert found.expected == {
            "format": "text",
            "expected_facts": ["a"],
            "expected_tools": tools,
        }

    @pytest.mark.parametrize(
        ("criteria", "outcome"),
        [
            ("Names it.", "Names it."),
            (["Names it."], "Names it."),
            (["Names it.", "Is polite."], "- Names it.\n- Is polite."),
            ([], ""),
        ],
    )
    def test_criteria_are_the_expected_outcome(self, criteria: JsonValue, outcome: str) -> None:
        """QS-03"""
        found = case(criteria=criteria)

        assert found.expected_outcome == outcome
        assert found.extra == ({} if isinstance(criteria, str) else {"criteria": criteria})

    def test_a_case_knows_where_it_was_read(self) -> None:
        reading = opened("questions:\n- id: a\n  input: What?\n")
        (row,) = reading.rows()

        assert reading.case(row).place == Place(file="data.yaml", line=2, index=0)
        assert reading.hashed(row, reading.case(row)) == {"id": "a", "input": "What?"}


class TestDataset:
    def test_the_dataset_is_called_after_its_file(self) -> None:
        """QS-08"""
        header = "description: D\nversion: 2\nmetadata: {a: 1}\nlicence: CC0\n"
        dataset = opened(header + "questions: [{}]\n").dataset(())

        assert (dataset.id, dataset.contract, dataset.version) == ("data", "question_set", "2")
        assert (dataset.description, dataset.metadata) == ("D", {"a": 1})
        assert dataset.extra == {"licence": "CC0"}

    def test_a_spoiled_document_has_no_header_to_trust(self) -> None:
        """QS-10"""
        reading = opened("description: 7\nlicence: CC0\nquestions: [{id: a, input: b}]\n")

        assert reading.is_spoiled
        assert reading.dataset(()).extra == {}
        assert len(list(reading.rows())) == 1

    def test_a_misspelt_header_field_spoils_nothing(self) -> None:
        """QS-02"""
        reading = opened("licens: CC0\ndescripton: D\nquestions: [{}]\n")

        assert [finding.severity for finding in reading.findings] == ["warning"]
        assert not reading.is_spoiled
        assert reading.dataset(()).extra == {"licens": "CC0", "descripton": "D"}


class TestBundles:
    @pytest.mark.parametrize(
        ("bundle", "field", "hint"),
        [
            ("rag", "expected_fact", None),
            ("rag", "documents", None),
            ("rag", "document", "did you mean 'documents'?"),
            ("rag", "expected_facs", "did you mean 'expected_fact'?"),
            ("rag", "something_else", None),
            ("agent", "expected_fact", "did you mean 'expected_facts'?"),
            (None, "expected_fact", "did you mean 'expected_facts'?"),
            (None, "document", None),
        ],
    )
    def test_a_name_that_the_bundle_declares_is_no_typo(
        self, bundle: str | None, field: str, hint: str | None
    ) -> None:
        """QS-07"""
        question = {"id": "a", "input": "b", field: 1}
        (row,) = rows({**question, "bundle": bundle} if bundle else question, bundles=BUNDLES)

        assert told(row) == ([("unknown_field", f"questions[0].{field}", hint)] if hint else [])

    def test_a_bundle_cannot_loosen_the_contract(self) -> None:
        """QS-07"""
        (row,) = rows({"id": 7, "input": "b", "bundle": "x"}, bundles={"x": ["id"]})

        assert told(row) == [("invalid_field_type", "questions[0].id", None)]


class TestFindings:
    def test_the_failure_that_started_this_contract_is_told(self) -> None:
        """QS-02"""
        (row,) = rows({"id": "a", "input": "b", "expecteed_facts": ["x"]})
        (finding,) = row.findings

        assert finding == Finding(
            severity="warning",
            code="unknown_field",
            message="unknown field 'expecteed_facts'",
            path="questions[0].expecteed_facts",
            line=1,
            index=0,
            record_id="a",
            hint="did you mean 'expected_facts'?",
        )
        assert row.is_accepted
        assert finding.strict().is_error

    def test_json_has_paths_and_no_lines(self) -> None:
        """QS-09"""
        reading = opened(b'{"questions": [{"id": "a"}], "versoin": 1}')
        (row,) = reading.rows()

        assert {finding.line for finding in (*reading.findings, *row.findings)} == {None}
        assert row.line is None

    def test_yaml_and_json_say_the_same(self) -> None:
        """QS-09"""
        text = '{"questions": [{"id": "a", "input": "b", "expected": "c"}]}'
        first, second = opened(text), opened(text.encode())
        cases = [[reading.case(row) for row in reading.rows()] for reading in (first, second)]

        assert cases[0] == cases[1]

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            (b"{", "invalid_json"),
            (b'{"questions": [], }', "invalid_json"),
            (b"\xff", "invalid_encoding"),
            (b'{"questions": [\x00]}', "invalid_json"),
            (b"[" * 300 + b"]" * 300, "invalid_json"),
        ],
    )
    def test_text_that_is_no_json_spoils_the_document(self, text: bytes, code: str) -> None:
        """QS-10"""
        reading = opened(text)

        assert [finding.code for finding in reading.findings] == [code]
        assert reading.is_spoiled
        assert list(reading.rows()) == []

    @pytest.mark.parametrize(
        ("text", "path"),
        [("[]", ""), ("a", ""), ("{}", "questions"), ("questions: {a: 1}", "questions")],
    )
    def test_a_document_without_a_list_of_questions_is_wrong_as_a_whole(
        self, text: str, path: str
    ) -> None:
        """QS-10"""
        reading = opened(text)

        assert [finding.path for finding in reading.findings] == [path]
        assert list(reading.rows()) == []

    def test_one_odd_string_spoils_its_question_alone(self) -> None:
        """QS-10"""
        reading = opened(
            b'{"questions": [{"id": "a", "input": "\\ud800"}, {"id": "b", "input": "c"}]}'
        )

        assert [row.is_accepted for row in reading.rows()] == [False, True]
        assert not reading.is_spoiled

    def test_the_first_of_two_with_one_id_is_kept(self) -> None:
        """QS-06"""
        first, second, third = rows(
            {"id": "a", "input": "b"}, {"id": "a", "input": "c"}, {"id": "a"}
        )

        assert first.is_accepted
        assert told(second) == [("duplicate_record_id", "questions[1].id", None)]
        assert [code for code, _, _ in told(third)] == [
            "duplicate_record_id",
            "missing_required_field",
        ]

    def test_a_row_has_a_place_for_what_is_found_out_later(self) -> None:
        reading = opened("questions:\n- id: a\n  input: b\n  rubric_ref: rubric/x\n")
        (row,) = reading.rows()
        place = reading.place_of(row)

        assert (place.index, place.record_id, place.start) == (0, "a", ("questions", 0))
        assert place.lines
        assert place.lines.at(("rubric_ref",)) == 4
