"""A run as one HTML file: complete, self-contained, and safe whatever the data say."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import pytest

from fakes.predictions import SCORED
from steelyard.reports.run_html import run_html
from steelyard.reports.run_text import RunView
from steelyard.results.facts import CheckFact
from steelyard.results.predictions import Prediction
from strategies.run_facts import checked, facts
from strategies.run_views import prediction, run_view

HOSTILE = '</pre></td><script>alert("1")</script>\'"><img onerror=x {{ 7 * 7 }}'
VOID = {"meta", "br"}
LOADING = {"src", "href", "srcset", "data", "action", "poster", "xlink:href"}


class Page(HTMLParser):
    """The elements and texts of a page; elements that are not closed are an error."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.extend((name, value or "") for name, value in attrs)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.extend((name, value or "") for name, value in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    @property
    def text(self) -> str:
        """What a reader sees."""
        body = self.html.partition("<body>")[2]
        return " ".join(unescape(re.sub("<[^>]*>", " ", body)).split())


def page(view: RunView, *rows: Prediction) -> Page:
    return Page(run_html(view, rows))


def full(name: str = "tags") -> RunView:
    """A run with everything in it, under a name for all that users and targets can name."""
    skipped = CheckFact(name, "equals", "skipped", None, None)
    return run_view(
        [
            facts(
                0,
                passed=True,
                latency_ms=120.0,
                input_tokens=10,
                output_tokens=5,
                cost_usd=0.5,
                slices=((name, name),),
                checks=(checked(name, passed=True),),
            ),
            facts(1, passed=False, slices=((name, None),), checks=(skipped,)),
            facts(2, status="invalid_record"),
        ],
        dataset_id=name,
        dataset_version=name,
        targets={name: {"base_url": "https://example.org/v1?a&b"}},
        rubrics=[{"rubric": name}],
        source={name: name},
        options={"where": name},
        environment={"python": name},
    )


def hostile_row() -> Prediction:
    return prediction(
        1,
        record_id=HOSTILE,
        passed=False,
        reason=HOSTILE,
        model_response=HOSTILE,
        evaluator_scores=[
            {**SCORED, "check": HOSTILE, "kind": HOSTILE, "reason": HOSTILE, "passed": False}
        ],
    )


def test_a_page_is_well_formed_with_and_without_data() -> None:
    for found in (page(run_view()), page(full(), hostile_row())):
        assert found.html.startswith("<!doctype html>")
        assert {"html", "head", "title", "body", "table", "svg"} <= set(found.tags)


def test_data_stay_text_whatever_they_say() -> None:
    plain, hostile = page(full(), prediction(1, passed=False)), page(full(HOSTILE), hostile_row())

    assert set(hostile.tags) <= {*plain.tags, "pre"}
    assert {name for name, _ in hostile.attributes} <= {name for name, _ in plain.attributes}
    assert not re.search("<script|<img", hostile.html)


def test_data_are_shown_as_they_are() -> None:
    html = page(full(HOSTILE), hostile_row()).html

    # nor is what looks like a template rendered a second time
    assert unescape(html).count(HOSTILE) >= 12


def test_a_page_loads_nothing_from_anywhere() -> None:
    for found in (page(run_view()), page(full(HOSTILE), hostile_row())):
        assert not {name for name, _ in found.attributes} & LOADING
        assert not set(found.tags) & {"script", "link", "img", "iframe", "object", "form", "base"}
        assert "url(" not in found.html
        assert "@import" not in found.html


def test_a_page_without_addresses_in_its_data_has_none_of_its_own() -> None:
    html = page(run_view([facts(0, passed=True)]), prediction(0)).html

    assert re.search(r"https?://|//[a-z]", html) is None


def test_the_browser_is_told_to_load_and_run_nothing() -> None:
    attributes = page(run_view()).attributes

    assert ("http-equiv", "Content-Security-Policy") in attributes
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in attributes


def test_a_page_shows_rates_with_interval_denominator_and_method() -> None:
    text = page(full()).text

    assert "pass rate, 95 % interval (n = 2) 50.0 % [9.5, 90.5]" in text
    assert "mean score, 95 % interval (n = 2) 0.500 [0.095, 0.905]" in text
    assert "scores of 2 records" in text
    assert "the pass rate would be 33.3 %; had all passed, 66.7 %" in text
    assert "tokens 10 in, 5 out (n = 1) · cost $0.5000 (n = 1)" in text


def test_a_page_shows_what_dependent_records_and_repeats_come_to() -> None:
    records = [
        facts(
            at,
            passed=at < 50 and (at > 5 or repeat == 0),
            repeat=repeat,
            cluster=f"talk {at // 5}",
            slices=(("tags", "ab"[at < 50]),),
        )
        for at in range(100)
        for repeat in range(1 if at == 99 else 2)
    ]
    text = page(run_view(records)).text

    assert (
        "100 records in 20 groups (a conversation, or a record without one) count as about "
        in text
    )
    assert "tries k pass@k: one of them passes pass^k: all of them pass 1 " in text
    assert " n = 100 47.0 % to 47.5 % if the tries without a score had all failed or all" in text
    assert "twice the records would narrow the interval by 29 %" in text
    assert "tags = a 0.0 %" in text
    assert "✗ below the rest" in text


def test_a_page_shows_every_denominator() -> None:
    text = page(full()).text

    assert (
        "total evaluated passed did not pass could not be evaluated of these unscored invalid "
        "skipped retried rows 3 2 ✓ 1 ✗ 1 0 0 ! 1 0 0 3"
    ) in text


def test_a_page_of_an_empty_run_says_what_there_is_not() -> None:
    text = page(run_view()).text

    assert "– (nothing evaluated)" in text
    assert "No record belongs to a slice." in text
    assert "Every record passed." in text
    assert "would be" not in text


def test_a_page_shows_checks_and_the_slices_that_have_a_value() -> None:
    text = page(full("topic")).text

    assert "topic equals 100.0 % [20.7, 100.0] 1 1 0" in text
    assert "topic = topic 100.0 % [20.7, 100.0] 1 1" in text
    assert "topic = None" not in text


def test_a_page_shows_each_record_that_did_not_pass_with_its_reasons() -> None:
    scores = [
        {**SCORED, "check": name, "reason": "why", "status": status, "passed": passed}
        for name, status, passed in (
            ("a", "scored", True),
            ("b", "scored", False),
            ("c", "skipped", None),
            ("d", "unscored", None),
        )
    ]
    text = page(
        run_view(),
        prediction(0),
        prediction(1, passed=False, repeat=2, reason="b: why", evaluator_scores=scores),
        prediction(2, record_id=None, status="timeout", reason=None, model_response=None),
    ).text

    assert "Not passed (2)" in text
    assert (
        "q1 (2) ✗ fail b: why answered 4 "
        "✓ a (equals): why ✗ b (equals): why – c (equals): why ! d (equals): why 1,234 ms"
    ) in text
    assert "record 2 ! timeout timeout 1,234 ms" in text


@pytest.mark.parametrize(("rows", "is_cut"), [(200, False), (201, True)])
def test_a_page_shows_the_first_two_hundred(rows: int, is_cut: bool) -> None:
    text = page(run_view(), *(prediction(index, passed=False) for index in range(rows))).text

    assert f"Not passed ({rows})" in text
    assert ("The first 200 are shown" in text) is is_cut
    assert ("q200" in text) is False


def test_a_page_says_how_it_was_made() -> None:
    text = page(full()).text

    assert "2026-01-15 10:20:30 UTC" in text
    assert '{"tags": {"base_url": "https://example.org/v1?a&b"}}' in text
    assert "steelyard 0.1.0, Python tags" in text
    assert "predictions.jsonl 12,345 bytes, sha256 cdcdcdcdcdcdcdcd…" in text
