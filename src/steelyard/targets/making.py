"""Targets from the project file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, cast
from urllib.parse import urlsplit

from steelyard.errors import ConfigError
from steelyard.formats.names import did_you_mean
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.ports import Clock, Target
from steelyard.targets.callables import PythonTarget, load_callable
from steelyard.targets.echo import EchoTarget
from steelyard.targets.recorded import RecordedTarget
from steelyard.targets.response_file import ResponseFile

DEFAULT_CONCURRENCY = 16
LOCAL_CONCURRENCY = 256
"""For targets that call nobody."""
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_SAMPLING = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_new_tokens": "max_tokens",
    "seed": "seed",
    "response_format": "response_format",
}
_EVERY = ("provider", "max_concurrency", "price")
_KEYS = {
    "echo": (),
    "recorded": ("path", "candidate"),
    "python": ("callable", "timeout_s", "model"),
    "openai": ("base_url", "model", "api_key_env", "headers", "timeout_s", *_SAMPLING),
}


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
        settings = cast(JsonObject, self._filled(self._targets[name], f"targets.{name}"))
        makers: dict[str, Callable[[str, JsonObject], Made]] = {
            "echo": lambda name, row: Made(EchoTarget(name), row),
            "recorded": self._recorded,
            "python": self._python,
            "openai": self._openai,
        }
        provider = cast(str, settings["provider"])
        if provider not in makers:
            raise ConfigError(
                f"targets.{name}: unknown provider '{provider}'{_hint(provider, makers)}; "
                f"known: {', '.join(makers)}"
            )
        _require_known_keys(name, settings)
        return makers[provider](name, settings)

    def _recorded(self, name: str, settings: JsonObject) -> Made:
        path = self._root / self._needed(name, settings, "path")
        responses = ResponseFile(path)
        candidate = cast(str, settings.get("candidate", ""))
        if not candidate and len(responses.candidates) == 1:
            candidate = next(iter(responses.candidates))
        if candidate not in responses.candidates:
            responses.close()
            known = ", ".join(sorted(responses.candidates))
            asked = f"no candidate '{candidate}'" if candidate else "several candidates; name one"
            raise ConfigError(f"targets.{name}: {path} has {asked}; has: {known}")
        target = RecordedTarget(name, responses, candidate)
        return Made(target, settings, covers=target.covers, response_source="prefilled")

    def _python(self, name: str, settings: JsonObject) -> Made:
        function = load_callable(self._needed(name, settings, "callable"), self._root)
        timeout = float(cast(float, settings.get("timeout_s", 60.0)))
        return Made(PythonTarget(name, function, timeout), settings)

    def _openai(self, name: str, settings: JsonObject) -> Made:
        from steelyard.targets.openai import OpenAISettings, OpenAITarget  # noqa: PLC0415 - heavy

        key = self._key(name, settings)
        headers = _headers(name, cast(JsonObject, settings.get("headers", {})))
        made = OpenAISettings(
            base_url=_endpoint(name, self._needed(name, settings, "base_url")),
            model=self._needed(name, settings, "model"),
            api_key=key,
            headers=headers,
            sampling={
                wire: settings[ours] for ours, wire in _SAMPLING.items() if ours in settings
            },
            timeout_s=float(cast(float, settings.get("timeout_s", 60.0))),
            max_concurrency=cast(int, settings.get("max_concurrency", DEFAULT_CONCURRENCY)),
        )
        secrets = (*((key,) if key else ()), *headers.values())
        return Made(OpenAITarget(name, made, self._clock), settings, secrets)

    def _key(self, name: str, settings: JsonObject) -> str | None:
        variable = settings.get("api_key_env")
        if variable is None:
            return None
        # A key that was read from a file into the environment often ends with its line break.
        key = self._environ.get(cast(str, variable), "").strip()
        if not key:
            raise ConfigError(
                f"targets.{name}: the environment variable {variable} is not set; it holds the key"
            )
        if not _HEADER_VALUE.fullmatch(key):
            raise ConfigError(
                f"targets.{name}: the key in {variable} has characters that no header can carry"
            )
        return key

    def _needed(self, name: str, settings: JsonObject, key: str) -> str:
        if not settings.get(key):
            raise ConfigError(f"targets.{name}: {settings['provider']} needs '{key}'")
        return cast(str, settings[key])

    def _filled(self, value: JsonValue, place: str) -> JsonValue:
        """The value with `${NAME}` and `${NAME:-default}` taken from the environment."""
        if isinstance(value, dict):
            return {key: self._filled(item, f"{place}.{key}") for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled(item, place) for item in value]
        if not isinstance(value, str):
            return value

        def look_up(found: re.Match[str]) -> str:
            name, default = found.groups()
            if name in self._environ:
                return self._environ[name]
            if default is None:
                raise ConfigError(f"{place}: the environment variable {name} is not set")
            return default

        return _VARIABLE.sub(look_up, value)


def _hint(name: str, known: Mapping[str, object] | tuple[str, ...]) -> str:
    hint = did_you_mean(name, known)
    return f" ({hint})" if hint else ""


def _require_known_keys(name: str, settings: JsonObject) -> None:
    """A setting that would change nothing is refused, lest somebody relies on it."""
    provider = cast(str, settings["provider"])
    known = (*_EVERY, *_KEYS[provider])
    for key in settings:
        if key not in known:
            takes = ", ".join(known[1:])
            raise ConfigError(f"targets.{name}: {provider} has no use for '{key}'; takes: {takes}")


def _endpoint(name: str, text: str) -> str:
    """An http address that carries no secret, since it is written down with every run."""
    try:
        parts = urlsplit(text)
        is_usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable, parts = False, urlsplit("")
    if not is_usable:
        shown = "" if "@" in text else f": '{text}'"
        raise ConfigError(f"targets.{name}: base_url is no http(s) address{shown}")
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(
            f"targets.{name}: base_url must not carry a user, a query or a fragment; "
            "name a key with api_key_env, or use headers"
        )
    return text


def _headers(name: str, settings: JsonObject) -> dict[str, str]:
    headers = {header: str(value) for header, value in settings.items()}
    for header, value in headers.items():
        if not _HEADER_NAME.fullmatch(header) or not _HEADER_VALUE.fullmatch(value):
            raise ConfigError(
                f"targets.{name}: the header '{header}' has characters that no header can carry"
            )
    return headers
