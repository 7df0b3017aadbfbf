"""Fields of facts as columns: what one value fills is found at once, and is the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.engine.metrics.fact_batches import floats_of, where_is

NUMBER = st.one_of(st.none(), st.booleans(), st.integers(-(2**60), 2**60), st.floats(-10, 10))


@given(st.lists(NUMBER))
def test_numbers_are_those_that_the_fields_hold(column: list[float | None]) -> None:
    found = floats_of(column)

    assert found.dtype == np.float64
    assert np.array_equal(
        found, [np.nan if one is None else one for one in column], equal_nan=True
    )


@pytest.mark.parametrize("value", [None, True, 0.25, 90])
@pytest.mark.parametrize("odd", [None, False, 1.5])
def test_one_other_value_among_many_is_seen(value: float | None, odd: float | None) -> None:
    column = [value, value, odd, value]

    expected = [np.nan if one is None else one for one in column]

    assert np.array_equal(floats_of(column), expected, equal_nan=True)
    assert np.array_equal(floats_of([value] * 3), expected[:1] * 3, equal_nan=True)


@given(st.lists(st.sampled_from(["scored", "skipped", "error"])))
def test_texts_are_found_where_they_stand(column: list[str]) -> None:
    assert where_is("scored", column).tolist() == [one == "scored" for one in column]
