"""`http`: any endpoint that takes a request and answers with JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from msgspec import field
from msgspec.structs import replace

from steelyard.errors import TargetError
from steelyard.model.case import Case
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject, JsonValue, Path, path_text
from steelyard.model.message import Message
from steelyard.model.plausible import token_count
from steelyard.model.trace import Trace
from steelyard.ports import Clock, Request
from steelyard.targets.agent_reply import is_reply, read_reply, with_latency
from steelyard.targets.http_calls import HttpCalls, HttpSettings
from steelyard.targets.json_template import JsonTemplate, as_text, value_at
from steelyard.targets.model_settings import query_text
from steelyard.targets.reply_json import reply_value, require_no_error
from steelyard.targets.request_json import request_bytes, request_row

# What would give the answer away is no part of it.
_CASE = ("id", "dataset", "conversation_id", "context", "task_type", "tags", "metadata", "choices")
VARIABLES: Mapping[str, tuple[str, ...]] = {
    "prompt": (),
    "messages": (),
    "id": (),
    "repeat": (),
    "attempt": (),
    "schema": (),
    "case": _CASE,
}
"""The names that a template may use, with the fields of those that have any."""


class JsonEndpoint(FrozenStruct, frozen=True, kw_only=True):
    """How an endpoint is asked, and where its reply says what."""

    http: HttpSettings
    body: JsonTemplate | None = None
    """Without it, a POST carries the request as agents get it."""
    query: JsonTemplate | None = None
    answer: Path | None = None
    trace: Path | None = None
    usage: Mapping[str, Path] = field(default_factory=dict[str, Path])
    described: JsonObject = field(default_factory=dict[str, JsonValue])


class HttpTarget:
    """Fills a template, sends it, and finds the answer in the reply."""

    def __init__(self, name: str, settings: JsonEndpoint, clock: Clock) -> None:
        self.name = name
        self._settings = settings
        self._calls = HttpCalls(settings.http, clock)

    def described(self) -> JsonObject:
        """Its settings, without key and header values."""
        return dict(self._settings.described)

    async def ask(self, request: Request) -> Trace:
        """One call; every way in which it can fail has an error code."""
        settings = self._settings
        values = request_row(request)
        if settings.body or settings.query:
            values["case"] = _case_row(request.case)
            values.setdefault("schema", None)
        body = b""
        if settings.http.method != "GET":
            filled = settings.body.filled(values) if settings.body else values
            body = request_bytes(filled)
        query = _query(settings.query.filled(values)) if settings.query else ""
        return await self._calls.ask(body, self._read, query)

    async def close(self) -> None:
        """Close the connections."""
        await self._calls.close()

    def _read(self, data: bytes, latency_ms: float) -> Trace:
        reply = reply_value(data)
        answer, trace = self._settings.answer, self._settings.trace
        if answer is not None:
            made = _spoken(_found(reply, answer, "answer"))
        elif trace is not None:
            made = read_reply(_found(reply, trace, "trace"))
        else:
            if not is_reply(reply):
                require_no_error(reply)
            made = read_reply(reply)
        return with_latency(self._counted(made, reply), latency_ms)

    def _counted(self, trace: Trace, reply: JsonValue) -> Trace:
        """The trace, with the tokens from where the reply counts them."""
        paths = self._settings.usage
        if not paths:
            return trace
        counts = {name: token_count(value_at(reply, path)[1]) for name, path in paths.items()}
        return replace(trace, usage=replace(trace.usage, **counts))


def _found(reply: JsonValue, path: Path, setting: str) -> JsonValue:
    is_there, found = value_at(reply, path)
    if is_there and found is not None:
        return found
    require_no_error(reply)
    what = "is null" if is_there else "is not there"
    raise TargetError("bad_response", f"'{path_text(path)}' ({setting}) {what} in the reply")


def _spoken(answer: JsonValue) -> Trace:
    """A text as it is; a label, a number or an object as JSON."""
    return Trace(messages=(Message(role="assistant", content=as_text(answer)),))


def _case_row(case: Case) -> JsonObject:
    """The side of a case that a target may know."""
    return {
        "id": case.id,
        "dataset": case.dataset,
        "conversation_id": case.conversation_id,
        "context": case.context,
        "task_type": case.task_type,
        "tags": list(case.tags),
        "metadata": dict(case.metadata),
        "choices": [{"id": choice.id, "text": choice.text} for choice in case.choices],
    }


def _query(filled: JsonValue) -> str:
    try:
        return query_text(cast(JsonObject, filled))
    except UnicodeEncodeError:
        raise TargetError("bad_request", "the prompt holds half a character") from None
