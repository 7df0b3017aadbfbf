"""The artifacts with a row for each result, attempt or record, written in dataset order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing

import msgspec

from steelyard.contracts.run_artifacts.facts import Facts, read_facts
from steelyard.engine.redaction import Redactor, json_bytes
from steelyard.model.json_value import JsonObject
from steelyard.usecases.accounts import Account
from steelyard.usecases.run_ports import Artifacts, Draft, KeptResult, Sealing

_INPUT = "input_dataset.json"
_ROWS = ("predictions.jsonl", "record_validation.jsonl", "failures.jsonl", "attempt_logs.jsonl")


class RowArtifacts:
    """Drafts of all of them; what is closed before it is sealed stays a draft."""

    def __init__(self, artifacts: Artifacts, account: Account, redact: Redactor) -> None:
        self._open = ExitStack()
        with ExitStack() as stack:
            self._drafts = {
                name: stack.enter_context(closing(artifacts.draft(name)))
                for name in (*_ROWS, _INPUT)
            }
            self._input = _InputRecords(self._drafts[_INPUT], account, redact)
            self._open = stack.pop_all()

    def facts(self, results: Iterable[KeptResult]) -> Iterator[Facts]:
        """Write results, and pass on what metrics need of each."""
        predictions, validation, failures = (self._drafts[name].write for name in _ROWS[:3])
        add = self._input.add
        for kept in results:
            predictions(kept.prediction + b"\n")
            if kept.repeat == 0:
                validation(kept.validation + b"\n")
                add(kept.validation)
            if kept.failure is not None:
                failures(kept.failure + b"\n")
            yield read_facts(kept.facts)

    def add_attempts(self, rows: Iterable[bytes]) -> None:
        """Write attempts."""
        write = self._drafts[_ROWS[3]].write
        for row in rows:
            write(row + b"\n")

    def seal(self) -> dict[str, Sealing]:
        """All rows are there."""
        with self._open:
            sealed = {name: self._drafts[name].seal() for name in _ROWS}
            self._input.end()
            sealed[_INPUT] = self._drafts[_INPUT].seal()
        return sealed

    def close(self) -> None:
        """Let go of the drafts."""
        self._open.close()


class _Accepted(msgspec.Struct):
    """What `input_dataset.json` says of an accepted record of a file that stays where it is."""

    index: int
    record_id: str | None
    record_sha256: str


class _Validated(_Accepted):
    result: str


_read_validated = msgspec.json.Decoder(_Validated).decode
_encode = msgspec.json.Encoder().encode


class _InputRecords:
    """The accepted document of contract 2; of other contracts, hashes and the source's own."""

    def __init__(self, draft: Draft, account: Account, redact: Redactor) -> None:
        self._draft = draft
        self._documents = account.documents
        self._redact = redact
        self._separator = b"\n"
        draft.write(redact(json_bytes(_head(account)))[:-1] + b',"records":[')

    def add(self, validation: bytes) -> None:
        """One more record, by what was kept of it when it was read."""
        if self._documents:
            return
        row = _read_validated(validation)
        if row.result == "accepted":
            self._write(_encode(_Accepted(row.index, row.record_id, row.record_sha256)))

    def end(self) -> None:
        """All records are there."""
        for value in self._documents() if self._documents else ():
            self._write(self._redact(json_bytes(value)))
        self._draft.write(b"\n]}\n")

    def _write(self, record: bytes) -> None:
        self._draft.write(self._separator + record)
        self._separator = b",\n"


def _head(account: Account) -> JsonObject:
    names = ("dataset_id", "dataset_version", "schema_version")
    head: JsonObject = {name: account.about[name] for name in names}
    if account.beside is None:
        return {**head, "source": account.about["source"]}
    return {**head, **account.beside}
