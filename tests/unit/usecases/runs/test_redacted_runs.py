"""Runs whose records hold personal data: counted by kind, however often they are stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker import check_run
from fakes.projects import SETTINGS, Project, json_of, row, rows_of
from fakes.stops import Stopped, StoppingTarget
from fakes.targets import ScriptedTarget
from steelyard.errors import RunError
from steelyard.settings import REDACTED_KINDS as KINDS
from steelyard.store.runs import result_rows

SAID = "ask joe@example.com or 030/1234567"
NONE = dict.fromkeys(KINDS, 0)


def cases(project: Project) -> Path:
    return project.cases([row("a", tags=["ann@example.com"]), row("b"), row("c")])


def test_the_manifest_counts_by_kind(project: Project) -> None:
    run = project.run(project.ports(ScriptedTarget(otherwise=SAID)), cases(project))
    check_run(Path(run.folder))
    # Each answer stands in the response, the trace, the record's reason and that of the check;
    # the tag in the facts of its record and in its prediction.
    patterns = {**NONE, "email": 3 * 4 + 2, "phone": 3 * 4}

    assert json_of(run)["redaction"] == {"secrets": 0, "patterns": patterns, "version": "3"}
    assert {line["model_response"] for line in rows_of(run)} == {
        "ask [redacted:email] or [redacted:phone]"
    }


def test_a_run_that_was_stopped_counts_as_one_that_was_not(
    project: Project, tmp_path: Path
) -> None:
    whole = Project(tmp_path / "whole")
    run = whole.run(whole.ports(ScriptedTarget(otherwise=SAID)), cases(whole))
    expected = json_of(run)["redaction"]
    whole.close()
    stopping = StoppingTarget(after=1)
    stopping.otherwise = SAID
    with pytest.raises(Stopped):
        project.run(project.ports(stopping), cases(project))
    resumed = project.resume(project.ports(ScriptedTarget(otherwise=SAID)))

    assert json_of(resumed)["redaction"] == expected


def test_a_run_is_not_gone_on_with_under_another_choice(project: Project) -> None:
    """Its manifest could not say what was looked for."""
    with pytest.raises(Stopped):
        project.run(project.ports(StoppingTarget(after=1)), cases(project))
    project.write("steelyard.yaml", f"{SETTINGS}redaction: {{patterns: [email]}}\n")

    with pytest.raises(RunError, match=r"the choice of what is redacted of run_.* has changed"):
        project.resume(project.ports(ScriptedTarget()))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("", KINDS),
        ("redaction: {}", KINDS),
        ("redaction: {patterns: []}", ()),
        ("redaction: {patterns: [key, email]}", ("email", "key")),
    ],
)
def test_the_project_chooses_the_patterns(
    project: Project, settings: str, expected: tuple[str, ...]
) -> None:
    project.write("steelyard.yaml", SETTINGS + settings)
    ports = project.ports(ScriptedTarget())

    assert project.prepare(ports, cases(project)).redacted.patterns == expected


@pytest.mark.parametrize("known", [1, 1000])
def test_checks_with_such_ids_stay_apart(
    project: Project, monkeypatch: pytest.MonkeyPatch, known: int
) -> None:
    """However many of them are remembered."""
    monkeypatch.setattr(result_rows, "_KNOWN_IDS", known)
    checks = [
        {"name": name, "type": "equals", "value": "yes"}
        for name in ("joe@example.com", "ann@example.com")
    ]
    dataset = project.cases([row("a", evaluators=checks)])
    run = project.run(project.ports(ScriptedTarget()), dataset)
    scores = rows_of(run)[0]["evaluator_scores"]

    assert [(score["check"], score["passed"]) for score in scores] == 2 * [
        ("[redacted:email]", True)
    ]


def test_the_name_of_a_dataset_is_clean_in_the_list_of_runs(project: Project) -> None:
    dataset = project.cases([row("a")], "joe@example.com.jsonl")
    project.run(project.ports(ScriptedTarget()), dataset)

    assert project.ports().repository.list(1)[0].dataset == "[redacted:email]"
