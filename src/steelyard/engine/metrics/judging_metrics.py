"""What judging took, apart from what the targets took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from steelyard.engine.metrics.fact_batches import Batch, Sums, columns_of, floats_of
from steelyard.model.run import Judging
from steelyard.results.manifest import ProbeCall
from steelyard.results.metrics import (
    Cache,
    CostMetrics,
    JudgingMetrics,
    Metrics,
    Probes,
    ProbeTokens,
    Tokens,
    TotalCost,
)
from steelyard.stats.arrays import np


def add_judging(batch: Batch, sums: Sums) -> None:
    """Add up what it took to judge some rows."""
    rows: list[Judging | None] = list(batch.values("judging"))
    if rows.count(None) == len(rows):
        return
    places = np.array([place for place, one in enumerate(rows) if one is not None], dtype=np.int64)
    judged = [one for one in rows if one is not None]

    def add(name: str, values: np.ndarray) -> None:
        of_rows = np.zeros(len(rows))
        of_rows[places] = values
        sums.add(("judging", name), batch.by_record(of_rows))

    add("rows", np.ones(len(judged)))
    known: dict[str, np.ndarray] = {}
    for name, column in columns_of(judged, Judging.__struct_fields__).items():
        given = floats_of(column)
        known[name] = ~np.isnan(given)
        add(name, np.where(known[name], given, 0.0))
    add("paid_rows", known["cost_usd"])
    add("token_rows", known["input_tokens"] | known["output_tokens"])


def judging_cost(sums: Sums, number: int = 0) -> float | None:
    """What judges cost, as far as it is known."""
    is_paid = sums.count(("judging", "paid_rows"), number)
    return sums.total(("judging", "cost_usd"), number) if is_paid else None


def with_probes(metrics: Metrics, probes: Sequence[ProbeCall]) -> Metrics:
    """The metrics of a run, with what probes of judges' endpoints took, in its cost as well."""
    if not probes:
        return metrics
    cost = _known_sum(probe.cost_usd for probe in probes)
    tokens = ProbeTokens(
        input=_known_sum(probe.input_tokens for probe in probes),
        output=_known_sum(probe.output_tokens for probe in probes),
    )
    attempts = _known_sum(probe.attempts for probe in probes)
    found = Probes(calls=len(probes), attempts=attempts, tokens=tokens, cost_usd=cost)
    spent = metrics.cost_usd
    if cost is not None:
        total, judging = (spent.total or 0.0) + cost, (spent.judging or 0.0) + cost
        spent = TotalCost(total=total, n=spent.n, judging=judging)
    return structs.replace(metrics, probes=found, cost_usd=spent)


def _known_sum(numbers: Iterable[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def judging_summary(sums: Sums, number: int = 0) -> JudgingMetrics | None:
    """The sums with what they are sums of; None where nobody was judged."""

    def count(name: str) -> int:
        return sums.count(("judging", name), number)

    if not count("rows"):
        return None
    inward, outward, n = (count(name) for name in ("input_tokens", "output_tokens", "token_rows"))
    return JudgingMetrics(
        rows=count("rows"),
        calls=count("calls"),
        unanswered=count("unanswered"),
        attempts=count("attempts"),
        tokens=Tokens.of(inward, outward, n),
        cost_usd=CostMetrics(total=judging_cost(sums, number), n=count("paid_rows")),
        cache=Cache(
            hits=count("cached"),
            saved_usd=sums.total(("judging", "saved_usd"), number) or None,
        ),
    )
