"""What HTTP targets are made from, out of the project file."""

from __future__ import annotations

from typing import cast

from steelyard.formats.json_place import parse_path
from steelyard.model.json_value import JsonObject, JsonValue, Path, path_text
from steelyard.settings import METHOD
from steelyard.targets.extra_body import extra_of
from steelyard.targets.http_calls import HttpSettings
from steelyard.targets.http_json import VARIABLES, JsonEndpoint
from steelyard.targets.json_template import JsonTemplate
from steelyard.targets.model_protocols import CHAT, ModelProtocol
from steelyard.targets.model_settings import ModelSettings
from steelyard.targets.provider_hints import with_version, without_path
from steelyard.targets.routes import route_of
from steelyard.targets.target_settings import TargetSettings
from steelyard.targets.tool_forms import tools_of

_SHOWN = ("query", "body", "answer", "trace", "usage", "model")


def model_settings(given: TargetSettings, protocol: ModelProtocol) -> ModelSettings:
    """The settings of a model that is asked in this protocol."""
    values, address = given.entry.extra, given.address("base_url")
    if base := without_path(address):
        is_other = protocol is CHAT and address.rstrip("/").endswith("/responses")
        api = ", api: responses" if is_other else ""
        raise given.wrong(
            f"base_url has the path of a call, which is added; write base_url: {base}{api}"
        )
    if base := with_version(address):
        raise given.wrong(f"base_url ends before the path of the protocol; write base_url: {base}")
    return ModelSettings(
        base_url=address,
        model=given.needed("model"),
        api_key=given.key(),
        headers=given.headers(),
        sampling={
            wire: values[ours] for ours, wire in protocol.sampling.items() if ours in values
        },
        extra=extra_of(given, protocol.owned),
        query=given.object("query"),
        tools=tools_of(given),
        stream=values.get("stream") is True,
        rules=given.rules,
        timeout_s=given.timeout_s,
        route=route_of(given, address),
    )


def json_endpoint(given: TargetSettings) -> JsonEndpoint:
    """The settings of any endpoint that answers with JSON."""
    http = _http(given)
    body, query = _template(given, "body"), _template(given, "query")
    _require_a_question(given, http.method, body, query)
    if "answer" in given.entry.extra and "trace" in given.entry.extra:
        raise given.wrong("'answer' and 'trace' exclude each other: a trace holds the answer")
    usage = given.object("usage")
    return JsonEndpoint(
        http=http,
        body=body,
        query=query,
        answer=_path(given, "answer", given.entry.extra.get("answer")),
        trace=_path(given, "trace", given.entry.extra.get("trace")),
        usage={name: cast(Path, _path(given, f"usage.{name}", usage[name])) for name in usage},
        described=_described(given, http),
    )


def _http(given: TargetSettings) -> HttpSettings:
    address, key, headers = given.address("url"), given.key(), given.headers()
    route = route_of(given, address)
    sent = {name.lower(): value for name, value in headers.items()}
    bearer = {"authorization": f"Bearer {key}"} if key else {}
    return HttpSettings(
        url=address,
        headers={**sent, **bearer},
        secrets=(
            *((key,) if key else ()),
            *headers.values(),
            *given.named_secrets,
            *route.secrets,
        ),
        rules=given.rules,
        timeout_s=given.timeout_s,
        method=given.entry.text("method", METHOD),
        route=route,
    )


def _template(given: TargetSettings, key: str) -> JsonTemplate | None:
    if key not in given.entry.extra:
        return None
    return JsonTemplate(given.entry.extra[key], f"{given.place}.{key}", VARIABLES)


def _require_a_question(
    given: TargetSettings, method: str, body: JsonTemplate | None, query: JsonTemplate | None
) -> None:
    """An endpoint that is asked the same for every case is asked nothing."""
    if method == "GET" and body:
        raise given.wrong("a GET has no body; put the question into 'query'")
    if method == "GET" and query is None:
        raise given.wrong("a GET needs 'query', such as {q: '{{ prompt }}'}")
    asked = [template for template in (body, query) if template]
    if (body or method == "GET") and not any(template.has_variables for template in asked):
        raise given.wrong(
            "the request is the same for every case; use {{ prompt }} or another variable"
        )


def _path(given: TargetSettings, key: str, text: JsonValue) -> Path | None:
    if text is None:
        return None
    path = parse_path(cast(str, text))
    if not path or path_text(path) != text or path[0] == "$":
        raise given.wrong(f"{key} is no path: '{text}'; write it as in choices[0].text")
    return path


def _described(given: TargetSettings, http: HttpSettings) -> JsonObject:
    names = cast(list[JsonValue], sorted(given.object("headers")))
    return {
        "provider": "http",
        "url": http.url,
        "method": http.method,
        "timeout_s": http.timeout_s,
        "headers": names,
        **{key: given.entry.extra[key] for key in _SHOWN if key in given.entry.extra},
    }
