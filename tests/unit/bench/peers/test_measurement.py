"""Measurements outlive the process that made them."""

from __future__ import annotations

from pathlib import Path

from bench.child import Cost
from bench.peers.measurement import Measurement, Measurements, Setting

SETTING = Setting(50, 64, 200)


def made(turn: int = 0, cost: Cost | None = None, failure: str = "") -> Measurement:
    return Measurement("scale", "1.0", SETTING, turn, cost, failure)


def test_a_run_is_found_again_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "new" / "kept.json"
    Measurements(path).add(made(cost=Cost(1.5, 0.5, 1000)))

    again = Measurements(path)

    assert again.found("scale", "1.0", SETTING, 0) == Cost(1.5, 0.5, 1000)
    assert again.found("scale", "1.0", SETTING, 1) is None
    assert again.found("scale", "1.1", SETTING, 0) is None
    assert again.found("scale", "1.0", SETTING._replace(samples=201), 0) is None


def test_a_failed_run_is_not_found_but_says_why(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    Measurements(path).add(made(failure="ended with exit code 3"))

    again = Measurements(path)

    assert again.found("scale", "1.0", SETTING, 0) is None
    assert again.failure("scale", "1.0", SETTING) == "ended with exit code 3"


def test_a_later_run_of_the_same_turn_takes_the_place_of_the_first(tmp_path: Path) -> None:
    kept = Measurements(tmp_path / "kept.json")
    kept.add(made(failure="did not end within 600 s"))

    kept.add(made(cost=Cost(1.0, 1.0, 1)))

    assert kept.failure("scale", "1.0", SETTING) == ""
    assert kept.costs("scale", "1.0", SETTING) == [Cost(1.0, 1.0, 1)]


def test_the_middle_is_the_median_of_each_figure(tmp_path: Path) -> None:
    kept = Measurements(tmp_path / "kept.json")
    for turn, cost in enumerate([Cost(3.0, 1.0, 10), Cost(1.0, 3.0, 30), Cost(2.0, 2.0, 21)]):
        kept.add(made(turn, cost))

    assert kept.middle("scale", "1.0", SETTING) == Cost(2.0, 2.0, 21)
    assert kept.middle("scale", "1.1", SETTING) is None
