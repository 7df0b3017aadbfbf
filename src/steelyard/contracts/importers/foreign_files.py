"""Files of other tools, which are converted and not read as datasets: one line each."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from steelyard.contracts.importers.agentv_results import is_result
from steelyard.contracts.importers.lm_eval import MARKS
from steelyard.model.json_value import JsonObject, JsonValue

_OWN = {"input", "input_messages", "criteria", "expected_output", "expected_outcome"}
"""What only tests of eval cases have."""
_RESULTS = {"results", "n-shot", "configs"}
_ITEM = {"input", "expectedOutput", "datasetId"}
_TOP = {"default_test", "evaluate_options", "preprocessors", "workspace", "environment"}
"""What only files of eval cases have beside their tests, as their newest dialect spells it."""


def _is_promptfoo(top: JsonObject) -> bool:
    tests = top.get("tests")
    listed = tests if isinstance(tests, list) else []
    if _TOP & top.keys():
        return False
    if any(isinstance(test, dict) and _OWN & test.keys() for test in listed):
        return False
    is_asked = "prompts" in top and ("providers" in top or "targets" in top)
    return is_asked or ("redteam" in top and "targets" in top)


def _is_registry(top: JsonObject) -> bool:
    entries = [entry for entry in top.values() if isinstance(entry, dict)]
    return any(":" in str(entry.get("class")) and "args" in entry for entry in entries)


def _is_item(row: JsonObject) -> bool:
    return row.get("object") == "eval.run.output_item" or {"item", "sample"} <= row.keys()


def _is_log(row: JsonObject) -> bool:
    spec = row.get("spec")
    return isinstance(spec, dict) and "completion_fns" in spec


def _is_agentv_targets(top: JsonObject) -> bool:
    targets = top.get("targets")
    entries = targets if isinstance(targets, list) else []
    named = [
        one for one in entries if isinstance(one, dict) and {"name", "provider"} <= one.keys()
    ]
    return bool(entries) and len(named) == len(entries)


class ForeignFile(NamedTuple):
    """A file of another tool, by the keys of its document or of its first row."""

    noun: str
    tool: str
    """The source format that reads it."""
    is_document: Callable[[JsonObject], bool] | None = None
    is_row: Callable[[JsonObject], bool] | None = None
    to: str = "eval_cases"


_KNOWN = (
    ForeignFile("a promptfoo configuration", "promptfoo", is_document=_is_promptfoo),
    ForeignFile("a registry file of OpenAI Evals", "openai-evals", is_document=_is_registry),
    ForeignFile("an export of OpenAI Evals", "openai-evals", is_row=_is_item),
    ForeignFile("a log of oaieval", "openai-evals", is_row=_is_log, to="responses"),
    ForeignFile(
        "a file of results of lm-eval", "lm-eval", is_document=_RESULTS.issubset, to="responses"
    ),
    ForeignFile(
        "a file of targets of agentv", "agentv", is_document=_is_agentv_targets, to="targets"
    ),
    ForeignFile("a file of results of agentv", "agentv", is_row=is_result, to="responses"),
    ForeignFile("a file of dataset items of Langfuse", "langfuse", is_row=_ITEM.issubset),
    ForeignFile("a sample log of lm-eval", "lm-eval", is_row=MARKS.issubset),
)


def foreign_document(top: JsonValue) -> ForeignFile | None:
    """What the keys of a document say that it is, if it is of another tool."""
    held = top if isinstance(top, dict) else {}
    return next((one for one in _KNOWN if one.is_document and one.is_document(held)), None)


def foreign_rows(first: JsonValue) -> ForeignFile | None:
    """What the first row of a file says that it is, if it is of another tool."""
    held = first if isinstance(first, dict) else {}
    return next((one for one in _KNOWN if one.is_row and one.is_row(held)), None)
