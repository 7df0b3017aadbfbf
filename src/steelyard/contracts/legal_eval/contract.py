"""Contract 1 as the catalog knows it."""

from __future__ import annotations

from steelyard.contracts.contract import EXTENSIONS, Contract

_HERE = "steelyard.contracts.legal_eval"
LEGAL_EVAL = Contract(
    name="legal_eval",
    described="legal_eval rows (.jsonl with 'task_type')",
    package=_HERE,
    schema_version="legal_eval_v1",
    row_keys=("schema_version", "task_type"),
    lines=EXTENSIONS,
    reader=f"{_HERE}.reader:read_legal_eval",
    wrapper=f"{_HERE}.writer:lines_of",
    columns=f"{_HERE}.columns:COLUMNS",
    writers={".jsonl": f"{_HERE}.writer:write_legal_eval"},
    row=f"{_HERE}.writer:case_row",
    shows_files=True,
    fitter="steelyard.contracts.fits.legal_eval:fit_legal_eval",
    header_fitter="steelyard.contracts.fits.header:no_header",
    writing_aids=frozenset({"prompt"}),
)
