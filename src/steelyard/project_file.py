"""The project file: read once, checked, and with what the environment says instead."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, cast, get_type_hints

import msgspec

from steelyard.errors import ConfigError, ParseError
from steelyard.formats.json_fields import fields, object_field
from steelyard.formats.names import did_you_mean
from steelyard.formats.problem import Problem
from steelyard.formats.schema import Schema, spoken
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.project_checks import further_problems
from steelyard.settings import (
    DEFAULT_JUDGE,
    JudgeSetting,
    RedactionRules,
    Settings,
    TargetEntry,
)

PROJECT_FILE = "steelyard.yaml"
CLUSTER_FIELDS = "conversation_id, dataset, task_type or a path such as metadata.document"
_PREFIX = "STEELYARD_"
_NOT_ASCII = re.compile(r"[^ -~]")
NO_SETTINGS = frozenset(
    f"{_PREFIX}{name}"
    for name in ("DEBUG", "PROGRAM", "CONFORMANCE", "SPOOL_KEY", "SERVER", "KEY")
)
"""The variables of ours that are no settings: for bugs, for programs that are left, for tests, the
key of the spool, and the address and key of a server."""

_KEY = "name the variable that holds the key: api_key_env: MY_KEY"
_TARGET_HINTS = {
    **dict.fromkeys(("apikey", "key", "token"), _KEY),
    **dict.fromkeys(("apikeyenvar", "keyenv", "apikeyname"), "write api_key_env: {value}"),
    **dict.fromkeys(
        ("maxtokens", "maxcompletiontokens", "maxoutputtokens"),
        "write max_new_tokens: {value}",
    ),
    **dict.fromkeys(
        ("apibase", "apibaseurl", "endpoint", "azureendpoint"),
        "write base_url: {value}",
    ),
    "apiversion": 'write query: {{api-version: "{value}"}}',
    "timeout": "write timeout_s: {value}",
    "extrabody": "write extra: …, with the same members",
    "reasoningeffort": "write extra: {{reasoning_effort: {value}}}",
    **dict.fromkeys(("gpu", "gpus", "numgpus"), "write resources: {{GPU: {value}}}"),
    **dict.fromkeys(
        ("system", "systemprompt", "instructions"),
        "a target has no system message: put its text before {{{{ input }}}} in prompt, or give "
        "the cases a message with the role system",
    ),
}
"""Keys as other tools have them, in small letters alone, and the line that is right here."""


@lru_cache(maxsize=8)
@lru_cache(maxsize=8)
def parse_settings(data: bytes, name: str = PROJECT_FILE) -> Settings:
    """Read a project file; the first thing wrong with it is a ConfigError with its line."""
    try:
        located = parse_yaml(data)
    except ParseError as wrong:
        raise ConfigError(f"{name}:{wrong.line}: {wrong}") from None
    value = {} if located.value is None else located.value
    if first := _first_problem(value):
        line = located.lines.at(first.path)
        raise ConfigError(f"{name}:{line}: {_message(first, value)}")
    return _settings(fields(value))


def read_settings(value: JsonObject) -> Settings:
    """The settings of a project file that is parsed already."""
    if first := _first_problem(value):
        raise ConfigError(_message(first, value))
    return _settings(value)


def _first_problem(value: JsonValue) -> Problem | None:
    problems = _schema().problems(value)
    if not problems:
        return next(further_problems(fields(value)), None)
    if problems[0].code != "missing_required_field":
        return problems[0]
    # It may only be misspelt; then the misspelling is the thing to say.
    place = problems[0].path[:-1]
    beside = (one for one in problems if one.hint and one.path[:-1] == place)
    return next(beside, problems[0])


def write_settings(settings: Settings) -> bytes:
    """A project file that `parse_settings` reads as the same settings; no suites, no login."""
    value = cast(JsonObject, msgspec.to_builtins(replace(settings, targets={}, suites={})))
    value["targets"] = {name: entry.row() for name, entry in settings.targets.items()}
    value["redaction"] = settings.redaction.plan().json()
    for key in ("judges", "limits", "retention"):
        value[key] = _without_none(value[key])
    del value["oidc"]  # only a server logs users in
    del value["engine"]  # whoever executes the run knows where
    del value["store"]  # that of the project is used, and its address may hold a password
    kept = {key: found for key, found in value.items() if found is not None}
    text = json.dumps(kept, ensure_ascii=False)
    # YAML knows no surrogate pairs, and takes some characters for line breaks.
    return _NOT_ASCII.sub(lambda found: f"\\U{ord(found[0]):08x}", text).encode()


def _without_none(value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        return value
    return {key: _without_none(found) for key, found in value.items() if found is not None}


def with_environment(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """The settings with what variables such as `STEELYARD_LIMITS_BUDGET_USD` say instead."""
    given = {name: text for name, text in environ.items() if name.startswith(_PREFIX) and text}
    if not given.keys() - NO_SETTINGS:
        return settings
    known = variables()
    others = NO_SETTINGS | _named_by(settings)
    values: dict[str, Any] = {}
    for name, text in given.items():
        if name in known:
            *outer, last = known[name]
            place = values
            for key in outer:
                place = place.setdefault(key, {})
            place[last] = _value(name, text)
        elif name not in others:
            hint = _hint(name, list(known))
            raise ConfigError(f"the environment variable {name} is no setting ({hint})")
    if wrong := _first_problem(values):
        names = [name for name, path in known.items() if wrong.path[: len(path)] == path]
        raise ConfigError(f"the environment variable {', '.join(names)}: {_message(wrong)}")
    return _with(settings, values)


def _named_by(settings: Settings) -> set[str]:
    """The variables of the user's own that targets and the address of the store name."""
    rows = [entry.row() for entry in settings.targets.values()]
    return set(re.findall(rf"{_PREFIX}\w+", json.dumps([settings.store, *rows])))


def _hint(name: str, known: list[str]) -> str:
    members = [one for one in known if one.startswith(f"{name}_")]
    if members:
        return f"its parts are {', '.join(members)}"
    nearest = get_close_matches(name, known, n=3, cutoff=0)
    return did_you_mean(name, known) or f"the nearest are {', '.join(nearest)}"


def _with(settings: Settings, values: Mapping[str, JsonValue]) -> Settings:
    """The settings with others instead of theirs, each on its own."""
    others, changed = _settings(values), dict[str, Any]()
    for key, value in values.items():
        changed[key] = getattr(others, key)
        if isinstance(value, dict):
            members = {member: getattr(changed[key], member) for member in value}
            changed[key] = replace(getattr(settings, key), **members)
    return replace(settings, **changed)


def is_cluster(path: str) -> bool:
    """Whether a field is one by which records can be clustered."""
    return not _schema().problems({"cluster": path})


def variables() -> dict[str, tuple[str, ...]]:
    """The variables of the environment that are settings, and where each stands in the file.

    Targets, judges and suites have names of the user's own, and so no variables.
    """
    found: dict[str, tuple[str, ...]] = {}
    for key, rule in cast(dict[str, JsonObject], project_schema()["properties"]).items():
        members = object_field(rule, "properties")
        if rule["type"] != "object" and key != "$schema":
            found[f"{_PREFIX}{key.upper()}"] = (key,)
        for member in members:
            found[f"{_PREFIX}{key.upper()}_{member.upper()}"] = (key, member)
    return found


def _value(name: str, text: str) -> JsonValue:
    try:
        return parse_yaml(text.encode("utf-8", "surrogateescape")).value
    except ParseError as wrong:
        raise ConfigError(f"the environment variable {name} is no YAML: {wrong}") from None


def _message(problem: Problem, value: JsonValue = None) -> str:
    if problem.path == ("cluster",):
        return f"cluster names {CLUSTER_FIELDS}"
    meant = _target_hint(problem, value) or problem.hint
    hint = f" ({meant})" if meant else ""
    return spoken(problem).replace("of this contract", f"of {PROJECT_FILE}") + hint


def _target_hint(problem: Problem, value: JsonValue) -> str | None:
    """What to write for a key of a target that other tools call so."""
    path = problem.path
    name = str(path[-1]).lower().replace("_", "").replace("-", "") if path else ""
    if len(path) != 3 or path[0] != "targets" or name not in _TARGET_HINTS:
        return None
    for part in path:
        value = fields(value).get(str(part))
    # An address may hold a password, or a key among its parameters.
    shown = "…" if isinstance(value, str) and re.search("[@?]", value) else value
    return _TARGET_HINTS[name].format(value=shown)


def _settings(values: Mapping[str, JsonValue]) -> Settings:
    kinds = get_type_hints(Settings)
    read = {
        key: _READERS[key](value)
        if key in _READERS
        else msgspec.convert(value, kinds[key], strict=False)
        for key, value in values.items()
        if key in kinds
    }
    return Settings(**read)


def _targets(entries: dict[str, JsonObject]) -> dict[str, TargetEntry]:
    return {name: TargetEntry.of(row) for name, row in entries.items()}


def _judges(entries: dict[str, JsonObject]) -> dict[str, JudgeSetting]:
    default = entries.get(DEFAULT_JUDGE, {})
    resolved = {name: {**default, **row} for name, row in entries.items()}
    return msgspec.convert(resolved, dict[str, JudgeSetting], strict=False)


_READERS: dict[str, Callable[[Any], Any]] = {
    "targets": _targets,
    "judges": _judges,
    "redaction": RedactionRules.of,
}
"""What reads the parts whose fields are not those of the project file one by one."""


@cache
def _schema() -> Schema:
    return Schema(project_schema())


def project_schema() -> JsonObject:
    """The published schema of the project file."""
    return json.loads(files("steelyard").joinpath("project.schema.json").read_bytes())
