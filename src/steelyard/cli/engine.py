"""Which processes execute a run: of this machine, or of a Ray cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from steelyard.project import Project
    from steelyard.usecases.runs.ports import RunPorts


class EngineName(StrEnum):
    """Where worker processes run."""

    local = "local"
    ray = "ray"


EngineOption: TypeAlias = Annotated[
    EngineName, typer.Option("--engine", help="Where the worker processes run.")
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
        help="What a worker on Ray takes, such as GPU=1; repeat. Default CPU=1.",
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
    """What was typed about it."""

    engine: EngineName = EngineName.local
    address: str | None = None
    resources: Sequence[str] = ()
    send_env: Sequence[str] = ()

    def __post_init__(self) -> None:
        from steelyard.errors import InvalidError

        given = {
            "--address": self.address,
            "--resources": self.resources,
            "--send-env": self.send_env,
        }
        for name, value in given.items():
            if value and self.engine is EngineName.local:
                raise InvalidError(f"{name} belongs to --engine ray")

    def ports(self, project: Project, ports: RunPorts) -> RunPorts:
        """The ports of a run that is executed there."""
        if self.engine is EngineName.local:
            return ports
        from steelyard.store.ray_cluster.cluster import RayOptions

        options = RayOptions(
            address=self.address,
            resources=dict(map(_resource, self.resources)),
            environment=self.send_env,
        )
        return replace(ports, worker_pool=project.ray_workers(options))


def _resource(text: str) -> tuple[str, float]:
    from steelyard.errors import InvalidError

    name, _, much = text.partition("=")
    try:
        number = float(much)
    except ValueError:
        number = -1.0
    if not name or not 0 <= number < 1e6:
        raise InvalidError(f"--resources takes NAME=N, such as GPU=1 or CPU=0.5, not '{text}'")
    return name, number
