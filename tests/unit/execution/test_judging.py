"""Judges of a whole run: planned, probed, limited with their target, resumed and told of."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checker import Trial, check_run, stored_judgements
from fakes.definitions import one_rubric
from fakes.judges import JUDGE, AsksJudge, ScriptedJudge, judged_rubric
from fakes.projects import SETTINGS, Project, json_of, row, rows_of, spec
from fakes.stops import Stopped
from fakes.targets import ScriptedTarget, fails
from steelyard.errors import RequestError, RunError
from steelyard.model.json_value import JsonObject
from steelyard.model.rubric import Rubric
from steelyard.model.trace import Trace
from steelyard.ports import Request
from steelyard.usecases.runs.derived_runs import regrade_options
from steelyard.usecases.runs.execute import start_run
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.prepare import prepare

JUDGED = f"{SETTINGS}judges: {{default: {{target: judge}}}}\n"
ENFORCED = '{"colour": "vexiloquar-7"}'
ROWS = [row(f"r{number}") for number in range(4)]


class Endpoint(ScriptedJudge):
    """A judge at an address."""

    def described(self) -> JsonObject:
        """Where it is."""
        return {"provider": "openai", "base_url": "http://x", "model": "j"}


@pytest.fixture
def project(tmp_path: Path) -> Any:
    """A project whose judges have a target."""
    made = Project(tmp_path.resolve(), JUDGED)
    yield made
    made.close()


def judged_ports(
    project: Project,
    *judges: Any,
    rubric: Rubric | None = None,
    target: ScriptedTarget | None = None,
) -> RunPorts:
    """Ports whose every rubric is the given one."""

    known = one_rubric(rubric or judged_rubric())
    made = judges or (ScriptedJudge(),)
    return project.ports(target or ScriptedTarget(), *made, references=known)


def run(project: Project, ports: RunPorts, **options: Any) -> Any:
    return project.run(ports, project.cases(ROWS), rubric="judged", **options)


def test_a_run_is_judged_from_its_plan_to_its_manifest(project: Project) -> None:
    judge = ScriptedJudge({"r1": ["no"]})
    made = spec(judge, price=(10.0, 20.0), model="j-1", sampling={"seed": 3})
    done = run(project, judged_ports(project, made))
    (told,) = json_of(done)["judges"]

    assert [row["passed"] for row in rows_of(done)] == [True, False, True, True]
    assert {name: told[name] for name in ("judge", "id", "version", "sha256", "target")} == {
        "judge": "judge/fair@1.0.0",
        "id": "fair",
        "version": "1.0.0",
        "sha256": JUDGE.sha256,
        "target": "judge",
    }
    assert (told["model"], told["enforced"], told["fingerprint_count"]) == ("j-1", None, 1)
    assert json_of(done)["templates"][0]["sha256"] == told["template_sha256"]
    assert json_of(done, "metrics_summary.json")["judging"]["calls"] == 4
    assert judge.is_closed
    check_run(Path(done.folder), Trial(calls=4, judge_calls=4))


def test_a_run_without_judges_says_so(project: Project) -> None:
    done = project.run(project.ports(ScriptedTarget()), project.cases(ROWS))

    assert (json_of(done)["judges"], json_of(done)["templates"]) == ([], [])


def test_a_judge_without_a_target_refuses_the_run_and_names_the_setting(tmp_path: Path) -> None:
    project = Project(tmp_path)

    with pytest.raises(RequestError, match=r"judges\.fair\.target or judges\.default\.target"):
        project.prepare(judged_ports(project), project.cases(ROWS), rubric="judged")
    project.close()


@pytest.mark.parametrize(
    ("settings", "check", "name"),
    [
        ("default: {target: a}", AsksJudge(), "a"),
        ("default: {target: a}, fair: {target: b}", AsksJudge(), "b"),
        ("default: {target: a}, fair: {target: b}", AsksJudge(target="c"), "c"),
        ("default: {target: a}, other: {target: b}", AsksJudge(), "a"),
    ],
)
def test_who_is_asked_stands_in_the_rubric_or_else_in_the_settings(
    tmp_path: Path, settings: str, check: AsksJudge, name: str
) -> None:
    project = Project(tmp_path, f"{SETTINGS}judges: {{{settings}}}\n")
    judges = [ScriptedJudge(name=one) for one in "abc"]
    ports = judged_ports(project, *judges, rubric=judged_rubric(check))
    prepared = project.prepare(ports, project.cases(ROWS), rubric="judged")
    done = run(project, ports)
    project.close()

    assert set(prepared.judge_specs) == {name}
    assert json_of(done)["judges"][0]["target"] == name


def test_a_plan_estimates_what_judging_takes(project: Project) -> None:
    rubric = judged_rubric(AsksJudge(items=("a", "b")), AsksJudge())
    ports = judged_ports(project, spec(ScriptedJudge(), price=(2.0, 2.0)), rubric=rubric)
    forecast = project.prepare(ports, project.cases(ROWS), rubric="judged", repeat=2).forecast

    assert forecast.judges == {"judge": 3 * 4 * 2}
    assert forecast.judge_input_tokens > 0
    assert forecast.judge_cost_usd == pytest.approx(forecast.judge_input_tokens * 2e-6)
    assert forecast.calls == 8


def test_records_whose_judge_was_not_recorded_are_told_before_the_run(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    def recorded(record_id: str, check: str) -> bool:
        return record_id == "r1" and check == "right"

    rubric = judged_rubric(AsksJudge(), AsksJudge())
    made = spec(ScriptedJudge(), has_replies=recorded)
    ports = judged_ports(project, made, rubric=rubric)
    project.prepare(ports, project.cases(ROWS), rubric="judged")
    (said,) = [one.getMessage() for one in caplog.records if "recorded" in one.getMessage()]

    assert said == (
        "no reply of a judge was recorded for 7 pair(s) of record and check, which will be "
        "unscored: r0 × right, r0 × right1, r1 × right1, and 4 more"
    )


def test_one_target_that_answers_and_judges_has_one_limit(project: Project) -> None:
    project.write("steelyard.yaml", f"{SETTINGS}judges: {{default: {{target: scripted}}}}\n")
    target = ScriptedTarget()
    done = run(project, judged_ports(project, target=target), max_concurrency=2)

    assert len(target.calls) == 8
    assert target.most_at_once <= 2
    check_run(Path(done.folder))


def test_an_endpoint_is_probed_once_and_the_manifest_says_what_came_of_it(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    for said, is_enforced in ((ENFORCED, True), ("blue", False)):
        judge = Endpoint({"": [said]})
        done = run(project, judged_ports(project, spec(judge, can_hold=True)))
        probes = [one for one in rows_of(done, "attempt_logs.jsonl") if one["call"] == "probe"]

        assert json_of(done)["judges"][0]["enforced"] is is_enforced
        assert [(probe["index"], probe["target"]) for probe in probes] == [(None, "judge")]
        assert len(judge.calls) == 5
        held = {one.judged and one.judged.is_held for one in judge.calls[1:]}
        assert held == {is_enforced}
        check_run(Path(done.folder), Trial(judge_calls=5))
    warned = [record.getMessage() for record in caplog.records if "schema" in record.getMessage()]
    assert len(warned) == 1
    assert warned[0].startswith("targets.judge does not hold its model to a schema")


class StoppingJudge(ScriptedJudge):
    """Stops the run after some replies."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._left = after

    async def ask(self, request: Request) -> Trace:
        """A reply, or the stop."""
        if self._left == 0:
            raise Stopped
        self._left -= 1
        return await super().ask(request)


def stopped(project: Project, after: int, **options: Any) -> Path:
    with pytest.raises(Stopped):
        run(project, judged_ports(project, StoppingJudge(after)), **options)
    run_id = project.ports().repository.find("latest").run_id
    return project.root / ".steelyard" / "runs" / run_id


def test_what_was_judged_before_a_stop_is_not_judged_again(project: Project) -> None:
    folder = stopped(project, 2, max_concurrency=1)
    judged = stored_judgements(folder)
    target, judge = ScriptedTarget(), ScriptedJudge()
    done = project.resume(judged_ports(project, judge, target=target))

    assert done.status == "completed"
    assert len(judged) == 2
    assert len(judge.calls) == 2
    check_run(folder, Trial(judgements=judged))


def test_nonces_are_the_same_after_a_stop_and_others_in_another_run(project: Project) -> None:
    ports = judged_ports(project, judge := ScriptedJudge())
    run(project, ports)
    run(project, ports)
    prompts = [request.prompt.text for request in judge.calls]
    folder = stopped(project, 1, max_concurrency=1)
    again = ScriptedJudge()
    project.resume(judged_ports(project, again))
    kept = project.ports().judgements
    shown: Any = kept
    told = [one["prompt"]["messages"][0][1] for one in shown.of_record(folder.name, 1)]

    assert len(set(prompts)) == 8
    assert told == [text for text in (one.prompt.text for one in again.calls) if "r1 " in text]


@pytest.mark.parametrize(
    ("judge", "changed"),
    [
        (replace(JUDGE, sha256="b" * 64), {}),
        (JUDGE, {"model": "other"}),
        (JUDGE, {"sampling": {"temperature": 1}}),
    ],
)
def test_another_judge_cannot_go_on_with_a_run(
    project: Project, judge: Any, changed: dict[str, Any]
) -> None:
    stopped(project, 1)
    rubric = judged_rubric(AsksJudge(judge=judge))
    ports = judged_ports(project, spec(ScriptedJudge(), **changed), rubric=rubric)

    with pytest.raises(RunError, match="a judge, or the model or sampling of its target, of run_"):
        project.resume(ports)


def test_a_redacted_answer_is_judged_as_it_was_kept(project: Project) -> None:
    target = ScriptedTarget(otherwise="mail jo@example.org")
    with pytest.raises(Stopped):
        project.run(
            judged_ports(project, StoppingJudge(0), target=target),
            project.cases(ROWS[:1]),
            rubric="judged",
        )
    judge = ScriptedJudge()
    done = project.resume(judged_ports(project, judge, target=target))

    assert len(target.calls) == 1
    assert "mail [redacted:email]" in judge.calls[0].prompt.text
    assert rows_of(done)[0]["model_response"] == "mail [redacted:email]"


def test_secrets_of_a_judge_are_written_nowhere(project: Project) -> None:
    key = "sk-judge-0123456789"
    judge = ScriptedJudge({"r0": [fails("bad_request")], "r1": [key]})
    made = spec(judge, secrets=(key,))
    run(project, judged_ports(project, made, target=ScriptedTarget(otherwise=f"key {key}")))
    written = [path for path in project.root.rglob("*") if path.is_file()]

    assert not [path for path in written if key.encode() in path.read_bytes()]
    assert key in judge.calls[0].prompt.text


def test_a_budget_counts_what_was_spent_on_unfinished_records(project: Project) -> None:
    price, judge = (100_000.0, 0.0), ScriptedJudge()
    rubric = judged_rubric(AsksJudge(items=("a", "b"), is_in_turn=True))
    with pytest.raises(Stopped):
        run(
            project,
            judged_ports(project, spec(StoppingJudge(1), price=price), rubric=rubric),
            budget_usd=2.5,
            max_concurrency=1,
        )
    done = project.resume(judged_ports(project, spec(judge, price=price), rubric=rubric))
    statuses = [row["status"] for row in rows_of(done)]

    assert statuses == ["evaluated", *["cancelled"] * 3]
    assert len(judge.calls) == 1
    assert rows_of(done)[0]["cost_usd"] == pytest.approx(2.0)


def test_repeats_are_judged_one_by_one(project: Project) -> None:
    judge = ScriptedJudge()
    done = run(project, judged_ports(project, judge), repeat=2)

    assert len(judge.calls) == 8
    assert {request.repeat for request in judge.calls} == {0, 1}
    check_run(Path(done.folder), Trial(judge_calls=8))


def test_regrading_asks_the_judge_itself_and_plays_back_the_target_alone(
    project: Project,
) -> None:
    project.write("steelyard.yaml", f"{SETTINGS}judges: {{default: {{target: scripted}}}}\n")
    target = ScriptedTarget()
    first = project.run(project.ports(target), project.cases(ROWS))
    rubric = judged_rubric(AsksJudge())
    ports = judged_ports(project, target=target, rubric=rubric)
    prepared = prepare(ports, regrade_options(Path(first.folder), "judged"))
    done = asyncio.run(start_run(ports, prepared, lambda _: None, project.seen.append))

    assert [bool(request.judged) for request in target.calls] == [False] * 4 + [True] * 4
    assert done.status == "completed"
