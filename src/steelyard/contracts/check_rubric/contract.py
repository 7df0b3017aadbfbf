"""The check rubric of contract 4 as the catalog knows it."""

from __future__ import annotations

from steelyard.contracts.contract import Contract

CHECK_RUBRIC = Contract(
    name="check_rubric",
    described="check rubrics (.yaml with 'checks')",
    kind="rubric",
    package="steelyard.contracts.check_rubric",
    keys=("checks",),
)
