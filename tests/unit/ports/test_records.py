"""The records of a run are found alike in the store and in its folder alone."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.old_runs import engine_of
from fakes.projects import Project, row
from fakes.targets import ScriptedTarget, fails
from steelyard.errors import InvalidError, NotFoundError, RequestError
from steelyard.results.records import RecordQuery
from steelyard.store.runs.stored_records import StoredRecords
from steelyard.usecases.results.cursors import cursor_of
from steelyard.usecases.results.folder_records import FolderRecords
from steelyard.usecases.results.records import Records, list_records, parse_sort, show_record

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


@pytest.fixture(scope="module", params=[stored, copied])
def records(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Records]:
    """The records of a run with two repeats, from either place."""
    project = Project(tmp_path_factory.mktemp("project"))
    run = project.run(project.ports(ScriptedTarget(SCRIPT)), project.cases(ROWS), repeat=2)
    made: Made = request.param
    yield made(project, run.run_id, Path(run.folder))
    project.close()


def places(records: Records, limit: int = 100, **wanted: Any) -> list[tuple[str | None, int]]:
    """The records that a query finds, by id and repeat, all its pages after one another."""
    query = RecordQuery(**wanted)
    page = list_records(records, query, limit=limit)
    found = list(page.records)
    while page.next_cursor:
        page = list_records(records, query, cursor=page.next_cursor, limit=limit)
        found += page.records
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
    ],
)
def test_records_are_found_by_what_they_are(
    records: Records, wanted: dict[str, Any], found: list[tuple[str, int]]
) -> None:
    assert places(records, **wanted) == found
    assert places(records, limit=1, **wanted) == found


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
    ],
)
@pytest.mark.parametrize("limit", [1, 3, 100])
def test_pages_of_a_sorted_list_miss_no_record_and_repeat_none(
    records: Records, sort: str, found: list[tuple[str, int]], limit: int
) -> None:
    assert places(records, limit, sort=parse_sort(sort)) == found


def test_a_line_says_what_became_of_a_record(records: Records) -> None:
    passed, failed = (
        list_records(records, RecordQuery(record_id=name)).records[0] for name in ("a", "c")
    )

    assert (passed.index, passed.target, passed.status) == (0, "scripted", "evaluated")
    assert (passed.passed, passed.score, passed.tags) == (True, 1.0, ("red", "big"))
    assert (failed.label, failed.reason) == ("bad_request", "bad_request on purpose")


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
    cursor = list_records(records, RecordQuery(), limit=1).next_cursor

    assert cursor is not None
    with pytest.raises(RequestError, match="other filters or another order"):
        list_records(records, RecordQuery(passed=True), cursor=cursor)
    for wrong in ("", "!", "YQ", cursor[:-3]):
        with pytest.raises(RequestError, match="is not a cursor"):
            list_records(records, RecordQuery(), cursor=wrong)


def test_a_repeat_beyond_all_numbers_is_unknown(records: Records) -> None:
    for repeat in (-1, 2, 2**63 - 1, 2**64):
        with pytest.raises(NotFoundError, match="no record 'a' in "):
            show_record(records, "a", repeat)


@pytest.mark.parametrize("place", [(-1, 0), (2**63, 0), (10**30, 0), (0, 2**64)])
def test_a_cursor_beyond_all_numbers_is_none(records: Records, place: tuple[int, int]) -> None:
    given = cursor_of(None, RecordQuery())
    mark, _ = json.loads(base64.urlsafe_b64decode(given + "=" * (-len(given) % 4)))
    forged = base64.urlsafe_b64encode(json.dumps([mark, [None, *place]]).encode()).decode()

    with pytest.raises(InvalidError, match="is not a cursor"):
        list_records(records, RecordQuery(), cursor=forged)


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
        list_records(records, query, cursor=forged)


@pytest.mark.parametrize("made", [stored, copied])
def test_a_tag_is_refused_where_no_tags_were_kept(project: Project, made: Made) -> None:
    project.write("steelyard.yaml", "slices: [task_type]\n")
    run = project.run(project.ports(ScriptedTarget()), project.cases(ROWS[:1]))
    records = made(project, run.run_id, Path(run.folder))

    assert len(list_records(records, RecordQuery()).records) == 1
    with pytest.raises(InvalidError, match="has kept no tags, since 'tags' is not among"):
        list_records(records, RecordQuery(tag="red"))


@pytest.mark.parametrize("limit", [0, -1, -2, 2**63])
def test_a_page_holds_at_least_one_record(records: Records, limit: int) -> None:
    with pytest.raises(InvalidError, match=f"limit must be a whole number from 1 to .*{limit}"):
        list_records(records, RecordQuery(), limit=limit)


def test_an_unknown_order_is_told() -> None:
    with pytest.raises(RequestError, match="cannot sort by 'cost'; known fields: index, "):
        parse_sort("-cost")
