"""The registry of OpenAI Evals: entries, their samples and templates, and what is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.conversions import Desk
from steelyard.errors import RequestError, UnreadableFileError
from steelyard.model.conversion import Conversion
from steelyard.model.json_value import JsonObject, JsonValue

MATCH = "evals.elsuite.basic.match:Match"
JUDGED = "evals.elsuite.modelgraded.classify:ModelBasedClassify"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
CRITERION: JsonObject = {
    "prompt": "Asked: {input}\nSaid: {completion}\nWanted: {criteria}\nY or N?",
    "choice_strings": "YN",
    "choice_scores": {"Y": 1.0, "N": 0.0},
    "input_outputs": {"input": "completion"},
}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def registered(
    desk: Desk, grader: str, *samples: JsonValue, split: str | None = None, **args: JsonValue
) -> Conversion:
    """What becomes of an eval with these samples."""
    desk.write_rows("registry/data/towns/samples.jsonl", *samples)
    entry: JsonObject = {"class": grader, "args": {"samples_jsonl": "towns/samples.jsonl", **args}}
    alias: JsonObject = {"id": "towns.dev.v0", "metrics": ["accuracy"]}
    desk.write("registry/evals/towns.yaml", {"towns": alias, "towns.dev.v0": entry})
    return convert(desk, split=split)


def convert(desk: Desk, **options: Any) -> Conversion:
    source, output = "registry/evals/towns.yaml", "cases.yaml"
    return desk.convert(source, "eval_cases", output, made_from="openai-evals", **options)


def reasons(made: Conversion) -> list[str]:
    return [f"{rows.outcome}: {rows.reason}" for rows in made.unwritten]


def changes(made: Conversion) -> dict[str, bool]:
    return {change.field: change.is_lost for change in made.fields}


def test_a_sample_is_a_case_with_the_id_that_logs_give_it(desk: Desk) -> None:
    question: JsonValue = [
        {"role": "system", "content": "Say the capital."},
        {"role": "user", "content": "Peru"},
    ]
    made = registered(
        desk, MATCH, {"input": question, "ideal": "Lima"}, {"input": "Chad", "ideal": ["N", "M"]}
    )
    dataset = desk.read("cases.yaml")
    first, second = dataset.cases

    assert (dataset.id, first.id, second.id) == ("towns.dev", "towns.dev.0", "towns.dev.1")
    assert [message.text for message in first.input_messages] == ["Say the capital.", "Peru"]
    assert first.answers == ("Lima",)
    assert second.metadata == {"ideal": ["N", "M"], "eval": "towns.dev.v0"}
    assert changes(made) == {"ideal": False}
    assert made.is_whole


def test_few_shot_examples_stand_before_the_question(desk: Desk) -> None:
    shots: list[JsonValue] = [
        {
            "sample": [
                {"role": "system", "content": f"Q{n}"},
                {"role": "system", "content": f"A{n}"},
            ]
        }
        for n in range(3)
    ]
    desk.write_rows("registry/data/towns/shots.jsonl", *shots)
    question: JsonValue = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]
    registered(
        desk,
        MATCH,
        {"input": question, "ideal": "x"},
        num_few_shot=2,
        few_shot_jsonl="towns/shots.jsonl",
    )
    (case,) = desk.read("cases.yaml").cases

    assert [message.text for message in case.input_messages] == ["S", "Q0", "A0", "Q1", "A1", "U"]


def test_a_split_names_one_eval_of_the_file_by_either_name(desk: Desk) -> None:
    assert registered(desk, MATCH, {"input": "a", "ideal": "b"}, split="towns").emitted == 1
    assert convert(desk, split="towns.dev.v0", force=True).emitted == 1
    with pytest.raises(RequestError, match="has no eval 'town'; it has towns"):
        convert(desk, split="town", force=True)


@pytest.mark.parametrize(
    ("grader", "args", "told"),
    [
        ("evals.elsuite.bluff.eval:BluffEval", {}, "graded by a program of its own"),
        ("evals.elsuite.multiple_choice:MultipleChoice", {"dataset": "hf://mmlu"}, "hf://mmlu"),
        (MATCH, {"samples_jsonl": "towns/none.jsonl"}, "none.jsonl"),
        (MATCH, {"samples_jsonl": "towns/pointer.jsonl"}, "pointer of Git LFS"),
        (MATCH, {"samples_jsonl": "https://a.test/b.jsonl"}, "nothing is fetched"),
        (MATCH, {"samples_jsonl": None}, "names no samples_jsonl"),
        (MATCH, {"num_few_shot": 1, "few_shot_jsonl": None}, "without a few_shot_jsonl"),
        (JUDGED, {"modelgraded_spec": "fact"}, "no template 'fact'"),
        (JUDGED, {"modelgraded_spec": "a", "metaeval": True}, "it grades a grader"),
        (JUDGED, {"modelgraded_spec": "a", "multicomp_n": 2}, "compares several answers"),
    ],
)
def test_an_eval_that_cannot_be_kept_is_named_with_its_reason(
    desk: Desk, grader: str, args: JsonObject, told: str
) -> None:
    desk.write("registry/data/towns/pointer.jsonl", POINTER)
    made = registered(desk, grader, {"input": "a", "ideal": "b"}, split=None, **args)

    assert (made.read, made.emitted) == (1, 0)
    assert "left_out: towns.dev.v0: " in reasons(made)[0]
    assert told in reasons(made)[0]


def test_samples_that_are_none_are_invalid_one_by_one(desk: Desk) -> None:
    made = registered(
        desk, MATCH, {"input": "a"}, {"ideal": "b"}, {"input": "a", "ideal": [1]}, [1]
    )

    assert made.count("invalid") == made.read == 4


@pytest.mark.parametrize("content", ["a: 1\n", "[1]\n", "a: [\n"])
def test_a_file_without_entries_cannot_be_read(desk: Desk, content: str) -> None:
    desk.write("registry/evals/towns.yaml", content)

    with pytest.raises(UnreadableFileError):
        convert(desk)


def test_columns_of_a_registry_cannot_be_mapped(desk: Desk) -> None:
    desk.write("registry/evals/towns.yaml", "a: 1\n")

    with pytest.raises(RequestError, match="is for items"):
        convert(desk, names={"input": "x"})


def judged(desk: Desk, template: JsonObject, **sample: JsonValue) -> Conversion:
    desk.write("registry/modelgraded/closed.yaml", {"closed": {**CRITERION, **template}})
    desk.write("registry/modelgraded/broken.yaml", "a: 1\na: 2\n")
    row: JsonObject = {"input": "Capital?", "ideal": "Lima", **sample}
    args: JsonObject = {"criteria": "Is right {{ output }}"}
    return registered(desk, JUDGED, row, modelgraded_spec="closed", modelgraded_spec_args=args)


def prompt(desk: Desk) -> str:
    (case,) = desk.read("cases.yaml").cases
    (evaluator,) = case.evaluators
    assert evaluator.type == "llm_judge"
    return str(evaluator.prompt)


def test_a_template_is_a_judge_with_all_filled_in_but_the_answer(desk: Desk) -> None:
    made = judged(desk, {})

    assert prompt(desk) == (
        "Asked: Capital?\nSaid: {{ candidate_answer }}\nWanted: Is right { { output }}\nY or N?"
        "\n\nThe score of each choice:\n- Y: 1\n- N: 0"
    )
    assert changes(made) == {"template": False}


def test_a_conversation_is_shown_with_who_speaks(desk: Desk) -> None:
    question: JsonValue = [
        {"role": "system", "content": "Be brief."},
        {"role": "system", "name": "example_user", "content": "Chad"},
        {"role": "user", "content": "Peru"},
    ]
    judged(desk, {}, input=question)

    assert prompt(desk).startswith("Asked: Be brief.\nUser: Chad\nUser: Peru\n\nSaid")


def test_scores_beside_zero_and_one_are_scaled_and_that_is_told(desk: Desk) -> None:
    made = judged(desk, {"choice_strings": "123", "choice_scores": "from_strings"})

    assert prompt(desk).endswith("- 1: 0\n- 2: 0.5\n- 3: 1")
    assert [field.message[:10] for field in made.fields] == ["the judge ", "the scores"]


def test_a_template_without_scores_grades_nothing_and_that_is_told(desk: Desk) -> None:
    made = judged(desk, {"choice_scores": None})
    (case,) = desk.read("cases.yaml").cases

    assert not case.evaluators
    assert "counts choices and gives no score" in made.fields[0].message
    assert changes(made) == {"template": True}


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ({"input_outputs": {"a": "b", "c": "d"}}, "compares several answers"),
        ({"choice_strings": "from_n"}, "compares several answers"),
        ({"prompt": "Is the last response funny?"}, "does not show the answer"),
        ({"prompt": "{completion"}, "cannot be filled in"),
        ({"choice_scores": {"Y": 1}}, "must give every choice a number"),
        ({"choice_strings": "ab", "choice_scores": "from_strings"}, "needs numbers"),
        ({"choice_scores": {"Y": 1, "N": 1}}, "score the same"),
        ({"prompt": "{completion} {language}"}, "shows 'language'"),
    ],
)
def test_a_template_that_cannot_be_kept_is_named(
    desk: Desk, template: JsonObject, told: str
) -> None:
    made = judged(desk, template)

    assert made.emitted == 0
    assert told in reasons(made)[0]


def test_a_file_of_templates_that_cannot_be_read_is_named_with_the_missing_one(desk: Desk) -> None:
    judged(desk, {})
    text = json.dumps(
        {
            "towns.dev.v0": {
                "class": JUDGED,
                "args": {"samples_jsonl": "towns/samples.jsonl", "modelgraded_spec": "a"},
            }
        }
    )
    desk.write("registry/evals/towns.yaml", text)
    made = convert(desk, force=True)

    assert "broken.yaml" in reasons(made)[0]
