"""Writes contract 5, as YAML or as JSONL with its sidecar; what was read comes back unchanged."""

from __future__ import annotations

from dataclasses import replace

from steelyard.contracts.eval_cases.defaults import DEFAULT_EVALUATOR, default_target
from steelyard.contracts.eval_cases.spelling import (
    EARLIER,
    LATER,
    canonical_type,
    listed_evaluators,
    without_evaluators,
)
from steelyard.contracts.message_rows import message_row
from steelyard.errors import InvalidError
from steelyard.formats.json_fields import fields, text_field
from steelyard.formats.jsonl import row_bytes
from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.json_value import JsonObject


def write_eval_cases_yaml(dataset: Dataset) -> bytes:
    """A dataset as one YAML file."""
    document = _header(dataset)
    if all(case.expected_outcome for case in dataset.cases):
        document[EARLIER] = [case_row(case, document) for case in dataset.cases]
        return write_yaml(document)
    # There the lists of a file are added to those of its cases, which are written whole.
    document = without_evaluators(document)
    document[LATER] = [case_row(_as_later(case), document) for case in dataset.cases]
    return write_yaml(document)


def _as_later(case: Case) -> Case:
    """The case with what it would mean otherwise in the later dialect said in full."""
    return replace(case, evaluators=tuple(_as_later_evaluator(one) for one in case.evaluators))


def _as_later_evaluator(evaluator: Evaluator) -> Evaluator:
    members = tuple(_as_later_evaluator(member) for member in evaluator.members)
    is_trajectory = evaluator.type == "tool_trajectory"
    is_compared = is_trajectory and evaluator.settings.get("mode") != "any_order"
    settings = {**({"args_match": "superset"} if is_compared else {}), **evaluator.settings}
    return replace(evaluator, members=members, settings=settings)


def write_eval_cases_rows(dataset: Dataset) -> bytes:
    """A dataset as JSONL rows, which need the sidecar beside them."""
    header = _header(dataset)
    lines: list[bytes] = []
    for case in dataset.cases:
        if not case.expected_outcome:
            raise InvalidError(
                f"case '{case.id}' has no expected_outcome, which JSONL needs; write YAML instead"
            )
        lines.append(row_bytes(case_row(case, header)))
    return b"".join(lines)


def write_sidecar(dataset: Dataset) -> bytes:
    """What a dataset says for all of its cases, as the file beside its rows."""
    return write_yaml(_header(dataset))


def _header(dataset: Dataset) -> JsonObject:
    header: JsonObject = {}
    if dataset.description:
        header["description"] = dataset.description
    header["dataset"] = dataset.id
    if dataset.version is not None:
        header["version"] = dataset.version
    if dataset.metadata:
        header["metadata"] = dict(dataset.metadata)
    return {**header, **dataset.extra}


def case_row(case: Case, header: JsonObject | None = None) -> JsonObject:
    """A case as one row; what the header says for all cases is left out of it."""
    header = header or {}
    row: JsonObject = {"id": case.id}
    if case.conversation_id is not None:
        row["conversation_id"] = case.conversation_id
    if case.expected_outcome:
        row["expected_outcome"] = case.expected_outcome
    row["input_messages"] = [message_row(message) for message in case.input_messages]
    if case.expected_messages:
        row["expected_messages"] = [message_row(message) for message in case.expected_messages]
    row.update(_grading(case, header))
    if case.tags:
        row["tags"] = list(case.tags)
    if case.metadata:
        row["metadata"] = dict(case.metadata)
    beyond = dict(case.extra)
    execution = fields(beyond.pop("execution", {}))
    if case.target not in {None, default_target(header)}:
        execution = {"target": case.target, **execution}
    if execution:
        row["execution"] = execution
    return {**row, **beyond}


def _grading(case: Case, header: JsonObject) -> JsonObject:
    """What the case says about its own grading; lists that come from the file are written too."""
    row: JsonObject = {}
    default = canonical_type(text_field(header, "evaluator", DEFAULT_EVALUATOR))
    if case.evaluator not in {None, default}:
        row["evaluator"] = case.evaluator
    # The first evaluator stands for the rubrics field, which is written on its own.
    listed = case.evaluators[1:] if case.rubrics else case.evaluators
    if listed or listed_evaluators(header):
        row["evaluators"] = [_evaluator_row(evaluator) for evaluator in listed]
    if case.rubrics:
        row["rubrics"] = [_item_row(item) for item in case.rubrics]
    return row


def _evaluator_row(evaluator: Evaluator) -> JsonObject:
    row: JsonObject = {"name": evaluator.name, "type": evaluator.type}
    if evaluator.weight != 1.0:
        row["weight"] = evaluator.weight
    if evaluator.rubrics:
        row["rubrics"] = [_item_row(item) for item in evaluator.rubrics]
    if evaluator.members:
        row["evaluators"] = [_evaluator_row(member) for member in evaluator.members]
    return {**row, **evaluator.settings}


def _item_row(item: RubricItem) -> JsonObject:
    row: JsonObject = {"id": item.id, "description": item.description}
    if item.weight != 1.0:
        row["weight"] = item.weight
    if not item.required:
        row["required"] = False
    return {**row, **item.extra}
