"""A JSON value with variables: filled once, with unknown names told before the first call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import ConfigError, TargetError
from steelyard.model.json_value import JsonObject, JsonValue, Path
from steelyard.targets.json_template import JsonTemplate, value_at

KNOWN = {"prompt": (), "messages": (), "case": ("id", "metadata")}
VALUES: JsonObject = {
    "prompt": "Why?",
    "messages": [{"role": "user"}],
    "case": {"id": "q1", "metadata": {"topic": "trains", "level": 3, "none": None}},
}


def filled(value: JsonValue) -> JsonValue:
    return JsonTemplate(value, "body", KNOWN).filled(VALUES)


@pytest.mark.parametrize(
    ("template", "made"),
    [
        ("{{ prompt }}", "Why?"),
        ("{{prompt}}", "Why?"),
        ("{{\n prompt\t}}", "Why?"),
        ("Q: {{ prompt }} A:", "Q: Why? A:"),
        (" {{ prompt }}", " Why?"),
        ("{{ prompt }}{{ prompt }}", "Why?Why?"),
        ("{{ messages }}", [{"role": "user"}]),
        ("all: {{ messages }}", 'all: [{"role": "user"}]'),
        ("{{ case.id }}", "q1"),
        ("{{ case.metadata.level }}", 3),
        ("level {{ case.metadata.level }}", "level 3"),
        ("{{ case.metadata.none }}", None),
        ("plain", "plain"),
        ("{{", "{{"),
        ("{{ prompt", "{{ prompt"),
        ("{ prompt }", "{ prompt }"),
        (7, 7),
        (None, None),
        (True, True),
        ({"a": ["{{ prompt }}", {"b": "{{ case.id }}"}]}, {"a": ["Why?", {"b": "q1"}]}),
        ({"{{ prompt }}": 1}, {"{{ prompt }}": 1}),
    ],
)
def test_variables_are_filled_wherever_they_stand(template: JsonValue, made: JsonValue) -> None:
    assert filled(template) == made


@given(st.text())
def test_what_was_filled_in_is_never_filled_again(said: str) -> None:
    template = JsonTemplate({"a": "{{ prompt }}", "b": "<{{ prompt }}>"}, "body", KNOWN)

    for text in (said, "{{ prompt }}" + said, "{{ case.id }}"):
        values: JsonObject = {**VALUES, "prompt": text}
        assert template.filled(values) == {"a": text, "b": f"<{text}>"}


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ promt }}", "body: unknown variable {{ promt }} (did you mean 'prompt'?); known: "),
        ({"a": [1, "{{ x }}"]}, "body.a[1]: unknown variable {{ x }}; known: prompt, messages"),
        ("{{ prompt.text }}", "unknown variable {{ prompt.text }}; known: prompt, messages"),
        ("{{ messages[0].role }}", "{{ messages[0].role }} (did you mean 'messages'?)"),
        ("{{ case.idd }}", "(did you mean 'case.id'?); known: case.id, case.metadata"),
        ("{{ case.expected }}", "unknown variable {{ case.expected }}; known: case.id, case.m"),
        ("{{ }}", "unknown variable {{  }}"),
        ("{{ a..b }}", "unknown variable {{ a..b }}"),
        ("{{ prompt }} {{# prompt }}", "unknown variable {{ # prompt }}"),
    ],
)
def test_an_unknown_name_is_told_with_its_place(template: JsonValue, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        JsonTemplate(template, "body", KNOWN)

    assert said in str(caught.value)


def test_what_a_case_does_not_have_is_told_when_it_is_asked() -> None:
    with pytest.raises(TargetError, match=r"the case has no 'metadata\.colour'") as caught:
        filled("{{ case.metadata.colour }}")

    assert caught.value.code == "bad_request"


@pytest.mark.parametrize(("template", "has"), [({"a": ["x"]}, False), (["{{ prompt }}"], True)])
def test_it_knows_whether_it_has_variables(template: JsonValue, has: bool) -> None:
    assert JsonTemplate(template, "body", KNOWN).has_variables is has


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ((), (True, {"a": [{"b": None}], "7": 1})),
        (("a", 0, "b"), (True, None)),
        (("a", 1), (False, None)),
        (("a", "0"), (False, None)),
        (("a", "b"), (False, None)),
        ((0,), (False, None)),
        (("7",), (True, 1)),
        (("a", 0, "b", "c"), (False, None)),
    ],
)
def test_a_path_leads_to_a_value_or_nowhere(path: Path, found: tuple[bool, JsonValue]) -> None:
    assert value_at({"a": [{"b": None}], "7": 1}, path) == found
