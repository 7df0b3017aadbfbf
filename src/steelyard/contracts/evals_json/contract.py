"""`evals.json` files as the catalog knows them."""

from __future__ import annotations

from steelyard.contracts.contract import Contract

_HERE = "steelyard.contracts.evals_json"
EVALS_JSON = Contract(
    name="evals_json",
    described="evals files (.json with 'evals')",
    package=_HERE,
    keys=("evals",),
    reader=f"{_HERE}.reader:read_evals_json",
    wrapper=f"{_HERE}.writer:evals_of",
    columns=f"{_HERE}.columns:COLUMNS",
    writers={".json": f"{_HERE}.writer:write_evals_json"},
    row=f"{_HERE}.writer:eval_row",
    fitter="steelyard.contracts.fits.evals_json:fit_evals_json",
    header_fitter="steelyard.contracts.fits.header:open_header",
    has_one_prompt=True,
    names_dataset=True,
    has_open_header=True,
    needs_judges=False,
)
