"""The settings of a run as requests give them: in the query, or beside the records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, structs

from steelyard.api.invalid_values import explained
from steelyard.errors import InvalidError, argument
from steelyard.model.json_value import JsonValue
from steelyard.model.names import require_name
from steelyard.usecases.runs.suites import SuiteChoice

_MOST_WHERE = 10_000
_NAMES = ("dataset", "suite", "target", "rubric", "judge", "model", "cluster")
_Count = Annotated[int, Meta(ge=1)]
_Share = Annotated[float, Meta(ge=0, le=1)]
_Budget = Annotated[float, Meta(ge=0)]


_Group = Annotated[str, Meta(pattern="^group_[0-9A-Z]{26}$")]


class RunSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is asked of a run; what is absent is the suite's, or the default."""

    dataset: Annotated[
        str | None,
        Meta(description="A saved dataset by its reference, where no records are sent."),
    ] = None
    suite: Annotated[str | None, Meta(description="A suite, with its dataset and settings.")] = (
        None
    )
    group_id: Annotated[
        _Group | None, Meta(description="The group of runs that are started together.")
    ] = None
    target: Annotated[str | None, Meta(description="The target that answers.")] = None
    rubric: Annotated[
        str | None, Meta(description="The rubric that grades, in place of what cases bring.")
    ] = None
    judge: Annotated[
        str | None, Meta(description="The judge of cases that bring expectations of their own.")
    ] = None
    model: Annotated[
        str | None, Meta(description="The model that the target uses instead of its own.")
    ] = None
    repeat: Annotated[_Count | None, Meta(description="How often each record is asked.")] = None
    limit: Annotated[_Count | None, Meta(description="Only the first N valid records.")] = None
    where: Annotated[
        str | None, Meta(description="Only records that match PATH OP VALUE [and ...].")
    ] = None
    cluster: Annotated[str | None, Meta(description="The field of dependent records.")] = None
    max_concurrency: Annotated[
        _Count | None, Meta(description="Maximum concurrent calls of a target.")
    ] = None
    workers: Annotated[_Count | None, Meta(description="Processes that share the run.")] = None
    budget_usd: Annotated[
        _Budget | None, Meta(description="Maximum cost of the run in US dollars.")
    ] = None
    strict: Annotated[bool | None, Meta(description="Refuse any error or misspelt field.")] = None
    require_validated: Annotated[
        bool | None, Meta(description="Refuse judges that are not validated.")
    ] = None
    fail_under: Annotated[_Share | None, Meta(description="Gate: the least pass rate.")] = None
    fail_under_low: Annotated[
        _Share | None, Meta(description="Gate: the least lower bound of the pass rate.")
    ] = None
    allow_failures: Annotated[
        str | None, Meta(description="Gate: the most records without a score, N or P%.")
    ] = None


def merged_settings(query: RunSettings, posted: JsonValue) -> RunSettings:
    """The settings of the query and those of the document; none may be in both."""
    if posted is None:
        return query
    try:
        inner = msgspec.convert(posted, RunSettings)
    except msgspec.ValidationError as wrong:
        raise InvalidError(f"run: {explained(wrong, RunSettings)}") from None
    given = _given(query)
    for name in _given(inner):
        if name in given:
            raise InvalidError(f"{argument(name)} is given both in the query and in run")
    return structs.replace(inner, **given)


def suite_choice(settings: RunSettings) -> SuiteChoice:
    """The same as the command line gives it."""
    given = _given(settings)
    for name in _NAMES:
        if name in given:
            require_name(argument(name), given[name])
    if len(settings.where or "") > _MOST_WHERE:
        raise InvalidError(f"{argument('where')} has more than {_MOST_WHERE:,} characters")
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
