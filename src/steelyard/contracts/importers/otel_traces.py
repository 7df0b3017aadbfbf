"""Traces of OpenTelemetry with spans of generative models, as recorded responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from steelyard.contracts.importers.conversation import Conversation, from_text
from steelyard.contracts.importers.otel_messages import add_message, messages_in
from steelyard.contracts.importers.otel_openinference import with_usual_names
from steelyard.contracts.importers.otel_spans import Span
from steelyard.contracts.importers.otel_timings import span_rows
from steelyard.contracts.importers.otel_verdicts import apart
from steelyard.contracts.importers.source_row import Import, Imported
from steelyard.model.conversion import Change, Refusal
from steelyard.model.json_value import JsonObject

MAPPED = ("record_id", "candidate_name")
RECORD = "steelyard.record_id"
"""The attribute by which a span says which record it answers."""
_CALLS = ("chat", "text_completion", "generate_content", "completion")
_MODELS = ("gen_ai.request.model", "gen_ai.response.model")
_INPUT = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
_OUTPUT = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
_SILENT = (
    "its spans hold no messages; instrumentation records them only where it is told to capture "
    "content"
)
_VERDICTS = (
    "what models say beneath an evaluator, a guardrail or a reranker is left out: it is about the "
    "conversation, no part of it"
)
_ONLY_VERDICTS = (
    "no span of a generative model but beneath an evaluator, a guardrail or a reranker, whose "
    "words are no part of a conversation"
)


def import_trace(spans: Sequence[Span], names: Mapping[str, str]) -> Import:
    """All spans of one trace as one recorded response.

    `names` tells which attributes say the record and the candidate; else the record is what
    `steelyard.record_id` says or the trace's own id, and the candidate the model.
    """
    ordered = sorted(map(with_usual_names, spans), key=lambda one: (one.start_ns, -one.end_ns))
    spoken, verdicts = apart(ordered)
    calls = [span for span in spoken if _is_call(span)]
    agents = [span for span in spoken if _is_agent(span)]
    has_verdicts = any(_is_call(one) or _is_agent(one) or _has_model(one) for one in verdicts)
    if not calls and not agents:
        why = _ONLY_VERDICTS if has_verdicts else "no span of a generative model"
        return Refusal("skipped", why, "verdicts" if has_verdicts else "other")
    heard, changes = _heard(calls or agents), list(_unsaid(calls))
    if has_verdicts:
        changes.append(Change("verdicts", _VERDICTS))
    if not heard.messages and calls and agents:
        heard = _heard(agents)
    for span in spoken:
        if _is_tool(span):
            _complete(heard, span)
    row: JsonObject = {
        "record_id": _named(ordered, names, "record_id", RECORD) or ordered[0].trace_id,
        "candidate_name": _named(ordered, names, "candidate_name", "") or _model(calls or agents),
    }
    error = _root(spoken).error
    if not heard.messages and error is None:
        return Refusal("left_out", _SILENT, "silent")
    trace = _trace(heard, spoken, calls or agents)
    if timed := span_rows(ordered, verdicts):
        trace["spans"] = timed
    row["trace"] = trace
    if error is not None:
        row["error_code"] = "target_error"
        row["message"] = error
    return Imported(row, tuple(changes))


def conversation_of(spans: Sequence[Span]) -> str | None:
    """The conversation or session that a trace is a part of, where its spans say so."""
    usual = [with_usual_names(span) for span in spans]
    return _named(usual, {}, "", "gen_ai.conversation.id") or _named(usual, {}, "", "session.id")


def _heard(spans: Sequence[Span]) -> Conversation:
    """The conversation of several calls, of which each later one may repeat what came before."""
    entries: list[JsonObject] = []
    for span in spans:
        messages = messages_in(span)
        whole = [*messages.given, *messages.made]
        if _plain(whole[: len(entries)]) == _plain(entries):
            entries = whole
        else:
            known = _plain(entries)
            entries += [one for one in messages.given if _plain([one])[0] not in known]
            entries += messages.made
    heard = Conversation()
    for entry in entries:
        add_message(heard, entry)
    return heard


def _plain(entries: Sequence[JsonObject]) -> list[JsonObject]:
    """Messages without what only an answer says of itself."""
    return [
        {name: value for name, value in entry.items() if name not in {"finish_reason", "index"}}
        for entry in entries
    ]


def _trace(heard: Conversation, ordered: Sequence[Span], calls: Sequence[Span]) -> JsonObject:
    root, last = _root(ordered), calls[-1].attributes
    usage: JsonObject = {
        name: total
        for name, spelled in (("input_tokens", _INPUT), ("output_tokens", _OUTPUT))
        if (total := _total(calls, spelled)) is not None
    }
    trace: JsonObject = {"messages": [*heard.messages]}
    if usage:
        trace["usage"] = usage
    if root.end_ns > root.start_ns:
        trace["latency_ms"] = (root.end_ns - root.start_ns) / 1_000_000
    reasons = last.get("gen_ai.response.finish_reasons")
    reason = reasons[0] if isinstance(reasons, list) and reasons else reasons
    if isinstance(reason, str):
        trace["finish_reason"] = reason
    model = next((last[name] for name in reversed(_MODELS) if last.get(name)), None)
    if isinstance(model, str):
        trace["model"] = model
    return trace


def _root(ordered: Sequence[Span]) -> Span:
    """The span that no other one of the trace holds; the first, where all are held."""
    ids = {span.span_id for span in ordered}
    return next((span for span in ordered if span.parent_id not in ids), ordered[0])


def _total(spans: Sequence[Span], names: tuple[str, ...]) -> int | None:
    counts = [
        next((span.attributes[name] for name in names if name in span.attributes), None)
        for span in spans
    ]
    known = [int(count) for count in counts if isinstance(count, int | float)]
    return sum(known) if known else None


def _complete(heard: Conversation, span: Span) -> None:
    """What the span of a tool knows of its call."""
    known = span.attributes
    given = from_text(known.get("gen_ai.tool.call.arguments"))
    result = known.get("gen_ai.tool.call.result")
    heard.complete(known.get("gen_ai.tool.call.id"), given, result)


def _named(
    ordered: Sequence[Span], names: Mapping[str, str], field: str, usual: str
) -> str | None:
    """What the first span or resource says that has the attribute."""
    wanted = names.get(field, usual)
    for span in ordered:
        for attributes in (span.attributes, span.resource):
            value = attributes.get(wanted)
            if isinstance(value, str | int) and not isinstance(value, bool) and str(value):
                return str(value)
    return None


def _model(calls: Sequence[Span]) -> str:
    for name in _MODELS:
        for span in calls:
            value = span.attributes.get(name)
            if isinstance(value, str) and value:
                return value
    return str(calls[0].resource.get("service.name") or "otel")


def _operation(span: Span) -> str:
    return str(span.attributes.get("gen_ai.operation.name") or "")


def _is_call(span: Span) -> bool:
    operation = _operation(span)
    if operation:
        return operation in _CALLS
    return _has_model(span) and not _is_tool(span)


def _has_model(span: Span) -> bool:
    return any(name in span.attributes for name in _MODELS)


def _is_agent(span: Span) -> bool:
    return _operation(span) == "invoke_agent"


def _is_tool(span: Span) -> bool:
    return _operation(span) == "execute_tool" or "gen_ai.tool.name" in span.attributes


def _unsaid(calls: Sequence[Span]) -> Iterator[Change]:
    if any(messages_in(span).choices > 1 for span in calls):
        yield Change("choices", "of several choices only the first is carried over")
