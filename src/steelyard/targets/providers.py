"""Kinds of targets that other packages add, by entry points of the group `steelyard.targets`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from steelyard.errors import ConfigError
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.unsent import NOTHING
from steelyard.ports import Target
from steelyard.targets.target_settings import TargetSettings

GROUP = "steelyard.targets"
PlugIns: TypeAlias = Mapping[str, Callable[[], object]]
"""What loads the provider of each name; nothing is imported before somebody uses it."""
_METHODS = ("described", "ask", "close")


class Provider(FrozenStruct, frozen=True, kw_only=True):
    """How targets of one kind are made; what an entry point leads to."""

    make: Callable[[TargetSettings], Target]
    """A target from its entry in the project file; what is wrong there is `given.wrong(...)`."""
    takes: tuple[str, ...] = ()
    """The keys of that entry which it uses, beside those of every target."""
    is_cacheable: bool = False
    """Whether an answer depends on the prompt and what `described` tells, and on nothing else."""
    carries: frozenset[str] = NOTHING
    """What it sends beside texts, out of `prompt.turns`: `images`, `tools` or `everything`."""


def load_provider(name: str, load: Callable[[], object]) -> Provider:
    """The provider of a plug-in; whatever is wrong with the plug-in is a ConfigError."""
    try:
        found = load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a package may raise anything
        raise ConfigError(f"the provider '{name}' cannot be loaded: {_text(error)}") from None
    if not isinstance(found, Provider):
        kind = type(found).__name__
        raise ConfigError(f"the provider '{name}' must be a Provider; {GROUP} leads to: {kind}")
    return found


def made_by(provider: Provider, given: TargetSettings) -> Target:
    """A target of a plug-in, which keeps to the port."""
    try:
        target = provider.make(given)
    except ConfigError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the bug of a plug-in is reported as an error of its target
        raise given.wrong(f"{given.entry.provider} fails: {_text(error)}") from None
    missing = [name for name in _METHODS if not callable(getattr(target, name, None))]
    if missing:
        raise given.wrong(
            f"what {given.entry.provider} makes is no target: it has no '{missing[0]}'"
        )
    return target


def _text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
