"""Turn what a run has kept into its artifacts, and end it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import zip_longest
from typing import cast

import msgspec

from steelyard.contracts.hashes import record_sha256
from steelyard.contracts.run_artifacts.facts import Facts, read_facts
from steelyard.contracts.run_artifacts.rows import MANIFEST
from steelyard.engine.metrics import metrics_of
from steelyard.engine.redaction import Redactor, json_bytes
from steelyard.errors import RunError
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.run import RunState
from steelyard.usecases.planning import Prepared
from steelyard.usecases.run_ports import Artifacts, Draft, RunDoor, Sealing
from steelyard.usecases.verify import sealed_json, with_own_hash


def finalize(
    door: RunDoor, run_id: str, prepared: Prepared, redact: Redactor
) -> tuple[RunState, JsonObject, str]:
    """Write all eight artifacts, the manifest last, and move the run to its last state."""
    artifacts = door.artifacts(run_id)
    artifacts.clear_drafts()
    ended = _ended(door, run_id, artifacts)
    if ended:
        return ended
    sealed: dict[str, Sealing] = {}
    with closing(artifacts.draft("input_dataset.json")) as draft:
        records = _InputRecords(draft, prepared, redact)
        summary, slices = _seal_rows(door, run_id, artifacts, records, sealed)
        sealed["input_dataset.json"] = records.seal()
    _seal_attempts(door, run_id, artifacts, sealed)
    _seal_json(artifacts, "metrics_summary.json", summary, sealed)
    _seal_json(artifacts, "metrics_by_slice.json", slices, sealed)
    has_failures = summary["failed_records"] or summary["cancelled_records"]
    status: RunState = "completed_with_failures" if has_failures else "completed"
    if door.repository.is_cancelling(run_id):
        status = "cancelled"
    at = door.clock.now().isoformat(timespec="milliseconds")
    manifest = _manifest(door, run_id, prepared, status, at)
    manifest["artifacts"] = {
        name: {"sha256": seal.sha256, "size": seal.size} for name, seal in sorted(sealed.items())
    }
    manifest = cast(JsonObject, json.loads(redact(json_bytes(manifest))))
    manifest["redaction"] = redact.described(door.repository.redactions(run_id))
    _seal_json(artifacts, MANIFEST, with_own_hash(manifest), sealed)
    door.repository.finish(run_id, status, at, summary)
    return status, summary, str(artifacts.folder)


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

    def __init__(self, draft: Draft, prepared: Prepared, redact: Redactor) -> None:
        self._draft = draft
        self._prepared = prepared
        self._redact = redact
        self._is_document = prepared.contract == "dataset_document"
        self._separator = b"\n"
        draft.write(redact(json_bytes(self._head()))[:-1] + b',"records":[')

    def add(self, validation: bytes) -> None:
        """One more record, by what was kept of it when it was read."""
        if self._is_document:
            return
        row = _read_validated(validation)
        if row.result == "accepted":
            self._write(_encode(_Accepted(row.index, row.record_id, row.record_sha256)))

    def seal(self) -> Sealing:
        """All records are there."""
        if self._is_document:
            for row, case, _ in self._prepared.records():
                if case is not None:
                    self._write(self._redact(json_bytes(row.value)))
        self._draft.write(b"\n]}\n")
        return self._draft.seal()

    def _write(self, record: bytes) -> None:
        self._draft.write(self._separator + record)
        self._separator = b",\n"

    def _head(self) -> JsonObject:
        dataset = self._prepared.dataset
        head: JsonObject = {
            "dataset_id": dataset.id,
            "dataset_version": _version(self._prepared),
            "schema_version": _schema_version(self._prepared),
        }
        if not self._is_document:
            return {**head, "source": cast(JsonObject, dict(self._prepared.source))}
        metadata: JsonObject = {"metadata": dict(dataset.metadata)} if dataset.metadata else {}
        return {**head, **dataset.extra, **metadata}


def require_same_source(door: RunDoor, run_id: str, prepared: Prepared) -> None:
    """Rows are read while a run goes on, so that its dataset must stay what it was."""
    for path in prepared.paths:
        if door.digest(path) != prepared.source[path.name]:
            raise RunError(
                f"{path} has changed while {run_id} was going on; put the old file back and "
                f"go on with: steelyard resume {run_id}"
            )


def require_same_records(door: RunDoor, run_id: str, prepared: Prepared) -> None:
    """What an earlier process kept may come from a file that had changed meanwhile."""
    hashes = (
        (row.index, record_sha256(prepared.reading.hashed(row, case) if case else row.value))
        for row, case, _ in prepared.records()
    )
    kept = door.repository.record_hashes(run_id)
    if any(one != other for one, other in zip_longest(hashes, kept)):
        raise RunError(
            f"results of {run_id} belong to another version of {prepared.options.dataset}; "
            "start a new run"
        )


def _ended(
    door: RunDoor, run_id: str, artifacts: Artifacts
) -> tuple[RunState, JsonObject, str] | None:
    """A run whose manifest was written but whose end was not noted before it was stopped."""
    manifest = artifacts.read(MANIFEST)
    if manifest is None:
        return None
    said = json.loads(manifest)
    summary: JsonObject = json.loads(artifacts.read("metrics_summary.json") or b"{}")
    door.repository.finish(run_id, said["status"], said["completed_at"], summary)
    return said["status"], summary, str(artifacts.folder)


def _seal_rows(
    door: RunDoor,
    run_id: str,
    artifacts: Artifacts,
    records: _InputRecords,
    sealed: dict[str, Sealing],
) -> tuple[JsonObject, JsonObject]:
    """Predictions, validation and failures in one pass; the metrics come out of the same pass."""
    with ExitStack() as stack:
        drafts = {
            name: stack.enter_context(closing(artifacts.draft(f"{name}.jsonl")))
            for name in ("predictions", "record_validation", "failures")
        }

        def facts() -> Iterator[Facts]:
            for kept in door.repository.results(run_id):
                drafts["predictions"].write(kept.prediction + b"\n")
                if kept.repeat == 0:
                    drafts["record_validation"].write(kept.validation + b"\n")
                    records.add(kept.validation)
                if kept.failure is not None:
                    drafts["failures"].write(kept.failure + b"\n")
                yield read_facts(kept.facts)

        metrics = metrics_of(facts())
        for name, draft in drafts.items():
            sealed[f"{name}.jsonl"] = draft.seal()
    return metrics


def _seal_attempts(
    door: RunDoor, run_id: str, artifacts: Artifacts, sealed: dict[str, Sealing]
) -> None:
    with closing(artifacts.draft("attempt_logs.jsonl")) as draft:
        for row in door.repository.attempt_rows(run_id):
            draft.write(row + b"\n")
        sealed["attempt_logs.jsonl"] = draft.seal()


def _seal_json(
    artifacts: Artifacts, name: str, value: JsonObject, sealed: dict[str, Sealing]
) -> None:
    with closing(artifacts.draft(name)) as draft:
        draft.write(sealed_json(value))
        sealed[name] = draft.seal()


def _version(prepared: Prepared) -> str:
    """The dataset's version; the hash of its source where the contract has none."""
    first = next(iter(prepared.source.values()))
    return prepared.dataset.version or f"sha256:{first}"


def _schema_version(prepared: Prepared) -> str:
    return "1.0" if prepared.contract == "dataset_document" else prepared.contract


def _manifest(
    door: RunDoor, run_id: str, prepared: Prepared, status: RunState, at: str
) -> JsonObject:
    times = [*door.repository.state_times(run_id), (status, at)]
    started = next((when for state, when in times if state == "running"), None)
    specs = prepared.specs
    single = next(iter(specs.values())) if len(specs) == 1 else None
    sampling = single.sampling if single else {}
    return {
        "run_id": run_id,
        "group_id": prepared.options.group_id,
        "status": status,
        "created_at": times[0][1],
        "started_at": started,
        "completed_at": at,
        "states": [{"state": state, "at": when} for state, when in times],
        "dataset_id": prepared.dataset.id,
        "dataset_version": _version(prepared),
        "schema_version": _schema_version(prepared),
        "contract": prepared.contract,
        "source": cast(JsonObject, dict(prepared.source)),
        "model": single.model if single else None,
        "temperature": sampling.get("temperature"),
        "top_p": sampling.get("top_p"),
        "max_new_tokens": sampling.get("max_new_tokens"),
        "seed": sampling.get("seed"),
        "targets": {name: spec.target.described() for name, spec in specs.items()},
        "rubrics": _rubrics(prepared),
        "judges": [],
        "templates": [],
        "options": prepared.options.stored(),
        "retry": {
            "max_attempts": prepared.retry.max_attempts,
            "backoff_s": list(prepared.retry.backoff_s),
            "jitter": prepared.retry.jitter,
        },
        "harness": door.harness,
        "environment": door.environment,
        "derived_from": prepared.options.stored()["derived_from"],
    }


def _rubrics(prepared: Prepared) -> list[JsonValue]:
    named: list[JsonValue] = [
        {"rubric": rubric.name, "sha256": rubric.sha256, "combine": rubric.combine}
        for rubric in prepared.grading.rubrics
    ]
    brought: JsonObject = {
        "rubric": "rubric/implicit@1.0.0",
        "sha256": None,
        "combine": "weighted_avg",
    }
    return [*named, brought] if prepared.grading.is_implicit else named
