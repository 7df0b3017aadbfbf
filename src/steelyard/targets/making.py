"""Targets from the project file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from steelyard.engine.prompt_template import CONSTANT, PromptTemplate
from steelyard.errors import ConfigError, RequestError, Suggestion, argument
from steelyard.formats.names import did_you_mean
from steelyard.formats.schema import spoken
from steelyard.model.json_value import JsonObject
from steelyard.model.unsent import MODEL_CARRIES, NOTHING
from steelyard.ports import Clock, Sought, Target
from steelyard.settings import (
    API,
    NO_RULES,
    TARGET_KEYS,
    RedactionRules,
    Settings,
    TargetEntry,
)
from steelyard.targets.callables import PythonTarget, load_callable
from steelyard.targets.configured_secrets import configured_secrets
from steelyard.targets.echo import EchoTarget
from steelyard.targets.model_protocols import CHAT, MESSAGES, RESPONSES, ModelProtocol
from steelyard.targets.processes.program_files import files_sha256, module_files, program_files
from steelyard.targets.provider_hints import provider_hint
from steelyard.targets.providers import PlugIns, Provider, load_provider, made_by
from steelyard.targets.recorded import RecordedTarget
from steelyard.targets.response_file import ResponseFile
from steelyard.targets.target_settings import TargetSettings, filled

if TYPE_CHECKING:
    from steelyard.targets.model_settings import ModelSettings

_FILE = re.compile(r"\s*file:", re.IGNORECASE)
_ECHO: JsonObject = {"provider": "echo"}
_MODEL = (
    *("base_url", "model", "api_key_env", "headers", "query", "timeout_s"),
    *("ca_file", "proxy", "tools", "extra", "stream"),
)
KEYS: dict[str, tuple[str, ...]] = {
    "echo": (),
    "recorded": ("path", "candidate"),
    "python": ("callable", "timeout_s", "model"),
    "openai": (*_MODEL, "api", *CHAT.sampling),
    "anthropic": (*_MODEL, *MESSAGES.sampling),
    "http": (
        *("url", "method", "api_key_env", "headers", "query", "body", "answer", "trace", "usage"),
        *("timeout_s", "model", "ca_file", "proxy"),
    ),
    "command": ("command", "env", "timeout_s", "model"),
}
"""What each provider takes, beside what every target takes."""


class Made(NamedTuple):
    """A target with what a plan must know of it."""

    target: Target
    settings: TargetEntry
    secrets: tuple[str, ...] = ()
    covers: Callable[[Sought], bool] | None = None
    has_replies: Callable[[str, str], bool] | None = None
    """For recorded judges: whether there is a reply about a record and check."""
    replies_sha256: str | None = None
    """What replies as a judge, where no model does: the hash of a recording or of a program."""
    response_source: str = "sampled"
    is_cacheable: bool = False
    """Whether its answer depends on the prompt and its settings alone."""
    template: PromptTemplate | None = None
    carries: frozenset[str] = NOTHING
    """What it can be sent beside texts."""
    can_hold: bool = False
    """Whether its protocol has a way to hold a reply to a schema."""
    files: tuple[Path, ...] = ()
    """Files of the project that it reads."""


class TargetMaker:
    """Makes targets by name."""

    def __init__(
        self,
        root: Path,
        targets: Mapping[str, TargetEntry],
        environ: Mapping[str, str],
        clock: Clock,
        plugged: PlugIns | None = None,
        *,
        rules: RedactionRules = NO_RULES,
    ) -> None:
        self._root = root
        self._targets = targets
        self._environ = environ
        self._clock = clock
        self._plugged = plugged or {}
        self._rules = rules

    def make(self, name: str, model: str | None = None) -> Made:
        """A target of the project file, with another model where one is named.

        `echo` needs no entry. What is wrong with it is told without what it keeps secret.
        """
        try:
            return self._named(name, model)
        except RequestError as wrong:
            if name in self._targets:
                wrong.args = (self._without_secrets(name, str(wrong.args[0])),)
            raise

    def _without_secrets(self, name: str, message: str) -> str:
        """A message without the secrets of a target, and without what looks like a key."""
        from steelyard.engine.redaction.redactor import Redactor  # noqa: PLC0415 - seldom needed

        known = configured_secrets(Settings(targets={name: self._targets[name]}), self._environ)
        return Redactor(known, ("key",)).text(message)

    def _named(self, name: str, model: str | None) -> Made:
        if name not in self._targets:
            if name == "echo":
                return Made(EchoTarget(), TargetEntry.of(_with_model(name, _ECHO, model)))
            known = ", ".join(self._targets) or "none"
            wrong = f"unknown target '{name}'{_hint(name, (*self._targets, 'echo'))}"
            if name == "default":
                raise _no_target(known, next(iter(self._targets), "echo"))
            raise ConfigError(f"{wrong}; targets of this project: {known}")
        written = self._targets[name]
        row = cast(JsonObject, filled(written.row(), f"targets.{name}", self._environ))
        entry = TargetEntry.of(_with_model(name, row, model))
        given = TargetSettings(name, written, entry, self._environ, self._root, self._rules)
        template = _template(given)
        made = self._made(given)
        if template and isinstance(made.target, PythonTarget) and made.target.takes_case:
            raise given.wrong("'prompt' does not reach a function that takes the Case")
        secrets = tuple(dict.fromkeys((*made.secrets, *given.named_secrets)))
        trusted = Path(entry.text("ca_file"))
        # One that is named by its whole path belongs to the machine.
        files = () if trusted.is_absolute() or not trusted.name else (self._root / trusted,)
        return made._replace(template=template, secrets=secrets, files=(*made.files, *files))

    def _made(self, given: TargetSettings) -> Made:
        makers: dict[str, Callable[[TargetSettings], Made]] = {
            "echo": lambda given: Made(EchoTarget(given.name), given.entry),
            "recorded": self._recorded,
            "python": self._python,
            "openai": self._openai,
            "anthropic": self._anthropic,
            "http": self._http,
            "command": self._command,
        }
        provider = given.entry.provider
        if provider in makers:
            _require_known_keys(given, KEYS[provider])
            return makers[provider](given)
        if provider in self._plugged:
            return self._plug_in(given, load_provider(provider, self._plugged[provider]))
        known = (*makers, *self._plugged)
        meant = provider_hint(provider)
        hint = f" ({meant})" if meant else _hint(provider, known)
        raise given.wrong(f"unknown provider '{provider}'{hint}; known: {', '.join(known)}")

    def _recorded(self, given: TargetSettings) -> Made:
        if given.entry.resources is not None:
            raise given.wrong("recorded has no use for 'resources': nobody is asked")
        path = self._root / given.needed("path")
        responses = ResponseFile(path)
        candidate = given.entry.text("candidate")
        if not candidate and len(responses.candidates) == 1:
            candidate = next(iter(responses.candidates))
        has_replies_alone = not responses.candidates and not candidate
        if candidate not in responses.candidates and not has_replies_alone:
            responses.close()
            known = ", ".join(sorted(responses.candidates))
            asked = f"no candidate '{candidate}'" if candidate else "several candidates; name one"
            raise given.wrong(f"{path} has {asked}; has: {known}")
        target = RecordedTarget(given.name, responses, candidate)
        return Made(
            target,
            given.entry,
            covers=target.covers,
            has_replies=target.has_replies,
            replies_sha256=responses.sha256() if responses.reply_count else None,
            response_source="prefilled",
            files=(path,),
        )

    def _python(self, given: TargetSettings) -> Made:
        path = given.needed("callable")
        target = PythonTarget(given.name, load_callable(path, self._root), given.timeout_s)
        return Made(
            target,
            given.entry,
            replies_sha256=files_sha256(module_files(path.partition(":")[0], self._root)),
            carries=target.carries,
        )

    def _openai(self, given: TargetSettings) -> Made:
        if given.entry.text("api", API) != API:
            return self._responses(given)
        from steelyard.targets.openai import OpenAITarget  # noqa: PLC0415 - heavy

        return self._model(given, OpenAITarget, CHAT)

    def _responses(self, given: TargetSettings) -> Made:
        from steelyard.targets.responses import ResponsesTarget  # noqa: PLC0415 - heavy

        if "seed" in given.entry.extra:
            raise given.wrong("the Responses API has no seed; remove 'seed', or use api: chat")
        return self._model(given, ResponsesTarget, RESPONSES)

    def _anthropic(self, given: TargetSettings) -> Made:
        from steelyard.targets.anthropic import DEFAULTS, AnthropicTarget  # noqa: PLC0415 - heavy

        entry = replace(given.entry, extra={**DEFAULTS, **given.entry.extra})
        return self._model(replace(given, entry=entry), AnthropicTarget, MESSAGES)

    def _model(
        self,
        given: TargetSettings,
        target: Callable[[str, ModelSettings, Clock], Target],
        protocol: ModelProtocol,
    ) -> Made:
        """A model, whatever protocol its endpoint speaks."""
        from steelyard.targets.endpoint_settings import model_settings  # noqa: PLC0415 - heavy

        settings = model_settings(given, protocol)
        return Made(
            target(given.name, settings, self._clock),
            given.entry_to_keep("extra", "tools"),
            settings.secrets,
            is_cacheable=True,
            carries=MODEL_CARRIES,
            can_hold=True,
        )

    def _http(self, given: TargetSettings) -> Made:
        from steelyard.targets import endpoint_settings, http_json  # noqa: PLC0415 - heavy

        made = endpoint_settings.json_endpoint(given)
        target = http_json.HttpTarget(given.name, made, self._clock)
        return Made(target, given.entry, made.http.secrets)

    def _command(self, given: TargetSettings) -> Made:
        from steelyard.targets.processes import (  # noqa: PLC0415 - heavy
            command,
            command_settings,
        )

        root = self._root.absolute()
        made = command_settings.command_settings(given, root)
        target = command.CommandTarget(given.name, made, self._clock)
        files = program_files(made.command, root, (root.resolve(),))
        return Made(target, given.entry, made.secrets, replies_sha256=files_sha256(files))

    def _plug_in(self, given: TargetSettings, provider: Provider) -> Made:
        """A target of a plug-in, with the secrets that its entry names."""
        _require_known_keys(given, provider.takes)
        key = given.key()
        secrets = (*((key,) if key else ()), *given.headers().values(), *given.outside("settings"))
        module = getattr(provider.make, "__module__", "")
        return Made(
            made_by(provider, given),
            given.entry,
            secrets,
            replies_sha256=files_sha256(module_files(module, self._root)),
            is_cacheable=provider.is_cacheable,
            carries=provider.carries,
        )


def _no_target(known: str, suggested: str) -> ConfigError:
    wrong = f"no target given; pass {argument('target')} NAME or define 'default'"
    made = ConfigError(f"{wrong}; targets of this project: {known}")
    return made.suggesting(Suggestion(arguments={"target": suggested}))


def _with_model(name: str, row: JsonObject, model: str | None) -> JsonObject:
    """The settings of a target, with another model where one is named and there is one."""
    if model is None:
        return row
    if "model" not in row:
        raise ConfigError(
            f"target '{name}' takes no model: it has none that '{model}' could replace"
        )
    return {**row, "model": model}


def _hint(name: str, known: Mapping[str, object] | tuple[str, ...]) -> str:
    hint = did_you_mean(name, known)
    return f" ({hint})" if hint else ""


def _template(given: TargetSettings) -> PromptTemplate | None:
    if given.entry.prompt is None:
        return None
    if given.entry.provider == "recorded":
        raise given.wrong("recorded has no use for 'prompt': nobody is asked")
    if _FILE.match(given.entry.prompt):
        raise given.wrong(
            "'prompt' is the template itself, and no file is read for it; write its text after "
            f"prompt: |, or pass the file with {argument('prompt')}"
        )
    template = PromptTemplate(given.entry.prompt)
    for problem in template.problems:
        hint = f" ({problem.hint})" if problem.hint else ""
        raise given.wrong(f"{spoken(problem)}{hint}")
    if template.is_constant:
        raise given.wrong(f"'prompt' {CONSTANT}")
    return template


def _require_known_keys(given: TargetSettings, own: tuple[str, ...]) -> None:
    """A setting that would change nothing is refused, lest somebody relies on it."""
    for key in given.entry.extra:
        if key not in own:
            takes = ", ".join((*TARGET_KEYS[1:], *own))
            raise given.wrong(f"{given.entry.provider} has no use for '{key}'; takes: {takes}")
