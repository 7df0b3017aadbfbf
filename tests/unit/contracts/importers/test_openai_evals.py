"""OpenAI Evals: which rows are items, what they ask, and what an export cannot tell."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.contracts.importers.openai_evals import import_openai_evals
from steelyard.contracts.importers.source_row import Import, Imported
from steelyard.errors import ParseError
from steelyard.model.conversion import Refusal
from steelyard.model.json_value import JsonObject, JsonValue
from strategies.eval_cases import json_objects, json_values

ASKED: JsonObject = {"role": "user", "content": "Classify: my monitor is dark"}
DASHBOARD: JsonObject = {
    "run_id": "evalrun_1",
    "data_source_idx": 0,
    "item": {"ticket_text": "my monitor is dark", "correct_label": "Hardware"},
    "sample": {
        "trajectory": [ASKED],
        "outputs": [{"role": "assistant", "content": "Hardware"}],
    },
    "grades": {"Match": 1},
    "passes": {"Match": True},
    "grader_samples": {},
}


def imported(record: JsonObject, names: Mapping[str, str] | None = None) -> Imported:
    (only,) = import_openai_evals(record, names or {})
    assert isinstance(only, Imported)
    return only


def test_a_row_of_the_dashboard_asks_what_its_sample_was_asked() -> None:
    row, changes = imported(DASHBOARD)

    assert row["input_messages"] == [ASKED]
    assert row["expected_messages"] == [{"role": "assistant", "content": "Hardware"}]
    assert row["metadata"] == {"ticket_text": "my monitor is dark"}
    assert [change.field for change in changes] == ["sample", "graders"]
    assert all(change.is_lost for change in changes)


def test_the_same_item_of_another_run_is_the_same_case() -> None:
    other: JsonObject = {
        **DASHBOARD,
        "run_id": "evalrun_2",
        "sample": {"trajectory": [ASKED], "outputs": []},
        "grades": {},
        "passes": {},
    }

    assert imported(other).row == imported(DASHBOARD).row
    assert imported(other).changes == ()


def test_the_order_of_an_items_fields_does_not_change_its_id() -> None:
    item = DASHBOARD["item"]
    assert isinstance(item, dict)
    turned: JsonObject = {**DASHBOARD, "item": dict(reversed(item.items()))}

    assert imported(turned).row["id"] == imported(DASHBOARD).row["id"]


def test_an_output_item_of_the_api_is_read_as_well() -> None:
    record: JsonObject = {
        "object": "eval.run.output_item",
        "datasource_item": {"id": 12, "question": "2 + 2?", "sample.output_text": "4"},
        "sample": {"input": [{"role": "developer", "content": "Be brief"}], "output": [{}]},
        "results": [{"name": "g", "passed": True}],
    }
    row, changes = imported(record)

    assert row == {"id": "12", "input_messages": [{"role": "user", "content": "2 + 2?"}]}
    assert [change.field for change in changes] == ["sample", "graders"]


def test_a_classic_sample_has_input_and_ideal() -> None:
    record: JsonObject = {
        "input": [
            {"role": "system", "content": "Add.", "name": "example"},
            {"role": "user", "content": "2 + 2"},
        ],
        "ideal": "4",
    }
    row, changes = imported(record)

    assert row["input_messages"] == record["input"]
    assert row["expected_messages"] == [{"role": "assistant", "content": "4"}]
    assert changes == ()


def test_of_several_ideals_the_first_is_the_reference_and_all_are_kept() -> None:
    row, changes = imported({"input": "2 + 2", "ideal": ["4", "four"]})

    assert row["expected_messages"] == [{"role": "assistant", "content": "4"}]
    assert row["expected_outcome"] == "The answer agrees with one of these:\n- 4\n- four"
    assert row["metadata"] == {"ideal": ["4", "four"]}
    assert [(change.field, change.is_lost) for change in changes] == [("ideal", False)]


def test_several_ideals_stand_beside_a_goal_in_words() -> None:
    row, _ = imported({"input": "2 + 2", "ideal": ["4", "four"], "criteria": "Is brief"})

    assert row["expected_outcome"] == (
        "Is brief\n\nThe answer agrees with one of these:\n- 4\n- four"
    )


def test_a_goal_in_words_is_the_expected_outcome() -> None:
    row, _ = imported({"input": "Hi", "criteria": "Greets back"})

    assert row["expected_outcome"] == "Greets back"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "a"}, {"type": "input_text", "text": "c"}, "b"], "a\nc\nb"),
        ({"a": 1}, '{"a": 1}'),
        ("plain", "plain"),
    ],
)
def test_the_texts_of_a_content_become_one_text(content: JsonValue, text: str) -> None:
    row, _ = imported({"messages": [{"role": "user", "content": content}]})

    assert row["input_messages"] == [{"role": "user", "content": text}]


def test_tool_calls_are_written_in_our_form() -> None:
    call: JsonObject = {
        "id": "c1",
        "type": "function",
        "function": {"name": "find", "arguments": "{}"},
    }
    messages: list[JsonValue] = [
        {"role": "user", "content": "Find it"},
        {"role": "assistant", "content": None, "tool_calls": [call, {"name": "look"}, 7]},
        {"role": "function", "content": "found"},
        {"role": "assistant", "content": ""},
    ]
    row, _ = imported({"messages": messages})

    assert row["input_messages"] == [
        {"role": "user", "content": "Find it"},
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "tool": "find", "input": "{}"},
                {"tool": "look"},
                {"tool": "tool"},
            ],
        },
        {"role": "tool", "content": "found"},
    ]


def test_a_map_names_the_fields_that_hold_what() -> None:
    record: JsonObject = {"item": {"q": "Why?", "a": "So.", "key": "k1", "input": "no"}}
    row, _ = imported(record, {"input": "q", "expected_output": "a", "id": "key"})

    assert row["id"] == "k1"
    assert row["input_messages"] == [{"role": "user", "content": "Why?"}]
    assert row["expected_messages"] == [{"role": "assistant", "content": "So."}]


@pytest.mark.parametrize(
    "record",
    [
        {"spec": {"eval_name": "x"}},
        {"final_report": {}},
        {"run_id": "r", "event_id": 0, "sample_id": "s", "type": "match", "data": {}},
    ],
)
def test_the_log_of_a_run_is_skipped(record: JsonObject) -> None:
    found: list[Import] = import_openai_evals(record, {})

    assert [each.outcome for each in found if isinstance(each, Refusal)] == ["skipped"]


@pytest.mark.parametrize(
    ("record", "names", "told"),
    [
        ({"item": {"a": 1}}, {}, "the item has 'a', and none of messages, input"),
        ({"item": {}}, {}, "the item has no fields"),
        ({"item": 7}, {}, "'item' must be an object"),
        ({"input": "x"}, {"input": "q"}, "no field 'q' to map to 'input'; the item has 'input'"),
        ({"input": [7]}, {}, "a message must be an object, not 7"),
        (
            {"input": [{"role": "user", "content": [{"type": ["text"], "text": "x"}]}]},
            {},
            "a part of a message must be an object with a type",
        ),
        ({"input": [{"role": "boss"}]}, {}, "the role of a message must be .+, not 'boss'"),
    ],
)
def test_a_wrong_row_is_refused_with_what_would_be_right(
    record: JsonObject, names: dict[str, str], told: str
) -> None:
    with pytest.raises(ParseError, match=told):
        import_openai_evals(record, names)


@given(json_objects, json_values)
def test_any_row_is_imported_or_refused(item: JsonObject, value: JsonValue) -> None:
    records: list[JsonObject] = [{"item": item, "sample": value}, {"input": value, **item}]

    for record in records:
        with suppress(ParseError):
            assert import_openai_evals(record, {})


@given(st.lists(json_values, max_size=3))
def test_any_messages_are_imported_or_refused(messages: list[JsonValue]) -> None:
    with suppress(ParseError):
        assert import_openai_evals({"messages": messages}, {})
