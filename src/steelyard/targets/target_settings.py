"""The settings of one target of the project file, read with care."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from steelyard.errors import ConfigError
from steelyard.formats.names import shown_variable
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.settings import (
    KEPT_ELSEWHERE,
    NO_RULES,
    TIMEOUT_S,
    RedactionRules,
    TargetEntry,
    is_header,
)

_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_SECRET = re.compile(
    r"(?:^|_)(?:API)?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_|\d|$)",
    re.IGNORECASE,
)
"""What a variable is called that holds one."""


class TargetSettings(FrozenStruct, frozen=True):
    """What a project file says about one target; what is wrong with it is a ConfigError."""

    name: str
    written: TargetEntry
    """As it stands in the project file."""
    entry: TargetEntry
    """The same, filled from the environment."""
    environ: Mapping[str, str]
    root: Path = Path()
    """The project's root, from which paths count."""
    rules: RedactionRules = NO_RULES
    """What no message may show, beside secrets."""

    @property
    def place(self) -> str:
        """Where the target stands in the project file."""
        return f"targets.{self.name}"

    @property
    def values(self) -> JsonObject:
        """The whole entry, filled from the environment."""
        return self.entry.row()

    @property
    def timeout_s(self) -> float:
        """Seconds that a call may take."""
        given = self.entry.extra.get("timeout_s")
        return float(given) if isinstance(given, int | float) else TIMEOUT_S

    def needed(self, key: str) -> str:
        """A setting without which the provider can do nothing."""
        if not self.values.get(key):
            raise self.wrong(f"{self.entry.provider} needs '{key}'")
        return self.entry.text(key)

    def object(self, key: str) -> JsonObject:
        """A setting that is an object; empty where it is not there."""
        return self.entry.object(key)

    def key(self) -> str | None:
        """The value of `api_key_env`."""
        if "api_key_env" not in self.entry.extra:
            return None
        variable = self.entry.text("api_key_env")
        shown = shown_variable(variable)
        # A key that was read from a file into the environment often ends with its line break.
        key = self.environ.get(variable, "").strip()
        if not key and (named := _VARIABLE.fullmatch(self.written.text("api_key_env"))):
            # What the variable holds may be the key itself.
            raise self.wrong(
                "api_key_env takes the name of a variable, not what it holds; write "
                f"api_key_env: {named[1]}"
            )
        if not key and shown != variable:
            raise self.wrong(
                "api_key_env is the name of an environment variable that is set, and never the "
                "key itself; put the key into a variable and write api_key_env: MY_KEY"
            )
        if not key:
            raise self.wrong(f"the environment variable {shown} is not set; it holds the key")
        if not is_header("authorization", key):
            raise self.wrong(f"the key in {shown} has characters that no header can carry")
        return key

    def headers(self) -> dict[str, str]:
        """The headers, which are secrets too."""
        headers = {header: str(value) for header, value in self.object("headers").items()}
        for header, value in headers.items():
            if value == KEPT_ELSEWHERE:
                raise self.wrong(
                    f"steelyard.yaml no longer has the header '{header}' of this target, with the "
                    "address that the run was queued with; put it back, or start a new run"
                )
            if not is_header(header, value):
                raise self.wrong(f"the header '{header}' has characters that no header can carry")
        return headers

    def address(self, key: str) -> str:
        """An http address that carries no secret, since it is written down with every run."""
        text = self.needed(key)
        try:
            parts = urlsplit(text)
            is_usable = (
                parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
            )
        except ValueError:
            is_usable, parts = False, urlsplit("")
        if not is_usable:
            shown = "" if "@" in text else f": '{text}'"
            raise self.wrong(f"{key} is no http(s) address{shown}")
        if parts.username is not None or parts.query or parts.fragment:
            raise self.wrong(
                f"{key} must not carry a user, a query or a fragment; "
                "name a key with api_key_env, or use headers"
            )
        return text

    def outside(self, key: str) -> tuple[str, ...]:
        """The values of an object that come from the environment, and so may be secrets."""
        filled = self.object(key)
        return tuple(
            str(filled[name])
            for name, value in self.written.object(key).items()
            if isinstance(value, str) and _VARIABLE.search(value)
        )

    @property
    def named_secrets(self) -> tuple[str, ...]:
        """The secrets that any setting takes from the environment, by the variables' names."""
        return tuple(dict.fromkeys(named_secrets(self.written.row(), self.environ)))

    def entry_to_keep(self, *keys: str) -> TargetEntry:
        """The entry; in these settings, secrets stay the names of their variables."""
        row, names = self.written.extra, {name: f"${{{name}}}" for name in self.environ}
        secret = {name: text for name, text in names.items() if _SECRET.search(name)}
        environ = {**self.environ, **secret}
        kept = {key: filled(row[key], self.place, environ) for key in keys if key in row}
        return replace(self.entry, extra={**self.entry.extra, **kept}) if kept else self.entry

    def wrong(self, message: str) -> ConfigError:
        """The error that says which target is meant."""
        return ConfigError(f"{self.place}: {message}")


def named_secrets(value: JsonValue, environ: Mapping[str, str]) -> Iterator[str]:
    """The values of `${NAME}` in a setting, of all names that say that they are secrets."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from named_secrets(item, environ)
    elif isinstance(value, str):
        names = (found[1] for found in _VARIABLE.finditer(value) if _SECRET.search(found[1]))
        yield from (environ[name] for name in names if environ.get(name))


def filled(value: JsonValue, place: str, environ: Mapping[str, str]) -> JsonValue:
    """The value with `${NAME}` and `${NAME:-default}` taken from the environment."""
    if isinstance(value, dict):
        return {key: filled(item, f"{place}.{key}", environ) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, place, environ) for item in value]
    if not isinstance(value, str):
        return value

    def look_up(found: re.Match[str]) -> str:
        name, default = found.groups()
        if name in environ:
            return environ[name]
        if default is None:
            raise ConfigError(f"{place}: the environment variable {name} is not set")
        return default

    return _VARIABLE.sub(look_up, value)
