"""The targets of agentv as targets of a project file."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from steelyard.contracts.importers.conversation import as_object
from steelyard.contracts.importers.source_row import Import, Imported, wrong
from steelyard.engine.redaction.redactor import Redactor
from steelyard.errors import ParseError, UnreadableFileError
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.conversion import Change, Refusal
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.source import PlacedImports, TargetRows

_ENVIRONMENT = re.compile(r"\$\{\{\s*(\w+)\s*\}\}|\{\{\s*env\.(\w+)\s*\}\}")
_JUDGES = ("judge_target", "grader_target", "grader")
_PLACEHOLDER = re.compile(r"\{([A-Z_]+)\}")
_PLACEHOLDERS = {"PROMPT": "{PROMPT}", "EVAL_ID": "{ID}", "OUTPUT_FILE": "{OUTPUT_FILE}"}
_IN_PROMPT = {"FILES", "GUIDELINES"}
_SHELL = re.compile(r"[|;&<>`*~\n]|\$\(|\$\w")
_SAMPLED = {
    "temperature": "temperature",
    "max_output_tokens": "max_new_tokens",
    "maxTokens": "max_new_tokens",
}
_OPENAI = {
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
}
_ALIASES = {
    "azure-openai": "azure",
    "google": "gemini",
    "google-gemini": "gemini",
}
_ABOUT = {"name", "label", "id", "provider", *_JUDGES}
_NO_SETTING = "no setting of a target stands for it"
_REVEALING = (
    "it looks like a secret, which is never written into a file; name its variable as ${NAME}"
)


class AgentvTarget(NamedTuple):
    """One target as it is written."""

    name: str
    provider: str
    row: JsonObject

    def text(self, *names: str) -> str:
        """The first of the settings that is there, with variables as the project file has them."""
        value = next((self.row[name] for name in names if self.row.get(name)), "")
        return str(with_variables(value))

    def lost(self, name: str, why: str) -> Change:
        """A setting that does not come over."""
        return Change(f"{self.name}.{name}", why)

    def moved(self, name: str, how: str) -> Change:
        """A setting that is written in another way."""
        return Change(f"{self.name}.{name}", how, is_lost=False)


def agentv_targets(ports: ConvertPorts, options: ConvertOptions) -> TargetRows:
    """The targets of a file, with the one that judges."""
    entries = _entries(ports, options.source)
    judged = _judges(entries)
    changes: list[Change] = []
    settings: JsonObject = {}
    if len(judged) == 1:
        settings["judges"] = {"default": {"target": judged[0]}}
    elif judged:
        changes.append(
            Change("judge_target", f"there are several: {', '.join(judged)}; name one per judge")
        )
    return TargetRows(_imports(entries), settings, tuple(changes))


def _entries(ports: ConvertPorts, path: Path) -> list[JsonValue]:
    with ports.workspace.open(path) as stream:
        data = stream.read()
    try:
        top = as_object(parse_yaml(data).value)
    except ParseError as error:
        line = f":{error.line}" if error.line else ""
        raise UnreadableFileError(f"{path}{line}: {error}") from None
    listed = top.get("targets", top.get("providers"))
    if not isinstance(listed, list):
        raise UnreadableFileError(
            f"{path}: this is no targets.yaml of agentv: it has no list 'targets'"
        )
    return listed


def _judges(entries: list[JsonValue]) -> list[str]:
    named = [as_object(entry).get(name) for entry in entries for name in _JUDGES]
    return list(dict.fromkeys(name for name in named if isinstance(name, str) and name))


def _imports(entries: list[JsonValue]) -> PlacedImports:
    seen: set[str] = set()
    for number, entry in enumerate(entries, start=1):
        row = as_object(entry)
        provider = row.get("provider") or row.get("id")
        name = row.get("name") or row.get("label") or provider
        place = name if isinstance(name, str) else f"item {number}"
        if not isinstance(name, str) or not isinstance(provider, str):
            yield place, Refusal("invalid", "a target needs a 'name' and a 'provider'")
        elif name in seen:
            yield place, Refusal("invalid", f"the name '{name}' is used by an earlier target")
        else:
            seen.add(name)
            yield place, _made(AgentvTarget(name, _ALIASES.get(provider, provider), row))


def _made(target: AgentvTarget) -> Import:
    try:
        settings, taken, changes = _KINDS.get(target.provider, _unknown)(target)
        for name, value in target.row.items():
            if name in _SAMPLED and "model" in settings:
                settings[_SAMPLED[name]] = value
            elif name == "workers":
                settings["max_concurrency"] = value
            elif name not in taken and name not in _ABOUT:
                changes.append(target.lost(name, _NO_SETTING))
        _refuse_secrets(settings)
    except ParseError as why:
        return Refusal("left_out", str(why), f"{target.provider}: {why}")
    return Imported({"name": target.name, "settings": settings}, tuple(changes))


_Made = tuple[JsonObject, set[str], list[Change]]


def _chat(target: AgentvTarget) -> _Made:
    base = target.text("base_url", "baseUrl", "endpoint") or _OPENAI[target.provider]
    settings: JsonObject = {
        "provider": "openai",
        "base_url": base,
        "model": _needed(target, "model", "deployment", "variant"),
    }
    changes = _key(target, settings)
    taken = {"base_url", "baseUrl", "endpoint", "model", "deployment", "variant", *_KEYS}
    if target.row.get("api_format") == "chat":
        taken.add("api_format")
    return settings, taken, changes


def _anthropic(target: AgentvTarget) -> _Made:
    settings: JsonObject = {
        "provider": "anthropic",
        "model": _needed(target, "model", "deployment", "variant"),
    }
    changes = _key(target, settings)
    return settings, {"model", "deployment", "variant", *_KEYS}, changes


def _azure(target: AgentvTarget) -> _Made:
    endpoint = _needed(target, "endpoint", "resource", "resourceName").rstrip("/")
    if "://" not in endpoint and not endpoint.startswith("${"):
        endpoint = f"https://{endpoint}.openai.azure.com"
    model = _needed(target, "deployment", "deploymentName", "model")
    version = target.text("version", "api_version")
    settings: JsonObject = {"provider": "openai"}
    changes: list[Change] = []
    if endpoint.startswith("${"):
        changes.append(target.moved("endpoint", "its variable must hold an address, https://…"))
    if version and version != "v1":
        settings["base_url"] = f"{endpoint}/openai/deployments/{model}"
        settings["query"] = {"api-version": version}
    else:
        settings["base_url"] = f"{endpoint}/openai/v1"
    settings["model"] = model
    changes += _key(target, settings)
    if key := settings.pop("api_key_env", None):
        settings["headers"] = {"api-key": f"${{{key}}}"}
    taken = {"endpoint", "resource", "resourceName", "deployment", "deploymentName", "model"}
    return settings, {*taken, "version", "api_version", *_KEYS}, changes


def _cli(target: AgentvTarget) -> _Made:
    if target.row.get("provider_batching"):
        raise wrong("one call of its program answers all cases; a target answers one at a time")
    template = _needed(target, "command_template", "commandTemplate", "command")
    if _SHELL.search(re.sub(r"\$\{\w+\}", "", template)):
        raise wrong("its command needs a shell; put it into a script and name that")
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise wrong(f"its command cannot be split into words: {error}") from None
    command: list[JsonValue] = []
    changes: list[Change] = []
    for word in words:
        found = _PLACEHOLDER.findall(word)
        if any(name in _IN_PROMPT for name in found):
            changes.append(target.moved(word, "files and guidelines are a part of the prompt"))
            continue
        unknown = [name for name in found if name not in _PLACEHOLDERS]
        if unknown:
            raise wrong(f"a command has no placeholder {{{unknown[0]}}}")
        command.append(_PLACEHOLDER.sub(lambda name: _PLACEHOLDERS[name[1]], word))
    settings: JsonObject = {"provider": "command", "command": command}
    if (timeout := target.row.get("timeout_seconds")) is not None:
        settings["timeout_s"] = timeout
    taken = {"command_template", "commandTemplate", "command", "timeout_seconds"}
    if "cwd" in target.row:
        taken.add("cwd")
        changes.append(
            target.lost("cwd", "programs run in the project's root; write paths from there")
        )
    if "files_format" in target.row:
        taken.add("files_format")
    return settings, {*taken, "provider_batching"}, changes


def _unknown(target: AgentvTarget) -> _Made:
    if target.provider == "mock":
        raise wrong("its answer is always the same; convert its results to responses instead")
    raise wrong(
        f"no target of Steelyard stands for '{target.provider}'; write a command or python target"
    )


_KINDS: dict[str, Callable[[AgentvTarget], _Made]] = {
    **dict.fromkeys(_OPENAI, _chat),
    "anthropic": _anthropic,
    "azure": _azure,
    "cli": _cli,
}
_KEYS = ("api_key", "apiKey")


def _needed(target: AgentvTarget, *names: str) -> str:
    found = target.text(*names)
    if not found:
        raise wrong(f"it has no '{names[0]}'")
    return found


def _key(target: AgentvTarget, settings: JsonObject) -> list[Change]:
    """A key is only ever named by its variable."""
    value = target.row.get("api_key", target.row.get("apiKey"))
    if value is None:
        return []
    if found := _ENVIRONMENT.fullmatch(str(value).strip()):
        settings["api_key_env"] = found[1] or found[2]
        return []
    why = "a key is never written into a file; name its variable in api_key_env"
    return [target.lost("api_key", why)]


def with_variables(value: JsonValue) -> JsonValue:
    """A text with variables of the environment as the project file names them."""
    if not isinstance(value, str):
        return value
    return _ENVIRONMENT.sub(lambda name: f"${{{name[1] or name[2]}}}", value)


def _refuse_secrets(settings: JsonObject) -> None:
    """Raise ParseError for a setting that holds a secret."""
    redact = Redactor(patterns=("key",))
    for name, value in settings.items():
        text = shlex.join(map(str, value)) if isinstance(value, list) else str(value)
        bare = re.sub(r"\$\{\w+\}", "", text)
        if redact.text(bare) != bare:
            raise wrong(f"{name}: {_REVEALING}")
