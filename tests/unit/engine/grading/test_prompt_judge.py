"""Judges out of the prompts of eval cases."""

from __future__ import annotations

import pytest

from fakes.scripted_judges import answer, asker_saying, judged
from steelyard.contracts.eval_cases.prompts import VARIABLES
from steelyard.engine.grading.prompt_judge import prompt_judge, results_judge
from steelyard.judging.llm_judge import LlmJudge


def test_a_prompt_that_does_not_show_the_answer_is_shown_it_after() -> None:
    asker = asker_saying(answer(1))
    outcome = judged(LlmJudge(judge=prompt_judge("tone", "Is it polite?")), asker, "Yes, please.")
    sent = asker.calls[0].messages[-1][1]

    assert outcome.score == 1
    assert sent.index("Is it polite?") < sent.index("Yes, please.")


def test_a_prompt_that_shows_the_answer_is_left_as_it_is() -> None:
    judge = prompt_judge("tone", "Is {{candidate_answer}} polite?")

    assert judge.template == "Is {{candidate_answer}} polite?"


def test_every_variable_is_filled_from_trace_and_case() -> None:
    prompt = " | ".join(f"{{{{ {name} }}}}" for name in VARIABLES)
    asker = asker_saying(answer(0.5))

    assert judged(LlmJudge(judge=prompt_judge("all", prompt)), asker).score == 0.5


def test_two_prompts_are_never_one_judge() -> None:
    one, other = (prompt_judge("tone", text) for text in ("Polite?", "Rude?"))

    assert one.id == other.id == "tone"
    assert one.version != other.version
    assert one.sha256 != other.sha256
    assert prompt_judge("tone", "Polite?") == one


@pytest.mark.parametrize(
    ("name", "judge_id"),
    [("Tone of voice!", "tone_of_voice"), ("2nd", "judge_2nd"), ("***", "judge"), ("é", "judge")],
)
def test_a_judge_is_called_after_its_evaluator(name: str, judge_id: str) -> None:
    assert prompt_judge(name, "x").id == judge_id


@pytest.mark.parametrize(
    ("prompt", "template"),
    [
        ("Join {{EVALUATOR_RESULTS_JSON}}.", "Join {{EVALUATOR_RESULTS_JSON}}."),
        ("Join them.", "Join them.\n\n{{EVALUATOR_RESULTS_JSON}}\n"),
    ],
)
def test_a_judge_that_joins_sees_what_others_found(prompt: str, template: str) -> None:
    assert results_judge("all", prompt).template == template
    assert "{{EVALUATOR_RESULTS_JSON}}" in results_judge("all", None).template
