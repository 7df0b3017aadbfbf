"""`extra`, `query` and `tools`: what a model endpoint is sent beside what we have names for."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fakes.asking import ask_once, question
from servers.anthropic_server import MESSAGE
from servers.notes import Notes
from servers.openai_server import COMPLETION, serving
from steelyard.errors import ConfigError
from steelyard.model.json_value import JsonObject
from steelyard.ports import Judged, Request
from steelyard.settings import TargetEntry
from steelyard.store.clock import SystemClock
from steelyard.targets.extra_body import merged
from steelyard.targets.making import Made, TargetMaker
from steelyard.targets.specs import spec

JUDGED = Judged({"type": "object"}, True, False, "t", "c", "j@1", None, None, 0, 0)
HOURS: JsonObject = {"type": "object", "properties": {"day": {"type": "string"}}}
CHAT_TOOL = {"type": "function", "function": {"name": "hours", "parameters": HOURS}}
FORMS = [
    CHAT_TOOL,
    {"type": "function", "name": "hours", "parameters": HOURS},
    {"name": "hours", "input_schema": HOURS},
]


def made(settings: dict[str, Any], environ: dict[str, str] | None = None) -> Made:
    row = {"base_url": "http://127.0.0.1:1/v1", "model": "m-1", **settings}
    targets = {"live": TargetEntry.of(row)}
    return TargetMaker(Path(), targets, environ or {}, SystemClock()).make("live")


def sent(
    settings: dict[str, Any],
    request: Request | None = None,
    environ: dict[str, str] | None = None,
) -> Notes:
    """What an endpoint gets."""
    notes = Notes(MESSAGE if settings["provider"] == "anthropic" else COMPLETION)

    async def main() -> None:
        async with serving(notes.answer) as url:
            await ask_once(made({**settings, "base_url": url}, environ).target, request)

    asyncio.run(main())
    return notes


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_extra_and_query_reach_the_endpoint(provider: str) -> None:
    query = {"api-version": "2024-10-21", "beta": True, "a b": "c&d"}
    extra = {"top_k": 5, "metadata": {"user": "evals"}}
    notes = sent({"provider": provider, "query": query, "extra": extra})

    assert notes.line.endswith("?api-version=2024-10-21&beta=true&a%20b=c%26d")
    assert notes.body["top_k"] == 5
    assert notes.body["metadata"] == {"user": "evals"}
    assert notes.body["model"] == "m-1"


def test_what_a_judge_asks_for_is_merged_with_extra() -> None:
    settings = {"provider": "anthropic", "extra": {"output_config": {"effort": "low"}}}
    notes = sent(settings, question()._replace(judged=JUDGED))

    shape = {"type": "json_schema", "schema": {"type": "object"}}
    assert notes.body["output_config"] == {"effort": "low", "format": shape}


def test_objects_are_merged_member_by_member_and_nothing_else_is() -> None:
    extra: JsonObject = {"a": {"b": {"c": 1, "d": 2}}, "l": [1, 2], "x": 1}
    body: JsonObject = {"a": {"b": {"c": 3}, "e": 4}, "l": [3], "y": {}}

    assert merged(extra, body) == {
        "a": {"b": {"c": 3, "d": 2}, "e": 4},
        "l": [3],
        "x": 1,
        "y": {},
    }
    assert extra == {"a": {"b": {"c": 1, "d": 2}}, "l": [1, 2], "x": 1}


@pytest.mark.parametrize(
    ("provider", "extra", "said"),
    [
        ("openai", {"max_tokens": 5}, "'max_tokens': use 'max_new_tokens' of the target instead"),
        ("openai", {"temperature": 0}, "'temperature': use 'temperature' of the target"),
        ("openai", {"messages": []}, "'messages': the case and the prompt of the target say"),
        ("openai", {"n": 2}, "'n': one answer is read"),
        ("openai", {"stream_options": {"include_usage": False}}, "'stream_options.include_usage'"),
        ("anthropic", {"system": "Be kind."}, "'system': the case and the prompt"),
        ("anthropic", {"output_config": {"format": {}}}, "'output_config.format': a judge sets"),
    ],
)
def test_extra_does_not_set_what_something_else_decides(
    provider: str, extra: JsonObject, said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        made({"provider": provider, "extra": extra})

    assert f"targets.live: extra must not set {said}" in str(caught.value)


@pytest.mark.parametrize("tool", FORMS)
def test_a_tool_in_any_form_is_sent_in_that_of_the_protocol(tool: JsonObject) -> None:
    assert sent({"provider": "openai", "tools": [tool]}).body["tools"] == [CHAT_TOOL]
    asked = sent({"provider": "anthropic", "tools": [tool]})

    assert asked.body["tools"] == [{"name": "hours", "input_schema": HOURS}]


def test_a_tool_of_another_kind_is_sent_as_it_is() -> None:
    tool = {"type": "web_search_20250305", "name": "web_search", "max_uses": 2}

    assert sent({"provider": "anthropic", "tools": [tool]}).body["tools"] == [tool]


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ([{"type": "function"}], "tools[0] has no 'name'"),
        ([{"name": "a"}, CHAT_TOOL, {"name": "a"}], "tools[2]: there are two tools named 'a'"),
    ],
)
def test_a_wrong_tool_is_refused(tools: list[JsonObject], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        made({"provider": "openai", "tools": tools})

    assert said in str(caught.value)


def test_extra_and_tools_belong_to_the_identity_of_a_judge_and_to_the_manifest() -> None:
    settings = {"provider": "openai", "extra": {"effort": "${EFFORT}"}, "tools": [CHAT_TOOL]}
    found = spec("live", made({**settings, "query": {"v": 1}}, {"EFFORT": "low"}))

    assert found.sampling == {"extra": {"effort": "low"}, "tools": [CHAT_TOOL]}
    described = found.described()
    assert described["extra"] == {"effort": "low"}
    assert (described["tools"], described["query"]) == ([CHAT_TOOL], {"v": 1})


def test_a_secret_in_extra_is_sent_and_not_kept() -> None:
    settings = {"provider": "openai", "extra": {"vault": "${MY_TOKEN}"}}
    environ = {"MY_TOKEN": "canary-1234567890"}
    found = spec("live", made(settings, environ))

    assert found.sampling == {"extra": {"vault": "${MY_TOKEN}"}}
    assert "canary-1234567890" in found.secrets
    assert sent(settings, environ=environ).body["vault"] == "canary-1234567890"
