"""The numbers and texts that a run may be asked for."""

from __future__ import annotations

import sys
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct, ValidationError, convert, structs

from steelyard.errors import InvalidError, argument
from steelyard.execution.run_options import RunOptions
from steelyard.model.names import can_be_path, require_name
from steelyard.usecases.results.gates import require_allowed

_MOST = {"repeat": 1_000_000, "workers": 256, "limit": 1_000_000_000, "max_concurrency": 10_000}
_TEXTS = ("target", "rubric", "judge", "model", "where", "cluster")
_Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
_Finite: TypeAlias = Annotated[float, Meta(ge=0, le=sys.float_info.max)]


class _GateRanges(Struct, forbid_unknown_fields=True):
    fail_under: _Share | None = None
    fail_under_low: _Share | None = None
    corrected: bool = False
    allow_failures: str | None = None


class _ValidationRanges(Struct, forbid_unknown_fields=True):
    tpr: _Share | None = None
    tnr: _Share | None = None
    sample_size: Annotated[int, Meta(ge=0)] | None = None


class _OptionRanges(Struct):
    gates: _GateRanges
    budget_usd: _Finite | None
    require_validated: _ValidationRanges | None
    pass_threshold: _Share | None


def require_ranges(options: RunOptions) -> None:
    """Refuse options of wrong types or out of range."""
    require_count("repeat", options.repeat)
    require_count("workers", options.workers)
    if options.limit is not None:
        require_count("limit", options.limit)
    if options.max_concurrency is not None:
        require_count("max_concurrency", options.max_concurrency)
    values = structs.asdict(options)
    try:
        convert(values, RunOptions)
        ranges = convert(values, _OptionRanges)
    except ValidationError as wrong:
        what, _, where = str(wrong).rstrip("`").partition(" - at `$.")
        raise InvalidError(f"{where}: {what}") from None
    require_allowed("allow_failures", ranges.gates.allow_failures or "0")
    for name in _TEXTS:
        require_filled(name, values[name])
    for path in (options.dataset, options.responses):
        if path and not can_be_path(path):
            raise InvalidError(f"a path is too long: {str(path)[:80]}…")
    if options.group_id is not None:
        require_name("group_id", options.group_id)


def require_count(name: str, count: object) -> None:
    """Refuse a value that is not a valid count."""
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise InvalidError(f"{argument(name)} must be a whole number from 1 on, not {count!r}")
    if count > _MOST[name]:
        raise InvalidError(
            f"{argument(name)} must be a whole number from 1 to {_MOST[name]:,}, not {count}"
        )


def require_filled(name: str, text: str | None) -> None:
    """Refuse an empty text, which would count as none."""
    if text is not None and not text.strip():
        raise InvalidError(f"{argument(name)} is empty; leave it out, or say which")
