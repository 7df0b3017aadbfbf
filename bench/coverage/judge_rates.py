"""Worlds with a judge and labels, through the TPR and TNR of `judge validate`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from bench.coverage.cell import Cell, Draw, Ends
from bench.coverage.corrections import (
    TURNS,
    Choose,
    World,
    at_random,
    by_class,
    by_verdict,
    drawn,
    near_threshold,
    validation_of,
    whole_groups,
)

from steelyard.model.labels.label import Design
from steelyard.stats.confusion import known_rates

LABELS = (40, 100, 200)
WORLDS = ((0.7, (0.9, 0.8)), (0.7, (0.95, 0.6)), (0.9, (0.95, 0.4)))
"""The share of good responses, and TPR and TNR: few passes of the last judge are bad."""


def by_topic(chance: np.random.Generator, world: World, labels: int) -> tuple[Any, Any]:
    """As many of each of three topics; errors and bad answers are rarer in large ones."""
    is_hard = ~world.good | (world.good != world.passed)
    topics = np.where(chance.random(len(world.good)) < np.where(is_hard, 0.5, 0.1), 0, 1)
    topics = np.where((topics == 1) & (chance.random(len(topics)) < 0.3), 2, topics)
    chosen: list[Any] = []
    chances: list[Any] = []
    for topic in range(3):
        these = np.flatnonzero(topics == topic)
        size = min(len(these), labels // 3 + (topic < labels % 3))
        chosen.append(chance.choice(these, size, replace=False))
        chances.append(np.full(size, size / max(1, len(these))))
    return np.concatenate(chosen), np.concatenate(chances)


DRAWS: tuple[tuple[str, Design | None, Choose, dict[str, int]], ...] = (
    ("at random", "random", at_random, {}),
    ("by human class", "by_label", by_class, {}),
    ("by verdict, equal", None, by_verdict, {}),
    ("near the threshold", None, near_threshold, {}),
    ("by topic, equal", None, by_topic, {}),
    ("by verdict, equal, of conversations", None, by_verdict, {"size": TURNS}),
    ("whole conversations", "random", whole_groups(TURNS), {"size": TURNS}),
)


def cells() -> Iterator[Cell]:
    """Every cell of TPR and TNR."""
    for name, design, choose, shape in DRAWS:
        for share, judge in WORLDS:
            for place, rate in enumerate(("TPR", "TNR")):
                row = f"{name}, {100 * share:.0f} % good, {rate} {judge[place]:g}"
                for labels in LABELS:
                    draw = _rate((judge, share, shape), design, choose, (labels, place))
                    yield Cell("judge rates", row, f"{labels} labels", judge[place], draw)


def _rate(
    kind: tuple[tuple[float, float], float, dict[str, int]],
    design: Design | None,
    choose: Choose,
    asked: tuple[int, int],
) -> Draw:
    (judge, share, shape), (labels, place) = kind, asked

    def draw(chance: np.random.Generator) -> Ends:
        world = drawn(chance, judge, rate=share, **shape)
        validation = validation_of(world, design, *choose(chance, world, labels))
        found = known_rates(validation)[place]
        return None if found.low is None or found.high is None else (found.low, found.high)

    return draw
