"""What a plan counts and settles: selection, targets, calls, cost, retries and slices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fakes.projects import Project, row, spec
from fakes.targets import ScriptedTarget
from steelyard.execution.run_options import RunOptions, stored_options
from steelyard.results.json_struct import from_json
from steelyard.results.options import StoredOptions
from steelyard.settings import RetrySettings
from steelyard.usecases.runs import prepare as prepare_module

ROWS = [
    row("a", tags=["x"]),
    {"id": "bad", "tags": ["x"]},
    row("b", metadata={"n": 5}),
    row("c", tags=["x", "y"], metadata={"n": 12}),
    {"id": "worse"},
]
SHOWS_A_FILE = [{"role": "user", "content": [{"type": "file", "value": "a.txt"}]}]


@pytest.mark.parametrize(
    ("options", "total", "valid"),
    [
        ({}, 5, 3),
        ({"limit": 1}, 1, 1),
        ({"limit": 2}, 3, 2),
        ({"limit": 3}, 4, 3),
        ({"limit": 99}, 5, 3),
        ({"where": "tags = x"}, 3, 2),
        ({"where": "tags = x", "limit": 1}, 1, 1),
        ({"where": "metadata.n > 4"}, 2, 2),
        ({"where": "id ~ b"}, 2, 1),
        ({"where": "record_id != bad"}, 5, 3),
        ({"where": "id != a and tags = x and metadata.n < 20"}, 1, 1),
    ],
)
def test_the_limit_counts_valid_records_and_what_is_not_selected_is_not_counted(
    project: Project, options: dict[str, Any], total: int, valid: int
) -> None:
    prepared = project.prepare(project.ports(ScriptedTarget()), project.cases(ROWS), **options)

    assert (prepared.forecast.total, prepared.forecast.valid) == (total, valid)


def test_a_plan_counts_calls_tokens_and_what_they_would_cost(project: Project) -> None:
    ports = project.ports(spec(ScriptedTarget(), price=(2.0, 10.0)))
    prepared = project.prepare(ports, project.cases([row("a", input="x" * 4000)]), repeat=3)
    forecast = prepared.forecast

    assert (forecast.calls, forecast.input_tokens) == (3, 3000)
    assert forecast.targets == {"scripted": 3}
    assert forecast.cost_usd == pytest.approx(0.006)


def test_what_was_recorded_takes_no_call_and_no_tokens(project: Project) -> None:
    recorded = spec(ScriptedTarget(name="ann"), price=(2.0, 10.0), response_source="prefilled")
    dataset = project.cases([row("a", input="x" * 4000), row("b")])
    forecast = project.prepare(project.ports(recorded), dataset, target="ann", repeat=3).forecast

    assert (forecast.calls, forecast.recorded, forecast.answers) == (0, 6, 6)
    assert (forecast.input_tokens, forecast.cost_usd) == (0, 0.0)
    assert forecast.targets == {"ann": 6}


def test_without_a_price_there_is_no_cost(project: Project) -> None:
    prepared = project.prepare(project.ports(ScriptedTarget()), project.cases([row("a")]))

    assert prepared.forecast.cost_usd is None


def test_records_that_nothing_grades_are_counted_and_not_asked(project: Project) -> None:
    records = [
        {"record_id": "a", "input": {"prompt": "?"}, "expected": {"max_latency_ms": 9}},
        {"record_id": "b", "input": {"prompt": "?"}},
    ]
    prepared = project.prepare(project.ports(ScriptedTarget()), project.document(records))

    assert (prepared.forecast.skipped, prepared.forecast.calls) == (1, 1)


@pytest.mark.parametrize(
    ("target", "answering"),
    [(None, {"default": 1, "other": 1}), ("other", {"other": 2}), ("default", {"default": 2})],
)
def test_the_target_is_the_users_else_the_cases_else_the_default(
    project: Project, target: str | None, answering: dict[str, int]
) -> None:
    ports = project.ports(ScriptedTarget(name="default"), ScriptedTarget(name="other"))
    dataset = project.cases([row("a"), row("b", execution={"target": "other"})])

    assert project.prepare(ports, dataset, target=target).forecast.targets == answering


@pytest.mark.parametrize(("asked", "concurrency"), [(None, [64, 2]), (5, [5, 5])])
def test_calls_at_once_are_the_users_else_what_each_target_allows(
    project: Project, asked: int | None, concurrency: list[int]
) -> None:
    ports = project.ports(
        spec(ScriptedTarget(name="default"), max_concurrency=64),
        spec(ScriptedTarget(name="other"), max_concurrency=2),
    )
    dataset = project.cases([row("a"), row("b", execution={"target": "other"})])
    prepared = project.prepare(ports, dataset, target=None, max_concurrency=asked)

    assert [prepared.concurrency_of(name) for name in ("default", "other")] == concurrency


@pytest.mark.parametrize(
    ("settings", "retry"),
    [
        ("{}", RetrySettings(max_attempts=3, backoff_s=(2.0, 6.0, 14.0), jitter=0.2)),
        (
            "retry: {max_attempts: 5, backoff_s: [1], jitter: 0}",
            RetrySettings(max_attempts=5, backoff_s=(1.0,), jitter=0.0),
        ),
    ],
)
def test_the_project_may_say_how_to_retry(
    project: Project, settings: str, retry: RetrySettings
) -> None:
    project.write("steelyard.yaml", settings)
    prepared = project.prepare(project.ports(ScriptedTarget()), project.cases([row("a")]))

    assert prepared.retry == retry


@pytest.mark.parametrize(
    ("settings", "slices"),
    [
        ("{}", ("tags", "task_type")),
        ("slices: [metadata.topic]", ("metadata.topic",)),
        ("slices: []", ()),
    ],
)
def test_the_project_may_say_what_to_slice_by(
    project: Project, settings: str, slices: tuple[str, ...]
) -> None:
    project.write("steelyard.yaml", settings)
    prepared = project.prepare(project.ports(ScriptedTarget()), project.cases([row("a")]))

    assert prepared.slices == slices


@pytest.mark.parametrize(
    ("asked", "threshold"), [(None, 0.7), (0.0, 0.0), (0.25, 0.25), (1.0, 1.0)]
)
@pytest.mark.parametrize("rubric", [None, "first"])
def test_the_users_threshold_holds_for_every_rubric_and_may_be_zero(
    project: Project, rubric: str | None, asked: float | None, threshold: float
) -> None:
    project.write(
        "rubrics/first.yaml",
        "{id: first, version: 1.0.0, checks: [{id: c, kind: regex, pattern: x}], "
        "scoring: {combine: all_pass}}",
    )
    ports = project.ports(ScriptedTarget())
    dataset = project.cases([row("a")])
    prepared = project.prepare(ports, dataset, rubric=rubric, pass_threshold=asked)
    graded = next(prepared.records()).graded

    assert getattr(graded, "pass_threshold", None) == threshold


@pytest.mark.parametrize(
    ("rows", "limit", "is_kept"),
    [
        ([row("a"), {"id": "bad"}], 10_000, True),
        ([row("a"), {"id": "bad"}], 0, False),
        ([row("a"), {"id": "bad"}], 8_000, False),
        ([row("a"), row("b", input=SHOWS_A_FILE)], 10_000, False),
    ],
)
def test_a_small_dataset_is_read_once_and_gives_the_same_records_as_a_long_one(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    rows: list[dict[str, object]],
    limit: int,
    is_kept: bool,
) -> None:
    """Files that cases show are not in the dataset's size, so that their texts are not kept."""
    monkeypatch.setattr(prepare_module, "KEPT_BYTES", limit)
    project.write("a.txt", "a text")
    prepared = project.prepare(project.ports(ScriptedTarget()), project.cases(rows))

    assert (prepared.kept is not None) is is_kept
    kept, read = (
        [(one.row._replace(content=b""), one.case, one.graded) for one in made.records()]
        for made in (prepared, replace(prepared, kept=None))
    )
    assert kept == read
    assert [planned.row.index for planned in prepared.records()] == [0, 1]


def test_options_come_back_as_they_were_kept(project: Project) -> None:
    options = RunOptions(
        dataset=project.root / "d.jsonl",
        target="t",
        rubric="rubric/a@1.0.0",
        responses=project.root / "r.jsonl",
        candidate="c",
        repeat=3,
        limit=7,
        where="id = a",
        max_concurrency=9,
        strict=True,
        pass_threshold=0.0,
        group_id="group_1",
    )

    def kept(given: RunOptions) -> StoredOptions:
        return from_json(given.stored().json(), StoredOptions)

    assert stored_options(kept(options), "group_1") == options
    plain = RunOptions(dataset=project.root / "d.jsonl")
    assert stored_options(kept(plain), None) == plain
