"""Providers of promptfoo as targets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from steelyard.contracts.importers.source_row import wrong
from steelyard.errors import ParseError
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.usecases.convert.promptfoo.source import (
    SCHEME,
    ConfigFiles,
    ConfigPlace,
    is_file,
    listed,
    objects,
)

_OPENAI = {
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "groq": ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "xai": ("https://api.x.ai/v1", "XAI_API_KEY"),
    "deepseek": ("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "perplexity": ("https://api.perplexity.ai", "PERPLEXITY_API_KEY"),
    "cerebras": ("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    "fireworks": ("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    "togetherai": ("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "hyperbolic": ("https://api.hyperbolic.xyz/v1", "HYPERBOLIC_API_KEY"),
    "nvidia": ("https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"),
    "google": ("https://generativelanguage.googleapis.com/v1beta/openai", "GOOGLE_API_KEY"),
    "ollama": ("http://localhost:11434/v1", ""),
    "localai": ("http://localhost:8080/v1", ""),
    "llamafile": ("http://localhost:8080/v1", ""),
    "litellm": ("http://localhost:4000/v1", "LITELLM_API_KEY"),
    "vllm": ("http://localhost:8000/v1", ""),
}
"""Providers whose endpoint speaks the chat-completions protocol: its address and its key."""
_WAYS = {"chat", "completion", "responses", "messages"}
_OTHER_WAYS = {
    *("embedding", "embeddings", "image", "video", "moderation", "transcription", "realtime"),
    *("assistant", "agents", "tts", "speech", "live", "codex-sdk", "codex-app-server", "codex"),
    *("audio", "chatkit", "interactions"),
}
_SETTINGS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "max_tokens": "max_new_tokens",
    "max_completion_tokens": "max_new_tokens",
    "max_output_tokens": "max_new_tokens",
    "response_format": "response_format",
}
_BODY = (
    *("tool_choice", "parallel_tool_calls", "user", "store", "metadata", "service_tier"),
    "prompt_cache_key",
)


class Protocol(NamedTuple):
    """What of a provider's `config` the target of a protocol takes."""

    settings: tuple[str, ...]
    body: tuple[str, ...]
    """Members of the body that promptfoo sends by the same name; `extra` holds them."""


_CHAT = Protocol(
    tuple(_SETTINGS),
    (
        *(*_BODY, "stop", "presence_penalty", "frequency_penalty", "modalities"),
        *("reasoning_effort", "verbosity"),
    ),
)
_RESPONSES = Protocol(
    tuple(name for name in _SETTINGS if name != "seed"),
    (*_BODY, "reasoning", "include", "max_tool_calls", "truncation"),
)
_MESSAGES = Protocol(("temperature", "top_p", "max_tokens"), ("thinking", "tool_choice"))
_UNSENT = {"apiKey", "apiKeyEnvar", "apiBaseUrl", "apiHost", "headers"}
_OWNED = {
    *("model", "tools", "stream", "messages", "n", "stream_options", "system", "output_config"),
}
"""Members of a body that `extra` of a target may not set."""
_NOT_WRITTEN = "it is in a file, or filled in for each question; write it into the target"
_NO_SETTING = (
    "no setting of a target stands for it; what the endpoint takes in the body goes under "
    "'extra', and in the address under 'query'"
)
_ENVIRONMENT = re.compile(r"\{\{\s*env\.(\w+)\s*\}\}")
_PATH = re.compile(r"json((?:\.\w+|\[\d+\]|\[['\"]\w+['\"]\]|\?\.\w+)*)")
_NAME = re.compile(r"[^A-Za-z0-9_.]+")


class PromptfooProvider(NamedTuple):
    """One provider as it is written."""

    place: ConfigPlace
    id: str
    label: str
    row: JsonObject

    @property
    def name(self) -> str:
        """What its target is called."""
        return slug(self.label or self.id)


class ProviderTarget(NamedTuple):
    """A target of the project file, and what of the provider it lacks."""

    settings: JsonObject
    changes: tuple[Change, ...] = ()


def slug(text: str) -> str:
    """A text as the name of a target."""
    return _NAME.sub("-", text).strip("-")[:60].rstrip("-") or "target"


def read_providers(
    config: JsonObject, file: str, source: ConfigFiles
) -> Iterator[PromptfooProvider | Change]:
    """The providers of a configuration."""
    name = "providers" if "providers" in config else "targets"
    for index, entry in enumerate(listed(config.get(name))):
        place = ConfigPlace(file, name).at(index)
        try:
            yield from providers_of(entry, place, source)
        except ParseError as why:
            yield place.lost(why)


def providers_of(
    entry: JsonValue, place: ConfigPlace, source: ConfigFiles
) -> Iterator[PromptfooProvider]:
    """The providers that an entry stands for: an id, an object, or a file with some."""
    if is_file(entry) and str(entry).endswith((".yaml", ".yml", ".json")):
        for inner in listed(source.value(str(entry))):
            yield from providers_of(inner, place, source)
        return
    if isinstance(entry, str):
        yield PromptfooProvider(place, entry, "", {})
        return
    row = objects(entry)
    if len(row) == 1 and "id" not in row:
        ((name, inner),) = row.items()
        row = {"id": name, **objects(inner)}
    if not isinstance(row.get("id"), str):
        raise wrong("a provider must be an id, or an object with one")
    yield PromptfooProvider(place, str(row["id"]), str(row.get("label") or ""), row)


def target_of(provider: PromptfooProvider) -> ProviderTarget:
    """The target of a provider; raises ParseError where no target of ours reaches it."""
    family, _, rest = provider.id.partition(":")
    config = objects(provider.row.get("config"))
    if provider.row.get("transform"):
        raise wrong(f"'{provider.id}' changes its answers with a program: transform")
    if provider.id == "echo":
        unread = [
            provider.place.at("config", name).lost("echo has no settings") for name in config
        ]
        return ProviderTarget({"provider": "echo"}, tuple(unread))
    if family in {"http", "https"}:
        return _http(provider, config)
    if family == "anthropic":
        return _anthropic(provider, rest, config)
    if family in {"azure", "azureopenai"}:
        return _azure(provider, rest, config)
    if family in _OPENAI:
        return _openai(provider, family, rest, config)
    raise wrong(f"no target of Steelyard stands for '{provider.id}'; define one that reaches it")


def _openai(
    provider: PromptfooProvider, family: str, rest: str, config: JsonObject
) -> ProviderTarget:
    base, key = _OPENAI[family]
    changes: list[Change] = []
    way, _, model = rest.partition(":")
    if way in _OTHER_WAYS:
        raise wrong(f"'{provider.id}' is no chat, and no target of Steelyard speaks '{way}'")
    if way not in _WAYS:
        model = rest
    elif way == "completion":
        changes.append(provider.place.replaced(f"'{way}' is asked over chat completions"))
    base = _text(config.get("apiBaseUrl")) or base
    if host := _text(config.get("apiHost")):
        base = f"https://{host}/v1"
    settings: JsonObject = {"provider": "openai", "base_url": base, "model": model or family}
    protocol = _spoken(way, settings)
    key = _text(config.get("apiKeyEnvar")) or key
    if key:
        settings["api_key_env"] = key
    return _with_config(provider, settings, config, protocol, changes)


def _spoken(way: str, settings: JsonObject) -> Protocol:
    """The protocol of a way to ask, which the settings name if it is not chat completions."""
    if way != "responses":
        return _CHAT
    settings["api"] = way
    return _RESPONSES


def _anthropic(provider: PromptfooProvider, rest: str, config: JsonObject) -> ProviderTarget:
    way, _, model = rest.partition(":")
    if way in {"claude-agent-sdk", "claude-code"}:
        raise wrong(f"'{provider.id}' is an agent; define a command or python target for it")
    settings: JsonObject = {
        "provider": "anthropic",
        "model": model if way in _WAYS else rest,
        "api_key_env": _text(config.get("apiKeyEnvar")) or "ANTHROPIC_API_KEY",
    }
    if base := _text(config.get("apiBaseUrl")):
        settings["base_url"] = base
    return _with_config(provider, settings, config, _MESSAGES, [])


def _azure(provider: PromptfooProvider, rest: str, config: JsonObject) -> ProviderTarget:
    way, _, model = rest.partition(":")
    if way in _OTHER_WAYS or not model:
        raise wrong(f"'{provider.id}' is no chat, and no target of Steelyard speaks '{way}'")
    host = _text(config.get("apiHost")) or "${AZURE_API_HOST}"
    base = _text(config.get("apiBaseUrl")) or f"https://{host}/openai/v1"
    version = config.get("apiVersion")
    if isinstance(version, str) and way == "responses":
        root = _text(config.get("apiBaseUrl")).rstrip("/") or f"https://{host}"
        base = f"{root}/openai"
    elif isinstance(version, str):
        root = _text(config.get("apiBaseUrl")).rstrip("/") or f"https://{host}"
        base = f"{root}/openai/deployments/{model}"
    key = _text(config.get("apiKeyEnvar")) or "AZURE_API_KEY"
    settings: JsonObject = {
        "provider": "openai",
        "base_url": base,
        "model": model,
        "headers": {"api-key": f"${{{key}}}"},
    }
    if isinstance(version, str):
        settings["query"] = {"api-version": _text(version)}
        config = {name: value for name, value in config.items() if name != "apiVersion"}
    return _with_config(provider, settings, config, _spoken(way, settings), [])


def _with_config(
    provider: PromptfooProvider,
    settings: JsonObject,
    config: JsonObject,
    protocol: Protocol,
    changes: list[Change],
) -> ProviderTarget:
    """The settings with those of the provider that a target has, and the rest by name."""
    # What is passed through stands in place of the settings before it.
    for name, value in sorted(config.items(), key=lambda member: member[0] == "passthrough"):
        if name in protocol.settings and not is_file(value):
            if name == "response_format" and not isinstance(value, dict):
                changes.append(provider.place.at("config", name).lost("it must be an object"))
            else:
                settings[_SETTINGS[name]] = value
        elif name == "apiKey":
            changes.append(_key(provider, settings, value))
        elif name == "headers" and isinstance(value, dict):
            stated: JsonObject = {key: _text(item) for key, item in value.items()}
            settings["headers"] = {**objects(settings.get("headers")), **stated}
        elif name in {"tools", "passthrough"} and _is_written(value):
            place = provider.place.at("config", name)
            changes += _body(name, value, settings, protocol, place)
        elif name in protocol.body and _is_written(value):
            settings["extra"] = {**objects(settings.get("extra")), name: value}
        elif name not in _UNSENT:
            known = {*protocol.settings, *protocol.body, "tools", "passthrough"}
            reason = _NOT_WRITTEN if name in known else _NO_SETTING
            changes.append(provider.place.at("config", name).lost(reason))
    return ProviderTarget(settings, tuple(changes))


def _is_written(value: JsonValue) -> bool:
    """Whether a value is there as it is sent, not in a file or filled in for each question."""
    text = json.dumps(value)
    return SCHEME not in text and "{{" not in text and "${" not in text


def _body(
    name: str, value: JsonValue, settings: JsonObject, protocol: Protocol, place: ConfigPlace
) -> list[Change]:
    """Put tools and further members of the body into the settings; what does not fit is named."""
    if name == "tools":
        if not isinstance(value, list) or not all(_is_tool(tool) for tool in value):
            return [place.lost("each tool must be an object with a name")]
        settings["tools"] = value
        return []
    if not isinstance(value, dict):
        return [place.lost("it must be an object")]
    sampled = [one for one in value if one in protocol.settings]
    owned = [one for one in value if one in _OWNED]
    extra = {one: item for one, item in value.items() if one not in {*sampled, *owned}}
    settings.update({_SETTINGS[one]: value[one] for one in sampled})
    if extra:
        settings["extra"] = {**objects(settings.get("extra")), **extra}
    return [place.at(one).lost("Steelyard sets this member of the body itself") for one in owned]


def _is_tool(tool: JsonValue) -> bool:
    row = objects(tool)
    if row.get("type", "function") not in {"function", "custom"}:
        return True
    return isinstance((objects(row.get("function")) or row).get("name"), str)


def _key(provider: PromptfooProvider, settings: JsonObject, value: JsonValue) -> Change:
    """A key is only ever named by its variable."""
    place = provider.place.at("config", "apiKey")
    if found := _ENVIRONMENT.fullmatch(str(value)):
        settings["api_key_env"] = found[1]
        return place.replaced(f"api_key_env: {found[1]}")
    return place.lost("a key is never written into a file; name its variable in api_key_env")


def _http(provider: PromptfooProvider, config: JsonObject) -> ProviderTarget:
    """An endpoint with a templated body; its answer where a path leads to it."""
    url = _text(config.get("url")) or provider.id
    if "{{" in url or not url.startswith(("http://", "https://")):
        raise wrong(f"'{provider.id}' has an address that is made for each question")
    settings: JsonObject = {"provider": "http", "url": url}
    if config.get("method"):
        settings["method"] = str(config["method"]).upper()
    if isinstance(config.get("headers"), dict):
        headers = objects(config["headers"])
        settings["headers"] = {name: _text(value) for name, value in headers.items()}
    if "body" in config:
        settings["body"] = _filled(config["body"])
    parser = config.get("transformResponse", config.get("responseParser"))
    if parser is not None:
        found = _PATH.fullmatch(str(parser).strip())
        if not found or not found[1]:
            raise wrong(f"'{provider.id}' reads its answer with a program: transformResponse")
        settings["answer"] = re.sub(r"\[['\"](\w+)['\"]\]", r".\1", found[1]).replace("?.", ".")[
            1:
        ]
    known = {"url", "method", "headers", "body", "transformResponse", "responseParser"}
    changes = [
        provider.place.at("config", name).lost("an http target has no such setting")
        for name in config
        if name not in known
    ]
    return ProviderTarget(settings, tuple(changes))


def _filled(value: JsonValue) -> JsonValue:
    """A body with the variables of ours: the prompt keeps its name."""
    if isinstance(value, str):
        text = _text(value)
        names = set(re.findall(r"\{\{\s*([^}]*?)\s*\}\}", text))
        if names - {"prompt"}:
            raise wrong(f"its body takes {', '.join(sorted(names - {'prompt'}))}")
        return text
    if isinstance(value, list):
        return [_filled(item) for item in value]
    if isinstance(value, dict):
        return {name: _filled(item) for name, item in value.items()}
    return value


def _text(value: JsonValue) -> str:
    """A text with the variables of the environment as the project file names them."""
    return _ENVIRONMENT.sub(r"${\1}", str(value)) if value is not None else ""
