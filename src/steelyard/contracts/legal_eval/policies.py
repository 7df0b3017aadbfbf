"""The policies that rows name: built in as data, and more from plug-ins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from importlib.resources import files
from typing import Any, cast

import msgspec

from steelyard.errors import InvalidError
from steelyard.formats.names import did_you_mean
from steelyard.model.case import Case
from steelyard.model.json_value import JsonValue
from steelyard.model.policy import Policy

DEFAULT_POLICY = "default_v1"
PLACEHOLDER = re.compile(r"\{\{([^{}]*+)\}\}")
_METADATA = "metadata."
_REQUIRED = ("prompt", "context", "choices", "attachments")
"""What a case brings must reach the target, whatever the policy."""
_KNOWN = {*_REQUIRED, "choice_ids"}


class Policies:
    """Finds a policy by its id; `default_v1` stands in for an id that is not known."""

    def __init__(self, policies: Iterable[Policy]) -> None:
        self._policies: dict[str, Policy] = {}
        for policy in policies:
            if policy.id in self._policies:
                raise InvalidError(f"two policies are called '{policy.id}'")
            _require_sound(policy)
            self._policies[policy.id] = policy
        if DEFAULT_POLICY not in self._policies:
            raise InvalidError(f"the policy '{DEFAULT_POLICY}' is missing")

    @property
    def ids(self) -> tuple[str, ...]:
        """The names of all policies, sorted."""
        return tuple(sorted(self._policies))

    def knows(self, policy_id: JsonValue) -> bool:
        """Whether there is a policy of this name."""
        return isinstance(policy_id, str) and policy_id in self._policies

    def of(self, case: Case) -> Policy:
        """The policy that a case names, or the default one."""
        named = case.metadata.get("policy_id")
        key = named if isinstance(named, str) and named in self._policies else DEFAULT_POLICY
        return self._policies[key]

    def with_plugins(self, plugins: Iterable[object]) -> Policies:
        """These policies and those of plug-ins: each one a policy, a mapping or a list of them."""
        plugged = [policy for plugin in plugins for policy in _policies_in(plugin)]
        return Policies((*self._policies.values(), *plugged))


@cache
def built_in_policies() -> Policies:
    """The policies that come with the package."""
    data = files("steelyard.contracts.legal_eval").joinpath("policies.json").read_bytes()
    return Policies(_policies_in(msgspec.json.decode(data)))


def placeholders(template: Iterable[str]) -> list[str]:
    """The names that a template shows."""
    return [name.strip() for part in template for name in PLACEHOLDER.findall(part)]


def _policies_in(plugin: object) -> list[Policy]:
    if isinstance(plugin, Policy):
        return [plugin]
    if isinstance(plugin, Mapping):
        return [_policy(cast("Mapping[Any, Any]", plugin))]
    if isinstance(plugin, list | tuple):
        items = cast("Iterable[object]", plugin)
        return [policy for item in items for policy in _policies_in(item)]
    raise InvalidError(f"a policy is an object or a list of objects, not {type(plugin).__name__}")


def _policy(data: Mapping[Any, Any]) -> Policy:
    known = [field.name for field in fields(Policy)]
    for name in data:
        if name not in known:
            hint = did_you_mean(str(name), known) or f"there are {', '.join(known)}"
            raise InvalidError(f"policy '{data.get('id')}' has an unknown field '{name}': {hint}")
    try:
        return msgspec.convert(dict(data), Policy)
    except msgspec.ValidationError as wrong:
        raise InvalidError(f"policy '{data.get('id')}': {wrong}") from None


def _require_sound(policy: Policy) -> None:
    shown = placeholders((*policy.system, *policy.user))
    for name in shown:
        if name not in _KNOWN and not name.startswith(_METADATA):
            known = ", ".join(sorted([*_KNOWN, "metadata.<name>"]))
            raise InvalidError(f"policy '{policy.id}' shows '{name}'; there are {known}")
    missing = [name for name in _REQUIRED if name not in placeholders(policy.user)]
    if missing:
        names = ", ".join(f"{{{{{name}}}}}" for name in missing)
        raise InvalidError(f"policy '{policy.id}' never shows {names} in its user message")
