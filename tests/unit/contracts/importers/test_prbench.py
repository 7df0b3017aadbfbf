"""PRBench rows: conversations, references, and the weight that the class names."""

from __future__ import annotations

import pytest

from fakes.benchmark_rows import criterion, prbench
from steelyard.contracts.importers.prbench import import_prbench
from steelyard.errors import ParseError
from steelyard.model.json_value import JsonObject, JsonValue


def test_one_turn_is_one_message_that_says_the_prompt() -> None:
    (row,) = import_prbench(prbench("t1"))

    assert (row["id"], row["task_type"], row["prompt"]) == (
        "prbench:t1",
        "rubric_qa",
        "May I cancel?",
    )
    assert row["messages"] == [{"role": "user", "content": "May I cancel?"}]


def test_turns_become_a_conversation_that_ends_with_the_last_prompt() -> None:
    record = prbench(response_0="That depends.", model_0="m-1", prompt_1="On what?")
    (row,) = import_prbench(record)
    metadata = row["metadata"]

    assert row["messages"] == [
        {"role": "user", "content": "May I cancel?"},
        {"role": "assistant", "content": "That depends."},
        {"role": "user", "content": "On what?"},
    ]
    assert row["prompt"] == "On what?"
    assert isinstance(metadata, dict)
    assert metadata["models"] == ["m-1"]


def test_reference_texts_stand_before_the_prompt_of_their_turn() -> None:
    record = prbench(response_0="…", prompt_1="And now?", reference_texts_1=["Art. 1", "Art. 2"])
    (row,) = import_prbench(record)
    messages = row["messages"]

    assert isinstance(messages, list)
    assert messages[-1] == {
        "role": "user",
        "content": "Reference Text 1:\nArt. 1\n\nReference Text 2:\nArt. 2\n\nAnd now?",
    }
    assert row["prompt"] == "And now?"


def test_a_criterion_keeps_id_title_description_weight_and_category() -> None:
    (row,) = import_prbench(prbench())

    assert row["rubric"] == [
        {
            "id": "a",
            "title": "Names a",
            "description": "Why a matters",
            "weight": 5.0,
            "metadata": {"category": "Accuracy"},
        },
        {
            "id": "b",
            "title": "Names b",
            "description": "Why b matters",
            "weight": -4.0,
            "metadata": {"category": "Accuracy"},
        },
    ]


def test_a_criterion_may_lack_a_description_and_a_category() -> None:
    bare: JsonObject = {"weight_class": "important", "important_weight": 4}
    (row,) = import_prbench(prbench(rubric=[{"id": "a", "title": "A", "annotations": bare}]))

    assert row["rubric"] == [{"id": "a", "title": "A", "weight": 4}]


def test_the_weight_is_that_of_the_class_and_never_of_another_column() -> None:
    odd = criterion("a", "slightly important", 2.0)
    annotations = odd["annotations"]
    assert isinstance(annotations, dict)
    annotations["critically_important_weight"] = 9.0
    (row,) = import_prbench(prbench(rubric=[odd]))

    assert isinstance(row["rubric"], list)
    assert isinstance(row["rubric"][0], dict)
    assert row["rubric"][0]["weight"] == 2.0


def test_the_canary_and_every_other_column_are_kept() -> None:
    (row,) = import_prbench(prbench("t9", topic=None))

    assert row["metadata"] == {
        "turns": 1,
        "field": "Legal",
        "canary": "canary:t9",
        "policy_id": "prbench_v1",
        "source_id": "t9",
    }


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("prompt_0", None, "the last of the columns 'prompt_0', 'prompt_1', … must hold a text"),
        ("response_0", "An end.", "must hold a text"),
        ("rubric", [], "column 'rubric' must hold a list of criteria"),
        ("rubric", "{", "column 'rubric' holds no JSON"),
        ("rubric", [7], r"rubric\[0\] must be an object"),
        ("rubric", [{"id": "a"}], r"rubric\[0\].annotations must be an object"),
        (
            "rubric",
            [criterion("a", "important", None)],
            r"rubric\[0\]: weight_class is 'important', but 'important_weight' holds no number",
        ),
        ("task", True, "column 'task' must hold an id, but holds true"),
        ("task", "  ", "column 'task' must hold an id, but is blank"),
    ],
)
def test_a_wrong_row_is_refused_with_the_reason(column: str, value: JsonValue, told: str) -> None:
    with pytest.raises(ParseError, match=told):
        import_prbench(prbench(**{column: value}))
