"""Which model is asked, where and how: the same for every protocol that models speak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast
from urllib.parse import quote, urlencode

from msgspec import field

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.settings import NO_RULES, TIMEOUT_S, RedactionRules
from steelyard.targets.http_calls import HttpSettings
from steelyard.targets.json_template import as_text
from steelyard.targets.routes import DIRECT, EndpointRoute
from steelyard.targets.tool_forms import ToolForm


class ModelSettings(FrozenStruct, frozen=True, kw_only=True):
    """Where the endpoint is and how it is asked."""

    base_url: str
    model: str
    api_key: str | None = None
    headers: Mapping[str, str]
    sampling: JsonObject
    extra: JsonObject = field(default_factory=dict[str, JsonValue])
    """Further members of the body."""
    query: JsonObject = field(default_factory=dict[str, JsonValue])
    """Parameters in the address."""
    tools: Sequence[JsonObject] = ()
    """What the model may call, as the project file has it."""
    stream: bool = False
    """Whether answers are asked for as streams."""
    rules: RedactionRules = NO_RULES
    """What no message may show, beside secrets."""
    timeout_s: float = TIMEOUT_S
    route: EndpointRoute = DIRECT
    """How connections to it are made."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values of key and headers, and what a proxy asks for."""
        key = (self.api_key,) if self.api_key else ()
        return (*key, *self.headers.values(), *self.route.secrets)

    @property
    def own_headers(self) -> dict[str, str]:
        """The headers of the project file, with names in small letters."""
        return {name.lower(): value for name, value in self.headers.items()}

    @property
    def query_text(self) -> str:
        """The parameters as they stand in an address; empty without any."""
        return query_text(self.query)

    def fixed(self, form: ToolForm) -> JsonObject:
        """What every body has beside model and messages, with tools in the protocol's form."""
        tools: list[JsonValue] = [form(tool) for tool in self.tools]
        return {**self.sampling, "tools": tools} if tools else dict(self.sampling)

    def described(self, provider: str) -> JsonObject:
        """Its settings, without key and header values."""
        return {
            "provider": provider,
            "base_url": self.base_url,
            "model": self.model,
            "timeout_s": self.timeout_s,
            "headers": cast(list[JsonValue], sorted(self.headers)),
            **self.sampling,
            **({"stream": True} if self.stream else {}),
            **({"query": dict(self.query)} if self.query else {}),
            **({"tools": [*self.tools]} if self.tools else {}),
            **({"extra": dict(self.extra)} if self.extra else {}),
        }

    def http(self, url: str, headers: Mapping[str, str]) -> HttpSettings:
        """The same for an HTTP client, with all headers that a protocol sends."""
        return HttpSettings(
            url=url,
            headers=headers,
            secrets=self.secrets,
            rules=self.rules,
            timeout_s=self.timeout_s,
            route=self.route,
        )


def query_text(values: JsonObject) -> str:
    """Parameters as they stand in an address."""
    pairs = [(name, as_text(value)) for name, value in values.items()]
    return urlencode(pairs, quote_via=quote)
