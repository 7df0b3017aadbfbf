"""The dataset of contract 4 as the catalog knows it."""

from __future__ import annotations

from steelyard.contracts.contract import Contract

_HERE = "steelyard.contracts.question_set"
QUESTION_SET = Contract(
    name="question_set",
    described="question sets (.yaml or .json with 'questions' that have an 'input')",
    package=_HERE,
    keys=("questions",),
    item_keys={"questions": "input"},
    reader=f"{_HERE}.reader:read_question_set",
    wrapper=f"{_HERE}.writer:questions_of",
    columns=f"{_HERE}.columns:COLUMNS",
    writers={
        ".yaml": f"{_HERE}.writer:write_question_set",
        ".yml": f"{_HERE}.writer:write_question_set",
        ".json": f"{_HERE}.writer:write_question_set_json",
    },
    row=f"{_HERE}.writer:question_row",
    fitter="steelyard.contracts.fits.question_set:fit_question_set",
    header_fitter="steelyard.contracts.fits.header:named_by_file",
    has_one_prompt=True,
    writing_aids=frozenset({"criteria"}),
)
