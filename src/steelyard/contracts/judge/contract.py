"""Judges as the catalog knows them."""

from __future__ import annotations

from steelyard.contracts.contract import Contract

JUDGE = Contract(
    name="judge",
    described="judges (.yaml or .json with 'template')",
    kind="judge",
    package="steelyard.contracts.judge",
    keys=("template",),
)
