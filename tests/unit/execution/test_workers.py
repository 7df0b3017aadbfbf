"""The process that holds a run, and what it makes of others that send, die or hang."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby

import pytest

from fakes.metrics import measured
from fakes.projects import Project, row, rows_of, spec
from fakes.runs import evaluated, unevaluated
from fakes.targets import ScriptedTarget
from fakes.workers import PaperCrew, PaperWorker, batch_of
from steelyard.engine.sharing.messages import TargetJoined
from steelyard.errors import RunError
from steelyard.execution import workers
from steelyard.execution.leases import MOST
from steelyard.execution.parts import Part
from steelyard.execution.ports import HolderQuestion
from steelyard.execution.workers import STARTS, worker_count
from steelyard.model.run import Result, RunState
from steelyard.project import open_project
from steelyard.usecases.runs.execute import FinishedRun, start_run
from steelyard.usecases.runs.ports import RunPorts

RUN = "run_of_paper"


def door_of(project: Project, *parts: list[PaperWorker]) -> tuple[RunPorts, PaperCrew]:
    made = PaperCrew(parts)
    return project.ports(ScriptedTarget(), worker_pool=made, new_run_id=lambda: RUN), made


def run(project: Project, ports: RunPorts) -> FinishedRun:
    return project.run(ports, project.cases([row("r0"), row("r1")]), workers=2)


def batch(*results: Result, states: Sequence[RunState] = ()) -> bytes:
    hashed = (replace(result, record_sha256="0" * 64) for result in results)
    return batch_of(*hashed, states=states, run_id=RUN)


def warned(project: Project) -> list[str]:
    """What the page of the run says."""
    with open_project(project.root) as opened:
        return opened.store.warnings(RUN)


def states(ports: RunPorts) -> list[str]:
    return [state for state, _ in ports.repository.state_times(RUN)]


@pytest.mark.parametrize(
    ("asked", "most", "count"),
    [(1, 9, 1), (2, 9, 2), (9, 9, 9), (10, 9, 9), (2, 1, 1), (4, 3, 3)],
)
def test_no_more_processes_than_calls_at_once(
    project: Project, asked: int, most: int, count: int
) -> None:
    ports = project.ports(spec(ScriptedTarget(), max_concurrency=most))
    rows = [row(f"r{number}") for number in range(12)]
    prepared = project.prepare(ports, project.cases(rows), workers=asked)

    assert worker_count(prepared) == count


@pytest.mark.parametrize(("records", "count"), [(1, 1), (2, 2), (3, 3), (4, 3)])
def test_no_more_processes_than_records(project: Project, records: int, count: int) -> None:
    rows = [row(f"r{number}") for number in range(records)]
    prepared = project.prepare(project.ports(ScriptedTarget()), project.cases(rows), workers=3)

    assert worker_count(prepared) == count


def test_what_processes_send_is_kept_told_and_sealed(project: Project) -> None:
    first = PaperWorker([batch(evaluated(1))])
    second = PaperWorker([batch(unevaluated(0, "evaluation_error"))])
    ports, worker_pool = door_of(project, [first], [second])
    done = run(project, ports)
    told = {(one.status, one.verdict is not None) for one in project.seen}

    assert [kept["index"] for kept in rows_of(done)] == [0, 1]
    assert worker_pool.started == [(RUN, Part(number, 2), ["scripted"]) for number in range(2)]
    assert first.seen == second.seen == ["kept", "closed"]
    assert told == {("evaluated", True), ("evaluation_error", False)}
    assert (done.status, measured(done).pass_count) == ("completed_with_failures", 1)


def test_a_run_is_retrying_when_all_its_processes_are(project: Project) -> None:
    last = [batch(states=["retrying"]), batch(states=["running"]), batch(states=["retrying"])]
    first = PaperWorker([batch(evaluated(0))])
    ports, _ = door_of(project, [first], [PaperWorker([*last, batch(evaluated(1))])])
    run(project, ports)

    moves = ["queued", "validating", "running", "retrying", "finalizing", "completed"]
    assert [state for state, _ in groupby(states(ports))] in (
        moves,
        [*moves[:4], "running", *moves[3:]],
    )


def test_a_cancelled_run_is_finalizing_when_none_of_its_processes_makes_a_call(
    project: Project,
) -> None:
    seen, going = list[str](), batch(states=["running"])

    class Watched(PaperWorker):
        def confirm(self) -> None:
            seen.append(ports.repository.find(RUN).status)
            super().confirm()

    first = Watched([batch(evaluated(0), states=["finalizing"]), going, going])
    second = Watched([going, batch(evaluated(1), states=["finalizing"]), going])
    ports, _ = door_of(project, [first], [second])
    run(project, ports)

    assert seen[0] == "running"
    assert seen[-1] == "finalizing"
    assert states(ports) == ["queued", "validating", "running", "finalizing", "completed"]


@pytest.mark.parametrize("deaths", range(STARTS))
def test_a_process_that_is_killed_is_started_again(project: Project, deaths: int) -> None:
    killed = [PaperWorker(code=-9, why="it is gone") for _ in range(deaths)]
    lives = PaperWorker([batch(evaluated(0))])
    ports, worker_pool = door_of(project, [*killed, lives], [PaperWorker([batch(evaluated(1))])])
    done = run(project, ports)

    said = "a worker was lost, and another takes its records over: it is gone"
    assert measured(done).pass_count == 2
    assert len(worker_pool.started) == 2 + deaths
    assert warned(project)[1:] == [said] * deaths
    assert all(one.seen == ["closed"] for one in killed)


def test_a_process_is_answered_and_its_successor_gets_its_records_again(
    project: Project,
) -> None:
    asked = [
        HolderQuestion("records"),
        HolderQuestion("usd", usd=2.0),
        HolderQuestion("limits", said=TargetJoined("scripted")),
    ]
    killed, next_one = PaperWorker([asked[0], asked[0]], code=-9), PaperWorker(asked)
    other = PaperWorker([batch(evaluated(1)), batch(evaluated(0))])
    ports, _ = door_of(project, [killed, next_one], [other])
    run(project, ports)

    assert killed.answers == [(0, 1), (2, 2 + MOST)]
    assert next_one.answers == [(0, 1), 0.0]


def test_what_a_process_sent_before_it_was_killed_is_not_lost(project: Project) -> None:
    killed, next_one = PaperWorker([batch(evaluated(0))], code=-9), PaperWorker()
    ports, _ = door_of(project, [killed, next_one], [PaperWorker([batch(evaluated(1))])])

    assert measured(run(project, ports)).pass_count == 2


@pytest.mark.parametrize(
    ("code", "why"),
    [(-9, f"a process of {RUN} was killed {STARTS} times"), (3, f"a process of {RUN} could not")],
)
def test_a_run_whose_process_cannot_go_on_stops(project: Project, code: int, why: str) -> None:
    other = PaperWorker(is_stubborn=True)
    ports, _ = door_of(project, [PaperWorker(code=code)], [other])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "_GRACE_S", 0.01)
        with pytest.raises(RunError, match=why):
            run(project, ports)

    assert other.seen == ["asked to stop", "killed", "closed"]
    assert (ports.repository.find(RUN).status, ports.repository.find(RUN).owner) == (
        "running",
        None,
    )


def test_why_a_process_could_not_go_on_is_kept_with_the_run(project: Project) -> None:
    told = HolderQuestion("failed", why=f"no space in {project.root}/tmp")
    ports, _ = door_of(
        project, [PaperWorker([told], code=3)], [PaperWorker([batch(evaluated(1))])]
    )
    with pytest.raises(RunError, match="could not go on: no space in /"):
        run(project, ports)

    assert warned(project)[1:] == [f"stopped: a process of {RUN} could not go on: no space in tmp"]


def test_a_batch_that_is_refused_ends_the_run_and_is_not_confirmed(project: Project) -> None:
    twice = PaperWorker([batch(evaluated(0)), batch(evaluated(0))])
    ports, _ = door_of(project, [twice], [PaperWorker()])

    with pytest.raises(RunError, match="refuses results: UNIQUE"):
        run(project, ports)
    assert twice.seen == ["kept", "asked to end", "closed"]


def test_a_cancel_reaches_every_process(project: Project) -> None:
    told: list[Callable[[], None]] = []
    both = [PaperWorker(is_stubborn=True, code=0) for _ in range(2)]
    ports, worker_pool = door_of(project, *([one] for one in both))

    def on_cancel(_run_id: str, callback: Callable[[], None]) -> None:
        told.append(callback)

    ports = replace(ports, on_cancel=on_cancel)

    async def cancelled() -> None:
        prepared = project.prepare(ports, project.cases([row("a"), row("b")]), workers=2)
        running = asyncio.ensure_future(start_run(ports, prepared, lambda _: None, print))
        while not told or len(worker_pool.started) < 2:
            assert not running.done()
            await asyncio.sleep(0)
        await asyncio.to_thread(told[0])
        while any("cancelled" not in one.seen for one in both):
            assert not running.done()
            await asyncio.sleep(0)
        for one in both:
            one.kill()
        await running
        told[0]()  # when the run is over, nobody is left to be told

    asyncio.run(cancelled())

    assert [one.seen for one in both] == [["cancelled", "killed", "closed"]] * 2
