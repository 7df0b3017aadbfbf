"""The records of a run as work: which are left, for whom, and how far each has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from fakes.metrics import measured
from fakes.projects import SETTINGS, Project, row, spec
from fakes.targets import ScriptedTarget
from steelyard.engine import cache as caching
from steelyard.engine import schedule
from steelyard.engine.limiter import START
from steelyard.engine.prompts import build_prompt
from steelyard.engine.record_work import Work
from steelyard.execution.prepared import Prepared
from steelyard.execution.work import Limiters, TargetShare, asked, shares, work_items
from steelyard.model.case import Case
from steelyard.model.run import Result
from steelyard.ports import Prompt

TWO = [
    row("a", execution={"target": "one"}),
    row("b", execution={"target": "two"}),
    {"id": "broken"},
    row("c", execution={"target": "two"}),
    row("d", execution={"target": "one"}),
]


def prepared(project: Project, dataset: Path, **options: Any) -> Prepared:
    targets = (ScriptedTarget(name=name) for name in ("one", "two", "scripted"))
    return project.prepare(project.ports(*targets), dataset, **options)


def items(
    made: Prepared,
    share: TargetShare,
    done: frozenset[tuple[int, int]] = frozenset(),
    tried: Mapping[tuple[int, int], tuple[int, str]] | None = None,
) -> list[Work | Result]:
    def is_done(index: int, repeat: int) -> bool:
        return (index, repeat) in done

    return list(work_items(made, share, is_done, tried or {}, prompt=build_prompt))


def places(found: list[Work | Result]) -> list[tuple[int, int]]:
    results = [item if isinstance(item, Result) else item.record for item in found]
    return [(result.index, result.repeat) for result in results]


def test_each_target_has_its_share_and_the_first_what_is_nobodys(project: Project) -> None:
    made = prepared(project, project.cases(TWO), target=None)
    found = {share: items(made, share) for share, _ in shares(made)}

    assert [share.target for share in found] == ["one", "two"]
    assert [share.is_first for share in found] == [True, False]
    assert [places(found[share]) for share in found] == [
        [(0, 0), (2, 0), (4, 0)],
        [(1, 0), (3, 0)],
    ]
    broken = found[TargetShare("one", is_first=True)][1]
    assert isinstance(broken, Result)
    assert (broken.status, broken.target) == ("invalid_record", None)


def test_what_nothing_grades_is_skipped_with_the_reason(project: Project) -> None:
    graded = {"record_id": "g", "input": {"prompt": "?"}, "expected": {"max_latency_ms": 9000}}
    dataset = project.document([{"record_id": "u", "input": {"prompt": "?"}}, graded])
    made = prepared(project, dataset, repeat=2)
    found = items(made, TargetShare("scripted", is_first=True))

    assert places(found) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    skipped = [item for item in found if isinstance(item, Result)]
    assert [(item.status, item.label) for item in skipped] == [("skipped", "nothing_grades")] * 2
    assert skipped[0].message
    assert items(made, TargetShare("other", is_first=False)) == []


def test_what_a_target_is_asked_is_made_once_where_the_records_are_kept(project: Project) -> None:
    rows = [row("a", input="One?"), row("b", input=" Two? ")]
    made = prepared(project, project.cases(rows))
    share = TargetShare("scripted", is_first=True)

    def never(case: Case) -> Prompt:
        raise AssertionError(case.id)

    def is_done(_index: int, _repeat: int) -> bool:
        return False

    found = list(work_items(made, share, is_done, {}, prompt=never))
    again = items(replace(made, kept=None), share)

    assert [work.prompt.text for work in found if isinstance(work, Work)] == ["One?", "Two?"]
    assert found == again


def test_what_has_a_result_is_left_out(project: Project) -> None:
    made = prepared(project, project.cases(TWO[:2]), target="scripted", repeat=3)
    done = frozenset([(0, 0), (0, 1), (0, 2), (1, 1)])

    assert places(items(made, TargetShare("scripted", is_first=True), done)) == [(1, 0), (1, 2)]


def test_an_invalid_record_has_one_result_however_often_others_are_asked(
    project: Project,
) -> None:
    made = prepared(project, project.cases(TWO), target="scripted", repeat=2)
    share = TargetShare("scripted", is_first=True)

    assert [place for place in places(items(made, share)) if place[0] == 2] == [(2, 0)]
    assert (2, 0) not in places(items(made, share, frozenset([(2, 0)])))


def test_attempts_that_were_made_are_counted_on(project: Project) -> None:
    made = prepared(project, project.cases([row("a")]), repeat=2)
    tried = {(0, 1): (2, "long ago")}
    first, second = items(made, TargetShare("scripted", is_first=True), tried=tried)

    assert isinstance(first, Work)
    assert isinstance(second, Work)
    assert (first.attempt, first.record.first_attempt_at) == (1, None)
    assert (second.attempt, second.record.first_attempt_at) == (3, "long ago")
    assert second.record.repeat == 1
    assert first.record.record_sha256 == second.record.record_sha256


@pytest.mark.parametrize(
    ("tags", "slices"),
    [
        (["a", "b", "a"], (("tags", "a"), ("tags", "b"), ("task_type", None))),
        ([], (("tags", None), ("task_type", None))),
    ],
)
def test_a_record_knows_its_slices(
    project: Project, tags: list[str], slices: tuple[tuple[str, str | None], ...]
) -> None:
    made = prepared(project, project.cases([row("a", tags=tags)]))
    (item,) = items(made, TargetShare("scripted", is_first=True))

    assert isinstance(item, Work)
    assert item.record.slices == slices


def test_a_target_is_asked_within_its_limits(project: Project) -> None:
    ports = project.ports()
    wide = spec(ScriptedTarget(), max_concurrency=64, price=(1.0, 2.0))
    narrow = spec(ScriptedTarget(), max_concurrency=3, tokens_per_minute=9.0)
    limiters = Limiters(ports.clock, lambda _: False, ports.settings.limits.outage_s)
    made = prepared(project, project.cases([row("a")]))
    plain, paced = (asked(ports, "run_1", one, limiters.of(one), made) for one in (wide, narrow))

    assert (plain.limiter.at_once, plain.price, plain.counts_tokens) == (START, (1.0, 2.0), False)
    assert (paced.limiter.at_once, paced.price, paced.counts_tokens) == (3, None, True)


@pytest.mark.parametrize(
    ("is_shared", "said", "hits"),
    [(False, "yes", 0), (True, "yes", 2), (True, "write to joe@example.com", 0)],
    ids=["not wanted", "wanted", "redacted"],
)
def test_answers_of_earlier_runs_count_where_the_user_wants_them_to(
    project: Project, is_shared: bool, said: str, hits: int
) -> None:
    target = ScriptedTarget(otherwise=said)
    ports = project.ports(spec(target, is_cacheable=True))
    dataset = project.cases([row("a", input="One?"), row("b", input="Two?")])
    project.run(ports, dataset)
    again = project.run(ports, dataset, cache=is_shared)

    assert measured(again).cache.hits == hits
    assert len(target.calls) == 4 - hits


def test_an_answer_is_found_again_long_after_it_was_given(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caching, "_RECENT", 0)
    monkeypatch.setattr(schedule, "AHEAD", 1)
    target = ScriptedTarget(otherwise="yes")
    rows = [row(str(number), input=f"Question {number % 20}?") for number in range(60)]
    ports = project.ports(spec(target, is_cacheable=True, max_concurrency=1))
    run = project.run(ports, project.cases(rows))

    assert measured(run).cache.hits == 40
    assert len(target.calls) == 20


def test_slices_are_told_apart_whatever_they_are_made_of(project: Project) -> None:
    rows = [
        row("a", tags=["x", "y", "x"], metadata={"level": 1}),
        row("b", tags=[], metadata={"level": [2, "z"]}),
        row("c", tags=["x", "y", "x"]),
    ]
    dataset = project.cases(rows)
    usual = items(prepared(project, dataset, target="one"), TargetShare("one", is_first=True))
    project.write("steelyard.yaml", f"{SETTINGS}slices: [metadata.level, tags]\n")
    own = items(prepared(project, dataset, target="one"), TargetShare("one", is_first=True))

    assert [cast(Work, item).record.slices for item in usual] == [
        (("tags", "x"), ("tags", "y"), ("task_type", None)),
        (("tags", None), ("task_type", None)),
        (("tags", "x"), ("tags", "y"), ("task_type", None)),
    ]
    assert [cast(Work, item).record.slices for item in own] == [
        (("metadata.level", "1"), ("tags", "x"), ("tags", "y")),
        (("metadata.level", "2"), ("metadata.level", "z"), ("tags", None)),
        (("metadata.level", None), ("tags", "x"), ("tags", "y")),
    ]
