"""Templates are filled once, from plain values, and never silently."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import TemplateError
from steelyard.formats.mustache import as_text, missed_in, rendered
from steelyard.model.json_value import JsonObject, JsonValue

VALUES: JsonObject = {
    "name": "Ada",
    "html": "<b> & \"q\" 'a'",
    "empty": "",
    "nothing": None,
    "list": ["a", "b"],
    "object": {"in": {"deep": "down"}, "n": 1},
    "number": 1.5,
    "yes": True,
}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("Hello {{ name }}!", "Hello Ada!"),
        ("{{html}}|{{{ html }}}|{{& html}}", "|".join(["<b> & \"q\" 'a'"] * 3)),
        ("{{ object.in.deep }}", "down"),
        ("{{ object }}", '{"in": {"deep": "down"}, "n": 1}'),
        ("{{ list }} {{ number }} {{ yes }}{{ nothing }}", '["a", "b"] 1.5 true'),
        ("{{#list}}<{{.}}>{{/list}}", "<a><b>"),
        ("{{#empty}}x{{/empty}}{{^empty}}y{{/empty}}", "y"),
        ("{{#object.more}}x{{/object.more}}{{^object.n}}y{{/object.n}}.", "."),
        ("{{#nothing.at.all}}x{{/nothing.at.all}}.", "."),
        ("{{! a remark }}a", "a"),
        ("{{#list}}{{ name }}{{/list}}", "AdaAda"),
        ("no tag } { }}", "no tag } { }}"),
        ("", ""),
    ],
)
def test_a_template_is_filled(template: str, text: str) -> None:
    assert rendered(template, VALUES) == text


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ nmae }}", "names 'nmae', which nothing fills; known: name, html"),
        ("{{#nmae}}x{{/nmae}}", "'nmae'"),
        ("{{ object.out }}", "'object.out', which is not there"),
        ("{{ name.upper }}", "'name.upper'"),
        ("{{ list.0 }}", "'list.0'"),
        ("{{> other }}", "the partial 'other'"),
        ("{{=<% %>=}}<% name %>", "delimiters"),
        ("{{ name", "no Mustache"),
        ("{{#name}}", "no Mustache"),
        ("{{/name}}", "no Mustache"),
    ],
)
def test_what_cannot_be_filled_is_an_error_that_names_it(template: str, said: str) -> None:
    with pytest.raises(TemplateError) as caught:
        rendered(template, VALUES)

    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("{{#items}}{{ name }};{{/items}}", "a;b;"),
        ("{{#items}}{{ top }}{{/items}}", "tt"),
        ("{{#one}}{{ name }}{{/one}}{{ name }}", "innerouter"),
        ("{{#one}}{{ deep.name }}{{/one}}", "deepest"),
        ("{{#one}}{{#deep}}{{ name }}{{ top }}{{/deep}}{{/one}}", "deepestt"),
        ("{{#items}}{{#note}}({{ note }}){{/note}}{{^note}}-{{/note}}{{/items}}", "-(n)"),
        ("{{#names}}{{ . }}{{ name }} {{/names}}", "xouter youter "),
    ],
)
def test_a_section_enters_its_object_and_sees_what_is_around_it(template: str, shown: str) -> None:
    values: JsonObject = {
        "name": "outer",
        "top": "t",
        "items": [{"name": "a"}, {"name": "b", "note": "n"}],
        "one": {"name": "inner", "deep": {"name": "deepest"}},
        "names": ["x", "y"],
    }

    assert rendered(template, values) == shown


def test_a_name_that_no_scope_has_is_an_error() -> None:
    with pytest.raises(TemplateError, match=r"names 'nmae', which nothing fills; known: a, items"):
        rendered("{{#items}}{{ nmae }}{{/items}}", {"items": [{"a": 1}]})


@given(st.text(max_size=60))
def test_what_is_filled_in_is_never_filled_again(text: str) -> None:
    braces = "{{ secret }}" + text + "{{{secret}}}{{#secret}}"

    assert rendered("[{{ a }}]", {"a": braces, "secret": "no"}) == f"[{braces}]"


def test_a_lone_surrogate_does_not_stop_it() -> None:
    assert rendered("a\ud800{{ a }}", {"a": "b\udfff"}) == "a\ufffdb\ufffd"


@pytest.mark.parametrize(
    ("value", "text"), [("a", "a"), (None, ""), (1, "1"), (["ä"], '["ä"]'), (False, "false")]
)
def test_values_are_shown_as_text_or_as_json(value: JsonValue, text: str) -> None:
    assert as_text(value) == text


@pytest.mark.parametrize(
    ("template", "missed"),
    [
        ("{{output}}", None),
        ("{{{output}}}", None),
        ("{{#output}}{{.}}{{/output}}", None),
        (
            "{{#expected}}{{output}}{{/expected}}{{^expected}}{{output}}{{/expected}}{{expected.a.b}}",
            None,
        ),
        ("{{#output}}yes{{/output}}", "in any case"),
        ("{{^output}}{{output}}{{/output}}", "in any case"),
        ("{{#expected}}{{output}}{{/expected}}", "where there is no expected"),
        ("{{#input}}{{#expected}}{{output}}{{/expected}}{{/input}}", "where there is no expected"),
    ],
)
def test_where_a_variable_is_not_shown(template: str, missed: str | None) -> None:
    variables = ("input", "output", "expected")

    assert missed_in(template, "output", variables, objects=("expected",)) == missed


def test_a_text_has_no_members() -> None:
    with pytest.raises(TemplateError, match=r"output\.text"):
        missed_in("{{output.text}}", "output", ("output",))


def test_a_template_of_too_many_tags_is_refused() -> None:
    with pytest.raises(TemplateError, match="more than 1,000 tags"):
        rendered("{{#a}}" * 1001, {"a": True})


PIECES = [
    *("{{", "}}", "{{{", "}}}", "&", " ", "\n", "name", "object.in.deep", "html", "nothing"),
    *("text", "{{ name }}", "{{{html}}}", "{{& list }}", "{{object.n}}", "{", "}", ".", "é"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_a_template_without_sections_is_filled_as_one_with_sections(template: str) -> None:
    """Templates of names alone are filled without the walk that sections need."""

    def said(text: str) -> str:
        try:
            return rendered(text, VALUES)
        except TemplateError as error:
            return "no Mustache" if "no Mustache" in str(error) else f"error: {error}"

    walked = said(f"{{{{#empty}}}}{{{{/empty}}}}x{template}")

    assert said(f"x{template}") == walked
