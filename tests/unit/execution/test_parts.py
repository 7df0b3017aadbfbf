"""The records of a run, shared among processes: each belongs to one of them, as it was checked."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, zip_longest
from threading import Thread
from typing import Any

import pytest

from fakes.projects import Project, row, spec
from fakes.targets import ScriptedTarget
from steelyard.engine.sharing.messages import News, Said
from steelyard.execution.leases import MOST, RecordLeases
from steelyard.execution.parts import LeasedRecords, Part
from steelyard.execution.prepared import Planned, Prepared
from steelyard.execution.run_options import RunOptions
from steelyard.usecases.runs import prepare as prepare_module
from steelyard.usecases.runs.prepare import limited, prepare_part

ROWS = [row(f"c{number}", tags=[f"t{number % 3}"]) for number in range(200)]
BROKEN = [*ROWS[:70], {"id": "bad"}, *ROWS[70:]]


def records(prepared: Prepared) -> list[Planned]:
    """The records, without what is made for the plan alone."""
    return [
        one._replace(prompt=None, row=one.row._replace(content=b"")) for one in prepared.records()
    ]


class Holder:
    """Leases records at once to one of its workers."""

    def __init__(self, shared: RecordLeases, number: int) -> None:
        self.leases = LeasedRecords(lambda: self.leases.add(*shared.lease(number)))

    def grant_usd(self, wanted: float) -> float:
        """As much as is wanted."""
        return wanted

    def say(self, said: Said) -> None:
        """Nobody listens."""

    def on_news(self, callback: Callable[[News], None]) -> None:
        """There is none."""


def shared_parts(count: int, size: int) -> list[Part]:
    shared = RecordLeases(size, count, 16)
    return [Part(number, count, Holder(shared, number)) for number in range(count)]


@pytest.mark.parametrize("rows", [ROWS, BROKEN], ids=["sound", "broken"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"limit": 130},
        {"limit": 1000},
        {"where": "tags ~ t1"},
        {"where": "id = c5"},
        {"where": "tags ~ t1", "limit": 30},
    ],
    ids=lambda options: "+".join(options) or "all",
)
@pytest.mark.parametrize(
    "count", [2, *(pytest.param(count, marks=pytest.mark.trials) for count in (1, 3))]
)
def test_the_parts_of_a_run_make_up_the_whole(
    project: Project, rows: list[Any], options: dict[str, Any], count: int
) -> None:
    ports, dataset = project.ports(ScriptedTarget()), project.cases(rows)
    whole = project.prepare(ports, dataset, **options)
    asked = RunOptions(dataset=dataset, target="scripted", **options)
    parts = [
        prepare_part(ports, asked, ["scripted"], part, is_sound=whole.is_sound)
        for part in shared_parts(count, len(rows))
    ]

    assert whole.is_sound is (rows is ROWS)
    turns = [iter(records(part)) for part in parts]
    taken = (one for several in zip_longest(*turns) for one in several if one)
    assert sorted(taken, key=lambda one: one.row.index) == records(whole)


@pytest.mark.parametrize(("records", "workers"), [(1, 2), (300, 2), (5_000, 3), (100_000, 4)])
def test_each_record_is_leased_once_and_leases_become_smaller_towards_the_end(
    records: int, workers: int
) -> None:
    shared = RecordLeases(records, workers, 64)
    turns = [shared.lease(number % workers) for number in range(2 * workers + records // 8)]
    leases = [one for one in turns if one[0] < records]
    asked, last = leases[:-workers], leases[-workers:]
    sizes = [end - begin for begin, end in asked]
    ends = sorted(leases)

    assert (ends[0][0], ends[-1][1]) == (0, records)
    assert all(one[1] == other[0] for one, other in pairwise(ends))
    assert sizes == sorted(sizes, reverse=True)
    assert max(sizes, default=0) <= MOST
    assert max(end - begin for begin, end in last) <= 64
    assert shared.lease(0)[0] >= records


@pytest.mark.parametrize(("records", "workers"), [(60, 2), (60, 4), (7, 3), (2, 4)])
def test_a_small_run_is_divided_evenly_whoever_asks_first(records: int, workers: int) -> None:
    shared = RecordLeases(records, workers, 64)
    leased = [[shared.lease(worker) for _ in range(3)] for worker in range(workers)]
    counts = [sum(end - begin for begin, end in one if end <= records) for one in leased]

    assert sum(counts) == records
    assert max(counts) - min(counts) <= 1


def test_the_last_records_of_a_large_run_are_divided_evenly() -> None:
    shared = RecordLeases(1_000, 2, 128)
    begun = 0
    while begun < 1_000 - 2 * 128:
        begun = shared.lease(0)[1]
    mine, other = shared.lease(0), shared.lease(1)

    assert abs((mine[1] - mine[0]) - (other[1] - other[0])) <= 1
    assert (mine[0], mine[1], other[1]) == (begun, other[0], 1_000)


def test_a_successor_gets_what_the_one_before_has_leased_and_then_more() -> None:
    shared = RecordLeases(100_000, 2, 256)
    mine = [shared.lease(0) for _ in range(2)]
    other = shared.lease(1)
    shared.take_back(0)

    assert [shared.lease(0) for _ in range(3)] == [*mine, (other[1], other[1] + MOST)]
    shared.take_back(0)
    assert shared.lease(0) == mine[0]


def test_a_successor_gets_the_even_part_that_the_one_before_had_or_has_yet_to_get() -> None:
    shared = RecordLeases(60, 2, 64)
    mine = shared.lease(0)
    shared.take_back(0)
    shared.take_back(1)

    assert [shared.lease(0), shared.lease(1)] == [mine, (30, 60)]


def test_a_reader_waits_for_its_lease_and_asks_for_the_next_before_it_is_needed() -> None:
    asked: list[int] = []
    leases = LeasedRecords(lambda: asked.append(1))
    has = leases.reader(ahead=10)
    found: list[int] = []
    thread = Thread(target=lambda: found.extend(filter(has, range(40))))
    thread.start()
    leases.add(5, 15)
    leases.add(20, 30)
    while len(asked) < 3:
        assert thread.is_alive()
    leases.end()
    thread.join(120)

    assert found == [*range(5, 15), *range(20, 30)]


def test_calls_at_once_are_shared_without_a_rest() -> None:
    whole = spec(ScriptedTarget(), max_concurrency=8)
    shares = [limited(whole, Part(number, 3)) for number in range(3)]

    assert [one.max_concurrency for one in shares] == [3, 3, 2]


@pytest.mark.parametrize(
    ("change", "kept"),
    [({}, True), ({"workers": 2}, False), ({"workers": 1}, True)],
    ids=["one process", "two", "said to be one"],
)
def test_records_that_other_processes_read_are_not_kept(
    project: Project, change: dict[str, Any], kept: bool
) -> None:
    prepared = project.prepare(project.ports(ScriptedTarget()), project.cases(ROWS), **change)

    assert (prepared.kept is not None) is kept
    assert len(records(prepared)) == len(ROWS)


def test_a_sound_dataset_is_not_checked_twice(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare_module, "KEPT_BYTES", 0)
    ports = project.ports(ScriptedTarget())
    sound, broken = (
        project.prepare(ports, project.cases(rows, name))
        for rows, name in ((ROWS, "sound.jsonl"), (BROKEN, "broken.jsonl"))
    )
    looks: dict[str, int] = {}
    for name, prepared in (("sound", sound), ("broken", broken)):
        count_rows(prepared, looks, name, monkeypatch)
        records(prepared)

    assert looks == {"sound": 0, "broken": 1}


def count_rows(
    prepared: Prepared, looks: dict[str, int], name: str, patch: pytest.MonkeyPatch
) -> None:
    whole: Callable[[], Any] = prepared.reading.rows
    looks[name] = 0

    def rows() -> Any:
        looks[name] += 1
        return whole()

    patch.setattr(prepared.reading, "rows", rows)
