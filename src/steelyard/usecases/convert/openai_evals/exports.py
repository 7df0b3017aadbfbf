"""Exports of the platform: definitions of evals, items and the answers of their runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from steelyard.contracts.importers.conversation import as_object, as_objects, as_text
from steelyard.contracts.importers.openai_evals import import_openai_evals, item_of
from steelyard.contracts.importers.openai_messages import messages_of
from steelyard.contracts.importers.source_row import Import, Imported
from steelyard.formats.json_fields import fields
from steelyard.formats.records import Record
from steelyard.model.conversion import Change, Refusal
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.usecases.convert.openai_evals.graders import evaluators_of

_KINDS = {"eval": "an eval", "eval.run": "a run"}
_RESULTS = "what the platform's graders found is no part of a trace; grade with the cases"
_NO_ANSWER = "the item holds no answer of a model"
_NO_MODEL = "its sample does not name the model that answered"


def listed(records: Iterable[Record]) -> Iterator[Record]:
    """The same records, with those of a page of a list one by one."""
    for record in records:
        value = record.value
        if value is None or value.get("object") != "list":
            yield record
            continue
        for number, item in enumerate(as_objects(value.get("data")), start=1):
            yield Record(f"{record.place} item {number}", item)


class EvalDefinitions:
    """The evals that a source defines, by id."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._found = [
            fields(record.value)
            for record in records
            if record.value is not None and "testing_criteria" in record.value
        ]

    def of(self, record: JsonObject) -> JsonObject | None:
        """The eval of a record: by its id, or the only one."""
        named = record.get("eval_id")
        if named is None and len(self._found) == 1:
            return self._found[0]
        return next((one for one in self._found if one.get("id") == named), None)


def item_case(
    record: JsonObject, names: Mapping[str, str], definitions: EvalDefinitions
) -> list[Import]:
    """An item as an eval case, with the graders of its eval where the source defines it."""
    if refused := _about(record):
        return [refused]
    made = import_openai_evals(record, names)
    definition = definitions.of(record)
    if definition is None:
        return made
    return [_graded(one, definition, record) for one in made]


def item_response(record: JsonObject, names: Mapping[str, str]) -> list[Import]:
    """The answer of an item as a response to the case that the item is."""
    if refused := _about(record):
        return [refused]
    (case,) = import_openai_evals(record, names)
    if isinstance(case, Refusal):
        return [case]
    sample = as_object(record.get("sample"))
    model = as_text(sample.get("model")) or as_text(record.get("model"))
    error = sample.get("error")
    failed = isinstance(error, dict) and bool(error.get("message") or error.get("code"))
    answer = messages_of(_output(sample))
    if not answer and not failed:
        return [Refusal("left_out", _NO_ANSWER)]
    if not model:
        return [Refusal("left_out", _NO_MODEL)]
    asked = case.row["input_messages"]
    messages = [*(asked if isinstance(asked, list) else []), *answer]
    found: JsonObject = {
        "messages": [*messages],
        "model": model,
        "finish_reason": sample.get("finish_reason"),
        "usage": _usage(sample.get("usage")),
    }
    trace: JsonObject = {name: value for name, value in found.items() if value}
    row: JsonObject = {"record_id": case.row["id"], "candidate_name": model, "trace": trace}
    if failed:
        message = str(as_object(error).get("message") or "the sample failed")
        row |= {"error_code": "target_error", "message": message}
    changes = (Change("results", _RESULTS),) if _has_results(record) else ()
    return [Imported(row, changes)]


def _about(record: JsonObject) -> Refusal | None:
    kind = record.get("object")
    what = _KINDS.get(kind) if isinstance(kind, str) else None
    return Refusal("skipped", f"the definition of {what}, not an item", "about") if what else None


def _graded(found: Import, definition: JsonObject, record: JsonObject) -> Import:
    if isinstance(found, Refusal):
        return found
    made = evaluators_of(definition, item_of(record))
    row: JsonObject = dict(found.row)
    if made.evaluators:
        # An item of the platform passes where every grader does.
        all_of: JsonObject = {"required": True} if len(made.evaluators) > 1 else {}
        row["evaluators"] = [{**one, **all_of} for one in made.evaluators]
    kept = [change for change in found.changes if change.field != "graders"]
    return Imported(row, (*kept, *made.changes))


def _output(sample: JsonObject) -> JsonValue:
    for name in ("output", "outputs"):
        listed_messages = sample.get(name)
        if isinstance(listed_messages, list) and any(listed_messages):
            return [message for message in listed_messages if message]
    text = sample.get("output_text")
    return [{"role": "assistant", "content": text}] if isinstance(text, str) else None


def _usage(value: JsonValue) -> JsonObject:
    given = value if isinstance(value, dict) else {}
    names = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
    return {ours: given[name] for ours, name in names.items() if isinstance(given.get(name), int)}


def _has_results(record: JsonObject) -> bool:
    return any(record.get(name) for name in ("results", "grades", "passes"))
