"""Correlation of a judge's errors with the length of responses and other numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from steelyard.model.statistics.judge_bias import RESPONSE_LENGTH, CovariateBias, JudgeError
from steelyard.model.statistics.validation import LabelledItem
from steelyard.results.predictions import PREDICTIONS
from steelyard.results.projections import Answer, read_answer
from steelyard.stats.judge_bias import MeasuredBias, errors_by_half
from steelyard.stats.multiplicity import adjusted
from steelyard.usecases.results.read_run import decoded_rows, read_run

_Place: TypeAlias = tuple[str, int, int]
"""A response by its run, index and repeat."""
_ERRORS: tuple[JudgeError, JudgeError] = ("false_pass", "false_fail")


@dataclass(frozen=True, slots=True)
class _Response:
    """A labelled response with its covariates."""

    item: LabelledItem
    covariates: Mapping[str, float]
    group: int


def judge_bias(
    items: Sequence[LabelledItem], folders: Sequence[Path]
) -> tuple[CovariateBias, ...]:
    """The error rates of a judge by the length of responses and by numeric slices.

    Bad responses show false passes, good ones false fails. Covariates with
    too few responses, or too few different values, are left out.
    """
    responses = list(_responses(items, folders))
    names = sorted({name for one in responses for name in one.covariates})
    found = [
        bias
        for name in names
        for error in _ERRORS
        if (bias := _bias(name, error, responses)) is not None
    ]
    held = adjusted([one.p_value for one in found])
    return tuple(replace(one, adjusted_p=p) for one, p in zip(found, held, strict=True))


def _responses(items: Sequence[LabelledItem], folders: Sequence[Path]) -> Iterator[_Response]:
    wanted = {(one.run_id, one.index, one.repeat): one for one in items}
    numbers: dict[tuple[str, str], int] = {}
    for place, row in _rows(wanted, folders):
        item = wanted[place]
        covariates = _numbers(item)
        if row.model_response is not None:
            covariates[RESPONSE_LENGTH] = len(row.model_response)
        group = (item.run_id, row.cluster or item.record_id)
        yield _Response(item, covariates, numbers.setdefault(group, len(numbers)))


def _rows(
    wanted: Mapping[_Place, LabelledItem], folders: Sequence[Path]
) -> Iterator[tuple[_Place, Answer]]:
    for folder in folders:
        run_id = read_run(folder).run_id
        for row in decoded_rows(folder, PREDICTIONS, read_answer):
            place = (run_id, row.index, row.repeat)
            if place in wanted:
                yield place, row


def _numbers(item: LabelledItem) -> dict[str, float]:
    """The slices with a single numeric value for a response."""
    values: dict[str, list[str]] = {}
    for name, value in item.slices:
        values.setdefault(name, []).append(value)
    found: dict[str, float] = {}
    for name, given in values.items():
        try:
            (found[name],) = map(float, given)
        except ValueError:
            continue
    return found


def _bias(name: str, error: JudgeError, responses: Sequence[_Response]) -> CovariateBias | None:
    is_good = error == "false_fail"
    some = [one for one in responses if one.item.is_good is is_good and name in one.covariates]
    measured = [
        MeasuredBias(one.covariates[name], one.item.is_passed is not is_good, one.group)
        for one in some
    ]
    found = errors_by_half(measured)
    if found is None or found.difference.value is None:
        return None
    return CovariateBias(
        covariate=name,
        error=error,
        split_at=found.split_at,
        rate_above=found.rate_above,
        rate_below=found.rate_below,
        estimate=found.difference.value,
        low=found.difference.low,
        high=found.difference.high,
        p_value=found.p_value,
        adjusted_p=found.p_value,
        method=found.difference.method,
        n=found.difference.n,
    )
