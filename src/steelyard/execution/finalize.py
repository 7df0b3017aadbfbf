"""Turn what a run has kept into its artifacts, and end it."""

from __future__ import annotations

import json
from contextlib import closing
from itertools import zip_longest
from pathlib import Path
from typing import cast

from msgspec import UNSET, UnsetType, structs

from steelyard.contracts.run_artifacts import exemptions
from steelyard.contracts.run_artifacts.rows import MANIFEST
from steelyard.engine.judging_metrics import with_probes
from steelyard.engine.metrics import metrics_of
from steelyard.engine.redaction import Redactor, json_bytes
from steelyard.errors import SourceError, UnresumableError
from steelyard.execution.accounts import Account
from steelyard.execution.early_sealing import EarlySealing
from steelyard.execution.ports import Artifacts, ExecutionPorts
from steelyard.execution.prepared import NOT_SENT, Prepared
from steelyard.execution.row_artifacts import RowArtifacts, row_artifacts
from steelyard.execution.uncounted import uncounted_calls
from steelyard.formats.json_hash import record_sha256
from steelyard.model.json_value import JsonObject
from steelyard.model.run import RunState
from steelyard.results.manifest import FORMAT_VERSION
from steelyard.results.metrics import Metrics, Slice, Taken, read_metrics, slices_json
from steelyard.results.sealing import Sealing, sealed_json, with_own_hash


def finalize(
    ports: ExecutionPorts,
    run_id: str,
    account: Account,
    redact: Redactor,
    early: EarlySealing | None = None,
) -> tuple[RunState, Metrics, str]:
    """Write all eight artifacts, the manifest last, and move the run to its last state.

    Those with many rows may have been begun before, with the same redactor.
    """
    artifacts = ports.artifacts(run_id)
    if early is None:
        artifacts.clear_drafts()
        ended = _ended(ports, run_id, artifacts)
        if ended:
            return ended
    rows = early.rows if early else row_artifacts(ports, run_id, account, redact)
    with closing(rows):
        metrics, slices = early.metrics() if early else _metrics(ports, run_id, rows)
        sealed = rows.seal()
    metrics = _beside(ports, run_id, account, with_probes(metrics, account.probes))
    metrics = _corrected(ports, account, artifacts.folder, metrics)
    _seal_json(artifacts, "metrics_summary.json", metrics.json(), sealed)
    _seal_json(artifacts, "metrics_by_slice.json", slices_json(slices), sealed)
    # A record may have a score though one of its repeats has failed.
    status: RunState = "completed_with_failures" if metrics.failure_rows else "completed"
    if ports.repository.is_cancelling(run_id):
        status = "cancelled"
    at = ports.clock.stamp()
    manifest = _manifest(ports, run_id, account, status, at)
    manifest["artifacts"] = {
        name: {"sha256": seal.sha256, "size": seal.size} for name, seal in sorted(sealed.items())
    }
    clean = redact(json_bytes(manifest), exempt=exemptions.MANIFEST)
    manifest = cast(JsonObject, json.loads(clean))
    manifest["redaction"] = redact.described(ports.repository.redactions(run_id))
    _seal_json(artifacts, MANIFEST, with_own_hash(manifest), sealed)
    ports.repository.finish(run_id, status, at, metrics.json())
    ports.fix_published(_graders(manifest))
    return status, metrics, str(artifacts.folder)


def _graders(manifest: JsonObject) -> list[str]:
    """The rubrics and judges of a run, and the rubric as it was named, which may be a path."""
    listed = (("rubrics", "rubric"), ("judges", "judge"))
    names = [
        cast(str, row[name])
        for field, name in listed
        for row in cast(list[JsonObject], manifest[field])
    ]
    given = cast("str | None", cast(JsonObject, manifest["options"])["rubric"])
    return [*names, *([given] if given else [])]


def require_same_source(ports: ExecutionPorts, run_id: str, prepared: Prepared) -> None:
    """Rows are read while a run goes on, so that its dataset must stay what it was."""
    for path in prepared.paths:
        # A file of the registry is called after its content.
        if _digest(ports, path) != prepared.source.get(path.name, path.name):
            raise SourceError(
                f"{path} has changed while {run_id} was going on; put the old file back and "
                f"go on with: steelyard resume {run_id}"
            )


def _digest(ports: ExecutionPorts, path: Path) -> str | None:
    """The hash of a file, if it is still there."""
    try:
        return ports.digest(path)
    except OSError:
        return None


def require_same_records(ports: ExecutionPorts, run_id: str, prepared: Prepared) -> None:
    """What an earlier process kept may come from a file that had changed meanwhile."""
    hashes = (
        (row.index, record_sha256(prepared.reading.hashed(row, case) if case else row.value))
        for row, case, _ in prepared.records()
    )
    kept = ports.repository.record_hashes(run_id)
    if any(one != other for one, other in zip_longest(hashes, kept)):
        raise UnresumableError(
            f"results of {run_id} belong to another version of {prepared.options.dataset}; "
            "start a new run"
        )


def _ended(
    ports: ExecutionPorts, run_id: str, artifacts: Artifacts
) -> tuple[RunState, Metrics, str] | None:
    """A run whose manifest was written but whose end was not noted before it was stopped."""
    manifest = artifacts.read(MANIFEST)
    if manifest is None:
        return None
    said = json.loads(manifest)
    metrics = read_metrics(artifacts.read("metrics_summary.json") or b"")
    ports.repository.finish(run_id, said["status"], said["completed_at"], metrics.json())
    return said["status"], metrics, str(artifacts.folder)


def _metrics(
    ports: ExecutionPorts, run_id: str, rows: RowArtifacts
) -> tuple[Metrics, list[Slice]]:
    """The metrics come out of the pass that writes the results."""
    metrics = metrics_of(rows.facts(ports.repository.results(run_id)))
    rows.add_attempts(ports.repository.attempt_rows(run_id))
    return metrics


def _beside(ports: ExecutionPorts, run_id: str, account: Account, metrics: Metrics) -> Metrics:
    """The metrics with what its results do not say."""
    unread: int | UnsetType = UNSET
    if account.unread and account.selected is not None:
        unread = account.selected - metrics.total_records
    omitted, not_shown = (cast(int, account.about.get(name, UNSET)) for name in NOT_SENT)
    copied, new = _derived(ports, run_id, account, metrics)
    return structs.replace(
        metrics,
        unread_records=unread,
        omitted_blocks=omitted,
        documents_not_shown=not_shown,
        **uncounted_calls(ports.repository, run_id),
        copied=copied,
        new=new,
    )


def _derived(
    ports: ExecutionPorts, run_id: str, account: Account, metrics: Metrics
) -> tuple[Taken | UnsetType, Taken | UnsetType]:
    """Of a run that keeps rows or calls of another, what is copied and what is new."""
    derived = cast("JsonObject | None", account.about["derived_from"])
    if derived is None or derived["how"] not in {"retry", "regrade"}:
        return UNSET, UNSET
    copied, cost = ports.repository.copied(run_id), metrics.cost_usd.total
    new = Taken(
        rows=metrics.rows - copied.rows,
        attempts=metrics.attempts - copied.attempts,
        cost_usd=None if cost is None else cost - (copied.cost_usd or 0.0),
    )
    return copied, new


def _corrected(ports: ExecutionPorts, account: Account, folder: Path, metrics: Metrics) -> Metrics:
    """The metrics with corrected rates beside the raw ones, where judges decided anything."""
    found = ports.correct(folder, account.claims) if account.judges else None
    if found is None:
        return metrics
    checks = {
        name: structs.replace(check, corrected_pass_rate=found.checks.get(name, UNSET))
        for name, check in metrics.checks.items()
    }
    return structs.replace(metrics, corrected_pass_rate=found.whole, checks=checks)


def _seal_json(
    artifacts: Artifacts, name: str, value: JsonObject, sealed: dict[str, Sealing]
) -> None:
    with closing(artifacts.draft(name)) as draft:
        draft.write(sealed_json(value))
        sealed[name] = draft.seal()


def _manifest(
    ports: ExecutionPorts, run_id: str, account: Account, status: RunState, at: str
) -> JsonObject:
    times = [*ports.repository.state_times(run_id), (status, at)]
    started = next((when for state, when in times if state == "running"), None)
    return {
        "format_version": FORMAT_VERSION,
        "run_id": run_id,
        "status": status,
        "created_at": times[0][1],
        "started_at": started,
        "completed_at": at,
        "states": [{"state": state, "at": when} for state, when in times],
        "interruptions": [
            {"stopped_at": stopped, "resumed_at": resumed}
            for stopped, resumed in ports.repository.interruptions(run_id)
        ],
        **account.about,
        "judges": account.judges,
        "probes": list(account.probes),
        "harness": ports.harness,
        "environment": ports.environment,
        "unread": account.unread or None,
    }
