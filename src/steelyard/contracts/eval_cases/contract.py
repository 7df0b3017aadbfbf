"""Contract 5 as the catalog knows it."""

from __future__ import annotations

from steelyard.contracts.contract import Contract

_HERE = "steelyard.contracts.eval_cases"
EVAL_CASES = Contract(
    name="eval_cases",
    described="eval cases (.yaml or .yml with 'evalcases', .jsonl with one case a line)",
    package=_HERE,
    keys=("evalcases", "eval_cases", "cases", "tests"),
    documents=(".yaml", ".yml"),
    lines=(".jsonl",),
    default_for=(".jsonl", ".yaml", ".yml"),
    reader=f"{_HERE}.reader:read_eval_cases",
    wrapper=f"{_HERE}.reader:tests_of",
    columns=f"{_HERE}.columns:COLUMNS",
    writers={
        ".yaml": f"{_HERE}.writer:write_eval_cases_yaml",
        ".yml": f"{_HERE}.writer:write_eval_cases_yaml",
        ".jsonl": f"{_HERE}.writer:write_eval_cases_rows",
    },
    sidecar=f"{_HERE}.writer:write_sidecar",
    row=f"{_HERE}.writer:case_row",
    shows_files=True,
    fitter="steelyard.contracts.fits.eval_cases:fit_eval_cases",
    missing="steelyard.contracts.fits.eval_cases:missing",
    names_dataset=True,
    own_workings=frozenset({"execution"}),
    restated=frozenset({"evaluator", "evaluators", "assert", "assertions", "execution", "target"}),
)
