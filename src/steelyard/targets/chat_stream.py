"""A chat completion that arrives as a stream of pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.targets.error_codes import LATE, reported_error, require_unbroken
from steelyard.targets.event_stream import EventStream, inner, inner_list

ASKED: JsonObject = {"stream": True, "stream_options": {"include_usage": True}}
"""What a body says to get a stream, with its tokens counted at the end."""
_SAID = ("content", "reasoning_content", "reasoning", "refusal", "tool_calls")
_OF_ANSWER = ("id", "model", "usage")


def begins(event: JsonObject) -> bool:
    """Whether a piece has a text, a thought, a refusal or a call in it."""
    delta = inner(_choice(event), "delta")
    return any(delta.get(name) for name in _SAID)


def assembled(events: Iterator[JsonObject]) -> JsonObject | None:
    """The completion that the pieces make up; None where the last of them is missing."""
    made = _Completion()
    for event in events:
        made.add(event)
    return made.whole()


class _Completion:
    """What has arrived of one."""

    def __init__(self) -> None:
        self._answer: JsonObject = {}
        self._choice: JsonObject = {}
        self._texts: dict[str, list[str]] = {}
        self._calls = _Calls()
        self._tokens: list[JsonValue] = []

    def add(self, event: JsonObject) -> None:
        """Take in the next piece."""
        if event.get("error") or event.get("object") == "error":
            raise reported_error(event.get("error") or event, LATE)
        choice = _choice(event)
        require_unbroken(choice)
        delta = inner(choice, "delta")
        # What some say of the answer beside it comes without an id and a model.
        self._answer.update({name: event[name] for name in _OF_ANSWER if event.get(name)})
        for name in ("content", "refusal"):
            if (said := _said(delta.get(name))) is not None:
                self._texts.setdefault(name, []).append(said)
        for call in inner_list(delta, "tool_calls"):
            self._calls.add(call)
        self._tokens.extend(inner_list(inner(choice, "logprobs"), "content"))
        if choice.get("finish_reason") is not None:
            self._choice["finish_reason"] = choice["finish_reason"]

    def whole(self) -> JsonObject | None:
        """The completion, once its end is there: some proxies end a broken stream in order."""
        if "finish_reason" not in self._choice:
            return None
        message: JsonObject = {name: "".join(said) for name, said in self._texts.items()}
        if self._calls.made:
            message["tool_calls"] = cast(list[JsonValue], self._calls.made)
        if self._tokens:
            self._choice["logprobs"] = {"content": self._tokens}
        return {**self._answer, "choices": [{**self._choice, "message": message}]}


class _Calls:
    """Calls of tools, whose arguments arrive piece by piece."""

    def __init__(self) -> None:
        self.made: list[JsonObject] = []
        self._open: dict[JsonValue, JsonObject] = {}
        """The call of each index; some endpoints give all calls the same."""

    def add(self, piece: JsonObject) -> None:
        """Take in the next piece of a call, or the first one of another."""
        index, function = cast("int | None", piece.get("index")), inner(piece, "function")
        call = self._open.get(index)
        is_named = bool(function.get("name"))
        if call is None or (is_named and piece.get("id") != call["id"]):
            call = {"id": piece.get("id"), "function": {}}
            self._open[index] = call
            self.made.append(call)
        made, arguments = cast(JsonObject, call["function"]), function.get("arguments")
        if is_named:
            made["name"] = function["name"]
        if isinstance(arguments, str) and isinstance(known := made.get("arguments", ""), str):
            made["arguments"] = known + arguments
        elif arguments is not None:
            made["arguments"] = arguments


def _choice(event: JsonObject) -> JsonObject:
    """The one choice that is read; the last event counts tokens and has none."""
    choices = [one for one in inner_list(event, "choices") if not one.get("index")]
    return choices[0] if choices else {}


def _said(content: JsonValue) -> str | None:
    """A text, or the texts of a list of parts."""
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(said for said in texts if isinstance(said, str))
    return content if isinstance(content, str) else None


CHAT_STREAM = EventStream(begins=begins, assembled=assembled)
