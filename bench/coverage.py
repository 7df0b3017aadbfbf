"""How far numbers can be trusted: intervals and designs put to the test by simulation.

Run it with `python -m bench.coverage`: it draws the same worlds every time and writes the tables
into docs/trust.md. In a simulated world the truth is known, so that it can be counted how often an
interval holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import NamedTuple, cast

import numpy as np
from bench.child import ROOT
from numpy.typing import NDArray

from steelyard.model.json_value import JsonObject
from steelyard.model.validation import Counts
from steelyard.reports.correction import corrected_text, judge_text
from steelyard.reports.numbers import rate_text
from steelyard.stats.confusion import rates_of
from steelyard.stats.correction import (
    Labelled,
    NotCorrectableError,
    ppi,
    rogan_gladen,
    rogan_gladen_weighted,
)
from steelyard.stats.independent import difference
from steelyard.stats.intervals import Interval, wilson

PAGE = ROOT / "docs" / "trust.md"
RUNS = 1_000
TPR, TNR = 0.95, 0.6
"""A kind judge: it passes nearly every good response, and two of five bad ones as well."""
KINDER = 0.4
"""Its TNR on the responses of an assistant that it likes."""
JUDGED = 1_000
Column = NDArray[np.float64]
Estimate = Callable[["World"], Interval]


class World(NamedTuple):
    """Responses, what people would say of each, what the judge says, and which were labelled."""

    truth: Column
    said: Column
    chosen: NDArray[np.int64]
    chances: Column | None = None

    @property
    def labelled(self) -> Labelled:
        """The labels, with their chances where these are known."""
        return Labelled(
            truth=self.truth[self.chosen].tolist(),
            judged=self.said[self.chosen].tolist(),
            inclusion=None if self.chances is None else self.chances.tolist(),
        )

    @property
    def counts(self) -> Counts:
        """The judge against people, as labelled."""
        good, passed = self.truth[self.chosen] == 1, self.said[self.chosen] == 1
        return Counts(
            tp=int((good & passed).sum()),
            fn=int((good & ~passed).sum()),
            tn=int((~good & ~passed).sum()),
            fp=int((~good & passed).sum()),
        )


def drawn(
    chance: np.random.Generator, rate: float, count: int = JUDGED, tnr: float = TNR
) -> tuple[Column, Column]:
    """What people would say of responses, and what the judge says."""
    good = chance.random(count) < rate
    passes = np.where(good, chance.random(count) < TPR, chance.random(count) >= tnr)
    return good.astype(float), passes.astype(float)


def by_lot(chance: np.random.Generator, rate: float, labels: int = 100, tnr: float = TNR) -> World:
    """Every response has the same chance of being labelled."""
    truth, said = drawn(chance, rate, tnr=tnr)
    return World(truth, said, np.arange(labels))


def by_label(chance: np.random.Generator, rate: float, labels: int = 100) -> World:
    """As many responses that people pass as responses that they fail."""
    truth, said = drawn(chance, rate)
    return World(truth, said, _halves(chance, truth, labels))


def by_verdict(chance: np.random.Generator, rate: float, labels: int = 100) -> World:
    """As many responses that the judge passes as responses that it fails."""
    truth, said = drawn(chance, rate)
    chosen = _halves(chance, said, labels)
    passes = float(said.sum())
    sizes = said[chosen] * passes + (1 - said[chosen]) * (len(said) - passes)
    return World(truth, said, chosen, labels / 2 / sizes)


def by_eye(chance: np.random.Generator, rate: float, labels: int = 100) -> World:
    """Where the judge is wrong, somebody who picks what looks odd is three times as likely to."""
    truth, said = drawn(chance, rate)
    odds = np.where(truth != said, 3.0, 1.0)
    chosen = chance.choice(len(truth), labels, replace=False, p=odds / odds.sum())
    return World(truth, said, chosen)


def _halves(chance: np.random.Generator, column: Column, labels: int) -> NDArray[np.int64]:
    halves = [
        chance.choice(np.flatnonzero(column == value), labels // 2, replace=False)
        for value in (1, 0)
    ]
    return np.concatenate(halves)


def raw(world: World) -> Interval:
    """The judge's own pass rate."""
    return wilson(float(world.said.sum()), len(world.said))


def labels_alone(world: World) -> Interval:
    """The labels without the judge."""
    return ppi(world.labelled, world.said.tolist(), tuning=0.0)


def powered(world: World) -> Interval:
    """PPI++."""
    return ppi(world.labelled, world.said.tolist())


def from_rates(world: World) -> Interval:
    """Rogan and Gladen's."""
    passed, judged = float(world.said.sum()), len(world.said)
    if world.chances is not None:
        return rogan_gladen_weighted(world.labelled, passed, judged)
    return rogan_gladen(world.counts, passed, judged)


ESTIMATES: tuple[tuple[str, Estimate], ...] = (
    ("the judge's own pass rate (Wilson)", raw),
    ("the labels alone", labels_alone),
    ("Rogan–Gladen", from_rates),
    ("PPI++", powered),
)


class Score(NamedTuple):
    """How an estimate does over many worlds."""

    mean: float
    covered: float
    width: float


def scored(make: Callable[[], World], estimate: Estimate, truth: float) -> Score:
    """The mean estimate, how often the intervals hold the truth, and how wide they are."""
    values: list[float] = []
    covered, width = 0, 0.0
    for _ in range(RUNS):
        try:
            found = estimate(make())
        except NotCorrectableError:
            continue
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        values.append(found.value)
        covered += found.low <= truth <= found.high
        width += found.high - found.low
    return Score(float(np.mean(values)), covered / len(values), width / len(values))


def coverage_table() -> Iterator[str]:
    """What each estimate does where records are labelled by lot."""
    yield "| estimate | mean | holds the truth | mean width |"
    yield "|---|---|---|---|"
    for name, estimate in ESTIMATES:
        chance = np.random.default_rng(1)
        found = scored(lambda chance=chance: by_lot(chance, 0.7), estimate, 0.7)
        yield f"| {name} | {_row(found)} |"


def design_table() -> Iterator[str]:
    """Which estimate is right for which way of choosing records."""
    ways: tuple[tuple[str, Callable[[np.random.Generator, float], World]], ...] = (
        ("by lot", by_lot),
        ("50 that people pass, 50 that they fail", by_label),
        ("50 that the judge passes, 50 that it fails; chances kept", by_verdict),
        ("what looked odd to somebody", by_eye),
    )
    yield "| how the labelled records were chosen | PPI++ | Rogan–Gladen | what Steelyard does |"
    yield "|---|---|---|---|"
    does = ("PPI++", "Rogan–Gladen", "PPI++ with weights", "leaves the rate uncorrected")
    for (name, way), done in zip(ways, does, strict=True):
        cells: list[str] = []
        for estimate in (powered, from_rates):
            chance = np.random.default_rng(2)
            found = scored(lambda chance=chance, way=way: way(chance, 0.85), estimate, 0.85)
            cells.append(f"{_percent(found.mean)}, holds {_percent(found.covered)}")
        yield f"| {name} | {cells[0]} | {cells[1]} | {done} |"


def labels_table() -> Iterator[str]:
    """How narrow intervals get with more labels."""
    yield "| labels | the labels alone | Rogan–Gladen | PPI++ |"
    yield "|---|---|---|---|"
    for labels in (50, 100, 200, 400):
        cells: list[str] = []
        for estimate in (labels_alone, from_rates, powered):
            chance = np.random.default_rng(3)
            found = scored(
                lambda chance=chance, labels=labels: by_lot(chance, 0.7, labels), estimate, 0.7
            )
            cells.append(f"± {50 * found.width:.1f}")
        yield f"| {labels} | {' | '.join(cells)} |"


def comparison_table() -> Iterator[str]:
    """Two assistants that are equally good, and a judge that likes one of them better."""
    chance = np.random.default_rng(4)
    names = (
        "the judge's pass rates",
        "Rogan–Gladen with labels of A alone",
        "PPI++ with labels of each",
    )
    called = dict.fromkeys(names, 0)
    gaps = dict.fromkeys(names, 0.0)
    for _ in range(RUNS):
        a, b = by_lot(chance, 0.7), by_lot(chance, 0.7, tnr=KINDER)
        borrowed = rogan_gladen(a.counts, float(b.said.sum()), len(b.said))
        pairs = ((raw(a), raw(b)), (from_rates(a), borrowed), (powered(a), powered(b)))
        for name, (one, other) in zip(names, pairs, strict=True):
            gap = difference(one, other)
            assert gap.value is not None
            assert gap.low is not None
            assert gap.high is not None
            called[name] += not gap.low <= 0 <= gap.high
            gaps[name] += gap.value
    yield "| compared by | mean of B − A | calls B better or worse |"
    yield "|---|---|---|"
    for name in names:
        gap = f"{100 * gaps[name] / RUNS:+.1f} points"
        yield f"| {name} | {gap} | {_percent(called[name] / RUNS)} |"


def _row(found: Score) -> str:
    return f"{_percent(found.mean)} | {_percent(found.covered)} | {100 * found.width:.1f} points"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def example() -> Iterator[str]:
    """What a run says of such a world, in the words of the product."""
    world = by_lot(np.random.default_rng(9), 0.7)
    rate, corrected, rates = raw(world), powered(world), rates_of(world.counts)
    row: JsonObject = {
        **asdict(corrected),
        "labels": corrected.n,
        "n": JUDGED,
        "judge": "judge/right@1.0.0",
        "validated_at": "2026-03-02",
        "tpr": cast(JsonObject, asdict(rates.tpr)),
        "tnr": cast(JsonObject, asdict(rates.tnr)),
    }
    evaluated = f"{int(world.said.sum())} of {JUDGED:,} evaluated ({rate.method}, 95 %)"
    yield "```"
    yield f"  pass rate  {rate_text(cast(JsonObject, asdict(rate)))}  {evaluated}"
    yield f"  corrected  {corrected_text(row)}"
    yield f"             {judge_text(row)}"
    yield "```"


TABLES: dict[str, Callable[[], Iterator[str]]] = {
    "example": example,
    "coverage": coverage_table,
    "designs": design_table,
    "labels": labels_table,
    "comparison": comparison_table,
}


def written(page: str, name: str, lines: Iterator[str]) -> str:
    """A page with a table between its marks."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n" + "\n".join(lines) + f"\n{end}{after}"


def main() -> None:
    """Simulate, print each table as it comes, and write the page."""
    page = PAGE.read_text(encoding="utf-8")
    for name, table in TABLES.items():
        lines = list(table())
        print("\n".join(lines), end="\n\n", flush=True)
        page = written(page, name, iter(lines))
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
