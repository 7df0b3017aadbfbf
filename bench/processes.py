"""What trees of processes take together: those of a run, of Ray, of an endpoint (Linux)."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from steelyard.targets.processes.supervisor import descendants

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_EVERY_S = 0.1


class Watched:
    """What processes, and all beneath them, take while something runs, looked at again and again.

    Those that end are counted as they were last seen, since not everybody waits for its children.
    """

    def __init__(self, roots: Iterable[int]) -> None:
        self._roots = list(roots)
        self._before = {pid: _cpu_s(pid) for pid in _trees(self._roots)}
        self._seen = dict(self._before)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.peak_bytes = 0

    def add(self, root: int) -> None:
        """Watch one more process."""
        self._roots.append(root)

    @property
    def cpu_s(self) -> float:
        """Seconds of CPU since the beginning."""
        return sum(self._seen.values()) - sum(self._before.values())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._is_over.wait(_EVERY_S):
            pids = _trees(self._roots)
            for pid in pids:
                self._seen[pid] = max(self._seen.get(pid, 0.0), _cpu_s(pid))
            self.peak_bytes = max(self.peak_bytes, sum(map(_resident_bytes, pids)))


def _trees(roots: Iterable[int]) -> set[int]:
    return {pid for root in roots for pid in (root, *descendants(root))}


def _cpu_s(pid: int) -> float:
    fields = _read(pid, "stat").rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / _TICKS if fields else 0.0


def _resident_bytes(pid: int) -> int:
    fields = _read(pid, "statm").split()
    return int(fields[1]) * _PAGE if fields else 0


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
