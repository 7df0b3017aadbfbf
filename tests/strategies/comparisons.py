"""A comparison as reports and gates see it."""

from __future__ import annotations

from dataclasses import replace

from steelyard.model.statistics.comparison import (
    Comparison,
    CorrectedDifference,
    Difference,
    Dropped,
    Mismatch,
    Moved,
    Side,
    SliceDifference,
)
from steelyard.model.statistics.detection import Detectable
from steelyard.model.statistics.interval import Interval

PASSES = Difference(
    value=0.1, low=-0.02, high=0.21, method="score", n=100, p_value=0.099, test="test"
)
BETTER, WORSE = (
    replace(PASSES, value=value, low=value - 0.05, high=value + 0.05) for value in (0.1, -0.1)
)
NONE = Difference(value=None, low=None, high=None, method="score", n=0)
CORRECTED = CorrectedDifference(
    value=0.057,
    low=-0.271,
    high=0.384,
    method="paired",
    n=46,
    rate_a=0.693,
    rate_b=0.75,
    labels_a=16,
    labels_b=17,
)
LOST = Moved(
    index=3, index_a=2, record_id="<b>fees</b>", score_a=1.0, score_b=0.25, reason="no € sum"
)
FOUND = Comparison(
    a=Side(run_id="run_a", title="desk × a", records=110, rate=0.7, score=0.71),
    b=Side(run_id="run_b", title="desk × b", records=101, rate=0.8, score=0.82),
    not_alike=(),
    dropped=Dropped(
        only_in_a=10, only_in_b=1, no_score_in_a=0, no_score_in_b=0, no_score_in_both=0
    ),
    passes=PASSES,
    scores=replace(PASSES, p_value=None),
    improvements=(),
    regressions=(LOST,),
    slices=(
        SliceDifference(
            slice="tags",
            value="fees",
            passes=PASSES,
            rate_a=Interval(0.7, 0.6, 0.78, "wilson", 100),
            rate_b=Interval(0.8, 0.71, 0.87, "wilson", 100),
            adjusted_p=0.2,
        ),
    ),
    detectable=Detectable(
        points=5, records=1_234, discordant=0.27, observed_discordant=0.24, pairs=100
    ),
)
JUDGE = Mismatch(what="judge", a="x", b="y")
