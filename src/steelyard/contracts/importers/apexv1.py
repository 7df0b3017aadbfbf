"""APEX-v1-extended: professional tasks with attachments and unweighted criteria."""

from __future__ import annotations

from pathlib import PurePosixPath

from steelyard.contracts.importers.source_row import Columns, legal_row, structured, wrong
from steelyard.model.json_value import JsonObject, JsonValue

POLICY = "apexv1_extended_v1"


def import_apexv1(record: JsonObject) -> list[JsonObject]:
    """One task. What a criterion demands is its title, and not the expert's justification."""
    columns = Columns(record)
    task = columns.label("Task ID")
    row = legal_row(f"apexv1:{task}", "apexv1", "rubric_qa", columns.text("Prompt"))
    attachments = _attachments(columns.take("File Attachments"))
    if attachments:
        row["attachments"] = [*attachments]
    row["rubric"] = [*_criteria(columns.take("Rubric JSON"))]
    metadata: JsonObject = {"policy_id": POLICY, "source_id": task}
    domain = columns.take("Domain")
    if domain is not None:
        metadata = {"domain": domain, **metadata}
    row["metadata"] = {**columns.rest(), **metadata}
    return [row]


def _attachments(value: JsonValue) -> list[JsonObject]:
    paths = value.splitlines() if isinstance(value, str) else value
    if not isinstance(paths, list):
        return []
    return [_attachment(path.strip()) for path in paths if isinstance(path, str) and path.strip()]


def _attachment(path: str) -> JsonObject:
    kind = PurePosixPath(path).suffix.removeprefix(".").lower()
    return {"path": path, "kind": kind} if kind else {"path": path}


def _criteria(value: JsonValue) -> list[JsonObject]:
    rubric = structured(value, "Rubric JSON")
    if not isinstance(rubric, dict) or not rubric:
        raise wrong("column 'Rubric JSON' must hold an object of criteria")
    return [_criterion(name, item) for name, item in rubric.items()]


def _criterion(name: str, item: JsonValue) -> JsonObject:
    if not isinstance(item, dict):
        raise wrong(f"'{name}' of 'Rubric JSON' must be an object")
    demand = item.get("description")
    if not isinstance(demand, str) or not demand.strip():
        raise wrong(f"'{name}' of 'Rubric JSON' must have a description")
    beyond = {key: part for key, part in item.items() if key not in {"description", "weight"}}
    # A class of objective, not a number: the benchmark counts every criterion once.
    fields = {"objective": item.get("weight"), **beyond}
    kept = {key: part for key, part in fields.items() if part not in (None, "", [])}
    row: JsonObject = {"id": name, "title": demand}
    return {**row, "metadata": kept} if kept else row
