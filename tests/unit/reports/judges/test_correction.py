"""Corrected rates in summaries, pages and comparisons."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from steelyard.model.statistics.corrected_rate import (
    LABELS_OF_ANOTHER_RUN,
    OWN_LABELS,
    CorrectedRate,
    Drift,
    RateChange,
)
from steelyard.model.statistics.interval import Interval
from steelyard.reports.comparison.comparison_text import comparison_lines
from steelyard.reports.html.comparison_html import comparison_html
from steelyard.reports.html.run_html import run_html
from steelyard.reports.judges.correction import corrected_text, drift_text, judge_text
from steelyard.reports.run.run_junit import run_junit
from steelyard.reports.run.run_markdown import run_markdown
from steelyard.reports.run.run_text import RunView, run_lines
from steelyard.results.metrics import Missing, UnevenSlice
from strategies.comparisons import FOUND
from strategies.run_facts import facts
from strategies.run_views import run_view

RATE = Interval(0.9, 0.8, 0.95, "wilson", 10)
CORRECTED = CorrectedRate(
    value=0.65,
    low=0.55,
    high=0.75,
    method="post-stratified",
    basis=OWN_LABELS,
    labelled_runs=("run_1",),
    n=400,
    labels=150,
    design="random",
    judge="judge/right@1.0.0",
    validated_at="2026-05-01T10:00:00Z",
    tpr=RATE,
    tnr=replace(RATE, value=0.7),
)
NEVER = CorrectedRate(judge="judge/right@1.0.0", reason="<never> validated")


def view(corrected: CorrectedRate | None) -> RunView:
    made = run_view()
    return replace(made, metrics=structs.replace(made.metrics, corrected_pass_rate=corrected))


def test_a_corrected_rate_names_its_method_and_its_denominators() -> None:
    assert corrected_text(CORRECTED) == (
        "65.0 % [55.0, 75.0]  (post-stratified, 150 labels of these responses in run_1, "
        "400 records)"
    )
    assert judge_text(CORRECTED) == (
        "judge/right@1.0.0 passes 90.0 % of good answers (TPR, 9 of 10), "
        "fails 70.0 % of bad ones (TNR, 7 of 10), validated 2026-05-01"
    )
    assert judge_text(replace(CORRECTED, is_later=True)).endswith("2026-05-01, after this run")
    assert (corrected_text(NEVER), judge_text(NEVER)) == ("<never> validated", "")


@pytest.mark.parametrize(
    ("runs", "whose"), [(("run_1",), "run_1"), ((), "the labelled run"), (("r1", "r2"), "r1, r2")]
)
def test_labels_of_another_run_are_said_to_be(runs: tuple[str, ...], whose: str) -> None:
    row = replace(CORRECTED, basis=LABELS_OF_ANOTHER_RUN, labelled_runs=runs)

    assert f"150 labels of {whose}, 400 records" in corrected_text(row)
    assert judge_text(row).endswith(f"; assumes the judge errs on this run as on {whose}")
    page = run_html(view(row), [])
    assert "150 answers of another run read" in page
    assert f"This assumes that the judge errs here as on {whose}." in page


@pytest.mark.parametrize("is_drifted", [True, False])
def test_a_summary_warns_of_drift(is_drifted: bool) -> None:
    rate = RateChange(here=0.9, before=0.5, p_value=0.004 if is_drifted else 0.4)
    drift = Drift(against="2026-04-01", tpr=rate, tnr=rate, is_drifted=is_drifted)
    lines = list(run_lines(view(replace(CORRECTED, drift=drift))))

    assert any(line.startswith("  drift      the judge has drifted") for line in lines) is (
        is_drifted
    )


@pytest.mark.parametrize(
    ("tpr", "tnr", "said"),
    [
        ((0.9, 0.5), (0.8, 0.8), "drifted and is stricter since the labels of 2026-04-01: "),
        ((0.9, 0.5), (0.8, 0.8), "it fails more good answers, TPR fell from 90.0 % to 50.0 %"),
        ((0.9, 0.9), (0.5, 0.8), "stricter since"),
        ((0.9, 0.9), (0.5, 0.8), "it passes fewer bad answers, TNR rose from 50.0 % to 80.0 %"),
        ((0.9, 0.9), (0.8, 0.2), "more lenient since"),
        ((0.9, 0.9), (0.8, 0.2), "it passes more bad answers, TNR fell from 80.0 % to 20.0 %"),
        ((0.5, 0.9), (0.8, 0.8), "it fails fewer good answers, TPR rose"),
        ((0.5, 0.9), (0.8, 0.2), "more lenient since"),
        ((0.9, 0.5), (0.2, 0.8), "stricter since"),
        ((0.9, 0.5), (0.8, 0.2), "less accurate since"),
        ((0.5, 0.9), (0.2, 0.8), "more accurate since"),
        ((0.9, 0.9), (0.8, 0.8), "no drift found since the labels of 2026-04-01: TPR 90.0 % here"),
    ],
)
def test_drift_has_a_direction(
    tpr: tuple[float, float], tnr: tuple[float, float], said: str
) -> None:
    """Each rate before and here."""
    rates = [
        RateChange(before=before, here=here, p_value=1.0 if before == here else 0.004)
        for before, here in (tpr, tnr)
    ]
    drift = Drift(against="2026-04-01", tpr=rates[0], tnr=rates[1], is_drifted=True)

    assert said in drift_text(replace(CORRECTED, drift=drift))


def test_a_summary_shows_it_beside_the_raw_rate() -> None:
    lines = list(run_lines(view(CORRECTED)))
    place = next(n for n, line in enumerate(lines) if line.startswith("  corrected  65.0 %"))

    assert lines[place - 1].startswith("  pass rate")
    assert "fails 70.0 % of bad ones (TNR, 7 of 10)" in lines[place + 1]
    assert "| corrected pass rate | 65.0 % " in run_markdown(view(CORRECTED))


def test_a_summary_says_why_there_is_none() -> None:
    assert "  uncorrected  <never> validated" in list(run_lines(view(NEVER)))
    assert "| uncorrected | \\<never\\> validated |" in run_markdown(view(NEVER))


def test_without_a_judge_nothing_is_said() -> None:
    assert not any("corrected" in line for line in run_lines(view(None)))
    assert "corrected" not in run_markdown(view(None))
    assert "corrected" not in run_html(view(None), []).partition("<body>")[2]


def test_a_page_shows_it_in_its_headline() -> None:
    page = run_html(view(CORRECTED), [])

    assert "post-stratified, 150 of 400 answers read" in page
    assert "<b>65.0 %</b>" in page
    assert "55.0 – 75.0" in page
    assert "&lt;never&gt; validated" in run_html(view(NEVER), [])


def test_a_page_says_where_scores_are_missing() -> None:
    given = [facts(place, passed=True, slices=(("tags", "a"),)) for place in range(10)]
    made = run_view([*given, *(facts(place, slices=(("tags", "a"),)) for place in (10, 11))])
    (row,) = (structs.replace(one, adjusted_p=None) for one in made.slices)
    gone = UnevenSlice(slice="tags", value="a", missing=2, valid=12, adjusted_p=0.01)
    missing = Missing(missing=2, valid=40, uneven_slices=(gone,))
    found = replace(
        made,
        slices=[structs.replace(row, adjusted_p=0.0123), row],
        metrics=structs.replace(made.metrics, missing=missing),
    )
    page = run_html(found, [])

    assert "Scores are missing unevenly: tags = a: 2 of 12 have no score" in page


def test_a_comparison_says_which_run_has_no_corrected_rate() -> None:
    found = replace(FOUND, a=replace(FOUND.a, corrected=NEVER))

    assert "  uncorrected A: <never> validated" in list(comparison_lines(found))
    assert "Uncorrected A: &lt;never&gt; validated." in comparison_html(found, (), ())
    assert not any("corrected B" in line for line in comparison_lines(found))


def test_every_form_names_the_assumption_and_whose_labels_they_are() -> None:
    row = replace(CORRECTED, basis=LABELS_OF_ANOTHER_RUN, labelled_runs=("run_x",))
    assumed = "assumes the judge errs on this run as on run_x"

    for text in (run_markdown(view(row)), run_junit([(view(row), [])])):
        assert assumed in text
        assert "labels of run_x" in text
