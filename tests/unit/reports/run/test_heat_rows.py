"""Slices × checks: what is below the rest first, what is too small folded, gaps said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from steelyard.reports.html.pages import environment
from steelyard.reports.run.heat_rows import HeatTable, heat_table
from steelyard.results.facts import CheckFact, Facts
from steelyard.stats.intervals import wilson
from strategies.run_facts import checked, facts
from strategies.run_views import run_view


def records(*groups: tuple[str, int, int, int]) -> Iterator[Facts]:
    """So many records of each tag that pass, fail and have no score."""
    index = 0
    for tag, *numbers in groups:
        outcomes = [
            outcome
            for outcome, number in zip((True, False, None), numbers, strict=True)
            for _ in range(number)
        ]
        for passed in outcomes:
            checks = () if passed is None else (checked("right", passed=passed),)
            yield facts(index, passed=passed, slices=(("tags", tag),), checks=checks)
            index += 1


def table(*groups: tuple[str, int, int, int]) -> HeatTable:
    view = run_view(records(*groups))
    found = heat_table(view.metrics, view.slices)
    assert found
    return found


def shown(found: HeatTable, link: Any = None) -> str:
    source = '{% from "parts/run.html" import heat %}{{ heat(found, link) }}'
    return environment().from_string(source).render(found=found, link=link)


def test_slices_below_the_rest_come_first_then_the_lowest() -> None:
    found = table(("fine", 60, 0, 0), ("weak", 2, 18, 0), ("low", 4, 1, 0), ("tiny", 0, 4, 0))

    assert [row.value for row in found.rows] == ["weak", "low", "fine"]
    assert [row.adjusted_p is not None for row in found.rows] == [True, False, False]
    assert [row.value for row in found.folded] == ["tiny"]
    assert (found.field, found.checks, found.weak) == ("tags", ("right",), 1)
    assert "below the rest" in shown(found)


def test_a_slice_without_a_score_says_so() -> None:
    found = table(("fine", 6, 0, 0), ("gone", 0, 0, 6))
    gone = found.rows[-1]

    assert (gone.value, gone.unscored, gone.checks) == ("gone", 6, (None,))
    html = shown(found)
    assert '<td class="h-none"><span>no score</span></td>' in html
    assert "<span>not graded</span>" in html
    assert "6 without a score" in html


def test_names_and_cells_link_to_their_records() -> None:
    found = table(("fine", 5, 0, 0), ("few", 1, 1, 0))

    def link(name: str, value: str, check: str | None) -> str:
        return f"/{name}/{value}/{check}"

    html = shown(found, link)

    assert 'href="/tags/fine/None"' in html
    assert 'href="/tags/fine/right"' in html
    assert 'href="/tags/few/None"' in html


def test_people_stand_beside_the_checks() -> None:
    view = run_view(records(("fine", 6, 0, 0), ("open", 6, 0, 0)))
    found = heat_table(view.metrics, view.slices, {("tags", "open"): wilson(3, 5)})

    assert found
    assert [row.value for row in found.rows] == ["open", "fine"]
    html = shown(found)
    assert "people, blind" in html
    assert "<span>not read</span>" in html
    assert '<td class="h h-1" title="60.0 % [23.1, 88.2], n = 5">' in html


def test_a_hostile_tag_is_text() -> None:
    html = shown(table(("<img src=x onerror=alert(1)>", 5, 0, 0)))

    assert "<img" not in html
    assert "&lt;img" in html


def test_a_run_without_slices_has_no_table() -> None:
    view = run_view([facts(0, passed=True)])

    assert heat_table(view.metrics, view.slices) is None


def test_the_checks_with_the_highest_rates_are_left_out() -> None:
    def row(index: int) -> Facts:
        checks = tuple(checked(f"check{n}", passed=n > 0 or index > 2) for n in range(12))
        return facts(index, passed=True, slices=(("tags", "all"),), checks=checks)

    view = run_view([row(index) for index in range(5)])
    found = heat_table(view.metrics, view.slices)

    assert found
    assert len(found.checks) == 10
    assert found.checks[0] == "check0"
    assert found.left_out == ("check10", "check11")


def test_many_slices_are_shown_page_by_page_the_notable_ones_first() -> None:
    groups = [(f"tag{number:03}", 5, 0, 0) for number in range(60)]
    view = run_view(
        records(("weak", 0, 30, 0), *groups, *((f"few{n}", 1, 0, 0) for n in range(250)))
    )
    pages = [heat_table(view.metrics, view.slices, page=page) for page in (1, 2, 4, 9)]

    assert all(pages)
    first, second, last, beyond = (page for page in pages if page)
    assert (first.rows[0].value, len(first.rows), first.total, first.pages) == ("weak", 20, 61, 4)
    assert first.weak == second.weak == 1
    assert (second.rows[0].value, second.first) == ("tag019", 21)
    assert [row.value for row in last.rows] == ["tag059"]
    assert beyond == last
    assert (len(first.folded), first.more_folded) == (200, 50)
    html = shown(first)
    assert "1–20 of 61 slices; <code>metrics_by_slice.json</code> of the run has all" in html
    assert "250 more slices with fewer than 5 records" in html
    assert "and 50 more, in <code>metrics_by_slice.json</code>" in html


def test_thousands_of_slices_make_no_large_page() -> None:
    def row(index: int) -> Facts:
        slices = tuple(("tags", f"tag{index // 5}-{number}") for number in range(20))
        checks = tuple(checked(f"check{number}", passed=True) for number in range(30))
        return facts(index, passed=True, slices=slices, checks=checks)

    view = run_view([row(index) for index in range(200)])
    found = heat_table(view.metrics, view.slices)

    assert found
    assert found.total == 800
    assert len(shown(found)) < 100_000


def test_a_check_that_never_ran_says_why() -> None:
    skipped = CheckFact("php", "php_lint", "skipped", None, None)
    unscored = CheckFact("judge", "llm_judge", "unscored", None, None)
    rows = [
        facts(index, passed=True, slices=(("tags", "all"),), checks=(skipped, unscored))
        for index in range(6)
    ]
    view = run_view(rows)
    found = heat_table(view.metrics, view.slices)

    assert found
    assert found.rows[0].absent == ("6 skipped", "6 unscored")
    assert "<span>6 skipped</span>" in shown(found)


def test_few_labels_of_people_are_counts_and_no_rate() -> None:
    view = run_view(facts(index, passed=True, slices=(("tags", "open"),)) for index in range(6))
    found = heat_table(view.metrics, view.slices, {("tags", "open"): wilson(2, 4)})
    source = '{% from "parts/run.html" import heat with context %}{{ heat(found) }}'

    html = environment().from_string(source).render(found=found)

    assert "<b>2 of 4</b><small>few</small>" in html
    assert "50.0 %</b>" not in html
