"""Result lines of agentv: what a target answered, without what graders thought of it."""

from __future__ import annotations

from collections.abc import Callable

from steelyard.contracts.importers.conversation import as_object, as_objects, as_text
from steelyard.contracts.importers.openai_messages import content_of, messages_of
from steelyard.contracts.importers.source_row import Import, Imported, wrong
from steelyard.model.conversion import Change, Refusal
from steelyard.model.json_value import JsonObject, JsonValue

NAMES = ("eval_id", "test_id", "testId")
"""Under which names the versions of agentv write the id of a case."""
ReadBeside = Callable[[str], str | None]
"""The text of a file of the run; None where there is none."""
_ANSWERS = ("output_path", "answer_path", "response_path")
_FAILED = "Error occurred: "
_SILENT = "the line holds no answer: agentv writes them into results and seldom into baselines"
_SCORES = Change("score", "scores of agentv are no part of a trace; run the eval file to grade")
_REQUESTS = Change("evaluator_provider_request", "what judges were asked is no part of a trace")
_COUNTED = Change("trace_summary.tool_calls_by_name", "calls are counted, but not written down")
_REPORTED = Change("error", "the target answered and reported an error; the answer is kept")


def is_result(row: JsonObject) -> bool:
    """Whether a row is a result of agentv."""
    return any(name in row for name in NAMES) and "score" in row and "target" in row


def import_agentv_result(row: JsonObject, suffix: str, beside: ReadBeside) -> Import:
    """The answer of a line; `suffix` keeps the candidates of a baseline apart."""
    record_id = next((row[name] for name in NAMES if row.get(name)), None)
    target = row.get("target_used") or row.get("target")
    if not isinstance(record_id, str) or not isinstance(target, str):
        raise wrong("this is no result of agentv: it needs 'eval_id' or 'test_id', and 'target'")
    found, asked = _answered(row, beside), _asked(row, beside)
    error = _error(row)
    failed = error is not None and not found
    if not found and not failed:
        return Refusal("left_out", _SILENT, "silent")
    summary = {**as_object(row.get("trace")), **as_object(row.get("trace_summary")), **row}
    whole = found if _begins(found, asked) else [*asked, *found]
    trace: JsonObject = {"messages": [*whole], **_measured(summary)}
    made: JsonObject = {
        "record_id": record_id,
        "candidate_name": f"{target}{suffix}",
        "trace": trace,
    }
    if failed:
        made |= {"error_code": "target_error", "message": error}
    changes = [_SCORES] if "score" in row else []
    if "evaluator_provider_request" in row:
        changes.append(_REQUESTS)
    if summary.get("tool_calls_by_name") and not any("tool_calls" in one for one in found):
        changes.append(_COUNTED)
    if error is not None and not failed:
        changes.append(_REPORTED)
    return Imported(made, tuple(changes))


def _begins(found: list[JsonObject], asked: list[JsonObject]) -> bool:
    return bool(asked) and found[: len(asked)] == asked


def _error(row: JsonObject) -> str | None:
    failed = row.get("execution_status", row.get("executionStatus")) == "execution_error"
    told = row.get("error") or as_object(row.get("execution_error")).get("message")
    if told:
        return str(told)
    return "the target failed" if failed else None


def _answered(row: JsonObject, beside: ReadBeside) -> list[JsonObject]:
    """What the target said and did: a transcript, its last answer, or the file that holds it."""
    for told in (as_object(row.get("trace")).get("messages"), row.get("output_messages")):
        if messages := _messages(told):
            return messages
    answer = row.get("output", row.get("candidate_answer"))
    if isinstance(answer, list):
        return _messages(answer)
    if answer is None:
        paths = [as_text(row.get(name)) for name in _ANSWERS]
        answer = next((text for path in paths if path and (text := beside(path))), None)
    if not isinstance(answer, str) or (row.get("error") and answer.startswith(_FAILED)):
        return []
    return [{"role": "assistant", "content": answer.rstrip("\n")}]


def _asked(row: JsonObject, beside: ReadBeside) -> list[JsonObject]:
    """What the target was shown."""
    requests = as_object(row.get("requests"))
    for name, short in (("lm_provider_request", "lm"), ("agent_provider_request", "agent")):
        sent = as_object(row.get(name)) or as_object(requests.get(short))
        if chat := messages_of(sent.get("chat_prompt")):
            return chat
        question = as_text(sent.get("question"))
        guidelines = as_text(sent.get("guidelines"))
        head: list[JsonObject] = [{"role": "system", "content": guidelines}] if guidelines else []
        if question:
            return [*head, {"role": "user", "content": question}]
    given = row.get("input")
    if isinstance(given, list):
        return _messages(given)
    text = given if isinstance(given, str) else beside(as_text(row.get("input_path"))) or ""
    return [{"role": "user", "content": text.rstrip("\n")}] if text.strip() else []


def _messages(value: JsonValue) -> list[JsonObject]:
    """Messages as agentv writes them: its calls of tools are written as ours are."""
    made: list[JsonObject] = []
    for entry in as_objects(value):
        row: JsonObject = {"role": entry.get("role")}
        if isinstance(entry.get("name"), str):
            row["name"] = entry["name"]
        calls = [_call(call) for call in as_objects(entry.get("tool_calls"))]
        content = entry.get("content")
        if content not in (None, "") or not calls:
            row["content"] = content_of(content) if isinstance(content, list) else content
        if calls:
            row["tool_calls"] = [*calls]
        made.append(row)
    return made


def _call(call: JsonObject) -> JsonObject:
    known = ("id", "tool", "input", "output", "duration_ms")
    return {name: call[name] for name in known if call.get(name) is not None}


def _measured(summary: JsonObject) -> JsonObject:
    """Tokens, time and cost, as every version names them."""
    tokens = as_object(summary.get("token_usage")) or as_object(summary.get("tokenUsage"))
    usage = {
        ours: tokens[name]
        for ours, name in (("input_tokens", "input"), ("output_tokens", "output"))
        if isinstance(tokens.get(name), int | float)
    }
    found: JsonObject = {"usage": {**usage}} if usage else {}
    for ours, names in (
        ("latency_ms", ("duration_ms", "durationMs")),
        ("cost_usd", ("cost_usd", "costUsd")),
    ):
        value = next((summary[name] for name in names if summary.get(name) is not None), None)
        if isinstance(value, int | float):
            found[ours] = value
    return found
