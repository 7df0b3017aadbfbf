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
_TOP = {
    *("default_test", "evaluate_options", "preprocessors", "workspace", "environment"),
    *("name", "dataset", "governance"),
}
"""What only files of eval cases have beside their tests, as their newest dialect spells it."""
_PROMPTFOO = {"defaultTest", "evaluateOptions", "tracing", "outputPath", "redteam"}
"""What only promptfoo has."""
_ASSERTION = {"negate", "required"}
"""What only evaluators of eval cases have: promptfoo writes `not-` before the type."""


def is_eval_cases(top: JsonObject) -> bool:
    """Whether a file with prompts, providers and tests is one of eval cases.

    Their newest dialect looks like a configuration of promptfoo, which has no names of tests, no
    assertions that are texts and another way to turn one round.
    """
    if _PROMPTFOO & top.keys():
        return False
    tests = top.get("tests")
    listed = [one for one in tests if isinstance(one, dict)] if isinstance(tests, list) else []
    if _TOP & top.keys() or any(_OWN & test.keys() for test in listed):
        return True
    is_named = bool(listed) and all(isinstance(test.get("id"), str) for test in listed)
    prompts = top.get("prompts")
    has_inputs = prompts == ["{{ input }}"] and all(
        "input" in _object(test.get("vars")) for test in listed
    )
    if is_named and (has_inputs or not _has_protocols(top.get("providers"))):
        return True
    return any(_is_evaluator(entry) for row in (top, *listed) for entry in _asserted(row))


def _has_protocols(providers: JsonValue) -> bool:
    """Whether targets are named as in `openai:gpt-4`, as only promptfoo does."""
    entries = providers if isinstance(providers, list) else [providers]
    names = (entry.get("id") if isinstance(entry, dict) else entry for entry in entries)
    return any(isinstance(name, str) and ":" in name for name in names)


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _asserted(row: JsonObject) -> list[JsonValue]:
    entries = row.get("assert")
    return entries if isinstance(entries, list) else []


def _is_evaluator(entry: JsonValue) -> bool:
    return isinstance(entry, str) or (isinstance(entry, dict) and bool(_ASSERTION & entry.keys()))


def _is_promptfoo(top: JsonObject) -> bool:
    if is_eval_cases(top):
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
