"""A rubric tried on stored traces: what would change, and what cannot be told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from steelyard.errors import RequestError
from steelyard.project import open_project
from steelyard.usecases.results.audit_log import list_changes
from steelyard.usecases.runs.try_rubric import RubricTrial, TriedCheck, try_rubric

RUBRIC = """\
id: polite
version: "{version}"
checks:
  - {{id: says, kind: must_contain_any, phrases: [{phrases}]}}
{more}scoring: {{combine: all_pass}}
"""
JUDGE = """\
id: kind
version: "1.0.0"
score_type: binary
template: "{text} {{{{ output }}}}"
"""
JUDGED = "  - {{id: kind, kind: llm_judge, judge_prompt_ref: judge/kind@{version}{more}}}\n"
SETTINGS = (
    "targets: {replies: {provider: recorded, path: r.jsonl}}\njudges: {kind: {target: replies}}\n"
)


class Tried:
    """A project with a finished run that a rubric and a judge have graded."""

    def __init__(self, root: Path) -> None:
        self.project = Project(root)
        self.project.write("steelyard.yaml", SETTINGS)
        self.project.write("judges/kind.yaml", JUDGE.format(text="Is it kind?"))
        replies = [self._reply("a", 1), self._reply("b", 1), self._reply("c", 0)]
        self.project.write("r.jsonl", "".join(json.dumps(one) + "\n" for one in replies))
        self.rubric("1.0.0", "yes", judged())
        cases = self.project.cases([row("a"), row("b"), row("c")])
        target = ScriptedTarget({"a": ["yes"], "b": ["yes, please"], "c": ["no"]})
        ports = open_project(root).run_ports()
        made = self.project.ports(target)
        keep = made.target

        def chosen(name: str) -> object:
            return ports.target(name) if name == "replies" else keep(name)

        made = self.project.ports(target, target=chosen)
        self.folder = Path(self.project.run(made, cases, rubric="rubric/polite@1.0").folder)

    @staticmethod
    def _reply(name: str, value: int) -> dict[str, str]:
        answer = {"score": {"evidence": "", "reasoning": "so", "value": value}}
        text = json.dumps({"answers": answer})
        return {"record_id": name, "check": "kind", "judge": "kind@1.0.0", "response_text": text}

    def rubric(self, version: str, phrases: str, more: str = "") -> None:
        text = RUBRIC.format(version=version, phrases=phrases, more=more)
        self.project.write(f"rubrics/polite@{version}.yaml", text)

    def trial(self, name: str = "rubric/polite@1.1.0") -> RubricTrial:
        with open_project(self.project.root) as project:
            return asyncio.run(try_rubric(project.run_ports(), self.folder, name))


def judged(more: str = "", version: str = "1.0.0") -> str:
    return JUDGED.format(version=version, more=more)


@pytest.fixture
def tried(tmp_path: Path) -> Iterator[Tried]:
    made = Tried(tmp_path.resolve())
    yield made
    made.project.close()


def test_the_same_rubric_changes_nothing(tried: Tried) -> None:
    trial = tried.trial("rubric/polite@1.0.0")

    assert trial.shift
    assert (trial.traces, trial.shift.pairs, trial.shift.moved, trial.untried) == (3, 3, (), ())


def test_a_deterministic_check_is_carried_out_and_a_judge_taken_at_its_word(tried: Tried) -> None:
    tried.rubric("1.1.0", "please", judged())

    trial = tried.trial()

    assert trial.shift
    assert [one.record_id for one in trial.shift.moved] == ["a"]
    assert (trial.shift.gained, trial.shift.lost) == (0, 1)
    assert trial.checks == (
        TriedCheck("says", "must_contain_any", "carried out", 1, 2, 0, 0, 1, is_new=False),
        TriedCheck("kind", "llm_judge", "as recorded", 2, 1, 0, 0, 0, is_new=False),
    )


def test_a_new_check_has_nothing_to_be_compared_with(tried: Tried) -> None:
    tried.rubric("1.1.0", "yes", judged() + "  - {id: short, kind: regex, pattern: '^.{2,3}$'}\n")

    (_, _, short) = tried.trial().checks

    assert short == TriedCheck("short", "regex", "carried out", 2, 1, 0, 0, 0, is_new=True)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (judged(", threshold: 0.9"), "its judge decided by another rule in the run"),
        (judged().replace("id: kind", "id: other"), "the run has no answers of a check of this"),
    ],
)
def test_a_judge_that_would_be_asked_otherwise_cannot_be_tried(
    tried: Tried, more: str, why: str
) -> None:
    tried.rubric("1.1.0", "please", more)

    trial = tried.trial()

    assert trial.shift is None
    assert [one.check for one in trial.checks] == ["says"]
    assert why in trial.untried[0][1]


def test_a_judge_with_another_template_cannot_be_tried(tried: Tried) -> None:
    other = JUDGE.format(text="Is it polite?").replace("1.0.0", "1.1.0")
    tried.project.write("judges/kind@1.1.0.yaml", other)
    tried.rubric("1.1.0", "please", judged(version="1.1.0"))

    assert "its judge is asked otherwise than in the run" in tried.trial().untried[0][1]


def test_a_program_is_not_run(tried: Tried) -> None:
    tried.project.write("steelyard.yaml", SETTINGS + "allow: {commands: true}\n")
    tried.rubric("1.1.0", "yes", "  - {id: lint, kind: php_lint}\n")

    assert tried.trial().untried == (("lint", "it runs a program, which a trial does not"),)


def test_a_trial_leaves_nothing_behind(tried: Tried) -> None:
    tried.rubric("1.1.0", "please", judged())

    def state() -> tuple[int, int, list[str]]:
        with open_project(tried.project.root) as project:
            runs = len(project.store.list(100))
            changes = len(list_changes(project.audit_log).entries)
        return runs, changes, sorted(path.name for path in tried.folder.parent.iterdir())

    before = state()
    tried.trial()
    assert state() == before


def test_a_rubric_that_is_not_there_is_an_error(tried: Tried) -> None:
    with pytest.raises(RequestError):
        tried.trial("rubric/none@1.0.0")
