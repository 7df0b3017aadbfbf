"""Traces of a platform as responses, and what its people said about them as labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from steelyard.contracts.importers.conversation import as_object, as_objects
from steelyard.contracts.importers.openai_messages import text_of
from steelyard.contracts.importers.otel_spans import Span
from steelyard.contracts.importers.otel_traces import import_trace
from steelyard.contracts.importers.platform_values import answer_text
from steelyard.contracts.importers.source_row import Import, Imported
from steelyard.model.conversion import Refusal
from steelyard.model.json_value import JsonObject, JsonValue

_UNANSWERED = Refusal("left_out", "the trace holds no answer and no error", "unanswered")


class Named(NamedTuple):
    """Which record a trace answers, in which run, where an experiment says so."""

    record_id: str
    candidate: str = ""


class PlatformTraces:
    """The spans of an export, by their traces."""

    def __init__(self) -> None:
        self._spans: dict[str, list[Span]] = {}
        self._answers: dict[str, JsonValue] = {}
        self._named: dict[str, Named] = {}

    def add(self, span: Span) -> None:
        """One span."""
        self._spans.setdefault(span.trace_id, []).append(span)

    def answered(self, trace_id: str, answer: JsonValue) -> None:
        """What a trace gave back as a whole."""
        self._answers[trace_id] = answer

    def name(self, trace_id: str, named: Named) -> None:
        """Which record a trace answers."""
        self._named[trace_id] = named

    def responses(self, names: Mapping[str, str]) -> Iterator[tuple[str, Import]]:
        """One response for each trace in the order of their start; further ones are repeats."""
        repeats: Counter[tuple[JsonValue, JsonValue]] = Counter()
        ordered = sorted(self._spans, key=lambda one: (self._start(one), one))
        for trace_id in ordered:
            found = self._response(trace_id, names)
            if isinstance(found, Imported):
                key = (found.row["record_id"], found.row["candidate_name"])
                repeat = repeats[key]
                repeats[key] += 1
                if repeat:
                    found = found._replace(row={**found.row, "repeat": repeat})
            yield trace_id, found

    def labels(
        self, scores: Iterable[tuple[str, Import]], names: Mapping[str, str]
    ) -> Iterator[tuple[str, Import]]:
        """The labels about traces as labels about the responses that they become."""
        placed = {
            trace_id: found.row
            for trace_id, found in self.responses(names)
            if isinstance(found, Imported)
        }
        for place, found in scores:
            if isinstance(found, Refusal):
                yield place, found
                continue
            if found.row.get("record_id"):
                yield place, found
                continue
            trace_id = str(found.row["trace_id"])
            of = placed.get(trace_id, {})
            named = self._named.get(trace_id, Named(trace_id))
            row: JsonObject = {
                **found.row,
                "record_id": of.get("record_id", named.record_id),
                "candidate_name": of.get("candidate_name", named.candidate),
                "repeat": of.get("repeat", 0),
            }
            yield place, found._replace(row=row)

    def _start(self, trace_id: str) -> int:
        return min(span.start_ns for span in self._spans[trace_id])

    def _response(self, trace_id: str, names: Mapping[str, str]) -> Import:
        found = import_trace(self._spans[trace_id], names)
        if isinstance(found, Refusal):
            return found
        row = dict(found.row)
        named = self._named.get(trace_id)
        if named is not None and "record_id" not in names:
            row["record_id"] = named.record_id
        if named is not None and named.candidate and "candidate_name" not in names:
            row["candidate_name"] = named.candidate
        trace = _completed(as_object(row["trace"]), self._answers.get(trace_id))
        row["trace"] = trace
        if "error_code" not in row and not _has_answer(trace):
            errors = [span.error for span in self._spans[trace_id] if span.error is not None]
            if not errors:
                return _UNANSWERED
            row |= {"error_code": "target_error", "message": errors[-1]}
        return found._replace(row=row)


def _has_answer(trace: JsonObject) -> bool:
    messages = as_objects(trace.get("messages"))
    return any(
        one.get("role") == "assistant" and (one.get("content") or one.get("tool_calls"))
        for one in messages
    )


def _completed(trace: JsonObject, answer: JsonValue) -> JsonObject:
    """A trace that ends with what it gave back, which may be more than a model said last."""
    whole = answer_text(answer)
    messages = as_objects(trace.get("messages"))
    said = [one for one in messages if one.get("role") == "assistant" and one.get("content")]
    if not whole or (said and text_of(said[-1].get("content")).strip() == whole.strip()):
        return trace
    return {**trace, "messages": [*messages, {"role": "assistant", "content": whole}]}
