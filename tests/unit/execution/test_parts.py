"""The records of a run, shared among processes: each belongs to one of them, as it was checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from steelyard.execution.ports import Part
from steelyard.execution.prepared import Planned, Prepared
from steelyard.execution.run_options import RunOptions
from steelyard.usecases.runs import prepare as prepare_module
from steelyard.usecases.runs.prepare import prepare_part

ROWS = [row(f"c{number}", tags=[f"t{number % 3}"]) for number in range(200)]
BROKEN = [*ROWS[:70], {"id": "bad"}, *ROWS[70:]]


def records(prepared: Prepared) -> list[Planned]:
    return list(prepared.records())


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
        prepare_part(ports, asked, ["scripted"], Part(number, count), is_sound=whole.is_sound)
        for number in range(count)
    ]

    assert whole.is_sound is (rows is ROWS)
    found = sorted((one for part in parts for one in records(part)), key=lambda one: one.row.index)
    assert found == records(whole)


@pytest.mark.parametrize(
    ("count", "records", "block", "most"),
    [
        (2, 2, 1, 1),
        (2, 31, 1, 16),
        (2, 40, 2, 20),
        (3, 100, 4, 36),
        (2, 1023, 63, 519),
        (2, 1024, 64, 512),
        pytest.param(4, 1_000_000, 64, 250_048, marks=pytest.mark.trials),
        (1, 5, 1, 5),
    ],
)
def test_parts_have_about_as_many_records_each(
    count: int, records: int, block: int, most: int
) -> None:
    parts = Part.all_of(count, records)
    sizes = [sum(map(part.has, range(records))) for part in parts]

    assert [(part.number, part.of, part.block) for part in parts] == [
        (number, count, block) for number in range(count)
    ]
    assert (sum(sizes), max(sizes)) == (records, most)


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
