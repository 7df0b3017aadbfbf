"""The measurements as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from bench.child import Cost  # noqa: TC002 - our own package, not a heavy one
from bench.peers.measurement import Measurements, Setting
from bench.peers.tool import BASE, Tool
from bench.peers.trial import SMALL, Extent

_NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Marginal:
    """What one sample more costs, in milliseconds."""

    cpu_ms: float
    wall_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything the section shows; a tool without a version has a reason instead."""

    tools: Mapping[str, Tool]
    versions: Mapping[str, str]
    absent: Mapping[str, str]
    kept: Measurements
    extent: Extent
    machine: str
    command: str
    """What the report is made by."""
    note: str = ""
    """What else a reader has to know of these figures."""

    def text(self) -> str:
        """The section between the marks."""
        few, many = self.extent.few, self.extent.many
        cases = self.extent.cases
        heads = [f"{delay_ms} ms, {at_once} at once" for delay_ms, at_once in cases]
        lines = [
            self._opening(),
            "",
            "CPU a sample in milliseconds, and how often that is the cost of the bare loop:",
            "",
            *_table(["answers after", *heads], self._rows(self._cpu)),
            "",
            "Samples a second, and the share of what the delay and the number of calls allow:",
            "",
            *_table(["answers after", *heads], self._rows(self._speed)),
            "",
            "Start-up is a whole run of 10 samples; memory is the largest peak of all cases:",
            "",
            *_table(
                ["", "version", "start-up", f"memory, {few:,}", f"{many:,}", "runs"], self._facts()
            ),
            *self._failures(),
            "",
            "How each was run, with N calls at once:",
            "",
            *(f"- **{tool.name}**: {tool.how}." for tool in self.tools.values()),
        ]
        return "\n".join(lines)

    def _opening(self) -> str:
        extent = self.extent
        note = f" {self.note}" if self.note else ""
        return (
            f"Measured by `{self.command}`: {self.machine}; medians of up to "
            f"{extent.turns} runs. What one sample more costs is the difference between "
            f"{extent.few:,} and {extent.many:,} samples.{note}"
        )

    def marginal(self, name: str, delay_ms: int, at_once: int) -> Marginal | None:
        """One sample's part in the difference of the two sizes; None where one is missing."""
        sizes = (self.extent.few, self.extent.many)
        few, many = (self._middle(name, Setting(delay_ms, at_once, size)) for size in sizes)
        if few is None or many is None:
            return None
        count = (self.extent.many - self.extent.few) / 1000
        return Marginal((many.cpu_s - few.cpu_s) / count, (many.wall_s - few.wall_s) / count)

    def _middle(self, name: str, setting: Setting) -> Cost | None:
        return self.kept.middle(name, self.versions.get(name, ""), setting)

    def _rows(self, cell: Callable[[str, int, int], str]) -> Iterator[list[str]]:
        for name, tool in self.tools.items():
            yield [tool.name, *(cell(name, *case) for case in self.extent.cases)]

    def _cpu(self, name: str, delay_ms: int, at_once: int) -> str:
        found, base = (self.marginal(one, delay_ms, at_once) for one in (name, BASE))
        if found is None or found.cpu_ms <= 0:
            return _NOTHING
        compared = base is not None and base.cpu_ms > 0 and name != BASE
        ratio = f" ({found.cpu_ms / base.cpu_ms:.2f} ×)" if base and compared else ""
        return f"{found.cpu_ms:.3f}{ratio}"

    def _speed(self, name: str, delay_ms: int, at_once: int) -> str:
        found = self.marginal(name, delay_ms, at_once)
        if found is None or found.wall_ms <= 0:
            return _NOTHING
        speed = 1000 / found.wall_ms
        waiting_s = len(self.tools[name].answers) * delay_ms / 1000
        share = f" ({speed * waiting_s / at_once:.1%})" if delay_ms else ""
        return f"{speed:,.0f}{share}"

    def _facts(self) -> Iterator[list[str]]:
        for name, tool in self.tools.items():
            if name in self.absent:
                yield [tool.name, f"not run: {self.absent[name]}", *[_NOTHING] * 4]
                continue
            small = self._middle(name, SMALL)
            start = f"{small.wall_s:.2f} s ({small.cpu_s:.2f} s of CPU)" if small else _NOTHING
            memory = [self._memory(name, size) for size in (self.extent.few, self.extent.many)]
            yield [tool.name, self.versions[name], start, *memory, self._runs(name)]

    def _memory(self, name: str, samples: int) -> str:
        costs = [self._middle(name, Setting(*case, samples)) for case in self.extent.cases]
        peaks = [cost.peak_bytes for cost in costs if cost]
        return f"{max(peaks) / 1e6:,.0f} MB" if peaks else _NOTHING

    def _runs(self, name: str) -> str:
        """From how many runs the medians come, from the fewest to the most."""
        version, many = self.versions[name], self.extent.many
        settings = [Setting(*case, many) for case in self.extent.cases]
        counts = {len(self.kept.costs(name, version, setting)) for setting in settings}
        return "–".join(str(count) for count in sorted({min(counts), max(counts)}))

    def _failures(self) -> Iterator[str]:
        sizes = (self.extent.few, self.extent.many)
        cases = self.extent.cases
        wanted = [SMALL, *(Setting(*case, size) for case in cases for size in sizes)]
        for name, tool in self.tools.items():
            for setting in wanted:
                reason = self.kept.failure(name, self.versions.get(name, ""), setting)
                if reason:
                    delay_ms, at_once, samples = setting
                    where = f"{samples:,} samples, {at_once} at once, {delay_ms} ms"
                    yield f"\n{tool.name} with {where}: {reason}."


def _table(heads: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    yield from (f"| {' | '.join(row)} |" for row in rows)
