"""PRBench: conversations with a rubric of weighted criteria."""

from __future__ import annotations

import re

from steelyard.contracts.importers.source_row import Columns, legal_row, structured, wrong
from steelyard.model.json_value import JsonObject, JsonValue

POLICY = "prbench_v1"
_TURNS = 10
_NUMBERED = re.compile(r"\d{1,9}\Z")


def import_prbench(record: JsonObject) -> list[JsonObject]:
    """One task: its turns as messages, its criteria with the weight that their class names."""
    columns = Columns(record)
    task = columns.label("task")
    messages, prompt, models = _conversation(columns, record)
    row = legal_row(f"prbench:{task}", "prbench", "rubric_qa", prompt)
    row["messages"] = [*messages]
    row["rubric"] = [*_criteria(columns.take("rubric"))]
    metadata: JsonObject = {"policy_id": POLICY, "source_id": task}
    if models:
        metadata["models"] = [*models]
    row["metadata"] = {**columns.rest(), **metadata}
    return [row]


def _conversation(columns: Columns, record: JsonObject) -> tuple[list[JsonObject], str, list[str]]:
    """The messages up to the last prompt, that prompt, and the models that answered before."""
    references = _reference_columns(record)
    messages: list[JsonObject] = []
    last, models = "", list[str]()
    for turn in range(_TURNS):
        shown = _references(columns, references.get(turn, []))
        prompt = columns.take(f"prompt_{turn}")
        response, model = columns.take(f"response_{turn}"), columns.take(f"model_{turn}")
        if isinstance(prompt, str) and prompt.strip():
            last = prompt
            messages.append({"role": "user", "content": "\n\n".join([*shown, prompt])})
        if isinstance(response, str) and response.strip():
            messages.append({"role": "assistant", "content": response})
            if isinstance(model, str):
                models.append(model)
    if not messages or messages[-1]["role"] != "user":
        raise wrong("the last of the columns 'prompt_0', 'prompt_1', … must hold a text")
    return messages, last, models


def _reference_columns(record: JsonObject) -> dict[int, list[str]]:
    """The columns with texts for a turn: every one named after references, with its number."""
    found: dict[int, list[str]] = {}
    for name in record:
        number = reference_number(name)
        if number is not None:
            found.setdefault(number, []).append(name)
    return found


def reference_number(name: str) -> int | None:
    """The turn that a column is about; None unless it is named after references."""
    # More digits than these are no turn; a search would begin at each of them.
    found = _NUMBERED.search(name[-9:])
    is_reference = found and "reference" in name[: len(name) - len(found[0])].casefold()
    return int(found[0]) if found and is_reference else None


def _references(columns: Columns, names: list[str]) -> list[str]:
    listed = [item for name in names for item in _listed(columns.take(name), name)]
    return [f"Reference Text {number}:\n{text}" for number, text in enumerate(listed, start=1)]


def _listed(value: JsonValue, name: str) -> list[str]:
    if isinstance(value, str) and value.startswith("["):
        value = structured(value, name)
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, str) and item.strip()]


def _criteria(rubric: JsonValue) -> list[JsonObject]:
    rubric = structured(rubric, "rubric")
    if not isinstance(rubric, list) or not rubric:
        raise wrong("column 'rubric' must hold a list of criteria")
    return [_criterion(item, number) for number, item in enumerate(rubric)]


def _criterion(item: JsonValue, number: int) -> JsonObject:
    place = f"rubric[{number}]"
    if not isinstance(item, dict):
        raise wrong(f"{place} must be an object")
    annotations = item.get("annotations")
    if not isinstance(annotations, dict):
        raise wrong(f"{place}.annotations must be an object")
    row: JsonObject = {"id": item.get("id"), "title": item.get("title")}
    if annotations.get("criteria_description"):
        row["description"] = annotations["criteria_description"]
    row["weight"] = _weight(annotations, place)
    if annotations.get("criteria_category"):
        row["metadata"] = {"category": annotations["criteria_category"]}
    return row


def _weight(annotations: JsonObject, place: str) -> float:
    """The weight in the column that the class names; another column never counts."""
    kind = annotations.get("weight_class")
    name = f"{str(kind).replace(' ', '_')}_weight"
    weight = annotations.get(name)
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise wrong(f"{place}: weight_class is {kind!r}, but '{name}' holds no number")
    return weight
