"""`field_accuracy`."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest

from steelyard.checks.catalog import Catalog
from steelyard.checks.field_accuracy import AccurateField, FieldAccuracy
from steelyard.errors import SettingError
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import Content, Message
from steelyard.model.outcome import Outcome
from strategies.traces import said

Match = Literal["exact", "numeric_tolerance", "date"]


def expecting(content: Content) -> Case:
    return Case(id="a", expected_messages=(Message(role="assistant", content=content),))


def field(path: str, match: Match = "exact", **more: Any) -> AccurateField:
    return AccurateField(path=path, match=match, **more)


def found(
    fields: list[AccurateField],
    wanted: JsonObject,
    given: JsonValue,
    aggregation: Literal["weighted_average", "all_or_nothing"] = "weighted_average",
) -> Outcome:
    check = FieldAccuracy(fields=tuple(fields), aggregation=aggregation)
    return check.check(said(json.dumps(given)), expecting(wanted))


@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("a", {"a": 1}),
        ("a.b", {"a": {"b": 1}}),
        ("a[1].b", {"a": [{}, {"b": 1}]}),
        ("a[0][1]", {"a": [[0, 1]]}),
        ("[0].a", [{"a": 1}]),
        ("a b.c-d", {"a b": {"c-d": 1}}),
    ],
)
def test_a_path_leads_through_objects_and_lists(path: str, document: JsonValue) -> None:
    check = FieldAccuracy(fields=(field(path),))
    text = json.dumps(document)

    assert check.check(said(text), expecting(text)).passed


@pytest.mark.parametrize(
    ("path", "wanted", "given"),
    [
        ("a.b", {"a": {"b": 1}}, {"a": [1]}),
        ("a[1]", {"a": [0, 1]}, {"a": [1]}),
        ("a[0]", {"a": [1]}, {"a": {"0": 1}}),
        ("a", {"a": 1}, [1]),
    ],
)
def test_a_path_that_leads_nowhere_is_a_missing_value(
    path: str, wanted: JsonObject, given: JsonValue
) -> None:
    assert found([field(path)], wanted, given).reason == (
        f"0 of 1 field(s) as expected: {path} is missing"
    )


@pytest.mark.parametrize(
    ("one", "wanted", "given", "same"),
    [
        (field("v"), 1, 1, True),
        (field("v"), 1, 1.0, True),
        (field("v"), 1, "1", False),
        (field("v"), 1, True, False),
        (field("v"), None, None, True),
        (field("v"), {"a": [1]}, {"a": [1]}, True),
        (field("v"), {"a": [1]}, {"a": [1], "b": 2}, False),
        (field("v", "numeric_tolerance"), 10, 10, True),
        (field("v", "numeric_tolerance"), 10, 10.01, False),
        (field("v", "numeric_tolerance", tolerance=0.5), 10, 10.5, True),
        (field("v", "numeric_tolerance", tolerance=0.5), 10, 9.4, False),
        (field("v", "numeric_tolerance", tolerance=0.1, relative=True), 100, 110, True),
        (field("v", "numeric_tolerance", tolerance=0.1, relative=True), -100, -89, False),
        (field("v", "numeric_tolerance", tolerance=0.1, relative=True), 0, 0.1, True),
        (field("v", "numeric_tolerance", tolerance=0.1, relative=True), 0, 0.2, False),
        (field("v", "numeric_tolerance"), 10, " 10 ", True),
        (field("v", "numeric_tolerance"), 10, "10 EUR", False),
        (field("v", "numeric_tolerance"), 10, "nan", False),
        (field("v", "numeric_tolerance"), 1, True, False),
        (field("v", "numeric_tolerance"), 1, [1], False),
        (field("v", "numeric_tolerance", tolerance=1e300), 10**400, 1, False),
        (field("v", "date"), "2026-04-03", "2026-04-03T10:00:00Z", True),
        (field("v", "date"), "2026-04-03", "03-Apr-2026", True),
        (field("v", "date"), "2026-04-03", "04/03/2026", True),
        (field("v", "date", formats=("DD/MM/YYYY",)), "2026-04-03", "03/04/2026", True),
        (field("v", "date"), "2026-04-03", "2026-04-04", False),
        (field("v", "date"), "soon", "soon", False),
        (field("v", "date"), 20260403, 20260403, False),
        (field("v", "date"), "2026-04-03", None, False),
    ],
)
def test_a_value_is_compared_as_its_match_says(
    one: AccurateField, wanted: JsonValue, given: JsonValue, same: bool
) -> None:
    outcome = found([one], {"v": wanted}, {"v": given})

    assert (outcome.passed, outcome.score) == (same, float(same))


@pytest.mark.parametrize(
    ("aggregation", "given", "score"),
    [
        ("weighted_average", {"a": 1, "b": 2}, 1.0),
        ("weighted_average", {"a": 1, "b": 0}, 0.75),
        ("weighted_average", {"b": 2}, 0.25),
        ("weighted_average", {}, 0.0),
        ("all_or_nothing", {"a": 1, "b": 2}, 1.0),
        ("all_or_nothing", {"a": 1, "b": 0}, 0.0),
    ],
)
def test_fields_are_joined_by_weight_or_all_together(
    aggregation: Literal["weighted_average", "all_or_nothing"], given: JsonObject, score: float
) -> None:
    outcome = found([field("a", weight=3), field("b")], {"a": 1, "b": 2}, given, aggregation)

    assert outcome.score == pytest.approx(score)
    assert outcome.passed is (score == 1)


def test_without_any_weight_all_fields_must_be_right() -> None:
    fields = [field("a", weight=0), field("b", weight=0)]

    assert found(fields, {"a": 1, "b": 2}, {"a": 1, "b": 2}).score == 1
    assert found(fields, {"a": 1, "b": 2}, {"a": 1, "b": 3}).score == 0


def test_a_value_that_may_be_left_out_counts_only_where_it_is_there() -> None:
    fields = [field("a"), field("b", required=False)]

    assert found(fields, {"a": 1, "b": 2}, {"a": 1}).score == 1
    assert found(fields, {"a": 1, "b": 2}, {"a": 1, "b": 3}).score == 0.5
    assert found(fields, {"a": 1, "b": 2}, {"a": 1}).details == {
        "fields": {"a": 1.0},
        "not_compared": ["b"],
    }


def test_a_response_with_none_of_the_fields_is_wrong() -> None:
    outcome = found([field("a", required=False)], {"a": 1}, {})

    assert (outcome.passed, outcome.score) == (False, 0.0)
    assert outcome.reason == "has none of the fields, all of which may be left out"


def test_a_field_about_which_the_reference_says_nothing_counts_for_nothing() -> None:
    outcome = found([field("a"), field("b")], {"a": 1}, {"a": 2})

    assert outcome.score == 0
    assert outcome.details["not_compared"] == ["b"]


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (Case(id="a"), "the case has no reference answer that is JSON"),
        (expecting("in words"), "the case has no reference answer that is JSON"),
        (expecting("4"), "the case has no reference answer that is JSON"),
        (expecting({"b": 1}), "the reference has none of the fields"),
    ],
)
def test_without_something_to_compare_with_it_is_skipped(case: Case, reason: str) -> None:
    outcome = FieldAccuracy(fields=(field("a"),)).check(said("{}"), case)

    assert (outcome.status, outcome.reason) == ("skipped", reason)


@pytest.mark.parametrize(
    "case",
    [
        expecting({"a": 1}),
        expecting('{"a": 1}'),
        expecting('```json\n{"a": 1}\n```'),
        Case(id="a", reference_answers=("in words", '{"a": 1}')),
        Case(
            id="a",
            expected_messages=(
                Message(role="assistant", content={"a": 1}),
                Message(role="tool", content={"a": 2}),
            ),
        ),
    ],
)
@pytest.mark.parametrize(
    "response", ['{"a": 1}', '```json\n{"a": 1}\n```', 'It is {"a": 1}, as you see.']
)
def test_reference_and_response_may_have_words_around_their_json(
    case: Case, response: str
) -> None:
    assert FieldAccuracy(fields=(field("a"),)).check(said(response), case).passed


@pytest.mark.parametrize("response", ["", "one", "4", '{"a": 1', "[1"])
def test_a_response_that_is_no_json_fails(response: str) -> None:
    outcome = FieldAccuracy(fields=(field("a"),)).check(said(response), expecting({"a": 1}))

    assert (outcome.status, outcome.passed, outcome.score) == ("scored", False, 0.0)
    assert outcome.reason.startswith("is not JSON; got")


def test_the_reason_names_the_fields_that_are_wrong() -> None:
    wanted: JsonObject = dict.fromkeys("abcdef", 1)
    outcome = found([field(name) for name in "abcdef"], wanted, {"a": 1, "b": 2})

    assert outcome.reason == (
        "1 of 6 field(s) as expected: b is 2, not 1; c is missing; d is missing; e is missing "
        "and 1 more"
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"path": "a..b", "match": "exact"}, "'a..b' is no path; write such as a.b[0].c"),
        ({"path": "a[x]", "match": "exact"}, "'a[x]' is no path; write such as a.b[0].c"),
        ({"path": "a", "match": "date", "formats": ["today"]}, "'today' is no form of a date"),
    ],
)
def test_a_path_or_form_that_cannot_be_read_is_refused(settings: JsonObject, message: str) -> None:
    with pytest.raises(SettingError, match=r"is no (path|form)") as caught:
        Catalog().make("field_accuracy", {"fields": [settings]})

    assert caught.value.name == "fields"
    assert str(caught.value).startswith(message)


LONG = "x" * 50


@pytest.mark.parametrize(
    ("one", "wanted", "given", "told"),
    [
        (
            field("c", "date", formats=("DD/MM/YYYY",)),
            "01/15/2025",
            "01/15/2025",
            "'01/15/2025', and '01/15/2025' of the reference is no date of the forms YYYY-MM-DD",
        ),
        (
            field("c", "date"),
            "2025-01-15",
            20250115,
            "20250115, and 20250115 is no date of the forms YYYY-MM-DD, DD-MMM-YYYY, MM/DD/YYYY",
        ),
        (field("c", "numeric_tolerance"), 1, "one", "'one', and 'one' is no number"),
        (field("c"), 1, "1", "'1', not 1"),
        (
            field("c"),
            LONG + "a",
            LONG + "bc",
            "'xxxxxxxx… (str of 52), not 'xxxxxxxx… (str of 51); they differ further on",
        ),
    ],
)
def test_the_reason_never_shows_two_values_as_the_same(
    one: AccurateField, wanted: JsonValue, given: JsonValue, told: str
) -> None:
    outcome = found([one], {"c": wanted}, {"c": given})

    assert outcome.reason.startswith(f"0 of 1 field(s) as expected: c is {told}")
