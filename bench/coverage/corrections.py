"""Worlds with a judge and labels, through the estimates of `judge validate` and of runs."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from bench.coverage.cell import Cell, Draw, Ends
from bench.coverage.rates import similar
from numpy.typing import NDArray

from steelyard.model.labels.label import Design
from steelyard.model.statistics.validation import Counts, JudgeValidation, LabelledItem
from steelyard.stats.correction import NotCorrectableError
from steelyard.usecases.correction.check_rows import CheckRows
from steelyard.usecases.correction.corrected_estimates import (
    CorrectedEstimate,
    estimate_of,
    own_labels,
)
from steelyard.usecases.correction.corrected_pair import (
    CorrectedPair,
    LabelledVerdicts,
    corrected_pair,
)

RECORDS, TURNS, TRIES = 600, 5, 3
RATE = 0.7
LABELS = (20, 40, 100, 200)
JUDGES = ((1.0, 0.9), (0.9, 0.8), (0.95, 0.6))
_JUDGE, _RUN = "judge/right@1.0.0", "run_1"
Bools = NDArray[np.bool_]


class World(NamedTuple):
    """Responses: what people would say, what the judge says, and which depend on each other."""

    good: Bools
    passed: Bools
    clusters: NDArray[np.int64] | None = None
    tries: int = 1

    def places(self, at: int) -> tuple[int, int]:
        """The index and repeat of a response."""
        return at // self.tries, at % self.tries


Choose = Callable[[np.random.Generator, World, int], tuple[NDArray[np.int64], Any]]
"""Which responses are labelled, and the chance of each where it is kept."""


def drawn(
    chance: np.random.Generator,
    judge: tuple[float, float],
    *,
    size: int = 1,
    tries: int = 1,
    rate: float = RATE,
) -> World:
    """A run: independent records, conversations of `size` turns, or records of several tries."""
    groups = RECORDS // (size * tries)
    rates = similar(chance, rate, groups, 0.5 if size * tries > 1 else 0.0)
    good = (chance.random((groups, size * tries)) < rates[:, None]).ravel()
    tpr, tnr = judge
    passed = np.where(good, chance.random(len(good)) < tpr, chance.random(len(good)) >= tnr)
    clusters = np.repeat(np.arange(groups), size) if size > 1 else None
    return World(good, passed, clusters, tries)


def at_random(chance: np.random.Generator, world: World, labels: int) -> tuple[Any, None]:
    """Every response has the same chance."""
    return chance.choice(len(world.good), labels, replace=False), None


def by_class(chance: np.random.Generator, world: World, labels: int) -> tuple[Any, None]:
    """As many good responses as bad ones."""
    return _halves(chance, world.good, labels), None


def by_verdict(chance: np.random.Generator, world: World, labels: int) -> tuple[Any, Any]:
    """As many that the judge passes as that it fails, with the chance of each."""
    chosen = _halves(chance, world.passed, labels)
    counts = np.bincount(world.passed[chosen], minlength=2)
    sizes = np.bincount(world.passed, minlength=2)
    return chosen, (counts / np.maximum(sizes, 1))[world.passed[chosen].astype(int)]


def proportional(chance: np.random.Generator, world: World, labels: int) -> tuple[Any, Any]:
    """Of each verdict the same share."""
    parts: list[Any] = []
    for verdict in (True, False):
        these = np.flatnonzero(world.passed == verdict)
        size = min(len(these), max(1, round(labels * len(these) / len(world.passed))))
        parts.append(chance.choice(these, size, replace=False) if len(these) else these)
    chosen = np.concatenate(parts)
    return chosen, np.full(len(chosen), len(chosen) / len(world.good))


def near_threshold(chance: np.random.Generator, world: World, labels: int) -> tuple[Any, Any]:
    """Responses that look doubtful are chosen up to five times as often, with their chances."""
    wrong = world.good != world.passed
    odds = np.exp(chance.uniform(0, np.log(5), len(world.good))) * np.where(wrong, 1.5, 1.0)
    chances = np.minimum(1.0, odds * labels / odds.sum())
    chosen = np.flatnonzero(chance.random(len(odds)) < chances)
    return chosen, chances[chosen]


def whole_groups(size: int) -> Choose:
    """Whole conversations, or all repeats of a record, at random."""

    def choose(chance: np.random.Generator, world: World, labels: int) -> tuple[Any, None]:
        groups = len(world.good) // size
        chosen = chance.choice(groups, max(1, labels // size), replace=False)
        return (chosen[:, None] * size + np.arange(size)).ravel(), None

    return choose


def _halves(chance: np.random.Generator, column: Bools, labels: int) -> NDArray[np.int64]:
    parts: list[Any] = []
    for value in (True, False):
        these = np.flatnonzero(column == value)
        parts.append(chance.choice(these, min(len(these), labels // 2), replace=False))
    return np.concatenate(parts)


DESIGNS: tuple[tuple[str, Design | None, Choose, dict[str, int]], ...] = (
    ("at random", "random", at_random, {}),
    ("by human class", "by_label", by_class, {}),
    ("by verdict, equal", None, by_verdict, {}),
    ("by verdict, proportional", None, proportional, {}),
    ("near the threshold", None, near_threshold, {}),
    ("whole conversations", "random", whole_groups(TURNS), {"size": TURNS}),
    ("all repeats", "random", whole_groups(TRIES), {"tries": TRIES}),
)


def cells() -> Iterator[Cell]:
    """Every cell of corrected rates and of corrected differences."""
    for name, design, choose, shape in DESIGNS:
        for tpr, tnr in JUDGES:
            for labels in LABELS:
                row = f"{name}, TPR {tpr:g}, TNR {tnr:g}"
                draw = _rate((tpr, tnr), design, choose, labels, shape)
                yield Cell("corrected rate", row, f"{labels} labels", RATE, draw)
    for labels in (*LABELS, 400):
        for name, judges in (
            ("one judge", ((0.95, 0.6), (0.95, 0.6))),
            ("a judge that is kinder to B", ((0.95, 0.6), (0.95, 0.4))),
        ):
            draw = _difference(judges, labels)
            column = f"{labels} labels of each"
            yield Cell("corrected difference", name, column, 0.0, draw, is_call=True)


def rows_of(world: World) -> CheckRows:
    """The verdicts as they are read from a run."""
    rows = CheckRows(judge=_JUDGE)
    places = [world.places(at) for at in range(len(world.good))]
    rows.indices = array("q", (index for index, _ in places))
    rows.repeats = array("q", (repeat for _, repeat in places))
    rows.verdicts = array("b", world.passed.astype(np.int8).tolist())
    clusters = rows.indices if world.clusters is None else world.clusters.tolist()
    rows.clusters = array("q", clusters)
    return rows


def validation_of(
    world: World, design: Design | None, chosen: NDArray[Any], chances: Any
) -> JudgeValidation:
    """What `judge validate` records for labels of this run."""
    items = [
        LabelledItem(
            run_id=_RUN,
            index=world.places(at)[0],
            repeat=world.places(at)[1],
            record_id=str(at),
            is_good=bool(world.good[at]),
            is_passed=bool(world.passed[at]),
            inclusion_prob=None if chances is None else float(chances[place]),
            cluster=None if world.clusters is None else str(world.clusters[at]),
        )
        for place, at in enumerate(chosen.tolist())
    ]
    return JudgeValidation(
        judge=_JUDGE,
        fingerprints=("f",),
        rule="llm_judge at 0.7",
        validated_at="2026-03-02",
        counts=Counts(),
        label_set_sha256="",
        design=design,
        items=tuple(items),
        populations={_RUN: _RUN},
    )


def _rate(
    judge: tuple[float, float],
    design: Design | None,
    choose: Choose,
    labels: int,
    shape: dict[str, int],
) -> Draw:
    def draw(chance: np.random.Generator) -> Ends:
        world = drawn(chance, judge, **shape)
        validation = validation_of(world, design, *choose(chance, world, labels))
        found = estimate_of(rows_of(world), _RUN, [validation])
        if (
            not isinstance(found, CorrectedEstimate)
            or found.found.low is None
            or found.found.high is None
        ):
            return None
        return found.found.low, found.found.high

    return draw


def _difference(judges: tuple[tuple[float, float], tuple[float, float]], labels: int) -> Draw:
    def draw(chance: np.random.Generator) -> Ends:
        worlds = [drawn(chance, judge) for judge in judges]
        labelled = [
            validation_of(world, "random", *at_random(chance, world, labels)) for world in worlds
        ]
        try:
            sides = [
                LabelledVerdicts(rows, own_labels(rows, validation, validation.items))
                for rows, validation in zip(map(rows_of, worlds), labelled, strict=True)
            ]
        except NotCorrectableError:
            return None
        found = corrected_pair(sides[0], sides[1], [(at, at) for at in range(RECORDS)])
        if not isinstance(found, CorrectedPair):
            return None
        low, high = found.difference.low, found.difference.high
        return None if low is None or high is None else (low, high)

    return draw
