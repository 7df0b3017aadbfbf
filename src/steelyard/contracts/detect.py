"""Which contract a file follows: by its extension, then by its keys; never by trial and error."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from steelyard.contracts.catalog import Contracts
from steelyard.contracts.check_rubric.contract import CHECK_RUBRIC
from steelyard.contracts.contract import Contract
from steelyard.contracts.judge.contract import JUDGE
from steelyard.contracts.question_rubric.contract import QUESTION_RUBRIC
from steelyard.formats.names import near_miss
from steelyard.model.json_value import JsonValue

_RECORD_KEYS = ("record_id", "example_id")
_RUN_KEYS = ("response_text", "trace", "error_code", "model_response", "annotator")
# What question rubrics have at their top, and no other rubric has.
_RUBRIC_KEYS = ("status", "scale", "guidance")


def detect_jsonl(contracts: Contracts, first_row: JsonValue) -> Contract | None:
    """The contract identified by the keys of a JSONL file's first row, if any."""
    names = first_row.keys() if isinstance(first_row, dict) else ()
    candidates = [contract for contract in contracts.all if contract.row_keys]
    for has in (_has_exactly, has_any):
        for contract in candidates:
            if has(names, contract.row_keys):
                return contract
    return None


def is_of_a_run(first_row: JsonValue) -> bool:
    """Whether a row is a response, a judge's reply or a label: these name a record, and are none.

    A folder may hold them beside its datasets.
    """
    names = first_row.keys() if isinstance(first_row, dict) else ()
    is_about_a_record = any(name in names for name in _RECORD_KEYS) and "id" not in names
    return is_about_a_record and any(name in names for name in _RUN_KEYS)


def detect_document(
    contracts: Contracts, top: dict[str, JsonValue], extension: str, folder: str = ""
) -> Contract | None:
    """The contract of a JSON or YAML document, by the keys of its top level and its folder."""
    found = _by_keys(contracts, top, extension)
    if folder == "judges":
        return JUDGE
    if folder == "rubrics" and (found is None or found.kind != "rubric"):
        is_asking = has_any(top, ("questions",)) or _has_words_for_people(top)
        return QUESTION_RUBRIC if is_asking else CHECK_RUBRIC
    return found


def of_kind(
    contracts: Contracts, kind: str, detected: Contract | None, extension: str
) -> Contract:
    """The contract that a wanted kind settles on: an exact name, or one of its family."""
    if named := contracts.get(kind):
        return named
    if detected and detected.kind == kind:
        return detected
    if kind == "dataset":
        return contracts.default(extension)
    return contracts[contracts.of_kind(kind)[-1]]


def has_any(names: Collection[str], keys: Iterable[str]) -> bool:
    """Whether one of the keys is there, or a near miss of it."""
    return any(key in names or any(near_miss(name, (key,)) for name in names) for key in keys)


def _has_exactly(names: Collection[str], keys: Iterable[str]) -> bool:
    return any(key in names for key in keys)


def _by_keys(contracts: Contracts, top: dict[str, JsonValue], extension: str) -> Contract | None:
    candidates = [contract for contract in contracts.all if extension in contract.documents]
    for exactly in (True, False):
        for contract in candidates:
            if any(_matches(contract, key, top, exactly=exactly) for key in contract.keys):
                return contract
    listed = (one for one in candidates if any(top.get(key) == [] for key in one.item_keys))
    return next(listed, None)


def _matches(contract: Contract, key: str, top: dict[str, JsonValue], *, exactly: bool) -> bool:
    name = key if key in top else None
    if not exactly and name is None:
        name = next((other for other in top if near_miss(other, (key,))), None)
    item_key = contract.item_keys.get(key)
    if name is None or item_key is None:
        return name is not None
    listed = top[name]
    items = listed if isinstance(listed, list) else []
    if not items and contract is QUESTION_RUBRIC:
        return _has_words_for_people(top)
    return any(isinstance(item, dict) and has_any(item, (item_key,)) for item in items)


def _has_words_for_people(top: dict[str, JsonValue]) -> bool:
    """Whether a document begins as question rubrics do, even if it asks nothing yet."""
    is_named = "name" in top and "version" in top
    return "id" not in top and (is_named or any(name in top for name in _RUBRIC_KEYS))
