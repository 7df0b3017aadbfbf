"""Which records a run selects."""

from __future__ import annotations

import pytest

from steelyard.engine.selection import Clause, parse_where, value_at
from steelyard.errors import RequestError
from steelyard.model.json_value import JsonObject, JsonValue

RECORD: JsonObject = {
    "id": "q-7",
    "tags": ["loans", "Opening Day"],
    "task_type": None,
    "metadata": {
        "level": 3,
        "share": 0.5,
        "code": "007",
        "is_new": True,
        "topic": "salt and pepper",
        "parts": [{"name": "first"}, {"name": "second"}],
        "huge": 10**400,
    },
}


def holds(where: str) -> bool:
    return all(clause.holds(RECORD) for clause in parse_where(where))


@pytest.mark.parametrize(
    ("where", "is_selected"),
    [
        ("id = q-7", True),
        ("id=q-7", True),
        ("id = Q-7", False),
        ("id != q-7", False),
        ("id != q-8", True),
        ("id ~ Q", True),
        ("id ~ x", False),
        ("metadata.level > 2", True),
        ("metadata.level > 3", False),
        ("metadata.level < 3.5", True),
        ("metadata.level < 3", False),
        ("metadata.level > -1e3", True),
    ],
)
def test_each_operator_compares(where: str, is_selected: bool) -> None:
    assert holds(where) is is_selected


@pytest.mark.parametrize(
    ("where", "is_selected"),
    [
        ("metadata.level = 3", True),
        ("metadata.level = 3.0", True),
        ("metadata.level != 3.0", False),
        ("metadata.level = three", False),
        ("metadata.share = .5", True),
        ("metadata.huge > 5", True),
        ("metadata.huge = 5", False),
        # a text of digits is a text, unless it is asked to be larger or smaller
        ("metadata.code = 007", True),
        ("metadata.code = 7", False),
        ("metadata.code > 6", True),
        # a text, a flag and nothing are no numbers
        ("id > 1", False),
        ("metadata.level > two", False),
        ("metadata.is_new > 0", False),
        ("task_type < 1", False),
        ("metadata.is_new = true", True),
        ("metadata.is_new != false", True),
    ],
)
def test_numbers_compare_by_value_and_texts_by_their_letters(
    where: str, is_selected: bool
) -> None:
    assert holds(where) is is_selected


@pytest.mark.parametrize(
    ("where", "is_selected"),
    [
        ("tags = loans", True),
        ("tags = fees", False),
        ("tags != fees", True),
        ("tags != loans", False),
        ("tags ~ opening", True),
        ("tags[0] = loans", True),
        ("tags[1] = loans", False),
        ("tags[9] = loans", False),
        ("metadata.parts[1].name = second", True),
    ],
)
def test_of_a_list_any_item_may_meet_it_and_none_may_for_unequal(
    where: str, is_selected: bool
) -> None:
    assert holds(where) is is_selected


@pytest.mark.parametrize(
    ("where", "is_selected"),
    [
        ("task_type = ''", True),
        ("task_type != qa", True),
        ("metadata.nothing = ''", True),
        ("metadata.nothing ~ x", False),
        ("id.deeper = ''", True),
    ],
)
def test_what_is_not_there_is_empty(where: str, is_selected: bool) -> None:
    assert holds(where) is is_selected


@pytest.mark.parametrize(
    ("where", "is_selected"),
    [
        ("id = q-7 and metadata.level > 2", True),
        ("id = q-7 and metadata.level > 3", False),
        ("id = q-7  and\ttags = loans and metadata.level = 3", True),
    ],
)
def test_all_clauses_must_hold(where: str, is_selected: bool) -> None:
    assert holds(where) is is_selected


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("a = x", "x"),
        ("  a = two words  ", "two words"),
        ("a = 'x'", "x"),
        ('a = "x"', "x"),
        ('a = "it\'s"', "it's"),
        ("a = 'say \"so\"'", 'say "so"'),
        ("a = ' x '", " x "),
        ("a = 'salt and pepper'", "salt and pepper"),
        ("a = sand", "sand"),
        ("a = it's", "it's"),
        ("a = x=y", "x=y"),
        ("a = '=y'", "=y"),
        ("a = ''", ""),
    ],
)
def test_quotes_keep_what_is_inside(where: str, value: str) -> None:
    assert parse_where(where) == (Clause("a", "=", value),)


def test_an_and_inside_quotes_joins_nothing() -> None:
    assert holds("metadata.topic = 'salt and pepper' and id = q-7")


@pytest.mark.parametrize(
    ("where", "unread"),
    [
        ("", ""),
        ("id", "id"),
        ("id =", "id ="),
        ("= 7", "= 7"),
        ("id == 7", "id == 7"),
        ("level >= 7", "level >= 7"),
        ("level =< 7", "level =< 7"),
        ("a b = 7", "a b = 7"),
        ("id = 'open", "id = 'open"),
        ("id = 'x' y", "id = 'x' y"),
        ("id = 1 and ", ""),
        ("id = 1 and", ""),
        ("id = 1 and tags", "tags"),
    ],
)
def test_a_clause_that_cannot_be_read_is_refused(where: str, unread: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse_where(where)

    assert str(caught.value).startswith(f"cannot read '{unread}'; write PATH OP VALUE")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("id", "q-7"),
        ("metadata.level", 3),
        ("tags", ["loans", "Opening Day"]),
        ("tags[0]", "loans"),
        ("tags.first", None),
        ("metadata[0]", None),
        ("metadata.none.at.all", None),
    ],
)
def test_a_path_leads_to_a_value_or_nowhere(path: str, value: JsonValue) -> None:
    assert value_at(RECORD, path) == value
