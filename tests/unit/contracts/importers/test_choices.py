"""Multiple-choice benchmarks: LEXam, INCLUDE-base and LAR-ECHR."""

from __future__ import annotations

import pytest

from fakes.benchmark_rows import includebase, lar_echr, lexam_mcq, lexam_open
from steelyard.contracts.importers.includebase import import_includebase
from steelyard.contracts.importers.lar_echr import QUESTION, import_lar_echr
from steelyard.contracts.importers.lexam import import_lexam
from steelyard.contracts.importers.source_row import choice_ids
from steelyard.errors import ParseError
from steelyard.model.json_value import JsonObject, JsonValue


def test_an_open_question_has_its_answer_as_reference() -> None:
    (row,) = import_lexam(lexam_open("q1"))

    assert row == {
        "schema_version": "legal_eval_v1",
        "id": "lexam:open:q1",
        "dataset": "lexam",
        "task_type": "reference_qa",
        "prompt": "Is the contract void?",
        "reference_answers": ["Yes, under Art. 20."],
        "metadata": {"course": "Contracts", "source_id": "q1", "policy_id": "lexam_oq_v1"},
    }


def test_choices_written_as_python_are_read_and_gold_counts_from_0() -> None:
    (row,) = import_lexam(lexam_mcq("q2"))

    assert row["id"] == "lexam:mcq:q2:3"
    assert row["choices"] == [
        {"id": "A", "text": "i"},
        {"id": "B", "text": "ii"},
        {"id": "C", "text": "neither's"},
    ]
    assert row["correct_choice_ids"] == ["C"]
    assert row["metadata"] == {
        "year": 2020,
        "source_id": "q2",
        "gold_index": 2,
        "policy_id": "lexam_mcq_v1",
    }


def test_a_question_without_an_id_is_known_by_what_it_says() -> None:
    (row,) = import_lexam(lexam_open(None))
    (same,) = import_lexam(lexam_open(None, answer="Another answer."))
    (other,) = import_lexam(lexam_open(None, question="Is it valid?"))

    assert row["id"] == same["id"] != other["id"]


def test_an_answer_beside_choices_is_kept_in_metadata() -> None:
    (row,) = import_lexam(lexam_mcq(answer="see above"))

    assert isinstance(row["metadata"], dict)
    assert row["metadata"]["answer"] == "see above"


def test_a_perturbed_question_is_one_row_for_each_number_of_choices() -> None:
    record: JsonObject = {
        "id": "p",
        "question": "Which?",
        "4_choices": ["a", "b", "c", "d"],
        "4_gold": 0,
        "8_choices": list("abcdefgh"),
        "8_choices_gold": 7,
        "16_choices": None,
        "16_gold": None,
    }
    rows = import_lexam(record)

    assert [(row["id"], row["correct_choice_ids"]) for row in rows] == [
        ("lexam:mcq:p:4", ["A"]),
        ("lexam:mcq:p:8", ["H"]),
    ]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"gold": None}, "the right answer must be the number of a choice, not None"),
        ({"gold": 1.5}, "not 1.5"),
        ({"gold": True}, "not True"),
        ({"gold": 3}, "the right answer is option 3, but there are 3"),
        ({"gold": -1}, "the right answer is option -1"),
        ({"choices": "[unread"}, "column 'choices' holds no JSON"),
        ({"choices": "['a', 7]"}, "column 'choices' must hold a list of texts, but holds"),
        ({"choices": []}, "must hold a list of texts"),
        ({"choices": None}, "an open question needs a text in column 'answer'"),
        ({"question": 7}, "column 'question' must hold a text, but holds 7"),
    ],
)
def test_a_wrong_question_is_refused(changes: JsonObject, told: str) -> None:
    with pytest.raises(ParseError, match=told):
        import_lexam(lexam_mcq(**changes))


def test_an_id_of_include_is_made_of_language_question_and_options() -> None:
    (row,) = import_includebase(includebase())
    (corrected,) = import_includebase(includebase(answer=3, subject="History"))
    (elsewhere,) = import_includebase(includebase(language="Spanish"))
    (reworded,) = import_includebase(includebase(option_d="Everybody"))

    assert row["id"] == corrected["id"]
    assert len({str(each["id"]) for each in (row, elsewhere, reworded)}) == 3
    assert row["correct_choice_ids"] == ["B"]


@pytest.mark.parametrize("answer", [2, 2.0, "2", "c", " C "])
def test_the_right_option_may_be_a_number_or_a_letter(answer: JsonValue) -> None:
    (row,) = import_includebase(includebase(answer=answer))

    assert row["correct_choice_ids"] == ["C"]


def test_the_first_upload_of_include_has_its_options_in_a_list() -> None:
    record: JsonObject = {"question": "Who?", "choices": ["a", "b"], "answer": 0}
    (row,) = import_includebase(record)

    assert row["choices"] == [{"id": "A", "text": "a"}, {"id": "B", "text": "b"}]


@pytest.mark.parametrize("answer", [None, "e", 4, True])
def test_an_answer_that_names_no_option_is_refused(answer: JsonValue) -> None:
    with pytest.raises(ParseError, match="option"):
        import_includebase(includebase(answer=answer))


def test_facts_and_earlier_arguments_are_the_context() -> None:
    (row,) = import_lar_echr(lar_echr())

    assert (row["id"], row["prompt"]) == ("lar_echr:001-1_12", QUESTION)
    assert row["context"] == (
        "Facts:\nA was detained.\n\nThe arguments so far:\nThe Court notes X."
    )
    assert row["correct_choice_ids"] == ["C"]
    assert row["metadata"] == {
        "case_no": "1/99",
        "complete_facts": ["A was detained.", "B was not."],
        "source_id": "001-1_12",
        "policy_id": "lar_echr_mcq_v1",
    }


@pytest.mark.parametrize(
    ("before", "context"),
    [
        (None, "Facts:\nA was detained."),
        (["One.", "Two."], "Facts:\nA was detained.\n\nThe arguments so far:\nOne.\nTwo."),
    ],
)
def test_earlier_arguments_may_be_absent_or_a_list(before: JsonValue, context: str) -> None:
    (row,) = import_lar_echr(lar_echr(context=before))

    assert row["context"] == context


def test_a_label_that_is_no_letter_is_refused() -> None:
    with pytest.raises(ParseError, match="column 'label' must hold A, B, C or D, not 'E'"):
        import_lar_echr(lar_echr(label="e"))


@pytest.mark.parametrize(
    ("count", "last"), [(1, "A"), (26, "Z"), (27, "AA"), (32, "AF"), (703, "AAA")]
)
def test_choices_beyond_z_go_on_with_two_letters(count: int, last: str) -> None:
    ids = choice_ids(count)

    assert ids[-1] == last
    assert len(set(ids)) == count
