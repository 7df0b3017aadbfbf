"""A run as one HTML file: complete, self-contained, and safe whatever the data say."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from fakes.predictions import SCORED
from steelyard.reports.html import run_html as module
from steelyard.reports.html.run_html import run_html
from steelyard.reports.run.run_text import RunView
from steelyard.results.facts import CheckFact
from steelyard.results.predictions import Prediction
from strategies.html_pages import HOSTILE, HtmlPage, require_closed
from strategies.run_facts import checked, facts
from strategies.run_views import prediction, run_view


def page(view: RunView, *rows: Prediction) -> HtmlPage:
    return HtmlPage(run_html(view, rows))


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

    assert set(hostile.tags) <= {*plain.tags}
    assert {name for name, _ in hostile.attributes} <= {name for name, _ in plain.attributes}
    assert hostile.html.count("<script") == 1
    assert "<img" not in hostile.html


def test_data_are_shown_as_they_are() -> None:
    html = page(full(HOSTILE), hostile_row()).html

    # nor is what looks like a template rendered a second time
    assert unescape(html).count(HOSTILE) >= 12


def test_a_page_loads_nothing_and_runs_nothing_but_its_filter() -> None:
    for found in (page(run_view()), page(full(HOSTILE), hostile_row())):
        require_closed(found)


def test_a_page_without_addresses_in_its_data_has_none_of_its_own() -> None:
    html = page(run_view([facts(0, passed=True)]), prediction(0)).html

    assert re.search(r"https?://", html) is None


def test_a_page_shows_rates_with_interval_denominator_and_method() -> None:
    text = page(full()).text

    assert "1 of 2 answers pass. Of answers like these, anything from 9 to 91 of 100" in text
    assert "1 of 2 evaluated, Wilson 50.0 % 9.5 – 90.5" in text
    assert "Mean score 0.500 [0.095, 0.905]" in text
    assert "Tokens in, out (n = 1) 10, 5 Cost (n = 1) $0.5000" in text


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
    assert "Tries k pass@k: one of them passes pass^k: all of them pass 1 " in text
    assert " n = 100 47.0 % to 47.5 % if the tries without a score had all failed or all" in text
    assert "wice the records would narrow the interval by 29 %" in text
    assert "a below the rest 50 0.0 %" in text


def test_a_page_shows_every_denominator() -> None:
    text = page(full()).text

    assert "Records 3 = 2 evaluated + 1 failed + 0 skipped (1 invalid)" in text
    assert "Of 3 records 2 have a score; the others are in no rate." in text


def test_a_page_of_an_empty_run_says_what_there_is_not() -> None:
    text = page(run_view()).text

    assert "No record has a score, so there is no pass rate." in text
    assert "No record belongs to a slice." in text
    assert "There is no record." in text


def test_a_page_of_a_pruned_run_has_the_numbers_and_no_list() -> None:
    text = HtmlPage(run_html(full(), (), pruned="2026-02-01")).text

    assert "The records were pruned on 2026-02-01; only the numbers are left." in text
    assert "1 of 2 answers pass" in text
    assert "Passed, 0" not in text


def test_a_page_shows_checks_and_the_slices_that_have_a_value() -> None:
    text = page(full("topic")).text

    assert "topic equals 100.0 % 20.7 – 100.0 1 1 0" in text
    assert (
        "1 slice with fewer than 5 records folded: too few to read a rate from topic 1 of 1"
        in text
    )
    assert "None" not in text


def test_failures_stand_before_slices_and_slices_before_what_passed() -> None:
    html = page(full(), prediction(0), prediction(1, passed=False)).html

    places = [html.index(f'id="h-{name}"') for name in ("failed", "slices", "passed", "made")]
    assert places == sorted(places)


def test_a_page_shows_each_record_with_its_question_and_its_reasons() -> None:
    scores = [
        {**SCORED, "check": name, "reason": "why", "status": status, "passed": passed}
        for name, status, passed in (
            ("a", "scored", True),
            ("b", "scored", False),
            ("c", "skipped", None),
            ("d", "unscored", None),
        )
    ]
    asked = {
        "messages": [
            {"role": "system", "content": "Be brief"},
            {"role": "user", "content": "2 + 2?"},
        ]
    }
    text = page(
        run_view(),
        prediction(0, request=asked),
        prediction(
            1, passed=False, repeat=2, reason="b: why", evaluator_scores=scores, request=asked
        ),
        prediction(2, record_id=None, status="timeout", reason=None, model_response=None),
    ).text

    assert "Failed, 1 the question" in text
    assert "No score, 1 neither a fail nor a pass" in text
    assert text.index("Failed, 1") < text.index("No score, 1") < text.index("Passed, 1")
    assert "Fail q1 (repeat 2) 2 + 2? b: why" in text
    assert "Fail b why Pass a why Skipped c why Unscored d why 1,234 ms" in text
    assert "Timeout record 2" in text
    assert "Passed, 1" in text
    assert "Pass q0 2 + 2? System prompt Be brief User 2 + 2? Answer 4 " in text


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([prediction(0)], "Every record passed."),
        ([prediction(0), prediction(1, status="timeout", passed=None)], "No record failed."),
        ([], "There is no record."),
    ],
)
def test_a_page_without_a_fail_says_what_there_is(rows: list[Prediction], said: str) -> None:
    assert f"open it for answer and reasons {said}" in page(run_view(), *rows).text


def short_names(found: HtmlPage) -> list[str]:
    """The names of the records that the file has in short form."""
    data = re.findall(r"<template data-short>(.*?)</template>", found.html, re.DOTALL)
    return [row[0] for one in data for row in json.loads(unescape(one))]


@pytest.mark.parametrize(("passed", "whole"), [(True, 200), (False, 1_000)])
def test_every_record_is_in_the_file_the_first_ones_whole(passed: bool, whole: int) -> None:
    rows = [prediction(index, passed=passed) for index in range(whole + 3)]
    found = page(run_view(), *rows)

    assert f"{'Passed' if passed else 'Failed'}, {whole + 3:,}" in found.text
    assert f"{whole:,} are shown whole. The other 3 are in this file too" in found.text
    assert short_names(found) == [f"q{index}" for index in range(whole, whole + 3)]
    assert short_names(page(run_view(), *rows[:whole])) == []


def test_records_in_short_form_stay_text_whatever_they_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "SHOWN_FAILED", 0)
    found = page(run_view(), hostile_row())

    assert short_names(found) == [HOSTILE]
    assert "<img" not in found.html
    assert found.html.count("<script") == 1


def test_a_page_of_long_conversations_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 1_000)
    asked = {"messages": [{"role": "user", "content": "x" * 600}]}
    text = page(run_view(), *(prediction(index, request=asked) for index in range(9))).text

    assert "2 are shown whole. The other 7 are in this file too" in text


def test_a_page_says_how_it_was_made() -> None:
    text = page(full()).text

    assert "2026-01-15 10:20:30 UTC" in text
    assert '{"tags": {"base_url": "https://example.org/v1?a&b"}}' in text
    assert "steelyard 0.1.0, Python tags" in text
    assert "predictions.jsonl 12,345 bytes, sha256 cdcdcdcdcdcdcdcd" in text
    assert "3 records of tags, version tags (dataset_document) were put to tags." in text
