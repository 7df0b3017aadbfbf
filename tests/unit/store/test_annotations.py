"""Annotations are kept once under who said them about what; what is replaced becomes history."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.audit import an_entry
from fakes.stores import open_store
from steelyard.errors import RunError
from steelyard.model.labels.annotation import Wanted
from steelyard.store.annotations import AnnotationStore

pytestmark = pytest.mark.usefixtures("both_stores")

WHEN = "2026-01-15T12:00:00.000+00:00"
ROW: dict[str, Any] = {
    "record_id": "r1",
    "run_id": "run_1",
    "rubric": "rubric/desk-v1",
    "annotator": "ann",
    "exposure": "blind",
    "passed": True,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store is."""
    return tmp_path / "steelyard.db"


@pytest.fixture
def store(path: Path) -> Iterator[AnnotationStore]:
    """A new store."""
    engine = open_store(path)
    yield AnnotationStore(engine)
    engine.dispose()


def kept(store: AnnotationStore, *, with_history: bool = False, **wanted: Any) -> list[Any]:
    return [
        (one.number, one.row) for one in store.all(Wanted(**wanted), with_history=with_history)
    ]


def test_a_label_is_kept_and_the_same_again_changes_nothing(store: AnnotationStore) -> None:
    assert store.keep([ROW], an_entry(WHEN), is_replacing=False) == ["imported"]
    assert store.keep([ROW, ROW], an_entry("later"), is_replacing=True) == ["same", "same"]
    assert kept(store, with_history=True) == [(1, ROW)]
    assert [one.at for one in store.all(Wanted())] == [WHEN]


def test_the_order_of_fields_is_no_difference(store: AnnotationStore) -> None:
    store.keep([ROW], an_entry(WHEN), is_replacing=False)

    assert store.keep([dict(reversed(ROW.items()))], an_entry(WHEN), is_replacing=False) == [
        "same"
    ]


def test_something_else_is_refused_and_what_stands_stays(store: AnnotationStore) -> None:
    store.keep([ROW], an_entry(WHEN), is_replacing=False)
    became = store.keep([{**ROW, "passed": False}], an_entry(WHEN), is_replacing=False)

    assert became == ["refused"]
    assert kept(store) == [(1, ROW)]


def test_what_is_replaced_becomes_history(store: AnnotationStore) -> None:
    changed = {**ROW, "passed": False}
    store.keep([ROW], an_entry(WHEN), is_replacing=False)
    became = store.keep([changed, ROW, ROW], an_entry("later"), is_replacing=True)

    assert became == ["replaced", "replaced", "same"]
    assert kept(store) == [(3, ROW)]
    assert kept(store, with_history=True) == [(1, ROW), (2, changed), (3, ROW)]


@pytest.mark.parametrize(
    "other",
    [
        {"record_id": "r2"},
        {"run_id": "run_2"},
        {"rubric": "rubric/other-v1"},
        {"annotator": "bob"},
        {"repeat": 1},
    ],
)
def test_a_label_about_something_else_stands_beside_it(
    store: AnnotationStore, other: dict[str, Any]
) -> None:
    became = store.keep(
        [ROW, {**ROW, **other, "passed": False}], an_entry(WHEN), is_replacing=False
    )

    assert became == ["imported", "imported"]


def test_a_label_of_no_run_is_found_as_such(store: AnnotationStore) -> None:
    alone = {name: value for name, value in ROW.items() if name != "run_id"}
    store.keep([ROW, alone], an_entry(WHEN), is_replacing=False)

    assert kept(store, runs=("",)) == [(1, alone)]
    assert kept(store, runs=("run_1", "run_9")) == [(1, ROW)]
    assert len(kept(store)) == 2


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, 4),
        ({"rubric": "rubric/desk-v1"}, 3),
        ({"annotator": "bob"}, 2),
        ({"annotator": "bob", "rubric": "rubric/desk-v1"}, 1),
        ({"runs": ()}, 0),
        ({"annotator": "nobody"}, 0),
    ],
)
def test_labels_are_found_by_rubric_and_person(
    store: AnnotationStore, wanted: dict[str, Any], found: int
) -> None:
    others = [
        {**ROW, "annotator": "bob"},
        {**ROW, "record_id": "r2"},
        {**ROW, "annotator": "bob", "rubric": "rubric/other-v1"},
    ]
    store.keep([ROW, *others], an_entry(WHEN), is_replacing=False)

    assert len(kept(store, **wanted)) == found


def test_many_processes_bring_the_same_labels_in_at_once(path: Path) -> None:
    rows = [{**ROW, "record_id": f"r{number}"} for number in range(50)]
    became: list[str] = []

    def bring() -> None:
        engine = open_store(path)
        became.extend(AnnotationStore(engine).keep(rows, an_entry(WHEN), is_replacing=True))
        engine.dispose()

    threads = [threading.Thread(target=bring) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (became.count("imported"), became.count("same")) == (50, 250)


@pytest.mark.sqlite
def test_a_row_that_cannot_be_kept_leaves_none_of_its_siblings(store: AnnotationStore) -> None:
    with pytest.raises(RunError, match="fails: "):
        store.keep([ROW, {**ROW, "record_id": ["no", "name"]}], an_entry(WHEN), is_replacing=False)

    assert kept(store) == []
