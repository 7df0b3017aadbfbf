"""The records of a run are found alike in the store and in its folder alone."""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from fakes.old_runs import engine_of
from fakes.projects import Project, row
from fakes.review_project import write_review
from fakes.stores import stores_on_server
from fakes.targets import ScriptedTarget, fails
from steelyard import evaluate
from steelyard.errors import InvalidError, NotFoundError, RequestError
from steelyard.project import open_project
from steelyard.results.records import RecordQuery
from steelyard.store.runs.stored_records import StoredRecords
from steelyard.usecases.results.cursors import cursor_of
from steelyard.usecases.results.folder_records import FolderRecords
from steelyard.usecases.results.records import (
    Records,
    count_records,
    cursor_at,
    list_predictions,
    parse_sort,
    place_in_list,
    show_record,
)

CHECKS = [
    {"type": "equals", "value": "yes", "name": "says yes"},
    {"type": "contains", "value": "y", "name": "has y"},
]
ROWS = [
    row("a", tags=["red", "big"], evaluators=CHECKS),
    row("b", tags=["Red"], evaluators=CHECKS, input='Who said "50 % of Zürich"?'),
    row("c", tags=["red"], evaluators=CHECKS),
    row("7", evaluators=CHECKS),
    row("a", evaluators=CHECKS, input="twice"),
    row("mail", evaluators=CHECKS, tags=["sam@example.org"], input="Ask sam@example.org"),
]
SCRIPT = {"b": ["maybe"], "c": [fails("timeout"), fails("bad_request")], "7": ["no"]}


def both(*names: str) -> list[tuple[str, int]]:
    return [(name, repeat) for name in names for repeat in (0, 1)]


TWICE = [("a", 0)]
"""An id that was there before makes an invalid record, which is not asked."""
ALL = [*both("a", "b", "c", "7"), *TWICE, *both("mail")]
Made = Callable[[Project, str, Path], Records]


def stored(project: Project, run_id: str, _folder: Path) -> Records:
    return StoredRecords(engine_of(project.ports()), run_id)


def copied(project: Project, _run_id: str, folder: Path) -> Records:
    return FolderRecords(Path(shutil.copytree(folder, project.root / "copied")))


def served(project: Project, run_id: str, folder: Path) -> Records:
    return stored(project, run_id, folder)


@pytest.fixture(
    scope="module", params=[stored, copied, pytest.param(served, marks=pytest.mark.trials)]
)
def records(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Records]:
    """The records of a run with two repeats, from any place."""
    made: Made = request.param
    with stores_on_server(os.environ) if made is served else nullcontext():
        project = Project(tmp_path_factory.mktemp("project"))
        run = project.run(project.ports(ScriptedTarget(SCRIPT)), project.cases(ROWS), repeat=2)
        yield made(project, run.run_id, Path(run.folder))
        project.close()


def places(records: Records, limit: int = 100, **wanted: Any) -> list[tuple[str | None, int]]:
    """The records that a query finds, by id and repeat, all its pages after one another."""
    query = RecordQuery(**wanted)
    page = list_predictions(records, query, limit=limit)
    found = list(page.rows)
    while page.next_cursor:
        page = list_predictions(records, query, cursor=page.next_cursor, limit=limit)
        found += page.rows
    return [(line.record_id, line.repeat) for line in found]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ALL),
        ({"status": "evaluation_error"}, both("c")),
        ({"status": "invalid_record"}, TWICE),
        ({"status": "nothing"}, []),
        ({"passed": True}, both("a", "mail")),
        ({"passed": False}, both("b", "7")),
        ({"check": "has y"}, both("a", "b", "7", "mail")),
        ({"check": "has y", "passed": False}, both("7")),
        ({"check": "says yes", "passed": False}, both("b", "7")),
        ({"check": "nobody"}, []),
        ({"tag": "red"}, both("a", "c")),
        ({"tag": "Red"}, both("b")),
        ({"tag": "re"}, []),
        ({"tag": "[redacted:email]"}, both("mail")),
        ({"label": "bad_request"}, both("c")),
        ({"record_id": "a"}, [*both("a"), *TWICE]),
        ({"text": "ZüRICH"}, both("b")),
        ({"text": 'said "50 % of'}, both("b")),
        ({"text": "0%"}, []),
        ({"text": "MAYBE"}, both("b")),
        ({"text": "evaluator_scores"}, []),
        ({"text": "sam@example.org"}, []),
        ({"text": "x" * 60_000}, []),
        ({"text": "\ud800"}, []),
        ({"record_id": "\ud800"}, []),
        ({"tag": "red", "passed": True}, both("a")),
        ({"slice": ("tags", "red")}, both("a", "c")),
        ({"slice": ("tags", "re")}, []),
        ({"slice": ("tags", "[redacted:email]")}, both("mail")),
        ({"slice": ("task_type", "red")}, []),
        ({"slice": ("tags", '"\ud800')}, []),
        ({"only": "unscored"}, [*both("c"), *TWICE]),
        ({"only": "look"}, [*both("b", "c", "7"), *TWICE]),
        ({"only": "look", "among": ((0, 1), (1, 0))}, [("a", 1), *both("b", "c", "7"), *TWICE]),
        ({"only": "read", "among": ((0, 1), (1, 0))}, [("a", 1), ("b", 0)]),
        ({"only": "differs", "among": ((0, 1),), "passed": False}, []),
        ({"only": "read"}, []),
        ({"only": "split"}, []),
    ],
)
def test_records_are_found_by_what_they_are(
    records: Records, wanted: dict[str, Any], found: list[tuple[str, int]]
) -> None:
    assert places(records, **wanted) == found
    assert places(records, limit=1, **wanted) == found
    assert count_records(records, RecordQuery(**wanted)) == len(found)


@pytest.mark.parametrize(
    ("sort", "found"),
    [
        ("-index", ALL[::-1]),
        ("score", [*both("7", "b", "a", "mail", "c"), *TWICE]),
        ("-score", [*both("a", "mail", "b", "7", "c"), *TWICE]),
        ("passed", [*both("b", "7", "a", "mail", "c"), *TWICE]),
        ("status", [*both("a", "b", "7", "mail", "c"), *TWICE]),
        ("-status", [*TWICE, *both("c", "a", "b", "7", "mail")]),
        ("label", [*both("c"), *TWICE, *both("a", "b", "7", "mail")]),
        ("verdict", [*both("c"), *TWICE, *both("b", "7", "a", "mail")]),
        ("-verdict", [*both("a", "mail", "b", "7", "c"), *TWICE]),
    ],
)
@pytest.mark.parametrize("limit", [1, 3, 100])
def test_pages_of_a_sorted_list_miss_no_record_and_repeat_none(
    records: Records, sort: str, found: list[tuple[str, int]], limit: int
) -> None:
    assert places(records, limit, sort=parse_sort(sort)) == found


def test_all_records_are_counted_at_once(records: Records) -> None:
    found = records.counts()

    assert (found.rows, found.passed, found.failed, found.unscored) == (11, 4, 4, 3)
    assert found.statuses == {"evaluated": 8, "evaluation_error": 2, "invalid_record": 1}
    assert found.labels == {"bad_request": 2, "duplicate_record_id": 1}
    assert found.checks == {"says yes": (4, 4, 0), "has y": (6, 2, 0)}
    assert found.split == 0


@pytest.mark.parametrize("sort", ["index", "verdict", "-score"])
def test_a_page_is_found_by_how_many_records_come_before_it(records: Records, sort: str) -> None:
    query = RecordQuery(sort=parse_sort(sort))
    every = list_predictions(records, query, limit=100).rows

    assert cursor_at(records, query, 0) is None
    for skip in (1, 5, 10):
        page = list_predictions(records, query, cursor=cursor_at(records, query, skip), limit=2)
        assert [*page.rows] == [*every[skip : skip + 2]]
    assert cursor_at(records, query, 99) is None


def test_the_verdicts_on_records_are_found_by_id_and_index(records: Records) -> None:
    found = records.verdicts(["b", "2", "nobody", "007"])

    assert [astuple(one) for one in sorted(found)] == [
        (1, 0, "b", False),
        (1, 1, "b", False),
        (2, 0, "c", None),
        (2, 1, "c", None),
    ]


def test_records_that_split_a_jury_are_found(tmp_path: Path) -> None:
    write_review(tmp_path)
    with open_project(tmp_path) as project:
        run = evaluate("desk.json", target="desk", rubric="rubric/jury@1.0", project=project)
        folder = project.run_folder(run.run_id)

        for records in (StoredRecords(project.store, run.run_id), FolderRecords(folder)):
            split = places(records, only="split")
            needing = places(records, only="look")
            assert records.counts().split == len(split) == 7
            assert {*places(records, passed=False), *split, ("r39", 0)} == {*needing}


@pytest.mark.parametrize(
    ("record", "repeat", "found"),
    [
        ("b", None, [(1, 0), (1, 1)]),
        ("b", 1, [(1, 1)]),
        ("a", None, [(0, 0), (0, 1), (4, 0)]),
        ("7", None, [(3, 0), (3, 1)]),
        ("2", None, [(2, 0), (2, 1)]),
        (2, 0, [(2, 0)]),
        (5, None, [(5, 0), (5, 1)]),
    ],
)
def test_one_record_is_shown_by_its_id_or_its_index(
    records: Records, record: str | int, repeat: int | None, found: list[tuple[int, int]]
) -> None:
    view = show_record(records, record, repeat)

    assert [(one.index, one.repeat) for one in view.rows] == found
    assert {(one.index, one.repeat) for one in view.attempts} == {*found} - {(4, 0)}
    assert all(one.evaluator_scores for one in view.rows if one.status == "evaluated")


def test_a_record_is_shown_with_its_attempts_and_its_failure(records: Records) -> None:
    view = show_record(records, "c", 0)

    assert [one.error_code for one in view.attempts] == ["timeout", "bad_request"]
    assert [(place, one.label) for place, one in view.failures.items()] == [
        ((2, 0), "bad_request")
    ]


@pytest.mark.parametrize(
    "record",
    ["nobody", "6", 6, "²", -1, 2**63 - 1, 2**64, f"{2**63 - 1}", "9" * 23, "9" * 5000, "\ud800"],
)
def test_an_unknown_record_is_told(records: Records, record: str | int) -> None:
    shown = str(record).replace("\ud800", r"\\ud800")
    with pytest.raises(NotFoundError, match=f"no record '{shown}' in "):
        show_record(records, record)


def test_a_cursor_belongs_to_its_query(records: Records) -> None:
    cursor = list_predictions(records, RecordQuery(), limit=1).next_cursor

    assert cursor is not None
    with pytest.raises(RequestError, match="other filters or another order"):
        list_predictions(records, RecordQuery(passed=True), cursor=cursor)
    for wrong in ("", "!", "YQ", cursor[:-3]):
        with pytest.raises(RequestError, match="is not a cursor"):
            list_predictions(records, RecordQuery(), cursor=wrong)


def test_a_repeat_beyond_all_numbers_is_unknown(records: Records) -> None:
    for repeat in (-1, 2, 2**63 - 1, 2**64):
        with pytest.raises(NotFoundError, match=rf"no record 'a' \(repeat {repeat}\) in "):
            show_record(records, "a", repeat)


@pytest.mark.parametrize("place", [(-1, 0), (2**63, 0), (10**30, 0), (0, 2**64)])
def test_a_cursor_beyond_all_numbers_is_none(records: Records, place: tuple[int, int]) -> None:
    given = cursor_of(None, RecordQuery())
    mark, _ = json.loads(base64.urlsafe_b64decode(given + "=" * (-len(given) % 4)))
    forged = base64.urlsafe_b64encode(json.dumps([mark, [None, *place]]).encode()).decode()

    with pytest.raises(InvalidError, match="is not a cursor"):
        list_predictions(records, RecordQuery(), cursor=forged)


@pytest.mark.parametrize(
    ("sort", "value"),
    [
        *(("score", "high"), ("score", True), ("passed", 1), ("passed", "yes")),
        *(("status", 1.5), ("label", False), ("index", "first")),
    ],
)
def test_a_cursor_has_a_value_that_the_list_is_sorted_by(
    records: Records, sort: str, value: object
) -> None:
    query = RecordQuery(sort=parse_sort(sort))
    forged = cursor_of((value, 0, 0), query)

    with pytest.raises(InvalidError, match="is not a cursor"):
        list_predictions(records, query, cursor=forged)


@pytest.mark.parametrize("made", [stored, copied])
def test_a_tag_is_refused_where_no_tags_were_kept(project: Project, made: Made) -> None:
    project.write("steelyard.yaml", "slices: [task_type]\n")
    run = project.run(project.ports(ScriptedTarget()), project.cases(ROWS[:1]))
    records = made(project, run.run_id, Path(run.folder))

    assert len(list_predictions(records, RecordQuery()).rows) == 1
    with pytest.raises(InvalidError, match="has kept no tags, since 'tags' is not among"):
        list_predictions(records, RecordQuery(tag="red"))


@pytest.mark.parametrize("limit", [0, -1, -2, 2**63])
def test_a_page_holds_at_least_one_record(records: Records, limit: int) -> None:
    with pytest.raises(InvalidError, match=f"limit must be a whole number from 1 to .*{limit}"):
        list_predictions(records, RecordQuery(), limit=limit)


def test_an_unknown_order_is_told() -> None:
    with pytest.raises(RequestError, match="cannot sort by 'weight'; known fields: index, "):
        parse_sort("-weight")


@pytest.mark.parametrize(
    "sort",
    [
        "index",
        "-index",
        "status",
        "passed",
        "-score",
        "label",
        "verdict",
        "-verdict",
        "latency",
        "-cost",
    ],
)
@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"passed": False},
        {"status": "evaluation_error"},
        {"text": "e"},
        {"only": "look", "among": ((0, 0),)},
        {"slice": ("tags", "red")},
    ],
)
def test_a_record_has_the_same_neighbours_as_in_the_list(
    records: Records, sort: str, wanted: dict[str, Any]
) -> None:
    query = RecordQuery(sort=parse_sort(sort), **wanted)
    listed = [row.place for row in list_predictions(records, query, limit=100).rows]
    assert listed
    for number, place in enumerate(listed, start=1):
        before = listed[number - 2] if number > 1 else None
        after = listed[number] if number < len(listed) else None
        assert place_in_list(records, query, place) == (number, len(listed), before, after)


def test_a_record_that_is_not_in_a_list_has_no_neighbours(records: Records) -> None:
    query = RecordQuery(passed=False)
    total = len(list_predictions(records, query, limit=100).rows)
    assert place_in_list(records, query, (9_999, 0)) == (None, total, None, None)
