"""The artifacts with one row per result, attempt or record, in dataset order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from itertools import islice
from typing import TypeAlias, TypeVar

import msgspec

from steelyard.engine.redaction.redactor import Redactor
from steelyard.execution.ports import ArtifactDraft, Artifacts, ExecutionPorts, StoredResult
from steelyard.execution.provenance import Provenance
from steelyard.model.json_value import JsonObject
from steelyard.results.attempts import ATTEMPTS
from steelyard.results.exemptions import INPUT
from steelyard.results.facts import Facts, read_facts
from steelyard.results.failures import FAILURES
from steelyard.results.predictions import PREDICTIONS
from steelyard.results.record_validation import RECORD_VALIDATION, read_record_validation
from steelyard.results.requests import PARTS
from steelyard.results.sealing import Seal

_INPUT = "input_dataset.json"
_ROWS = (PREDICTIONS, RECORD_VALIDATION, FAILURES, ATTEMPTS)


Parts: TypeAlias = Callable[[], Iterator[tuple[str, bytes]]]
"""The shared texts of requests with their hashes, ordered by hash."""


_Row = TypeVar("_Row")
_AT_ONCE = 64
"""Rows that are written together: one by one takes twice as long."""


def _batches(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    left = iter(rows)
    while some := list(islice(left, _AT_ONCE)):
        yield some


class RowArtifacts:
    """The drafts of these artifacts; a draft closed before sealing stays a draft."""

    def __init__(
        self, artifacts: Artifacts, provenance: Provenance, redact: Redactor, parts: Parts
    ) -> None:
        self._open = ExitStack()
        with ExitStack() as stack:
            self._drafts = {
                name: stack.enter_context(closing(artifacts.draft(name)))
                for name in (*_ROWS, _INPUT)
            }
            self._input = _InputRecords(self._drafts[_INPUT], provenance, redact, parts)
            self._open = stack.pop_all()

    def facts(self, results: Iterable[StoredResult]) -> Iterator[Facts]:
        """Write results, and yield the facts that metrics need."""
        for some in _batches(results):
            self._write(PREDICTIONS, [kept.prediction for kept in some])
            validation = [kept.validation for kept in some if kept.repeat == 0]
            self._write(RECORD_VALIDATION, validation)
            self._input.add(validation)
            self._write(FAILURES, [kept.failure for kept in some if kept.failure is not None])
            yield from [read_facts(kept.facts) for kept in some]

    def add_attempts(self, rows: Iterable[bytes]) -> None:
        """Write attempts."""
        for some in _batches(rows):
            self._write(ATTEMPTS, some)

    def _write(self, name: str, rows: Sequence[bytes]) -> None:
        if rows:
            self._drafts[name].write(b"\n".join((*rows, b"")))

    def seal(self) -> dict[str, Seal]:
        """Finish after the last row."""
        with self._open:
            sealed = {name: self._drafts[name].seal() for name in _ROWS}
            self._input.end()
            sealed[_INPUT] = self._drafts[_INPUT].seal()
        return sealed

    def close(self) -> None:
        """Close the drafts."""
        self._open.close()


def row_artifacts(
    ports: ExecutionPorts, run_id: str, provenance: Provenance, redact: Redactor
) -> RowArtifacts:
    """The new drafts of a run."""
    parts = partial(ports.repository.request_parts, run_id)
    return RowArtifacts(ports.artifacts(run_id), provenance, redact, parts)


class _Accepted(msgspec.Struct):
    """The entry of an accepted record in `input_dataset.json`, for contracts other than 2."""

    index: int
    record_id: str | None
    record_sha256: str | None


_encode = msgspec.json.Encoder().encode


class _InputRecords:
    """The accepted document of contract 2; for other contracts, hashes of records and source."""

    def __init__(
        self, draft: ArtifactDraft, provenance: Provenance, redact: Redactor, parts: Parts
    ) -> None:
        self._draft = draft
        self._parts = parts
        self._documents = provenance.documents
        self._redact = redact
        self._separator = b"\n"
        head = redact.whole(_head(provenance), exempt=INPUT)
        draft.write(head[:-1] + b',"records":[')

    def add(self, validation: Iterable[bytes]) -> None:
        """Add records."""
        if self._documents:
            return
        for row in map(read_record_validation, validation):
            if row.is_accepted:
                self._write(_encode(_Accepted(row.index, row.record_id, row.record_sha256)))

    def end(self) -> None:
        """Finish after the last record."""
        for value in self._documents() if self._documents else ():
            self._write(self._redact.whole(value))
        self._draft.write(b"\n]")
        self._write_parts()
        self._draft.write(b"}\n")

    def _write_parts(self) -> None:
        """One per line, so that a single one can be found without reading all."""
        separator = f',"{PARTS}":{{\n'.encode()
        for sha256, text in self._parts():
            self._draft.write(b'%b"%b":%b' % (separator, sha256.encode("ascii"), text))
            separator = b",\n"
        if separator == b",\n":
            self._draft.write(b"\n}")

    def _write(self, record: bytes) -> None:
        self._draft.write(self._separator + record)
        self._separator = b",\n"


def _head(provenance: Provenance) -> JsonObject:
    setup = provenance.setup
    head: JsonObject = {
        "dataset_id": setup.dataset_id,
        "dataset_version": setup.dataset_version,
        "schema_version": setup.schema_version,
    }
    if provenance.beside is None:
        return {**head, "source": dict(setup.source)}
    # A document sealed by another run may have parts of its own.
    return {**head, **{name: value for name, value in provenance.beside.items() if name != PARTS}}
