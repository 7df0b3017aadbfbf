"""The rates of one dataset and target over time, and what makes them incomparable."""

from __future__ import annotations

import asyncio
from pathlib import Path

from fakes.old_runs import engine_of
from fakes.projects import Project, row
from fakes.targets import ScriptedTarget, fails
from steelyard.model.json_value import JsonObject
from steelyard.settings import SuiteSettings
from steelyard.usecases.results.run_trends import TrendPoint, run_trend, subject_of_suite
from steelyard.usecases.runs.derived_runs import retry_options
from steelyard.usecases.runs.execute import start_run
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.prepare import prepare

RUBRIC = """\
id: agrees
version: {version}
checks:
  - {{id: says_yes, kind: must_contain_any, phrases: [{phrase}]}}
scoring: {{combine: all_pass}}
"""


def trend_of(ports: RunPorts, target: str = "scripted") -> list[TrendPoint]:
    return run_trend(engine_of(ports), "d", target)


def changed(point: TrendPoint) -> list[str]:
    return [one.what for one in point.changes]


def test_runs_of_one_dataset_and_target_are_comparable_until_something_changes(
    project: Project,
) -> None:
    project.write("rubrics/agrees.yaml", RUBRIC.format(version="1.0.0", phrase="yes"))
    cases = project.cases([row("a"), row("b")])
    ports = project.ports(ScriptedTarget(), ScriptedTarget(name="other"))
    first = project.run(ports, cases)
    project.run(ports, cases, target="other")
    second = project.run(ports, cases)
    third = project.run(ports, project.cases([row("a"), row("c")]))
    fourth = project.run(ports, Path("d.jsonl"), rubric="rubric/agrees@1.0.0")

    points = trend_of(ports)

    ids = [run.run_id for run in (first, second, third, fourth)]
    assert [point.run.run_id for point in points] == ids
    assert [changed(point) for point in points] == [[], [], ["dataset"], ["rubric"]]
    dataset, rubric = points[2].changes[0], points[3].changes[0]
    assert dataset.before.startswith("sha256:")
    assert dataset.before != dataset.after
    assert rubric.after == "rubric/agrees@1.0.0"


def test_another_rubric_under_the_same_name_is_a_change(project: Project) -> None:
    project.write("rubrics/agrees.yaml", RUBRIC.format(version="1.0.0", phrase="yes"))
    cases = project.cases([row("a")])
    project.run(project.ports(ScriptedTarget()), cases, rubric="rubric/agrees@1.0.0")
    project.write("rubrics/agrees.yaml", RUBRIC.format(version="1.0.0", phrase="no"))
    ports = project.ports(ScriptedTarget())
    project.run(ports, cases, rubric="rubric/agrees@1.0.0")

    points = trend_of(ports)

    assert [changed(point) for point in points] == [[], ["rubric"]]


def test_a_suite_is_found_by_its_file_and_its_target(project: Project) -> None:
    ports = project.ports(ScriptedTarget())
    project.run(ports, project.cases([row("a")], "cases/desk.jsonl"))
    runs = engine_of(ports)

    suite = SuiteSettings(dataset="cases/desk.jsonl", target="scripted")
    assert subject_of_suite(runs, suite) == ("desk", "scripted")
    assert subject_of_suite(runs, SuiteSettings(dataset="cases/desk.jsonl", target="x")) is None
    assert subject_of_suite(runs, SuiteSettings(dataset="else.jsonl", target="scripted")) is None


class NewerTarget(ScriptedTarget):
    """Another model under the same name."""

    def described(self) -> JsonObject:
        """Its settings."""
        return {"provider": "scripted", "model": "newer"}


def test_other_settings_of_the_target_and_copied_scores_are_named(project: Project) -> None:
    silent = {"b": [fails("bad_request")]}
    cases = project.cases([row("a"), row("b")])
    project.run(project.ports(ScriptedTarget(silent)), cases)
    ports = project.ports(NewerTarget(silent))
    second = project.run(ports, cases)
    options = retry_options(Path(second.folder))
    asyncio.run(start_run(ports, prepare(ports, options), lambda _: None, lambda _: None))

    points = trend_of(ports)

    assert [point.is_target_changed for point in points] == [False, True, False]
    assert [point.copied for point in points] == [0, 0, 1]
    assert [point.is_repetition for point in points] == [False, False, True]
