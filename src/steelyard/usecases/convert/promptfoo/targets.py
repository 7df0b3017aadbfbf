"""Providers with prompts as the targets of a project file."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.contracts.importers.source_row import wrong
from steelyard.errors import ParseError
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.usecases.convert.promptfoo.prompts import PromptfooPrompt
from steelyard.usecases.convert.promptfoo.providers import (
    PromptfooProvider,
    ProviderTarget,
    providers_of,
    read_providers,
    target_of,
)
from steelyard.usecases.convert.promptfoo.source import ConfigFiles, ConfigPlace, listed, objects
from steelyard.usecases.convert.promptfoo.variants import Variants

_SHARED = "each prompt asks with cases of its own, and every target answers all of them"
_ASKED_ALL = "every target is asked with every prompt; `where` selects cases by metadata.prompt"


class _Asked(NamedTuple):
    provider: PromptfooProvider
    target: ProviderTarget


class Targets:
    """The targets of a configuration: its providers, and those that judge."""

    def __init__(self, config: JsonObject, file: str, source: ConfigFiles) -> None:
        self._source = source
        self._place = ConfigPlace(file)
        self.changes: list[Change] = []
        ids: list[str] = []
        self._asked: dict[str, _Asked] = {}
        self._judges: dict[str, JsonObject] = {}
        for found in read_providers(config, file, source):
            if isinstance(found, Change):
                self.changes.append(found)
            else:
                ids.append(found.id)
                self._add(found)
        self.ids = tuple(ids)
        """What the providers are called, also those that no target stands for."""

    def _add(self, provider: PromptfooProvider) -> None:
        try:
            target = target_of(provider)
        except ParseError as why:
            self.changes.append(provider.place.lost(why))
            return
        self.changes += target.changes
        name = provider.name
        taken = name in self._asked
        self._asked[f"{name}-{len(self._asked) + 1}" if taken else name] = _Asked(provider, target)

    def judge(self, stated: JsonValue) -> str:
        """The name of the target that judges; raises ParseError where there can be none."""
        if isinstance(stated, dict) and "text" in stated and "id" not in stated:
            stated = stated["text"]
        found = list(providers_of(stated, self._place, self._source))
        if len(found) != 1:
            raise wrong("its provider must be one")
        settings = target_of(found[0]).settings
        name = f"judge-{found[0].name}"
        if self._judges.get(name, settings) != settings:
            name = f"{name}-{len(self._judges) + 1}"
        self._judges[name] = settings
        return name

    def prompted(self, variants: Variants) -> list[Change]:
        """What the settings of prompts say and their targets do not take."""
        if variants.apart:
            found = [change for prompt in variants.apart for change in _unset(prompt, _SHARED)]
            return [*found, *self._restricted()]
        prompts = [variant.prompt for variant in variants.all]
        if variants.single is not None and not variants.is_needed:
            prompts = [variants.single]
        found = [
            change
            for prompt in prompts
            for asked in self._asked.values()
            for change in _configured(asked, prompt).changes
        ]
        if not self._asked:
            found = [
                change for prompt in prompts for change in _unset(prompt, "no target is made")
            ]
        return list(dict.fromkeys(found))

    def _restricted(self) -> list[Change]:
        """Providers that are for some of the prompts, where every target gets all cases."""
        return [
            asked.provider.place.at("prompts").replaced(_ASKED_ALL)
            for asked in self._asked.values()
            if asked.provider.row.get("prompts")
        ]

    @property
    def unmade(self) -> list[Change]:
        """Providers that no target stands for."""
        return [change for change in self.changes if change.is_lost]

    def project(self, variants: Variants) -> JsonObject:
        """The targets of the project file by name."""
        targets: JsonObject = {}
        for name, asked in self._asked.items():
            if not variants.is_needed:
                targets[name] = _configured(asked, variants.single).settings
                continue
            wanted = [str(one) for one in listed(asked.provider.row.get("prompts"))]
            for variant in variants.all:
                if not wanted or any(variant.prompt.is_named(one) for one in wanted):
                    settings = _configured(asked, variant.prompt).settings
                    targets[f"{name}-{variant.name}"] = {
                        **settings,
                        "prompt": _template(variant.text),
                    }
        made: JsonObject = {"targets": {**targets, **self._judges}}
        if len(self._judges) == 1:
            made["judges"] = {"default": {"target": next(iter(self._judges))}}
        return {name: value for name, value in made.items() if objects(value)}


def _template(text: str) -> str:
    """The prompt of a target; a comment tells that one without variables is meant so."""
    return text if "{{" in text else f"{text}{{{{! the same for every case }}}}"


def _configured(asked: _Asked, prompt: PromptfooPrompt | None) -> ProviderTarget:
    """The target with the settings of a prompt in place of the provider's."""
    provider = asked.provider
    if prompt is None or not prompt.config:
        return ProviderTarget(asked.target.settings)
    config: JsonObject = {**objects(provider.row.get("config")), **prompt.config}
    row: JsonObject = {**provider.row, "config": config}
    try:
        made = target_of(provider._replace(place=prompt.place, row=row))
    except ParseError as why:
        return ProviderTarget(asked.target.settings, tuple(_unset(prompt, why)))
    own = [str(prompt.place.at("config", name)) for name in prompt.config]
    changes = [
        change
        for change in made.changes
        if any(change.field == one or change.field.startswith(f"{one}.") for one in own)
    ]
    return ProviderTarget(made.settings, tuple(changes))


def _unset(prompt: PromptfooPrompt, why: object) -> list[Change]:
    return [prompt.place.at("config", name).lost(why) for name in prompt.config or {}]
