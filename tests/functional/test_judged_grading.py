"""Every way of grading that asks judges, from the command line to the artifacts."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from checker import check_run
from fakes.many_commands import Done, run_many

PROJECT = """\
targets:
  ann: {provider: python, callable: "people:ann", price: {input: 1, output: 1}}
  big: {provider: python, callable: "people:judge"}
  small: {provider: python, callable: "people:doubter"}
judges:
  default: {target: big}
  tone: {target: small}
suites:
  gentle: {dataset: desk.json, target: ann, judge: judge/tone@1.0.0, pass_threshold: 0.2}
allow: {commands: true}
"""
PEOPLE = """\
import json
import re

VALUES = {"judge": {"score": 0.9, "better": "yes", "quality": 4}, "doubter": {"score": 0.3}}


def ann(prompt: str) -> dict:
    message = {"role": "assistant", "content": "At nine, as every day."}
    usage = {"input_tokens": 1_000_000, "output_tokens": 0}
    return {"messages": [message], "usage": usage}


def reply(prompt: str, values: dict) -> str:
    keys = re.findall('under the key "([a-z0-9_]+)"', prompt)
    answers = {
        key: {"evidence": "At nine", "reasoning": f"about {key}", "value": values.get(key, 1)}
        for key in keys
    }
    return json.dumps({"answers": answers})


def judge(prompt: str) -> str:
    return reply(prompt, VALUES["judge"])


def doubter(prompt: str) -> str:
    return reply(prompt, VALUES["doubter"])
"""
DESK = {
    "dataset_id": "desk",
    "dataset_version": "1.0",
    "schema_version": "1.0",
    "records": [
        {
            "record_id": "d1",
            "input": {"prompt": "When do you open?"},
            "reference": {"answer": "At nine."},
            "expected": {"required_criteria": ["clarity", "overall"]},
        }
    ],
}
LEGAL = [
    {"id": "l1", "task_type": "reference_qa", "reference_answers": ["At nine."]},
    {
        "id": "l2",
        "task_type": "rubric_qa",
        "metadata": {"policy_id": "prbench_v1"},
        "rubric": [
            {"id": "c1", "title": "Names a time", "weight": 3},
            {"id": "c2", "title": "Is rude", "weight": -2},
        ],
    },
]
CASES = [
    {"id": "c1", "expected_outcome": "Names a time.", "input": "When?"},
    {
        "id": "c2",
        "expected_outcome": "Names a time.",
        "input": "When?",
        "rubrics": ["Names a time", "Is short"],
        "evaluators": [
            {"name": "tone", "type": "llm_judge", "prompt": "Is {{candidate_answer}} kind?"},
            {"name": "code", "type": "code_judge", "script": [sys.executable, "grade.py"]},
            {"name": "cheap", "type": "cost", "budget": 0.5},
            {
                "name": "both",
                "type": "composite",
                "evaluators": [
                    {"name": "nine", "type": "contains", "value": "nine"},
                    {"name": "kind", "type": "llm_judge"},
                ],
                "aggregator": {"type": "weighted_average", "weights": {"kind": 3}},
            },
        ],
    },
]
GRADE = """\
import json, sys
told = json.load(sys.stdin)
print(json.dumps({"score": 1, "reasoning": told["question"]}))
"""
QUESTIONS = """\
name: Quality
version: quality-v1
status: {status}
scale: 0-5
questions:
  - {{key: quality, label: How good is it?, type: score}}
  - {{key: better, label: Better than before?, type: yes_no}}
"""
RUBRICS = {
    "judged": "- {id: tone, kind: llm_judge, judge_prompt_ref: judge/tone@1.0.0}",
    "jury": """- id: jury
    kind: llm_judge
    jury:
      aggregation: mean
      judges:
        - {judge_prompt_ref: judge/tone@1.0.0}
        - {judge_prompt_ref: judge/accuracy@1.0.0, weight: 2}
        - {judge_prompt_ref: judge/tone@1.0.0, target: big}""",
    "lost": """- id: jury
    kind: llm_judge
    jury: {judges: [{judge_prompt_ref: judge/tone@1.0.0, target: nobody}]}""",
    "outer": """- {id: inner, kind: composite, rubric_ref: rubric/judged@1.0.0}
  - {id: asked, kind: composite, rubric_ref: rubric/quality-v1}
  - {id: cheap, kind: cost, max_usd: 2}""",
    "program": "- {id: p, kind: command, script: [grade]}",
}
JUDGE = "{id: tone, version: 1.0.0, template: 'Is {{ output }} polite?', score_type: continuous}\n"
RUN = ("run", "desk.json", "--target", "ann", "--format", "json")
COMMANDS: dict[str, tuple[str, ...]] = {
    "brought": RUN,
    "legal": ("run", "legal.jsonl", "--target", "ann", "--format", "json"),
    "cases": ("run", "cases.jsonl", "--target", "ann", "--format", "json"),
    "replaced": (*RUN, "--judge", "judge/tone@1.0.0"),
    "suite": ("run", "--suite", "gentle", "--format", "json"),
    "judged": (*RUN, "--rubric", "rubric/judged@1.0.0"),
    "jury": (*RUN, "--rubric", "rubric/jury@1.0.0"),
    "outer": (*RUN, "--rubric", "rubric/outer@1.0.0"),
    "questions": (*RUN, "--rubric", "rubric/quality-v1"),
    "plan": (*RUN[:-2], "--rubric", "rubric/jury@1.0.0", "--plan"),
    "lost": (*RUN, "--rubric", "rubric/lost@1.0.0"),
    "archived": (*RUN, "--rubric", "rubric/old-v1"),
    "archived file": (*RUN, "--rubric", "rubrics/old.yaml"),
    "unused": (*RUN, "--rubric", "rubric/judged@1.0.0", "--judge", "judge/accuracy@1.0.0"),
    "unused gone": (*RUN, "--rubric", "rubric/judged@1.0.0", "--judge", "judge/gone@1.0.0"),
    "no judge": (*RUN, "--judge", "judge/gone@1.0.0"),
}


def write_project(root: Path) -> None:
    head = {"schema_version": "legal_eval_v1", "dataset": "d", "prompt": "When?"}
    texts = {
        "steelyard.yaml": PROJECT,
        "people.py": PEOPLE,
        "grade.py": GRADE,
        "desk.json": json.dumps(DESK),
        "legal.jsonl": "".join(json.dumps({**head, **row}) + "\n" for row in LEGAL),
        "cases.jsonl": "".join(json.dumps(row) + "\n" for row in CASES),
        "judges/tone.yaml": JUDGE,
        "rubrics/quality.yaml": QUESTIONS.format(status="published"),
        "rubrics/old.yaml": QUESTIONS.format(status="archived").replace("quality-v1", "old-v1"),
        **{
            f"rubrics/{name}.yaml": f"id: {name}\nversion: 1.0.0\nchecks:\n  {checks}\n"
            "scoring: {combine: weighted_avg}\n"
            for name, checks in RUBRICS.items()
        },
    }
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    """What every command came to, by name."""
    root = tmp_path_factory.mktemp("judged")
    write_project(root)
    return dict(zip(COMMANDS, run_many(root, COMMANDS.values()), strict=True))


def rows(one: Done) -> list[dict[str, Any]]:
    """The predictions of a run that was sound and complete."""
    assert one.code == 0, one.stderr
    folder = Path(json.loads(one.stdout)["artifacts"])
    check_run(folder)
    lines = (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def told(one: Done) -> list[str]:
    """What was said beside the warnings."""
    return [line for line in one.stderr.splitlines() if "warning:" not in line]


def scores(row: dict[str, Any]) -> dict[str, tuple[str | None, float]]:
    """The judge and the score of every check."""
    return {one["check"]: (one["judge"], one["score"]) for one in row["evaluator_scores"]}


def test_a_record_is_judged_by_its_reference_and_its_criteria(done: dict[str, Done]) -> None:
    (row,) = rows(done["brought"])

    assert scores(row) == {
        "llm_judge": ("judge/reference@1.0.0", 0.9),
        "criteria": ("judge/criteria@1.0.0", 1.0),
    }
    assert (row["score"], row["passed"]) == (0.95, True)
    assert told(done["brought"]) == [
        "graded by their own expectations: 1 record (criteria 1, llm_judge 1)",
        "asking judge/criteria@1.0.0 by target big",
        "asking judge/reference@1.0.0 by target big",
    ]


def test_a_legal_row_is_judged_as_its_policy_says(done: dict[str, Done]) -> None:
    compared, pointed = rows(done["legal"])

    assert scores(compared) == {"llm_judge": ("judge/reference@1.0.0", 0.9)}
    assert scores(pointed) == {"criteria": ("judge/prbench_criterion@1.0.0", pytest.approx(1 / 3))}
    assert pointed["raw_score"] == pytest.approx(1 / 3)


def test_an_eval_case_is_graded_by_every_evaluator(done: dict[str, Done]) -> None:
    plain, listed = rows(done["cases"])
    found = scores(listed)

    assert scores(plain) == {"llm_judge": ("judge/accuracy@1.0.0", 0.9)}
    assert list(found) == ["rubric", "tone", "code", "cheap", "both"]
    assert found["rubric"] == ("judge/rubric_items@1.0.0", 1.0)
    assert str(found["tone"][0]).startswith("judge/tone@0.0.0+")
    assert found["code"] == (None, 1.0)
    assert found["cheap"] == (None, 0.0)
    assert found["both"][1] == pytest.approx((1 + 3 * 0.9) / 4)
    both = listed["evaluator_scores"][-1]["details"]["results"]
    assert [one["check"] for one in both] == ["nine", "kind"]


def test_the_judge_of_the_run_is_asked_instead(done: dict[str, Done]) -> None:
    for name in ("replaced", "suite"):
        (row,) = rows(done[name])

        assert {judge for judge, _ in scores(row).values()} == {"judge/tone@1.0.0"}
        assert scores(row)["llm_judge"][1] == 0.3
    assert "asking judge/tone@1.0.0 by target small" in done["replaced"].stderr


def test_a_judge_of_a_rubric_is_asked_through_its_own_target(done: dict[str, Done]) -> None:
    (row,) = rows(done["judged"])

    assert scores(row) == {"tone": ("judge/tone@1.0.0", 0.3)}
    assert row["evaluator_scores"][0]["details"]["calls"][0]["target"] == "small"
    assert told(done["judged"]) == [
        "graded by rubric/judged@1.0.0 (1 check): 1 record",
        "asking judge/tone@1.0.0 by target small",
    ]


def test_a_jury_is_asked_through_several_targets(done: dict[str, Done]) -> None:
    (row,) = rows(done["jury"])

    assert row["score"] == pytest.approx((0.3 + 2 * 0.9 + 0.9) / 4)


def test_rubrics_within_rubrics_are_carried_out(done: dict[str, Done]) -> None:
    (row,) = rows(done["outer"])
    inner, asked, cheap = row["evaluator_scores"]

    assert [one["check"] for one in inner["details"]["results"]] == ["tone"]
    assert asked["details"]["rubric"] == "rubric/quality-v1"
    assert asked["score"] == pytest.approx((0.8 + 1) / 2)
    assert (cheap["reason"], cheap["passed"]) == ("cost $1.00, within $2.00", True)


def test_a_rubric_of_questions_gives_answers_and_a_score(done: dict[str, Done]) -> None:
    (row,) = rows(done["questions"])
    (asked,) = row["evaluator_scores"]
    manifest = json.loads(
        (Path(json.loads(done["questions"].stdout)["artifacts"]) / "run_manifest.json").read_text()
    )

    assert asked["answers"] == {"trace": {"quality": 4, "better": 1}, "turns": {}}
    assert row["score"] == pytest.approx(0.9)
    assert [one["rubric"] for one in manifest["rubrics"]] == ["rubric/quality-v1"]


def test_the_plan_says_who_grades_and_how_many_calls_that_takes(done: dict[str, Done]) -> None:
    told = done["plan"].stdout

    assert "  graded   by rubric/jury@1.0.0 (1 check): 1 record\n" in told
    assert "  asking   judge/accuracy@1.0.0 by target big\n" in told
    assert "  asking   judge/tone@1.0.0 by target small\n" in told
    assert "  judging  about 2 calls to big\n" in told
    assert "  judging  about 1 calls to small\n" in told


def test_a_judge_that_nothing_asks_is_told(done: dict[str, Done]) -> None:
    assert rows(done["unused"])[0]["score"] == rows(done["judged"])[0]["score"]
    assert "warning: judge/accuracy@1.0.0 is not asked: " in done["unused"].stderr
    assert "is not asked" not in done["replaced"].stderr + done["suite"].stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lost", "nobody"),
        ("archived", "rubric/old-v1 is archived"),
        ("archived file", "rubric/old-v1 is archived"),
        ("no judge", "cannot resolve judge/gone@1.0.0"),
        ("unused gone", "cannot resolve judge/gone@1.0.0"),
    ],
)
def test_what_cannot_be_used_is_refused_before_any_call(
    done: dict[str, Done], name: str, said: str
) -> None:
    assert (done[name].code, done[name].stdout) == (2, "")
    assert said in done[name].stderr


@pytest.mark.parametrize(
    "words", [("run", "cases.jsonl", "--target", "echo"), (*RUN, "--rubric", "program")]
)
def test_a_program_without_leave_is_refused_by_the_name_of_the_setting(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    write_project(tmp_path)
    (tmp_path / "steelyard.yaml").write_text(
        PROJECT.replace("commands: true", "commands: false"), encoding="utf-8"
    )
    (told,) = run_many(tmp_path, [words])

    assert (told.code, told.stdout) == (2, "")
    assert "allow.commands" in told.stderr
    assert not (tmp_path / ".steelyard/runs").exists()
