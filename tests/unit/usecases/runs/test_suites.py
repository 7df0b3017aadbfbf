"""Which runs a command stands for."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.projects import Project, row
from steelyard.errors import ConfigError, RequestError
from steelyard.settings import EngineSettings
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.suites import SuiteChoice, choose

SUITES = """\
targets: {live: {provider: echo}, other: {provider: echo}}
suites:
  release:
    dataset: datasets/qa.jsonl
    target: live
    rubric: rubric/basic@1.2
    strict_validation: true
    fail_under: 0.8
    pass_threshold: 0.5
  bare: {target: live}
  checked: {dataset: datasets/qa.jsonl, require_validated: true}
  measured: {dataset: datasets/qa.jsonl, require_validated: {tpr: 0.9, sample_size: 100}}
  free: {dataset: datasets/qa.jsonl, require_validated: false}
"""
RESPONSES = (
    '{"record_id": "a", "candidate_name": "m1", "response_text": "yes"}\n'
    '{"record_id": "a", "candidate_name": "m2", "response_text": "no"}\n'
)


@pytest.fixture
def ports(project: Project, monkeypatch: pytest.MonkeyPatch) -> RunPorts:
    """A project with suites and a dataset, seen from its root."""
    project.write("steelyard.yaml", SUITES)
    project.cases([row("a")], "datasets/qa.jsonl")
    project.write("r.jsonl", RESPONSES)
    monkeypatch.chdir(project.root)
    return project.ports()


def test_a_suite_says_everything_that_the_user_does_not(ports: RunPorts) -> None:
    chosen = choose(ports, SuiteChoice(suite="release"))
    options = chosen[0]

    assert (len(chosen), options.gates["fail_under"]) == (1, 0.8)
    assert options.dataset == Path("datasets/qa.jsonl")
    assert (options.target, options.rubric) == ("live", "rubric/basic@1.2")
    assert (options.strict, options.pass_threshold, options.group_id) == (True, 0.5, None)


def test_what_the_user_says_wins_over_the_suite(ports: RunPorts) -> None:
    choice = SuiteChoice(
        datasets=(Path("other.jsonl"),),
        suite="release",
        targets=("other",),
        rubric="mine",
        fail_under=0.0,
    )
    chosen = choose(ports, choice)

    assert chosen[0].gates["fail_under"] == 0.0
    assert chosen[0].dataset == Path("other.jsonl")
    assert (chosen[0].target, chosen[0].rubric) == ("other", "mine")


@pytest.mark.parametrize(
    ("suite", "flag", "required"),
    [
        ("checked", None, {}),
        ("measured", {}, {"tpr": 0.9, "sample_size": 100}),
        ("free", None, None),
        ("free", {}, {}),
        ("release", None, None),
    ],
)
def test_a_suite_says_what_validations_must_reach(
    ports: RunPorts, suite: str, flag: dict[str, float] | None, required: dict[str, float] | None
) -> None:
    options = choose(ports, SuiteChoice(suite=suite, require_validated=flag))[0]

    assert options.require_validated == required
    assert options.stored().require_validated == required


def test_options_reach_every_run(ports: RunPorts) -> None:
    choice = SuiteChoice(
        datasets=(Path("d"),), repeat=2, limit=5, where="id = a", max_concurrency=3, strict=True
    )
    options = choose(ports, choice)[0]

    assert (options.repeat, options.limit, options.where) == (2, 5, "id = a")
    assert (options.max_concurrency, options.strict, options.target) == (3, True, None)


def test_every_dataset_meets_every_target_in_one_group(ports: RunPorts) -> None:
    choice = SuiteChoice(datasets=(Path("a"), Path("b")), targets=("x", "y"))
    runs = choose(ports, choice)
    pairs = [(str(run.dataset), run.target) for run in runs]

    assert pairs == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert len({run.group_id for run in runs}) == 1
    assert re.fullmatch(r"group_[0-9A-Z]{26}", runs[0].group_id or "")


@pytest.mark.parametrize(
    ("targets", "candidates"),
    [((), ["m1", "m2"]), (("m2",), ["m2"]), (("m2", "m1"), ["m2", "m1"])],
)
def test_responses_are_graded_candidate_by_candidate(
    ports: RunPorts, targets: tuple[str, ...], candidates: list[str]
) -> None:
    choice = SuiteChoice(suite="release", responses=Path("r.jsonl"), targets=targets)
    runs = choose(ports, choice)

    assert [run.candidate for run in runs] == candidates
    assert {run.target for run in runs} == {None}
    assert {run.responses for run in runs} == {Path("r.jsonl")}


@pytest.mark.parametrize("targets", [("m3",), ("m1", "m3")])
def test_a_candidate_that_was_not_recorded_is_refused(
    ports: RunPorts, targets: tuple[str, ...]
) -> None:
    choice = SuiteChoice(suite="release", responses=Path("r.jsonl"), targets=targets)

    with pytest.raises(RequestError, match=r"r\.jsonl has no candidate 'm3'; it has: m1, m2"):
        choose(ports, choice)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "relaese",
            "unknown suite 'relaese' (did you mean 'release'?); suites of this project: ",
        ),
        ("nothing", "unknown suite 'nothing'; suites of this project: release, bare"),
    ],
)
def test_an_unknown_suite_is_refused(ports: RunPorts, name: str, said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        choose(ports, SuiteChoice(suite=name))


@pytest.mark.parametrize("suite", [None, "bare"])
def test_without_any_dataset_there_is_nothing_to_run(ports: RunPorts, suite: str | None) -> None:
    with pytest.raises(RequestError, match="name a dataset, or a suite that has one"):
        choose(ports, SuiteChoice(suite=suite))


def test_paths_hold_in_every_folder_of_the_project(
    project: Project, ports: RunPorts, monkeypatch: pytest.MonkeyPatch
) -> None:
    rubric = project.write("datasets/mine.yaml", "id: mine")
    monkeypatch.chdir(project.root / "datasets")
    choice = SuiteChoice(datasets=(Path("qa.jsonl"),), rubric="mine.yaml")
    options = choose(ports, choice)[0]

    assert rubric.is_file()
    assert options.dataset == Path("datasets/qa.jsonl")
    assert options.rubric == str(Path("datasets/mine.yaml"))


def test_a_dataset_elsewhere_is_named_in_full(ports: RunPorts) -> None:
    elsewhere = Path("/elsewhere/d.jsonl")

    assert choose(ports, SuiteChoice(datasets=(elsewhere,)))[0].dataset == elsewhere


def test_a_conversation_answers_for_itself_whatever_the_suite_names(ports: RunPorts) -> None:
    (options,) = choose(ports, SuiteChoice(suite="release", from_conversation=True))

    assert (options.from_conversation, options.target, options.responses) == (True, None, None)


def test_the_number_of_workers_is_that_of_the_project_unless_somebody_says_otherwise(
    ports: RunPorts,
) -> None:
    asked = [choose(ports, SuiteChoice(suite="release", workers=count)) for count in (None, 2)]
    settings = replace(ports.settings, engine=EngineSettings(workers=5))
    (said,) = choose(replace(ports, settings=settings), SuiteChoice(suite="release"))

    assert [one.workers for (one,) in asked] == [1, 2]
    assert said.workers == 5
