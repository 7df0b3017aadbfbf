"""Inclusion probabilities that cannot have chosen the labels of a run."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.stats.correction import NotCorrectableError
from steelyard.stats.post_stratification import LabelledRun
from steelyard.usecases.correction.corrected_estimates import require_plausible


def labelled(chances: list[float], records: int = 200) -> LabelledRun:
    count = len(chances)
    return LabelledRun(
        passed=np.ones(records, dtype=np.bool_),
        clusters=np.arange(records),
        labelled=np.arange(count),
        good=np.ones(count, dtype=np.bool_),
        chances=np.array(chances),
    )


def test_chances_that_fit_the_run_are_accepted() -> None:
    require_plausible(labelled([0.2] * 40), is_whole=True)
    require_plausible(labelled([0.2] * 20), is_whole=False)


@pytest.mark.parametrize(
    ("chances", "is_whole"),
    [([1.0] * 40, True), ([0.02] * 60, True), ([0.02] * 60, False)],
)
def test_chances_that_imply_another_number_of_responses_are_refused(
    chances: list[float], is_whole: bool
) -> None:
    with pytest.raises(
        NotCorrectableError, match=r"imply about .* responses, and the run has 200"
    ):
        require_plausible(labelled(chances), is_whole=is_whole)
