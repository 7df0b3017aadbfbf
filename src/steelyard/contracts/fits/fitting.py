"""A case of one contract as another can hold it."""

from __future__ import annotations

from steelyard.contracts.fits.fit import Fit, Fitted, Way
from steelyard.model.case import Case


def fit(case: Case, way: Way) -> Fit:
    """The case as the contract can hold it; in its own contract it stays as it is."""
    if way.source.name == way.to.name:
        return Fitted(case)
    return way.to.part("fitter")(case, way)
