"""Runs every tool in every setting, in turns, so that a busy moment hits all alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from bench.peers.measurement import Measurement, Measurements, Setting
from bench.peers.process import fresh, measured
from bench.peers.tool import CannotRunError, Job, Tool

CASES = ((0, 64), (0, 256), (50, 64), (50, 256))
"""Milliseconds until an answer, and calls at once."""
SMALL = Setting(0, 64, 10)
"""The run that shows what starting up costs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much is measured."""

    few: int = 2_000
    many: int = 10_000
    turns: int = 3
    cases: tuple[tuple[int, int], ...] = CASES
    enough_s: float = 30
    """A tool gets no further turn in a case in which it has run for so long."""
    limit_s: float = 600
    """A run that takes longer is ended."""


def settings(extent: Extent) -> Iterator[tuple[Setting, ...]]:
    """What belongs together: the small run alone, then two sizes of each case."""
    yield (SMALL,)
    for delay_ms, at_once in extent.cases:
        yield tuple(Setting(delay_ms, at_once, size) for size in (extent.few, extent.many))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Tools with their versions, the endpoint they ask, and where it all lies."""

    tools: Mapping[str, Tool]
    versions: Mapping[str, str]
    endpoint: Callable[[int], AbstractContextManager[str]]
    counted: Callable[[str], Counter[str]]
    """How often the endpoint at an address has given each answer."""
    kept: Measurements
    folder: Path
    say: Callable[[str], None]

    def run(self, extent: Extent) -> None:
        """Make every run that is not kept from an earlier trial."""
        for sizes in settings(extent):
            with self.endpoint(sizes[0].delay_ms) as url:
                for turn in range(extent.turns):
                    for name in self.tools:
                        if turn == 0 or self._spent(name, sizes) < extent.enough_s:
                            self._take_turn(name, sizes, turn, url, extent.limit_s)

    def _spent(self, name: str, sizes: Sequence[Setting]) -> float:
        taken = (self.kept.costs(name, self.versions[name], setting) for setting in sizes)
        return sum(cost.wall_s for costs in taken for cost in costs)

    def _take_turn(
        self, name: str, sizes: Sequence[Setting], turn: int, url: str, limit_s: float
    ) -> None:
        for setting in sizes:
            if self.kept.found(name, self.versions[name], setting, turn):
                continue
            made = self._measured(name, setting, turn, url, limit_s)
            self.kept.add(made)
            self.say(_line(made))
            # The second size takes longer still.
            if made.failure:
                return

    def _measured(
        self, name: str, setting: Setting, turn: int, url: str, limit_s: float
    ) -> Measurement:
        tool, version = self.tools[name], self.versions[name]
        job = Job(
            samples=setting.samples,
            at_once=setting.at_once,
            url=url,
            folder=fresh(self.folder / name / "job"),
        )
        try:
            before = self.counted(url)
            cost, output = measured(tool.command(job), job.folder, limit_s)
            _check_passed(setting.samples, tool.passed(job, output))
            _check_calls(tool.calls(setting.samples), self.counted(url) - before)
        except CannotRunError as error:
            return Measurement(name, version, setting, turn, failure=str(error))
        return Measurement(name, version, setting, turn, cost)


def _check_passed(samples: int, passed: int) -> None:
    """A tool that did less than the others is not compared with them."""
    if passed != samples:
        raise CannotRunError(f"says that {passed:,} of {samples:,} passed")


def _check_calls(wanted: Counter[str], made: Counter[str]) -> None:
    """What a tool says of itself is not enough: a cache or a check that it left out shows here."""
    if made != wanted:
        raise CannotRunError(f"made the calls {_listed(made)} where {_listed(wanted)} were due")


def _listed(calls: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(calls.items())) or "none"


def _line(made: Measurement) -> str:
    delay_ms, at_once, samples = made.setting
    what = f"{made.tool}: {samples:,} samples, {at_once} at once, {delay_ms} ms"
    if made.cost is None:
        return f"{what}: {made.failure}"
    return f"{what}: {made.cost.wall_s:.2f} s, {made.cost.cpu_s:.2f} s of CPU"
