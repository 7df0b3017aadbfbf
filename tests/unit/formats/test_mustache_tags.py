"""What a template may say, with the variables of a judge's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.contracts.judge.template import VARIABLES
from steelyard.formats.mustache_tags import names_in, template_problems

TOKENS = ["{{", "}}", "{{{", "}}}", "#", "/", "^", "!", ">", "=", ".", " ", "\n", "input", "a"]


def told(template: str) -> list[str]:
    problems = template_problems(template, VARIABLES)
    return [problem.message.removeprefix("{}, ") for problem in problems]


@pytest.mark.parametrize("name", VARIABLES)
@pytest.mark.parametrize("tag", ["{{%}}", "{{ % }}", "{{{%}}}", "{{& % }}", "{{\n%\n}}"])
def test_every_variable_may_stand_in_every_sort_of_tag(name: str, tag: str) -> None:
    """JD-05"""
    assert told(tag.replace("%", name)) == []


@pytest.mark.parametrize(
    "template",
    [
        "",
        "no tag } }} { at all",
        "{{! a note, even with > and = }}",
        "{{#criteria}}{{ . }}{{/criteria}}",
        "{{#criteria}}{{{.}}}{{& . }}{{/ criteria }}",
        "{{^expected}}none{{/expected}}",
        "{{#input}}{{#output}}{{context}}{{/output}}{{/input}}",
        "{{#input}}{{#input}}{{/input}}{{/input}}",
        "{{ expected.answer.text }}",
        "{{#expected.facts}}{{ . }}{{/expected.facts}}",
        "{{ input }}}",
    ],
)
def test_these_templates_are_right(template: str) -> None:
    """JD-05, JD-06"""
    assert told(template) == []


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ ouput }}", ["line 1: unknown variable 'ouput'"]),
        ("a\n\n{{#answer}}{{/answer}}", ["line 3: unknown variable 'answer'"]),
        ("{{ Input }}", ["line 1: unknown variable 'Input'"]),
        ("{{> part }}", ["line 1: partial 'part' is not supported"]),
        ("{{=| |=}}", ["line 1: changing the delimiters is not supported"]),
        ("{{ }}", ["line 1: a tag is empty"]),
        ("{{ . }}", ["line 1: '.' is not a name"]),
        ("{{ input. }}", ["line 1: 'input.' is not a name"]),
        ("{{ input output }}", ["line 1: 'input output' is not a name"]),
        ("{{ input", ["line 1: a tag is not closed with }}"]),
        ("{{{ input }}", ["line 1: a tag is not closed with }}}"]),
        ("{{=<% %>", ["line 1: a tag is not closed with =}}"]),
        ("{{#input}}{{ name }}{{#part}}{{ x.y }}{{/part}}{{/input}}", []),
        ("{{#input}}{{ outptu }}{{/input}}", ["line 1: unknown variable 'outptu'"]),
        ("{{^input}}{{ name }}{{/input}}", ["line 1: unknown variable 'name'"]),
        ("{{#input}}", ["line 1: section 'input' is not closed"]),
        ("{{/input}}", ["line 1: section 'input' is closed and was not opened"]),
        (
            "{{#input}}{{#output}}{{/input}}{{/output}}",
            [
                "line 1: 'input' is closed before 'output' in it is",
                "line 1: section 'output' is closed and was not opened",
            ],
        ),
    ],
)
def test_these_are_wrong_and_the_message_names_the_line(template: str, said: list[str]) -> None:
    """JD-06, JD-07"""
    assert told(template) == said


@pytest.mark.parametrize(
    ("template", "hint"),
    [
        ("{{ ouput }}", "did you mean 'output'?"),
        ("{{ candidate }}", f"known are {', '.join(VARIABLES)}"),
        ("{{> part }}", "write the text out"),
        ("{{=| |=}}", "write {{ and }}"),
    ],
)
def test_a_hint_says_what_would_be_right(template: str, hint: str) -> None:
    """JD-07"""
    assert [problem.hint for problem in template_problems(template, VARIABLES)] == [hint]


@given(st.lists(st.sampled_from(TOKENS), max_size=20).map("".join))
def test_any_text_is_right_or_has_problems(template: str) -> None:
    """JD-07"""
    for problem in template_problems(template, VARIABLES):
        assert (problem.code, problem.path) == ("invalid_template", ("template",))


@pytest.mark.parametrize(
    ("template", "names"),
    [
        ("", set[str]()),
        ("{{ input }} {{! context }} {{ metadata.topic.name }}", {"input", "metadata"}),
        ("{{#tags}}{{ . }}{{/tags}} {{{ id }}}", {"tags", "id", ""}),
        ("{{ input", set[str]()),
    ],
)
def test_the_names_of_a_template_are_found_without_what_dots_lead_to(
    template: str, names: set[str]
) -> None:
    assert names_in(template) == names


def test_a_problem_tells_the_field_of_its_template() -> None:
    (problem,) = template_problems("{{ promt }}", ("prompt",), "prompt")

    assert (problem.path, problem.hint) == (("prompt",), "did you mean 'prompt'?")


@pytest.mark.parametrize("piece", ["{{#input}}", "{{^input}}\n", "{{x}}", "{{/a}}"])
def test_a_template_of_too_many_tags_has_one_problem(piece: str) -> None:
    """JD-06, JD-07"""
    (problem,) = template_problems(piece * 100_000, VARIABLES)

    assert problem.message.endswith("there are more than 1,000 tags")


def test_a_thousand_tags_are_allowed_and_keep_their_lines() -> None:
    """JD-06"""
    template = "{{ input }}\n" * 999 + "{{ ouput }}"

    (problem,) = template_problems(template, VARIABLES)

    assert problem.message == "{}, line 1000: unknown variable 'ouput'"
