"""Stored traces, graded by two versions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.definitions import JUDGE
from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from steelyard.errors import RequestError
from steelyard.model.definition import reference_to
from steelyard.model.reference import Reference
from steelyard.project import open_project
from steelyard.reports.publication import MeasuredShift
from steelyard.usecases.registry.publish import PublicationPlan, carry_out, plan_publication
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.verdict_changes import measure_shift, plan_trial

RUBRIC = """\
id: polite
version: "{version}"
checks: [{{id: says, kind: must_contain_any, phrases: [{phrases}]}}]
scoring: {{combine: all_pass}}
"""


class Trials:
    """A project with a finished run, whose traces a rubric can be tested on."""

    def __init__(self, root: Path) -> None:
        self.project = Project(root)
        self._opened: list[RunPorts] = []
        self.rubric("1.0.0", "yes")
        cases = self.project.cases([row("a"), row("b"), row("c")])
        target = ScriptedTarget({"a": ["yes"], "b": ["yes, please"], "c": ["no"]})
        ports = self.project.ports(target)
        done = self.project.run(ports, cases, rubric="rubric/polite@1.0")
        self.folder, self.run_id = Path(done.folder), done.run_id

    @property
    def root(self) -> Path:
        return self.project.root

    def rubric(self, version: str, phrases: str) -> Path:
        text = RUBRIC.format(version=version, phrases=phrases)
        return self.project.write("rubrics/polite.yaml", text)

    def plan(self, name: str = "rubrics/polite.yaml") -> PublicationPlan:
        return plan_publication(
            open_project(self.root).registry_ports(), "rubric", str(self.root / name)
        )

    def publish(self) -> None:
        ports = open_project(self.root).registry_ports()
        assert carry_out(ports, self.plan()).outcome == "published"

    def measure(self, plan: PublicationPlan) -> MeasuredShift:
        def ports_with(judge: object) -> RunPorts:
            ports = open_project(self.root).run_ports_with(judge)  # pyright: ignore[reportArgumentType]
            self._opened.append(ports)
            return ports

        trial = plan_trial(ports_with, plan, self.folder)
        return asyncio.run(measure_shift(trial, lambda _: None, lambda _: None))

    def close(self) -> None:
        self.project.close()
        for ports in self._opened:
            ports.repository.close()


@pytest.fixture
def trials(tmp_path: Path) -> Iterator[Trials]:
    made = Trials(tmp_path.resolve())
    yield made
    made.close()


def test_both_versions_grade_the_stored_traces_as_runs_of_their_own(trials: Trials) -> None:
    trials.publish()
    trials.rubric("1.1.0", "please")
    found = trials.measure(trials.plan())
    manifests = [
        json.loads((trials.folder.parent / run / "run_manifest.json").read_bytes())
        for run in (found.old_run, found.new_run)
    ]

    assert (found.run_id, found.old, found.new) == (
        trials.run_id,
        "rubric/polite@1.0.0",
        "rubric/polite@1.1.0",
    )
    assert [one.record_id for one in found.shift.moved] == ["a"]
    assert (found.shift.pairs, found.shift.lost, found.shift.has_moved) == (3, 1, True)
    assert [manifest["derived_from"]["run_id"] for manifest in manifests] == [trials.run_id] * 2
    assert len({manifest["group_id"] for manifest in manifests}) == 1


def test_a_rubric_that_says_the_same_has_not_moved(trials: Trials) -> None:
    trials.publish()
    trials.rubric("1.0.1", "yes, yeah")
    found = trials.measure(trials.plan())

    assert not found.shift.has_moved


def test_where_nothing_is_published_the_version_that_the_run_used_is_the_old_one(
    trials: Trials,
) -> None:
    old = trials.rubric("1.0.0", "yes")
    old.rename(old.with_name("polite@1.0.0.yaml"))
    trials.rubric("1.2.0", "please")
    found = trials.measure(trials.plan())

    assert (found.old, found.new) == ("rubric/polite@1.0.0", "rubric/polite@1.2.0")


@pytest.mark.parametrize("version", ["1.0.0", "0.9.0"])
def test_without_a_version_before_there_is_nothing_to_compare_with(
    trials: Trials, version: str
) -> None:
    trials.rubric(version, "please")

    with pytest.raises(RequestError, match="there is no earlier version"):
        trials.measure(trials.plan())


def test_another_rubric_of_the_run_is_no_version_of_this_one(trials: Trials) -> None:
    text = RUBRIC.format(version="2.0.0", phrases="x").replace("polite", "other")
    trials.project.write("rubrics/other.yaml", text)

    with pytest.raises(RequestError, match="there is no earlier version"):
        trials.measure(trials.plan("rubrics/other.yaml"))


def test_what_is_published_without_a_file_is_not_tested(trials: Trials) -> None:
    trials.publish()
    (trials.root / "rubrics" / "polite.yaml").unlink()
    plan = plan_publication(
        open_project(trials.root).registry_ports(), "rubric", "rubric/polite@1.0"
    )

    with pytest.raises(RequestError, match="has no file to test"):
        trials.measure(plan)


def test_a_run_that_did_not_ask_a_judge_says_nothing_about_it(trials: Trials) -> None:
    for version in ("1.0.0", "1.1.0"):
        text = JUDGE.format(id="tone", version=version)
        path = trials.project.write(f"judges/tone@{version}.yaml", text)
        ports = open_project(trials.root).registry_ports()
        plan = plan_publication(ports, "judge", str(path))
        if version == "1.0.0":
            carry_out(ports, plan)

            continue
        with pytest.raises(RequestError, match="did not ask judge/tone"):
            trials.measure(plan)


def test_a_judge_can_stand_for_all_versions_of_itself(trials: Trials) -> None:
    trials.project.write("judges/tone.yaml", JUDGE.format(id="tone", version="1.0.0"))
    new = trials.project.write("drafts/tone.yaml", JUDGE.format(id="tone", version="2.0.0"))
    plain = open_project(trials.root).run_ports_with(None)
    definition = plain.references.at(str(new))
    ports = open_project(trials.root).run_ports_with(definition)
    asked = [
        Reference(kind="judge", id="tone", version="1.0"),
        Reference(kind="judge", id="tone"),
        Reference(kind="judge", id="accuracy", version="1.0"),
    ]
    found = [ports.references.find(reference).content for reference in asked]
    rubric = ports.rubric("rubrics/polite.yaml", strict=False)
    for opened in (plain, ports):
        opened.repository.close()

    assert [str(reference_to(content)) for content in found if content] == [
        *("judge/tone@2.0.0", "judge/tone@2.0.0", "judge/accuracy@1.0.0"),
    ]
    assert rubric.name == "rubric/polite@1.0.0"
