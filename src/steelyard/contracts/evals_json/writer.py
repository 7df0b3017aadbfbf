"""Writes `evals.json` files; what was read comes back, but for what demands nothing."""

from __future__ import annotations

import json
import re

from steelyard.contracts.evals_json.inline_checks import MARKDOWN, inline_checks
from steelyard.contracts.evals_json.input_files import prompt_of
from steelyard.formats.json_fields import fields, object_field
from steelyard.formats.json_text import compact
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject

# More digits than these are kept as a text, because not every reader of JSON can hold them.
_NUMBER = re.compile("0|-?[1-9][0-9]{0,14}")


def write_evals_json(dataset: Dataset) -> bytes:
    """A dataset as one JSON file, indented for people."""
    document: JsonObject = {"skill_name": dataset.id, **dict(dataset.extra)}
    document["evals"] = [eval_row(case) for case in dataset.cases]
    return json.dumps(document, ensure_ascii=False, indent=2).encode("utf-8") + b"\n"


def evals_of(name: str, rows: list[JsonObject]) -> bytes:
    """A file of these rows."""
    return compact({"skill_name": name, "evals": [*rows]})


def eval_row(case: Case) -> JsonObject:
    """A case as one eval."""
    row: JsonObject = {
        "id": int(case.id) if _NUMBER.fullmatch(case.id) else case.id,
        "prompt": prompt_of(case.input_messages[0]),
    }
    if case.expected_outcome:
        row["expected_output"] = case.expected_outcome
    beyond = dict(case.extra)
    further = fields(beyond.pop(MARKDOWN, {}))
    row.update(beyond)
    row.update(inline_checks(case))
    if further:
        row[MARKDOWN] = {**object_field(row, MARKDOWN), **further}
    return row
