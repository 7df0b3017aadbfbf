"""Which function fits a case into which contract."""

from __future__ import annotations

from collections.abc import Callable

from steelyard.contracts.fits.dataset_document import fit_dataset_document
from steelyard.contracts.fits.eval_cases import fit_eval_cases
from steelyard.contracts.fits.evals_json import fit_evals_json
from steelyard.contracts.fits.fit import Fit, Fitted, Way
from steelyard.contracts.fits.legal_eval import fit_legal_eval
from steelyard.contracts.fits.question_set import fit_question_set
from steelyard.model.case import Case

ONE_PROMPT = ("dataset_document", "question_set", "evals_json")
"""The contracts that ask with one text and not with a conversation."""
_FITS: dict[str, Callable[[Case, Way], Fit]] = {
    "legal_eval": fit_legal_eval,
    "dataset_document": fit_dataset_document,
    "question_set": fit_question_set,
    "eval_cases": fit_eval_cases,
    "evals_json": fit_evals_json,
}


def fit(case: Case, way: Way) -> Fit:
    """The case as the contract can hold it; in its own contract it stays as it is."""
    if way.source == way.to:
        return Fitted(case)
    return _FITS[way.to](case, way)
