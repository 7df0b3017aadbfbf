"""JSON for people."""

from __future__ import annotations

from steelyard.model.json_value import JsonValue
from steelyard.reports.json_view import LARGE, fields_text, json_markup


def test_a_short_value_stands_on_one_line_with_its_keys_marked() -> None:
    assert json_markup(
        {"a": 1}
    ) == '<div class="json">{<span class="j-k">"a"</span>: 1}</div>'.replace('"a"', "&#34;a&#34;")


def test_what_it_shows_is_escaped_everywhere() -> None:
    html = json_markup({"<b>": ["<script>", {"</div>": "x" * 100}]})
    assert "<script>" not in html
    assert "<b>" not in html
    assert html.count("</div>") == 1


def test_long_lists_within_a_value_are_folded_and_say_how_long_they_are() -> None:
    html = json_markup({"rows": [{"name": "a name that is long", "n": n} for n in range(9)]})
    assert '<details class="j-fold"><summary>[ 9 items ]</summary>' in html
    assert "<details" not in json_markup(
        [{"name": "a name that is long", "n": n} for n in range(9)]
    )


def test_a_huge_value_is_shown_as_it_is() -> None:
    html = json_markup(["<" * LARGE])
    assert "<span" not in html
    assert "<<" not in html


def test_a_deep_value_ends() -> None:
    deep: JsonValue = "end"
    for _ in range(200):
        deep = [deep, "something that is long enough for a line of its own, and then some more"]
    assert "end" in json_markup(deep)


def test_how_much_a_value_holds() -> None:
    values: list[JsonValue] = [{"a": 1}, [1, 2], "x"]
    assert [fields_text(one) for one in values] == ["1 field", "2 items", ""]
