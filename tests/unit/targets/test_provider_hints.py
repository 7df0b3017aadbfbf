"""Names that other tools use are answered with the line that is right here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import ConfigError
from steelyard.project_file import parse_settings
from steelyard.settings import TargetEntry
from steelyard.store.clock import SystemClock
from steelyard.targets.making import TargetMaker

LIVE = {"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:1/v1"}


def refused(**settings: Any) -> str:
    maker = TargetMaker(Path(), {"live": TargetEntry.of({**LIVE, **settings})}, {}, SystemClock())
    with pytest.raises(ConfigError) as caught:
        maker.make("live")
    return str(caught.value)


@pytest.mark.parametrize(
    ("provider", "line"),
    [
        ("ollama", "write {provider: openai, base_url: http://127.0.0.1:11434/v1, model: …}"),
        ("azure", "write {provider: openai, base_url: https://NAME.openai.azure.com/openai/v1,"),
        (
            "Azure-OpenAI",
            "write {provider: openai, base_url: https://NAME.openai.azure.com/openai/v1",
        ),
        ("claude", "write {provider: anthropic, model: …, api_key_env: ANTHROPIC_API_KEY}"),
        ("opnai", "did you mean 'openai'?"),
    ],
)
def test_a_service_that_is_no_provider_is_told_the_line(provider: str, line: str) -> None:
    assert f"unknown provider '{provider}' ({line}" in refused(provider=provider)


@pytest.mark.parametrize(
    ("path", "more"),
    [("/chat/completions", ""), ("/chat/completions/", ""), ("/responses", ", api: responses")],
)
def test_a_base_url_with_the_path_of_a_call_is_told_the_base(path: str, more: str) -> None:
    said = refused(base_url=f"https://api.example.com/v1{path}")

    assert said.endswith(f"write base_url: https://api.example.com/v1{more}")


@pytest.mark.parametrize(
    ("base_url", "meant"),
    [
        ("https://api.openai.com", "https://api.openai.com/v1"),
        ("https://api.openai.com/", "https://api.openai.com/v1"),
        ("https://openrouter.ai", "https://openrouter.ai/api/v1"),
    ],
)
def test_the_base_url_of_a_known_service_without_its_path_is_told_it(
    base_url: str, meant: str
) -> None:
    assert refused(base_url=base_url).endswith(f"write base_url: {meant}")


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (
            "api_key: sk-canary-12345",
            "(name the variable that holds the key: api_key_env: MY_KEY)",
        ),
        ("apiKey: sk-canary-12345", "(name the variable that holds the key: api_key_env: MY_KEY)"),
        ("max_tokens: 256", "(write max_new_tokens: 256)"),
        ("maxTokens: 256", "(write max_new_tokens: 256)"),
        ("endpoint: https://u:canary@h/v1", "(write base_url: …)"),
        ("reasoning_effort: low", "(write extra: {reasoning_effort: low})"),
        (
            "system: Be brief.",
            "before {{ input }} in prompt, or give the cases a message with the role system)",
        ),
        ("api_base: http://h/v1", "(write base_url: http://h/v1)"),
        ("api_version: 2024-10-21", '(write query: {api-version: "2024-10-21"})'),
        ("tempreature: 0", "(did you mean 'temperature'?)"),
    ],
)
def test_a_key_of_another_tool_is_told_the_line(key: str, said: str) -> None:
    text = f"targets:\n  live:\n    provider: openai\n    {key}\n"
    with pytest.raises(ConfigError) as caught:
        parse_settings(text.encode())

    assert str(caught.value).startswith("steelyard.yaml:4: ")
    assert str(caught.value).endswith(said)
    assert "canary" not in str(caught.value)
