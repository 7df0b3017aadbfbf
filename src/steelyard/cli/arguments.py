"""Arguments that several commands take."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, TypeAlias

import typer


class OutputFormat(StrEnum):
    """The output formats of most commands."""

    text = "text"
    json = "json"


_FINISHED_RUN = typer.Argument(
    metavar="RUN", help="A run's id, a prefix, latest, latest~1, or its folder."
)
FinishedRunName: TypeAlias = Annotated[str, _FINISHED_RUN]
AnyFinishedRun: TypeAlias = Annotated[str | None, _FINISHED_RUN]
RunName: TypeAlias = Annotated[
    str, typer.Argument(metavar="RUN", help="A run's id, a prefix, latest, or latest~1.")
]
