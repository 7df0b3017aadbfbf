"""The prompts of eval cases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.contracts.eval_cases.prompts import VARIABLES, as_template, prompt_problems
from steelyard.formats.mustache import rendered
from steelyard.formats.schema import spoken


@pytest.mark.parametrize(
    ("prompt", "template"),
    [
        ("Say {{ candidate_answer }}.", "Say {{candidate_answer}}."),
        ("{{question}}{{  expected_outcome  }}", "{{question}}{{expected_outcome}}"),
        ("{{ other }} stays", "{ { other }} stays"),
        ("{{#if x}}{{/if}}", "{ {#if x}}{ {/if}}"),
        ("{{{candidate_answer}}}", "{ {{candidate_answer}}}"),
        ("open {{ and }} close", "open { { and }} close"),
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}'),
        ('{{"a": 1}}', '{ {"a": 1}}'),
        ("{{> partial }}", "{ {> partial }}"),
        ("{{{{", "{ { { {"),
        ("", ""),
    ],
)
def test_only_the_variables_of_the_dialect_are_filled(prompt: str, template: str) -> None:
    assert as_template(prompt, VARIABLES) == template


@given(st.text(alphabet="{}#^/=>!& abcandidate_answer\n", max_size=60))
def test_any_prompt_can_be_rendered(prompt: str) -> None:
    values = dict.fromkeys(VARIABLES, "{{value}}")
    said = rendered(as_template(prompt, VARIABLES), values)

    # What is filled in is not filled again, and what is no variable stays.
    assert said.count("{{value}}") >= sum(prompt.count(f"{{{{{name}}}}}") for name in VARIABLES)
    assert said or not prompt


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("Is {{ candidate_answer }} polite?", []),
        ("No names at all.", []),
        (
            "{{candidate_anser}}",
            [
                (
                    (
                        "prompt shows 'candidate_anser', which nothing fills; "
                        "the judge reads it as text"
                    ),
                    "did you mean 'candidate_answer'?",
                )
            ],
        ),
        (
            "{{x}} {{ x }} {{#x}}",
            [
                (
                    "prompt shows 'x', which nothing fills; the judge reads it as text",
                    f"known are {', '.join(VARIABLES)}",
                )
            ],
        ),
    ],
)
def test_a_name_that_nothing_fills_is_a_warning(prompt: str, told: list[tuple[str, str]]) -> None:
    """EC-62"""
    problems = list(prompt_problems(prompt, VARIABLES, ("prompt",)))

    assert [(spoken(problem), problem.hint) for problem in problems] == told
    assert {problem.severity for problem in problems} <= {"warning"}
