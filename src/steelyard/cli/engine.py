"""Which processes execute a run: of this machine, or of a Ray cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from steelyard.settings import EngineSettings


class EngineName(StrEnum):
    """Where worker processes run."""

    local = "local"
    ray = "ray"


EngineOption: TypeAlias = Annotated[
    EngineName | None,
    typer.Option("--engine", help="Where the worker processes run; default local."),
]
AddressOption: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="Of the Ray cluster; default RAY_ADDRESS, or auto."),
]
ResourcesOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--resources",
        metavar="NAME=N",
        help="What a worker on Ray takes, such as GPU=1; repeat. Wins over its targets.",
    ),
]
SendEnvOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--send-env", metavar="NAME", help="Variable to send to the workers on Ray; repeat."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """What was typed about it; the project file says the rest."""

    engine: EngineName | None = None
    address: str | None = None
    resources: Sequence[str] = ()
    send_env: Sequence[str] = ()

    def over(self, settings: EngineSettings) -> EngineSettings:
        """The settings of a project with what was typed instead."""
        from steelyard.errors import InvalidError
        from steelyard.settings import RAY

        given = {
            "--address": self.address,
            "--resources": self.resources,
            "--send-env": self.send_env,
        }
        name = self.engine.value if self.engine else settings.name
        for option, value in given.items():
            if value and name != RAY:
                raise InvalidError(f"{option} belongs to --engine ray")
        return replace(
            settings,
            name=name,
            address=self.address or settings.address,
            resources=dict(map(_resource, self.resources)) or settings.resources,
            send_env=tuple(self.send_env) or settings.send_env,
        )

    def export(self) -> None:
        """Let this process, and those that it starts, take what was typed for settings."""
        import json
        import os

        given = {
            "NAME": self.engine and self.engine.value,
            "ADDRESS": self.address,
            "RESOURCES": dict(map(_resource, self.resources)),
            "SEND_ENV": list(self.send_env),
        }
        for name, value in given.items():
            if value:
                os.environ[f"STEELYARD_ENGINE_{name}"] = json.dumps(value)


def _resource(text: str) -> tuple[str, float]:
    from steelyard.errors import InvalidError
    from steelyard.project_checks import wrong_resource

    name, _, much = text.partition("=")
    try:
        number = float(much)
    except ValueError:
        number = -1.0
    if not name or not 0 <= number < 1e6:
        raise InvalidError(f"--resources takes NAME=N, such as GPU=1 or CPU=0.5, not '{text}'")
    if wrong := wrong_resource(name, number):
        message, hint = wrong
        raise InvalidError(f"--resources: '{text}' {message}{f'; {hint}' if hint else ''}")
    return name, number
