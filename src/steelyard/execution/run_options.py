"""What a user asks of one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, cast

from steelyard.model.json_value import JsonObject, JsonValue

How: TypeAlias = Literal["retry", "regrade", "pairwise"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """Run A of a pairwise run, whose run B it is derived from."""

    run_id: str
    folder: Path
    titles: tuple[str, str]
    """The targets of A and of B."""
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many records of both runs are not compared, by the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """The finished run that a run is made from."""

    run_id: str
    how: How
    folder: Path
    against: ComparedRun | None = None
    """Of a pairwise run, the run that this one is compared with."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """Of every finished run that it reads."""
        return (self.folder, self.against.folder) if self.against else (self.folder,)

    @property
    def is_played_back(self) -> bool:
        """Whether its answers are those that finished runs have kept."""
        return self.how != "retry"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWishes:
    """What holds for every run that a command stands for."""

    rubric: str | None = None
    judge: str | None = None
    """The judge that replaces those of implicit grading."""
    responses: Path | None = None
    from_conversation: bool = False
    """Whether the last assistant message of each case is the response."""
    repeat: int = 1
    limit: int | None = None
    where: str | None = None
    cluster: str | None = None
    """The field whose records depend on each other; the conversation where none is named."""
    max_concurrency: int | None = None
    budget_usd: float | None = None
    workers: int = 1
    cache: bool = False
    """Whether answers that other runs of the project were given count."""
    strict: bool = False
    require_validated: Mapping[str, float] | None = None
    """The least TPR, TNR and sample size of every judge's validation; None where none is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(RunWishes):
    """One dataset, what answers, what grades, and which records."""

    dataset: Path
    target: str | None = None
    candidate: str | None = None
    pass_threshold: float | None = None
    group_id: str | None = None
    derived: Derived | None = None
    gates: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """What the run must reach for exit code 0, as given on the command line."""

    def stored(self) -> JsonObject:
        """The options as they are kept with the run."""
        return {
            "dataset": str(self.dataset),
            "target": self.target,
            "rubric": self.rubric,
            "judge": self.judge,
            "responses": str(self.responses) if self.responses else None,
            "candidate": self.candidate,
            "from_conversation": self.from_conversation,
            "repeat": self.repeat,
            "limit": self.limit,
            "where": self.where,
            "cluster": self.cluster,
            "max_concurrency": self.max_concurrency,
            "budget_usd": self.budget_usd,
            "workers": self.workers,
            "cache": self.cache,
            "strict": self.strict,
            "require_validated": _required_row(self.require_validated),
            "pass_threshold": self.pass_threshold,
            "derived_from": _derived_row(self.derived),
            "gates": dict(self.gates),
        }


def within(root: Path, path: Path) -> Path:
    """A path from the project's root where it lies beneath, so that a run can be moved with it."""
    full = path.resolve()
    return full.relative_to(root) if full.is_relative_to(root) else full


def _required_row(required: Mapping[str, float] | None) -> JsonObject | None:
    return None if required is None else dict(required)


def _derived_row(derived: Derived | None) -> JsonObject | None:
    if derived is None:
        return None
    row: JsonObject = {
        "run_id": derived.run_id,
        "how": derived.how,
        "folder": str(derived.folder),
    }
    if derived.against:
        row["against"] = {
            "run_id": derived.against.run_id,
            "folder": str(derived.against.folder),
            "titles": list(derived.against.titles),
            "left_out": dict(derived.against.left_out),
        }
    return row


def stored_options(plan: JsonObject, group_id: str | None) -> RunOptions:
    """The options of a run that was kept."""
    kept = cast(dict[str, object], plan["options"])
    special = ("dataset", "responses", "derived_from")
    values = {name: value for name, value in kept.items() if name not in special}
    responses = kept["responses"]
    derived = cast("JsonObject | None", kept.get("derived_from"))
    return RunOptions(
        dataset=Path(cast(str, kept["dataset"])),
        responses=Path(cast(str, responses)) if responses else None,
        derived=_derived(derived) if derived else None,
        group_id=group_id,
        **values,  # pyright: ignore[reportArgumentType]
    )


def _derived(row: JsonObject) -> Derived:
    against = cast("JsonObject | None", row.get("against"))
    return Derived(
        run_id=cast(str, row["run_id"]),
        how=cast(How, row["how"]),
        folder=Path(cast(str, row["folder"])),
        against=_compared(against) if against else None,
    )


def _compared(row: JsonObject) -> ComparedRun:
    first, second = cast("list[str]", row["titles"])
    return ComparedRun(
        run_id=cast(str, row["run_id"]),
        folder=Path(cast(str, row["folder"])),
        titles=(first, second),
        left_out=cast("dict[str, int]", row["left_out"]),
    )
