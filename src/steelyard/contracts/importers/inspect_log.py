"""Samples of Inspect AI's logs: recorded traces, and the cases that they answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from steelyard.contracts.importers.conversation import (
    Conversation,
    as_object,
    as_objects,
    text_or_blocks,
    tool_call,
)
from steelyard.contracts.importers.source_row import (
    NO_CHOICES,
    Import,
    Imported,
    legal_row,
    mcq,
    one_of,
    wrong,
)
from steelyard.formats.json_fields import list_field, object_list, text_field
from steelyard.model.conversion import Change, Refusal
from steelyard.model.json_value import JsonObject, JsonValue

_ATTACHMENT = "attachment://"
_SCORES = "what Inspect's scorers found is no part of a trace; grade with a rubric"
_EVENTS = "single steps are not carried over; messages and tool calls are"
_SANDBOX = "what a sandbox was set up with has no place in a case"
_SEVERAL = "the first of several targets is the reference; metadata keeps all"
_UNGRADED = (
    "the sample has no target, so that nothing grades the case; name a rubric when you run it"
)
_ABSENT = "the log does not hold what attachment:// refers to; the reference stands in its place"
_USAGE = ("input_tokens", "output_tokens")


class LogHead(NamedTuple):
    """What a log says of all of its samples."""

    model: str
    task: str

    @classmethod
    def read(cls, evaluated: JsonValue) -> LogHead:
        """From the `eval` of a log; raises ParseError where there is none."""
        if not isinstance(evaluated, dict) or not isinstance(evaluated.get("model"), str):
            raise wrong("this is not an Inspect log: it has no 'eval' with a 'model'")
        return cls(text_field(evaluated, "model"), str(evaluated.get("task") or ""))


def import_response(head: LogHead, sample: JsonObject) -> Import:
    """A sample as a recorded response; one that failed as a recorded failure."""
    record_id = _record_id(sample)
    epoch = sample.get("epoch")
    row: JsonObject = {"record_id": record_id, "candidate_name": head.model}
    if isinstance(epoch, int) and epoch > 1:
        row["repeat"] = epoch - 1
    error = sample.get("error")
    trace = _trace(head, sample)
    row["trace"] = trace
    if isinstance(error, dict):
        row["error_code"] = "target_error"
        row["message"] = str(error.get("message") or "the sample failed")
    unresolved = _unresolved(list_field(trace, "messages"))
    return Imported(row, (*_unsaid(sample), *unresolved))


def import_case(sample: JsonObject, to: str) -> Import:
    """The case that a sample answers, as a row of eval cases or of legal_eval."""
    asked = _asked(sample)
    if not asked:
        raise wrong("nothing says what is asked: 'input' is empty")
    listed = sample.get("choices")
    choices = [str(choice) for choice in listed] if isinstance(listed, list) else []
    targets = [text for text in _targets(sample) if text.strip()]
    name = _record_id(sample)
    metadata = dict(as_object(sample.get("metadata")))
    changes = (*_unset(sample), *_unresolved([*asked]))
    if to == "legal_eval":
        return _legal(name, asked, choices, targets, Imported(metadata, changes))
    if choices:
        return Refusal("left_out", NO_CHOICES, "choices")
    row: JsonObject = {"id": name, "input_messages": [*asked]}
    if targets:
        row["expected_messages"] = [{"role": "assistant", "content": targets[0]}]
    else:
        row["evaluator"] = "none"
        changes = (*changes, Change("grading", _UNGRADED))
    if len(targets) > 1:
        row["expected_outcome"] = one_of(targets)
        metadata |= {"target": [*targets]}
        changes = (*changes, Change("target", _SEVERAL, is_lost=False))
    if metadata:
        row["metadata"] = metadata
    return Imported(row, changes)


def _legal(
    name: str, asked: list[JsonObject], choices: list[str], targets: list[str], rest: Imported
) -> Import:
    prompt = asked[-1].get("content")
    if len(asked) > 1 or not isinstance(prompt, str):
        reason = "legal_eval asks with one prompt; eval_cases holds the conversation"
        return Refusal("left_out", reason, "conversation")
    if not choices and not targets:
        reason = "no target says what a good answer is, and legal_eval demands one"
        return Refusal("left_out", reason, "target")
    kind = "mcq" if choices else "reference_qa"
    row = legal_row(name, "inspect", kind, prompt)
    if choices:
        row.update(_choices(choices, targets))
    else:
        row["reference_answers"] = [*targets]
    if rest.row:
        row["metadata"] = rest.row
    return Imported(row, rest.changes)


def _choices(choices: list[str], targets: list[str]) -> JsonObject:
    """The choices with the letters that Inspect gives them, and which are right."""
    row = mcq(choices, 0)
    letters = [str(choice["id"]) for choice in object_list(row, "choices")]
    right = [letter for target in targets for letter in target.split(",") if letter in letters]
    if not right:
        raise wrong(f"the target {targets} names none of the choices {', '.join(letters)}")
    return {**row, "correct_choice_ids": [*right]}


def _record_id(sample: JsonObject) -> str:
    name = sample.get("id")
    if isinstance(name, bool) or not isinstance(name, str | int) or not str(name).strip():
        raise wrong("the sample has no id")
    return str(name)


def _asked(sample: JsonObject) -> list[JsonObject]:
    given = sample.get("input")
    if isinstance(given, str):
        return [{"role": "user", "content": given}] if given.strip() else []
    return _messages(given, sample) if isinstance(given, list) else []


def _targets(sample: JsonObject) -> list[str]:
    target = sample.get("target")
    listed = target if isinstance(target, list) else [target]
    return [text for text in listed if isinstance(text, str)]


def _trace(head: LogHead, sample: JsonObject) -> JsonObject:
    output = as_object(sample.get("output"))
    choices = as_objects(output.get("choices")) or [{}]
    trace: JsonObject = {"messages": [*_messages(sample.get("messages"), sample)]}
    time = sample.get("working_time", sample.get("total_time"))
    if isinstance(time, int | float):
        trace["latency_ms"] = round(time * 1000, 3)
    found: JsonObject = {
        "usage": _usage(head, sample, output),
        "finish_reason": choices[0].get("stop_reason"),
        "model": output.get("model") or head.model,
        "limit": sample.get("limit"),
    }
    return {**trace, **{name: value for name, value in found.items() if value}}


def _usage(head: LogHead, sample: JsonObject, output: JsonObject) -> JsonObject:
    """The tokens of the model that was evaluated, over all of its calls."""
    by_model = as_object(sample.get("model_usage"))
    counts = as_object(by_model.get(head.model) or output.get("usage"))
    return {name: counts[name] for name in _USAGE if isinstance(counts.get(name), int)}


def _messages(listed: JsonValue, sample: JsonObject) -> list[JsonObject]:
    conversation = Conversation()
    texts = as_object(sample.get("attachments"))
    for entry in listed if isinstance(listed, list) else []:
        if not isinstance(entry, dict):
            raise wrong("a message must be an object")
        content = _content(entry.get("content"), texts)
        if entry.get("role") == "tool":
            error = entry.get("error")
            output: JsonValue = {"error": error} if isinstance(error, dict) else content
            conversation.answer(entry.get("tool_call_id"), output, entry.get("function"))
        else:
            made = [
                tool_call(call.get("function"), call.get("arguments"), call.get("id"))
                for call in as_objects(entry.get("tool_calls"))
            ]
            conversation.add(str(entry.get("role")), content, made)
    return conversation.messages


def _content(content: JsonValue, texts: JsonObject) -> JsonValue:
    if isinstance(content, str):
        return _resolved(content, texts)
    blocks: list[JsonValue] = []
    for part in content if isinstance(content, list) else []:
        if isinstance(part, dict) and part.get("type") == "text":
            text = _resolved(str(part.get("text") or ""), texts)
            blocks.append({"type": "text", "value": text})
        elif isinstance(part, dict):
            found = {name: _held(value, texts) for name, value in part.items()}
            blocks.append({name: value for name, value in found.items() if value is not None})
    return text_or_blocks(blocks)


def _held(value: JsonValue, texts: JsonObject) -> JsonValue:
    """A part of a block, such as a picture, which a log may keep apart as well."""
    return _resolved(value, texts) if isinstance(value, str) else value


def _unresolved(messages: list[JsonValue]) -> Iterator[Change]:
    """A change if a separately stored attachment is missing."""
    if any(_ATTACHMENT in text for text in _texts(messages)):
        yield Change("attachments", _ABSENT)


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _resolved(text: str, texts: JsonObject) -> str:
    """A long text, which a log may keep apart."""
    if not text.startswith(_ATTACHMENT):
        return text
    return str(texts.get(text.removeprefix(_ATTACHMENT), text))


def _unsaid(sample: JsonObject) -> Iterator[Change]:
    for name, message in (("scores", _SCORES), ("events", _EVENTS), ("store", _EVENTS)):
        if sample.get(name):
            yield Change(name, message)


def _unset(sample: JsonObject) -> Iterator[Change]:
    for name in ("sandbox", "files", "setup"):
        if sample.get(name):
            yield Change(name, _SANDBOX)
