"""Kinds of targets from other packages: what is wrong with them is the user's to read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fakes.asking import answer
from fakes.targets import ScriptedTarget
from steelyard.errors import ConfigError
from steelyard.ports import Target
from steelyard.settings import Price, TargetEntry
from steelyard.store.clock import SystemClock
from steelyard.targets.making import Made, TargetMaker
from steelyard.targets.providers import Provider
from steelyard.targets.target_settings import TargetSettings

KEY = "sk-plugged-0123456789"
ENVIRON = {"MY_KEY": KEY, "TOKEN": "token-0123456789"}


def scripted(given: TargetSettings) -> Target:
    return ScriptedTarget(name=given.name, otherwise=f"from {given.root}")


def made(load: Callable[[], object], **entry: Any) -> Made:
    targets = {"mine": TargetEntry.of({"provider": "odd", **entry})}
    return TargetMaker(Path("/p"), targets, ENVIRON, SystemClock(), {"odd": load}).make("mine")


def refused(load: Callable[[], object], **entry: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        made(load, **entry)
    return str(caught.value)


def test_a_provider_makes_a_target_that_knows_its_name_and_the_project() -> None:
    found = made(lambda: Provider(make=scripted, is_cacheable=True), price={"input": 1})

    assert found.target.name == "mine"
    assert answer(found.target).response == "from /p"
    assert found.is_cacheable
    assert found.settings.price == Price(input=1)


def test_keys_headers_and_settings_of_the_environment_are_secrets() -> None:
    provider = Provider(make=scripted, takes=("api_key_env", "headers", "settings"))
    entry: dict[str, Any] = {
        "api_key_env": "MY_KEY",
        "headers": {"X-Team": "team-0123456789"},
        "settings": {"token": "x-${TOKEN}", "plain": "plain", "number": 7},
    }
    found = made(lambda: provider, **entry)

    # What stands for the variable, and the variable itself, whose name says what it is.
    assert found.secrets == (KEY, "team-0123456789", "x-token-0123456789", "token-0123456789")


def test_a_prompt_of_its_own_is_for_every_target() -> None:
    found = made(lambda: Provider(make=scripted), prompt="Please: {{ input }}")

    assert found.template
    assert found.template.text == "Please: {{ input }}"


def broken() -> object:
    raise ImportError("no module named 'x'")


def ending(*_: object) -> Any:
    raise SystemExit(0)


def raising(_: TargetSettings) -> Target:
    raise KeyError("path")


def refusing(given: TargetSettings) -> Target:
    raise given.wrong("path is wrong")


def nothing(_: TargetSettings) -> Any:
    return None


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (broken, "the provider 'odd' cannot be loaded: ImportError: no module named 'x'"),
        (ending, "the provider 'odd' cannot be loaded: SystemExit: 0"),
        (lambda: Provider(make=ending), "targets.mine: odd fails: SystemExit: 0"),
        (lambda: 7, "the provider 'odd' must be a Provider; steelyard.targets leads to: int"),
        (lambda: Provider(make=raising), "targets.mine: odd fails: KeyError: 'path'"),
        (lambda: Provider(make=refusing), "targets.mine: path is wrong"),
        (
            lambda: Provider(make=nothing),
            "targets.mine: what odd makes is no target: it has no 'described'",
        ),
    ],
)
def test_a_plug_in_that_does_not_work_is_told(load: Callable[[], object], said: str) -> None:
    assert refused(load).startswith(said)


def test_a_key_that_it_does_not_take_is_refused() -> None:
    said = refused(lambda: Provider(make=scripted, takes=("model",)), model="m", seed=1)

    assert said.startswith("targets.mine: odd has no use for 'seed'; takes: max_concurrency")
    assert said.endswith(", model")


def test_nothing_is_loaded_for_other_providers_and_none_takes_a_built_in_name() -> None:
    targets = {"mine": TargetEntry(provider="echo")}
    maker = TargetMaker(Path(), targets, {}, SystemClock(), {"echo": broken, "odd": broken})

    assert maker.make("mine").target.described() == {"provider": "echo"}
