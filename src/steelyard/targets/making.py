"""Targets from the project file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

from steelyard.errors import ConfigError
from steelyard.formats.names import did_you_mean
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from steelyard.ports import Clock, Target
from steelyard.targets.callables import PythonTarget, load_callable
from steelyard.targets.echo import EchoTarget
from steelyard.targets.recorded import RecordedTarget
from steelyard.targets.response_file import ResponseFile
from steelyard.targets.target_settings import TargetSettings, filled

LOCAL_CONCURRENCY = 256
"""For targets that call nobody."""
_SAMPLING = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_new_tokens": "max_tokens",
    "seed": "seed",
    "response_format": "response_format",
}
_ANTHROPIC_SAMPLING = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_new_tokens": "max_tokens",
}
_MODEL = ("base_url", "model", "api_key_env", "headers", "timeout_s")
EVERY = ("provider", "max_concurrency", "requests_per_minute", "tokens_per_minute", "price")
KEYS: dict[str, tuple[str, ...]] = {
    "echo": (),
    "recorded": ("path", "candidate"),
    "python": ("callable", "timeout_s", "model"),
    "openai": (*_MODEL, *_SAMPLING),
    "anthropic": (*_MODEL, *_ANTHROPIC_SAMPLING),
    "http": (
        *("url", "method", "api_key_env", "headers", "query", "body", "answer", "trace", "usage"),
        *("timeout_s", "model"),
    ),
    "command": ("command", "env", "timeout_s", "model"),
}
"""What each provider takes, beside what every target takes."""


class Made(NamedTuple):
    """A target with what a plan must know of it."""

    target: Target
    settings: JsonObject
    secrets: tuple[str, ...] = ()
    covers: Callable[[Case, int], bool] | None = None
    response_source: str = "sampled"


class TargetMaker:
    """Makes targets by name."""

    def __init__(
        self, root: Path, targets: JsonObject, environ: Mapping[str, str], clock: Clock
    ) -> None:
        self._root = root
        self._targets = targets
        self._environ = environ
        self._clock = clock

    def make(self, name: str) -> Made:
        """A target of the project file; `echo` needs none."""
        if name not in self._targets:
            if name == "echo":
                return Made(EchoTarget(), {"provider": "echo"})
            known = ", ".join(self._targets) or "none"
            raise ConfigError(
                f"unknown target '{name}'{_hint(name, (*self._targets, 'echo'))}; "
                f"targets in steelyard.yaml: {known}"
            )
        written = cast(JsonObject, self._targets[name])
        values = cast(JsonObject, filled(written, f"targets.{name}", self._environ))
        given = TargetSettings(name, written, values, self._environ)
        makers: dict[str, Callable[[TargetSettings], Made]] = {
            "echo": lambda given: Made(EchoTarget(given.name), given.values),
            "recorded": self._recorded,
            "python": self._python,
            "openai": self._openai,
            "anthropic": self._anthropic,
            "http": self._http,
            "command": self._command,
        }
        provider = cast(str, values["provider"])
        if provider not in makers:
            raise given.wrong(
                f"unknown provider '{provider}'{_hint(provider, makers)}; "
                f"known: {', '.join(makers)}"
            )
        _require_known_keys(given)
        return makers[provider](given)

    def _recorded(self, given: TargetSettings) -> Made:
        path = self._root / given.needed("path")
        responses = ResponseFile(path)
        candidate = cast(str, given.values.get("candidate", ""))
        if not candidate and len(responses.candidates) == 1:
            candidate = next(iter(responses.candidates))
        if candidate not in responses.candidates:
            responses.close()
            known = ", ".join(sorted(responses.candidates))
            asked = f"no candidate '{candidate}'" if candidate else "several candidates; name one"
            raise given.wrong(f"{path} has {asked}; has: {known}")
        target = RecordedTarget(given.name, responses, candidate)
        return Made(target, given.values, covers=target.covers, response_source="prefilled")

    def _python(self, given: TargetSettings) -> Made:
        function = load_callable(given.needed("callable"), self._root)
        return Made(PythonTarget(given.name, function, given.timeout_s), given.values)

    def _openai(self, given: TargetSettings) -> Made:
        from steelyard.targets import endpoint_settings, openai  # noqa: PLC0415 - heavy

        made = endpoint_settings.model_settings(given, _SAMPLING)
        return Made(openai.OpenAITarget(given.name, made, self._clock), given.values, made.secrets)

    def _anthropic(self, given: TargetSettings) -> Made:
        from steelyard.targets import anthropic, endpoint_settings  # noqa: PLC0415 - heavy

        values = {**anthropic.DEFAULTS, **given.values}
        given = replace(given, values=values)
        made = endpoint_settings.model_settings(given, _ANTHROPIC_SAMPLING)
        target = anthropic.AnthropicTarget(given.name, made, self._clock)
        return Made(target, values, made.secrets)

    def _http(self, given: TargetSettings) -> Made:
        from steelyard.targets import endpoint_settings, http_json  # noqa: PLC0415 - heavy

        made = endpoint_settings.json_endpoint(given)
        target = http_json.HttpTarget(given.name, made, self._clock)
        return Made(target, given.values, made.http.secrets)

    def _command(self, given: TargetSettings) -> Made:
        from steelyard.targets import command, command_settings  # noqa: PLC0415 - heavy

        made = command_settings.command_settings(given, self._root.absolute())
        target = command.CommandTarget(given.name, made, self._clock)
        return Made(target, given.values, made.secrets)


def _hint(name: str, known: Mapping[str, object] | tuple[str, ...]) -> str:
    hint = did_you_mean(name, known)
    return f" ({hint})" if hint else ""


def _require_known_keys(given: TargetSettings) -> None:
    """A setting that would change nothing is refused, lest somebody relies on it."""
    provider = cast(str, given.values["provider"])
    known = (*EVERY, *KEYS[provider])
    for key in given.values:
        if key not in known:
            takes = ", ".join(known[1:])
            raise given.wrong(f"{provider} has no use for '{key}'; takes: {takes}")
