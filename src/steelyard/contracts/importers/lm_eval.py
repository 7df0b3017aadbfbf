"""Sample logs of lm-evaluation-harness: the questions of a task, and the answers to them."""

from __future__ import annotations

from steelyard.contracts.importers.conversation import as_object, as_objects
from steelyard.contracts.importers.openai_messages import messages_of, text_of
from steelyard.contracts.importers.source_row import Import, Imported, one_of, wrong
from steelyard.errors import ParseError
from steelyard.formats.json_text import parse_json
from steelyard.model.conversion import Change, Refusal
from steelyard.model.json_value import JsonObject, JsonValue

MARKS = {"doc_id", "arguments", "resps"}
"""What every row of such a log has."""
_SCORED = (
    "the model scored given texts and wrote none: a loglikelihood task has no answer to grade"
)
_SEVERAL = "the task asks several times about one document, and a case asks once"
_METRICS = "what lm-eval measured, and its filters, are no part of it; grade with a rubric"
_TARGETS = "the first of several targets is the reference; metadata keeps all"


def import_lm_eval_case(task: str, row: JsonObject) -> Import:
    """The document of a row as an eval case; every filter of a run has the same."""
    asked = _asked(row)
    if isinstance(asked, Refusal):
        return asked
    case: JsonObject = {"id": _record_id(task, row), "input_messages": [*asked]}
    target = row.get("target")
    listed = target if isinstance(target, list) else [target]
    targets = [text for text in map(text_of, listed) if text.strip()]
    metadata: JsonObject = {"task": task}
    if "doc" in row:
        metadata["doc"] = row["doc"]
    changes = _measured(row)
    if targets:
        case["expected_messages"] = [{"role": "assistant", "content": targets[0]}]
    if len(targets) > 1:
        case["expected_outcome"] = one_of(targets)
        metadata["target"] = [*targets]
        changes = (*changes, Change("target", _TARGETS, is_lost=False))
    return Imported({**case, "metadata": metadata}, changes)


def import_lm_eval_responses(task: str, model: str, row: JsonObject) -> list[Import]:
    """The answers of a row as they were written, before any filter; one for each repeat."""
    asked = _asked(row)
    if isinstance(asked, Refusal):
        return [asked]
    made: list[Import] = []
    for repeat, answer in enumerate(_answers(row)):
        messages: list[JsonValue] = [*asked, {"role": "assistant", "content": answer}]
        response: JsonObject = {"record_id": _record_id(task, row), "candidate_name": model}
        if repeat:
            response["repeat"] = repeat
        response["trace"] = {"messages": messages, "model": model}
        made.append(Imported(response, _measured(row)))
    return made


def _record_id(task: str, row: JsonObject) -> str:
    number = row.get("doc_id")
    if isinstance(number, bool) or not isinstance(number, int | str):
        raise wrong("'doc_id' must be a number")
    return f"{task}:{number}"


def _asked(row: JsonObject) -> list[JsonObject] | Refusal:
    """What the model was given, with few-shot examples and templates as they were sent."""
    if not row.keys() >= MARKS:
        raise wrong("this is no sample of lm-eval: it needs 'doc_id', 'arguments' and 'resps'")
    calls = _calls(row["arguments"])
    if not calls:
        raise wrong("nothing says what is asked: 'arguments' is empty")
    if any(len(call) > 1 and isinstance(call[1], str) for call in calls) or _is_scored(row):
        return Refusal("left_out", _SCORED, "loglikelihood")
    if len(calls) > 1:
        return Refusal("left_out", _SEVERAL, "several")
    asked = messages_of(_prompt(calls[0][0]))
    if not asked:
        raise wrong("nothing says what is asked: the first argument is empty")
    return asked


def _calls(arguments: JsonValue) -> list[list[JsonValue]]:
    """The arguments of each call, written as lists or, by newer versions, under names."""
    listed = [*arguments.values()] if isinstance(arguments, dict) else arguments
    calls: list[list[JsonValue]] = []
    for call in listed if isinstance(listed, list) else []:
        held = [*call.values()] if isinstance(call, dict) else call
        calls.append(held if isinstance(held, list) else [held])
    return [call for call in calls if call]


def _prompt(value: JsonValue) -> JsonValue:
    """A text, or messages, which lm-eval writes as JSON in a text."""
    while isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        value = value[0]
    if not isinstance(value, str) or not value.lstrip().startswith("[{"):
        return value
    try:
        parsed = parse_json(value.encode("utf-8", "surrogatepass"))
    except ParseError:
        return value
    entries = as_objects(parsed)
    return parsed if entries and all("role" in entry for entry in entries) else value


def _responses(row: JsonObject) -> list[JsonValue]:
    """The responses to the first call."""
    resps = row["resps"]
    first = resps[0] if isinstance(resps, list) and resps else None
    return first if isinstance(first, list) else [first]


def _is_scored(row: JsonObject) -> bool:
    """Whether the responses are likelihoods, which come in pairs or as numbers."""
    return not any(isinstance(one, str) for one in _responses(row)) and any(
        isinstance(one, list | int | float) for one in _responses(row)
    )


def _answers(row: JsonObject) -> list[str]:
    answers = [one for one in _responses(row) if isinstance(one, str)]
    if not answers:
        raise wrong("'resps' holds no text")
    return answers


def _measured(row: JsonObject) -> tuple[Change, ...]:
    has_metrics = bool(row.get("metrics")) or "filtered_resps" in row
    return (Change("metrics", _METRICS),) if has_metrics else ()


def model_of(results: JsonObject) -> str:
    """The model that a file of results names, as precisely as it does."""
    named = results.get("model_name")
    if isinstance(named, str) and named:
        return named
    config = as_object(results.get("config"))
    for part in str(config.get("model_args") or "").split(","):
        key, _, value = part.partition("=")
        if key.strip() in {"pretrained", "model"} and value:
            return value.strip()
    return text_of(config.get("model"))
