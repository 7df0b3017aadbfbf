"""A run that cannot be carried out is refused before the first call, with the remedy."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fakes.projects import Project, row, spec
from fakes.targets import ScriptedTarget
from steelyard.errors import ConfigError, RequestError
from steelyard.execution.ports import TargetSpec
from steelyard.ports import Sought

TARGETS = """\
targets:
  live: {provider: openai, base_url: "http://127.0.0.1:1/v1", model: m, api_key_env: NO_SUCH_KEY}
  echo2: {provider: echo}
"""
RUBRIC = """\
id: any
version: 1.0.0
checks: [{id: c, kind: regex, pattern: x}]
scoring: {combine: all_pass}
"""


def refusal(project: Project, dataset: Path, **options: Any) -> str:
    """Why a run is refused; no call is made and no run is kept."""
    target = ScriptedTarget()
    ports = project.ports(target)
    with pytest.raises(RequestError) as raised:
        project.prepare(ports, dataset, **options)

    assert target.calls == []
    assert ports.repository.list(10) == []
    return str(raised.value)


def test_an_unknown_target_is_refused_with_a_hint(project: Project) -> None:
    project.write("steelyard.yaml", TARGETS)

    with pytest.raises(ConfigError, match=r"unknown target 'lvie' \(did you mean 'live'\?\); tar"):
        project.prepare(project.ports(), project.cases([row("a")]), target="lvie")


def test_a_missing_key_is_refused_by_the_name_of_its_variable(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    project.write("steelyard.yaml", TARGETS)

    with pytest.raises(ConfigError, match="the environment variable NO_SUCH_KEY is not set"):
        project.prepare(project.ports(), project.cases([row("a")]), target="live")


def test_a_dataset_that_is_not_there_is_refused(project: Project) -> None:
    assert refusal(project, Path("gone.jsonl")) == "no such file: gone.jsonl"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("d.csv", "a,b", "d.csv: this is a table with the columns 'a', 'b'; run it with: "),
        ("d.json", "{", "d.json: invalid JSON: the text ends too early"),
        ("d.yaml", "evalcases: 7", "d.yaml: Line 1: evalcases must be an array"),
        ("d.json", '{"records": []}', "d.json: missing dataset_id"),
    ],
)
def test_a_file_that_is_wrong_as_a_whole_is_refused(
    project: Project, name: str, text: str, said: str
) -> None:
    project.write(name, text)

    assert refusal(project, Path(name)).startswith(said)


@pytest.mark.parametrize("options", [{}, {"limit": 1}, {"where": "id = a"}])
def test_a_line_that_is_not_json_spoils_the_file_wherever_it_stands(
    project: Project, options: dict[str, Any]
) -> None:
    project.write("d.jsonl", json.dumps(row("a")) + "\n\n{broken\n")

    assert refusal(project, Path("d.jsonl"), **options).startswith("d.jsonl: Line 3: Invalid JSON")


def test_a_line_that_is_not_json_is_told_before_what_else_refuses_a_run(project: Project) -> None:
    judged = {name: value for name, value in row("a").items() if name != "evaluators"}
    project.write("d.jsonl", json.dumps(judged) + "\n{broken\n")
    said = refusal(project, Path("d.jsonl"))
    project.write("d.jsonl", json.dumps(judged) + "\n")

    assert said.startswith("d.jsonl: Line 2: Invalid JSON")
    assert "judges.default.target" in refusal(project, Path("d.jsonl"))


def test_a_broken_sidecar_is_refused(project: Project) -> None:
    project.write("d.yaml", "dataset: [")

    assert refusal(project, project.cases([row("a")])).startswith("d.yaml: invalid YAML")


def test_a_misspelt_field_of_the_sidecar_is_refused_when_strict(project: Project) -> None:
    project.write("d.yaml", "descripton: a typo\n")
    dataset = project.cases([row("a")])

    assert "did you mean 'description'?" in refusal(project, dataset, strict=True)
    project.prepare(project.ports(ScriptedTarget()), dataset)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"converation_id": "x"},
            "d.jsonl:2: strict: unknown field 'converation_id' (did you mean 'conversation_id'?)",
        ),
        ({"expected_outcome": 7}, "d.jsonl:2: strict: expected_outcome must be a string"),
    ],
)
def test_a_misspelt_field_or_a_bad_record_is_refused_when_strict(
    project: Project, more: dict[str, object], said: str
) -> None:
    dataset = project.cases([row("a"), row("b", **more)])

    assert refusal(project, dataset, strict=True) == said
    project.prepare(project.ports(ScriptedTarget()), dataset)


def test_a_refusal_of_a_file_without_lines_names_the_place(project: Project) -> None:
    records = [
        {"record_id": "a", "input": {"prompt": "?"}},
        {"record_id": "b", "input": {"prompt": 7}},
    ]

    assert refusal(project, project.document(records), strict=True) == (
        "d.json: records[1]: strict: input.prompt must be a string"
    )


def test_what_is_only_a_warning_is_no_refusal_when_strict(project: Project) -> None:
    dataset = project.cases([row("a", note_of_the_author="nothing like a known field")])

    prepared = project.prepare(project.ports(ScriptedTarget()), dataset, strict=True)

    assert (prepared.forecast.total, prepared.forecast.valid) == (1, 1)


def test_a_dataset_without_a_valid_record_is_refused(project: Project) -> None:
    dataset = project.cases([{"id": "a"}, {"id": "b"}])

    assert refusal(project, dataset) == (
        "d.jsonl: none of 2 record(s) is valid; `steelyard validate` says why"
    )


def test_a_selection_of_nothing_is_refused(project: Project) -> None:
    assert refusal(project, project.cases([row("a")]), where="tags = x") == (
        "d.jsonl: no record is selected"
    )


def test_an_empty_dataset_is_refused(project: Project) -> None:
    assert refusal(project, project.cases([])) == "d.jsonl: the file is empty"


def test_a_dataset_that_nothing_grades_is_refused_with_the_reason(project: Project) -> None:
    dataset = project.document([{"record_id": "a", "input": {"prompt": "?"}}])

    assert refusal(project, dataset) == (
        "d.json: nothing grades any of the selected records; name a rubric with `rubric` "
        "('a': the case brings neither a reference nor expectations)"
    )


def test_a_default_evaluator_without_settings_is_refused_by_its_name(project: Project) -> None:
    bare = {name: value for name, value in row("a").items() if name != "evaluators"}
    dataset = project.cases([{**bare, "evaluator": "contains"}])

    said = "'a': the default evaluator 'contains' cannot do without settings; list it under"
    assert said in refusal(project, dataset)


@pytest.mark.parametrize(
    ("record", "judge"),
    [
        ({"reference": {"answer": "yes"}}, "reference"),
        ({"expected": {"required_criteria": ["clarity"]}}, "criteria"),
    ],
)
def test_a_record_that_needs_a_judge_is_refused_by_the_setting(
    project: Project, record: dict[str, object], judge: str
) -> None:
    dataset = project.document([{"record_id": "a", "input": {"prompt": "?"}, **record}])
    said = refusal(project, dataset)

    assert f"judge/{judge}@1.0.0" in said
    assert f"set judges.{judge}.target or judges.default.target in steelyard.yaml" in said


def test_a_case_with_the_default_evaluator_needs_a_judge_too(project: Project) -> None:
    said = refusal(project, project.cases([row("a", evaluators=[])]))

    assert "judges.default.target" in said


@pytest.mark.parametrize(
    "reference",
    ["rubric/gone@1.0.0", "rubric/any@2.0.0", "judge/any", "rubrics/gone.yaml", "gone"],
)
def test_a_rubric_that_is_not_there_is_refused_by_its_name(
    project: Project, reference: str
) -> None:
    project.write("rubrics/any.yaml", RUBRIC)

    assert reference in refusal(project, project.cases([row("a")]), rubric=reference)


def covering(is_covered: Callable[[str, int], bool]) -> TargetSpec:
    """A target with recorded responses to some records and repeats."""

    def covers(sought: Sought) -> bool:
        return is_covered(sought.case.id, sought.repeat)

    return spec(ScriptedTarget(), covers=covers)


@pytest.mark.parametrize(
    ("missing", "rest"), [(1, ""), (10, ""), (11, ", and 1 more"), (25, ", and 15 more")]
)
def test_pairs_without_a_recorded_response_are_refused_ten_by_name(
    project: Project, missing: int, rest: str
) -> None:
    ports = project.ports(covering(lambda name, _: int(name) >= missing))
    with pytest.raises(ConfigError) as raised:
        project.prepare(ports, project.cases([row(str(number)) for number in range(30)]))

    shown = ", ".join(f"{number} × scripted" for number in range(min(missing, 10)))
    said = f"{missing} selected pair(s) have no recorded response: {shown}{rest}"
    assert str(raised.value) == said


def test_a_gap_in_one_repeat_is_named(project: Project) -> None:
    ports = project.ports(covering(lambda _, repeat: repeat == 0))

    with pytest.raises(ConfigError, match=r"1 selected pair\(s\) .*: a × scripted repeat 1$"):
        project.prepare(ports, project.cases([row("a")]), repeat=2)


def test_records_that_are_not_selected_need_no_response_and_no_judge(project: Project) -> None:
    ports = project.ports(covering(lambda name, _: name == "a"))
    dataset = project.cases([row("a"), row("b", evaluators=[])])

    assert project.prepare(ports, dataset, limit=1).forecast.calls == 1


@pytest.mark.parametrize("where", ["metadta.n = 5", "metadata.m != 5", "id = a and tag = x"])
def test_a_selection_by_what_no_record_has_is_refused(project: Project, where: str) -> None:
    rows = [row("a", tags=["x"], metadata={"n": 5}), row("b")]
    path = where.rpartition("and ")[2].split()[0]

    assert refusal(project, project.cases(rows), where=where) == (
        f"d.jsonl: `where`: no record has '{path}'"
    )


def test_beyond_the_limit_nobody_has_looked_for_what_is_selected_by(project: Project) -> None:
    rows = [row("a"), row("b", metadata={"n": 5})]
    ports, cases = project.ports(ScriptedTarget()), project.cases(rows)
    prepared = project.prepare(ports, cases, where="metadata.n != 7", limit=1)

    assert prepared.forecast.valid == 1


@pytest.mark.parametrize("where", ["id", "= a", "id = a and", "id == a"])
def test_a_selection_that_cannot_be_read_is_refused(project: Project, where: str) -> None:
    assert "write PATH OP VALUE" in refusal(project, project.cases([row("a")]), where=where)


def test_a_secret_too_short_to_be_redacted_is_a_warning(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    target = spec(ScriptedTarget(), secrets=("short", "long enough", ""))
    with caplog.at_level(logging.WARNING, "steelyard"):
        project.prepare(project.ports(target), project.cases([row("a")]))

    said = "2 key(s) or header value(s) have fewer than 8 characters and are not redacted"
    assert caplog.messages == [f"targets.scripted: {said}"]


@pytest.mark.parametrize("name", ["repeat", "limit", "workers", "max_concurrency"])
@pytest.mark.parametrize("count", [0, -1, 1.5, True])
def test_a_number_of_things_is_one_at_least(project: Project, name: str, count: float) -> None:
    said = refusal(project, project.cases([row("a")]), **{name: count})

    assert said == f"`{name}` must be a whole number from 1 on, not {count}"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"gates": {"fail_under": math.nan}}, "gates.fail_under: Expected `float` >= 0.0"),
        ({"gates": {"fail_under": 7}}, "gates.fail_under: Expected `float` <= 1.0"),
        ({"gates": {"fail_under_low": "x"}}, "gates.fail_under_low: Expected `float | null`"),
        ({"gates": {"fail_above": 1}}, "gates: Object contains unknown field `fail_above`"),
        ({"gates": {"allow_failures": "nan"}}, "allow_failures is a number of records"),
        ({"budget_usd": math.nan}, "budget_usd: Expected `float` >= 0.0"),
        ({"budget_usd": math.inf}, "budget_usd: Expected `float` <= "),
        ({"budget_usd": 10**400}, "budget_usd: Number out of range"),
        ({"require_validated": {"tpr": math.nan}}, "require_validated.tpr: Expected `float`"),
        ({"require_validated": {"f1": 1}}, "require_validated: Object contains unknown field"),
        ({"pass_threshold": -0.1}, "pass_threshold: Expected `float` >= 0.0"),
        ({"pass_threshold": 1.1}, "pass_threshold: Expected `float` <= 1.0"),
        ({"pass_threshold": math.nan}, "pass_threshold: Expected `float` >= 0.0"),
        ({"pass_threshold": True}, "pass_threshold: Expected `int | float | null`, got `bool`"),
        ({"strict": "yes"}, "strict: Expected `bool`, got `str`"),
        ({"group_id": "\ud800"}, r"group_id must be printable, not '\ud800'"),
        ({"group_id": "g" * 1000}, "group_id must be a text of 1 to 200 characters"),
    ],
)
def test_options_of_wrong_types_or_out_of_range_are_refused(
    project: Project, options: dict[str, Any], reason: str
) -> None:
    assert reason in refusal(project, project.cases([row("a")]), **options)


def test_a_path_that_no_file_can_have_is_refused(project: Project) -> None:
    assert refusal(project, Path("a" * 5000)).startswith("a path is too long: aaa")
