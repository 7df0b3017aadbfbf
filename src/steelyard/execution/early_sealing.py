"""Writes artifacts while other processes still work on the run.

A thread writes results in dataset order, up to the first missing one, so that little is left
to do after the last result. Nothing is sealed before the run is finalizing.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from steelyard.engine.metrics.run_metrics import metrics_of
from steelyard.execution.evaluating import redactor_of
from steelyard.execution.ports import ExecutionPorts, StoredResult
from steelyard.execution.prepared import Prepared
from steelyard.execution.provenance import provenance_of
from steelyard.execution.row_artifacts import row_artifacts
from steelyard.results.metrics import Metrics, Slice

STEP = 256
"""Minimum number of new records for a query."""


def may_seal_early(prepared: Prepared) -> bool:
    """Whether the run has exactly one result per index, from 0, and repeat."""
    options = prepared.options
    return prepared.is_sound and not options.where and options.derived is None


class _GivenUpError(Exception):
    """The artifacts are no longer needed."""


class EarlySealing:
    """The artifacts of a run up to the first record with a missing result."""

    def __init__(self, ports: ExecutionPorts, run_id: str, prepared: Prepared) -> None:
        self._repository = ports.repository
        self._run_id = run_id
        self._missing = array("I", (prepared.options.repeat,)) * prepared.forecast.total
        self._complete = 0
        """Number of leading records with all results."""
        self._awaited = 0
        """How many of them are waited for."""
        self._is_over = self._is_given_up = False
        self._changed = threading.Condition()
        ports.artifacts(run_id).clear_drafts()
        self.redact = redactor_of(prepared)
        provenance = provenance_of(ports, run_id, prepared)
        self.rows = row_artifacts(ports, run_id, provenance, self.redact)
        self.note(ports.repository.done(run_id))
        self._thread = ThreadPoolExecutor(1, "steelyard-sealing")
        self._metrics = self._thread.submit(lambda: metrics_of(self.rows.facts(self._results())))

    def note(self, places: Iterable[tuple[int, int]]) -> None:
        """Note a result for each of these (index, repeat)."""
        missing = self._missing
        for index, _ in places:
            missing[index] -= 1
        complete, total = self._complete, len(missing)
        while complete < total and not missing[complete]:
            complete += 1
        self._complete = complete
        if complete >= self._awaited:  # fewer do not wake it
            with self._changed:
                self._changed.notify()

    def metrics(self) -> tuple[Metrics, list[Slice]]:
        """The metrics and slices, after the last result."""
        with self._changed:
            self._is_over = True
            self._changed.notify()
        try:
            return self._metrics.result()
        finally:
            self._thread.shutdown()

    def give_up(self) -> None:
        """Stop and keep the drafts."""
        with self._changed:
            self._is_given_up = True
            self._changed.notify()
        with suppress(BaseException):
            self._metrics.result()
        self._thread.shutdown()
        self.rows.close()

    def _results(self) -> Iterator[StoredResult]:
        begin = 0
        while (end := self._known(begin)) is not None:
            yield from self._taken(begin, end)
            begin = end
        yield from self._taken(begin, None)

    def _taken(self, begin: int, end: int | None) -> Iterator[StoredResult]:
        yield from self._repository.results(self._run_id, begin, end)
        self.rows.add_attempts(self._repository.attempt_rows(self._run_id, begin, end))

    def _known(self, begin: int) -> int | None:
        """Wait for enough complete records and return the end of their range; None at the end."""
        with self._changed:
            self._awaited = begin + STEP
            while not (self._is_over or self._is_given_up or self._complete >= self._awaited):
                self._changed.wait()
            if self._is_given_up:
                raise _GivenUpError
            return None if self._is_over else self._complete
