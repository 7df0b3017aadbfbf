"""Dates as people write them."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.checks.dates import day_of, require_forms
from steelyard.errors import SettingError

DAY = date(2026, 4, 3)


@pytest.mark.parametrize(
    ("text", "forms", "day"),
    [
        ("2026-04-03", (), DAY),
        (" 2026-4-3 ", (), DAY),
        ("2026-04-03T23:59:59Z", (), DAY),
        ("2026-04-03 10:00", (), DAY),
        ("03-Apr-2026", (), DAY),
        ("3-APRIL-2026", (), DAY),
        ("04/03/2026", (), DAY),
        ("13/04/2026", (), date(2026, 4, 13)),
        ("04/13/2026", (), date(2026, 4, 13)),
        ("03/04/2026", ("DD/MM/YYYY",), DAY),
        ("2026-04-03", ("DD/MM/YYYY",), DAY),
        ("04/13/2026", ("DD/MM/YYYY",), None),
        ("3.4.26", ("D.M.YY",), DAY),
        ("2026-04-03", ("ISO",), DAY),
        ("04/03/2026", ("iso",), None),
        ("April 3, 2026", ("MMMM D, YYYY",), DAY),
        ("03-Apx-2026", (), None),
        ("2026-02-30", (), None),
        ("2026-04", (), None),
        ("next week", (), None),
        ("", (), None),
        ("٢٠٢٦-04-03", (), None),
    ],
)
def test_a_day_is_found_in_every_form_that_counts(
    text: str, forms: tuple[str, ...], day: date | None
) -> None:
    assert day_of(text, forms) == day


@pytest.mark.parametrize("form", ["", "DD", "DD/MM", "DDD/MM/YYYY", "YYYYY-MM-DD", "DD/DD/YYYY"])
def test_a_form_without_day_month_and_year_is_refused(form: str) -> None:
    with pytest.raises(SettingError, match="is no form of a date; write such as DD-MMM-YYYY"):
        require_forms((form,))


@given(st.dates(min_value=date(1000, 1, 1)))
def test_a_day_is_the_same_however_it_is_written(day: date) -> None:
    assert day_of(day.isoformat()) == day
    assert day_of(day.strftime("%d/%m/%Y"), ("DD/MM/YYYY",)) == day
    assert day_of(day.strftime("%m/%d/%Y")) == day
