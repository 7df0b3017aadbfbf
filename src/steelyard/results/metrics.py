"""The numbers of a run and of its slices: `metrics_summary.json` and `metrics_by_slice.json`.

A field with a default is one that runs of earlier versions, or most runs, do not have.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import UNSET, UnsetType

from steelyard.model.json_value import JsonObject
from steelyard.model.statistics.corrected_rate import CorrectedRate
from steelyard.model.statistics.interval import Interval


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the results."""

    def json(self) -> JsonObject:
        """As JSON, in the order of the fields."""
        return msgspec.json.decode(msgspec.json.encode(self))


class Bounds(Value, frozen=True, kw_only=True):
    """A rate if everything without a score had failed, or had passed."""

    low: float | None
    high: float | None


class LatencyMetrics(Value, frozen=True, kw_only=True):
    """Percentiles of a time that answers took."""

    p50: float | None = None
    p95: float | None = None
    n: int = 0


class Tokens(Value, frozen=True, kw_only=True):
    """Sums over `n` rows; None where no row knows them."""

    input: int | None = None
    output: int | None = None
    total: int | None = None
    n: int = 0

    @classmethod
    def of(cls, inward: int, outward: int, n: int) -> Tokens:
        """Sums over `n` rows."""
        if not n:
            return cls()
        return cls(input=inward, output=outward, total=inward + outward, n=n)


class CostMetrics(Value, frozen=True, kw_only=True):
    """What `n` rows cost in dollars."""

    total: float | None = None
    n: int = 0


class TotalCost(CostMetrics, frozen=True, kw_only=True):
    """What a run cost in dollars."""

    judging: float | None = None
    """The part of it that judges took."""


class Cache(Value, frozen=True, kw_only=True):
    """Calls that cached answers saved."""

    hits: int = 0
    saved_usd: float | None = None


class JudgingMetrics(Value, frozen=True, kw_only=True):
    """What judging took, over `rows`."""

    rows: int
    calls: int
    unanswered: int
    attempts: int
    tokens: Tokens
    cost_usd: CostMetrics
    cache: Cache


class ProbeTokens(Value, frozen=True, kw_only=True):
    """What probes took, as far as it is known."""

    input: float | None
    output: float | None


class Probes(Value, frozen=True, kw_only=True):
    """The calls that found out about the endpoints of judges."""

    calls: int
    attempts: float | None
    tokens: ProbeTokens
    cost_usd: float | None


class CheckMetrics(Value, frozen=True, kw_only=True):
    """One check, over the records that it scored."""

    kind: str
    pass_rate: Interval
    mean_score: float | None
    skipped: int
    unscored: int
    corrected_pass_rate: CorrectedRate | UnsetType = UNSET


class QuestionMetrics(Value, frozen=True, kw_only=True):
    """How judges answered one question, criterion or item."""

    check: str
    type: str
    answered: int
    unanswered: int
    counts: dict[str, int] | None
    """How often each answer was given; None where there are too many."""
    mean: Interval | None
    listed: int | UnsetType = UNSET
    """Of a pool: how many of what is in it have figures of their own."""


class PassEstimate(Value, frozen=True, kw_only=True):
    """A rate over k tries of a case."""

    value: float | None
    low: float | None
    high: float | None
    method: str | None
    n: int
    clusters: int | None = None
    n_effective: float | None = None
    bounds: Bounds | None = None
    """What missing tries could make of it; None where no case lacks one."""


class TriesMetrics(Value, frozen=True, kw_only=True):
    """At least one pass, and all passes, in k tries."""

    k: int
    pass_at_k: PassEstimate
    pass_hat_k: PassEstimate


class VarianceShares(Value, frozen=True, kw_only=True):
    """Where a single result varies."""

    between_records: float
    between_repeats: float


class Variance(VarianceShares, frozen=True, kw_only=True):
    """The same of passes, with what more repeats would bring."""

    twice_the_repeats: float
    score: VarianceShares | None = None


class Repeats(TriesMetrics, frozen=True, kw_only=True):
    """Several tries of the same cases; the largest k, and all of them."""

    by_k: tuple[TriesMetrics, ...] = ()
    variance: Variance | None = None


class UnevenSlice(Value, frozen=True, kw_only=True):
    """A slice in which scores are missing more or less often than elsewhere."""

    slice: str
    value: str | None
    missing: int
    valid: int
    adjusted_p: float

    @property
    def name(self) -> str:
        """The field with its value."""
        return f"{self.slice} = {self.value}"


class Missing(Value, frozen=True, kw_only=True):
    """Valid records without a score."""

    missing: int = 0
    valid: int = 0
    uneven_slices: tuple[UnevenSlice, ...] = ()


class Taken(Value, frozen=True, kw_only=True):
    """What was copied from another run, or made anew."""

    rows: int
    attempts: int
    cost_usd: float | None


class Summary(Value, frozen=True, kw_only=True):
    """The numbers of some records."""

    total_records: int
    valid_records: int
    evaluated_records: int
    failed_records: int
    skipped_records: int
    invalid_records: int = 0
    cancelled_records: int = 0
    rows: int = 0
    failure_rows: int = 0
    unscored_repeats: int = 0
    pass_count: int | float
    """Whole, unless repeats of a record disagree."""
    fail_count: int | float
    unscored_count: int
    pass_rate: Interval
    pass_rate_bounds: Bounds | None = None
    score: Interval
    score_distribution: tuple[int, ...] = ()
    latency_ms: LatencyMetrics = LatencyMetrics()
    first_token_ms: LatencyMetrics = LatencyMetrics()
    tokens: Tokens = Tokens()
    cost_usd: TotalCost = TotalCost()
    judging: JudgingMetrics | None = None
    choice_answers: int | None = None
    no_choice: int | None = None
    checks: dict[str, CheckMetrics]
    questions: dict[str, QuestionMetrics] = {}
    corrected_pass_rate: CorrectedRate | None = None
    """What people would find; None where no judge decides the results."""
    cache: Cache = Cache()
    attempts: int
    retried_records: int = 0
    repeats: Repeats | None = None


class Metrics(Summary, frozen=True, kw_only=True):
    """The numbers of a run."""

    missing: Missing = Missing()
    unread_records: int | UnsetType = UNSET
    """Records of a source that could not be read to its end."""
    probes: Probes | None = None
    omitted_blocks: int | UnsetType = UNSET
    documents_not_shown: int | UnsetType = UNSET
    interrupted_calls: int = 0
    outage_calls: int = 0
    adapted_calls: int = 0
    copied: Taken | UnsetType = UNSET
    new: Taken | UnsetType = UNSET


class Slice(Summary, frozen=True, kw_only=True):
    """The numbers of the records that have one value of one field."""

    slice: str
    value: str | None
    p_value: float | None = None
    adjusted_p: float | None = None

    @property
    def name(self) -> str:
        """The field with its value."""
        return f"{self.slice} = {self.value}"


class _Slices(msgspec.Struct, frozen=True):
    slices: list[Slice]


def slices_json(slices: Iterable[Slice]) -> JsonObject:
    """The content of `metrics_by_slice.json`; each begins with what it is a slice of."""
    rows = [one.json() for one in slices]
    return {"slices": [{"slice": row["slice"], "value": row["value"], **row} for row in rows]}


read_metrics = msgspec.json.Decoder(Metrics).decode
_read_slices = msgspec.json.Decoder(_Slices).decode


def kept_metrics(kept: JsonObject) -> Metrics:
    """Those that a store keeps with a run."""
    return msgspec.convert(kept, Metrics)


def read_slices(data: bytes) -> list[Slice]:
    """Those of `metrics_by_slice.json`."""
    return _read_slices(data).slices
