"""Contract 2 as the catalog knows it."""

from __future__ import annotations

from steelyard.contracts.contract import Contract

_HERE = "steelyard.contracts.dataset_document"
DATASET_DOCUMENT = Contract(
    name="dataset_document",
    described="dataset documents (.json with 'records')",
    package=_HERE,
    schema_version="1.0",
    keys=("records", "dataset_id"),
    default_for=(".json",),
    reader=f"{_HERE}.reader:read_dataset_document",
    wrapper=f"{_HERE}.writer:document_of",
    columns=f"{_HERE}.columns:COLUMNS",
    row_id="record_id",
    writers={".json": f"{_HERE}.writer:write_dataset_document"},
    row=f"{_HERE}.writer:record_row",
    fitter="steelyard.contracts.fits.dataset_document:fit_dataset_document",
    header_fitter="steelyard.contracts.fits.header:document_header",
    has_one_prompt=True,
    names_dataset=True,
)
