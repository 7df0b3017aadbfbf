"""The settings of a run as requests give them: in the query, or beside the records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, structs

from steelyard.errors import InvalidError
from steelyard.model.json_value import JsonValue
from steelyard.model.names import require_name
from steelyard.usecases.runs.suites import SuiteChoice

_MOST_WHERE = 10_000
_NAMES = ("dataset", "suite", "target", "rubric", "judge", "model", "cluster")
_Count = Annotated[int, Meta(ge=1)]
_Share = Annotated[float, Meta(ge=0, le=1)]


_Group = Annotated[str, Meta(pattern="^group_[0-9A-Z]{26}$")]


class RunSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is asked of a run; what is absent is the suite's, or the default."""

    dataset: str | None = None
    """A saved dataset by its reference, where no records are posted."""
    suite: str | None = None
    group_id: _Group | None = None
    """The group of runs that are started together."""
    target: str | None = None
    rubric: str | None = None
    judge: str | None = None
    model: str | None = None
    """The model that the target uses instead of its own."""
    repeat: _Count | None = None
    limit: _Count | None = None
    where: str | None = None
    cluster: str | None = None
    max_concurrency: _Count | None = None
    workers: _Count | None = None
    budget_usd: Annotated[float, Meta(ge=0)] | None = None
    strict: bool | None = None
    require_validated: bool | None = None
    fail_under: _Share | None = None
    fail_under_low: _Share | None = None
    allow_failures: str | None = None


def merged_settings(query: RunSettings, posted: JsonValue) -> RunSettings:
    """The settings of the query and those of the document; none may be in both."""
    if posted is None:
        return query
    try:
        inner = msgspec.convert(posted, RunSettings)
    except msgspec.ValidationError as wrong:
        raise InvalidError(f"run: {str(wrong).replace('`$.', '`')}") from None
    given = _given(query)
    for name in _given(inner):
        if name in given:
            raise InvalidError(f"{name} is given both in the query and in run")
    return structs.replace(inner, **given)


def suite_choice(settings: RunSettings) -> SuiteChoice:
    """The same as the command line gives it."""
    given = _given(settings)
    for name in _NAMES:
        if name in given:
            require_name(name, given[name])
    if len(settings.where or "") > _MOST_WHERE:
        raise InvalidError(f"where has more than {_MOST_WHERE:,} characters")
    dataset, target = given.pop("dataset", None), given.pop("target", None)
    given.pop("group_id", None)
    if given.pop("require_validated", False):
        given["require_validated"] = {}
    return SuiteChoice(
        **given,
        datasets=(Path(_reference(dataset)),) if dataset else (),
        targets=(target,) if target else (),
    )


def _given(settings: RunSettings) -> dict[str, Any]:
    return {name: value for name, value in structs.asdict(settings).items() if value is not None}


def _reference(dataset: str) -> str:
    """A dataset's reference, which may be written without its kind."""
    return dataset if dataset.startswith("dataset/") else f"dataset/{dataset}"
