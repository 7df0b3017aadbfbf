"""Writes the artifacts of a run from its stored results, and ends it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from heapq import merge
from itertools import zip_longest
from pathlib import Path

from msgspec import UNSET, UnsetType, structs

from steelyard.engine.metrics.extent import ALL_ROWS, Extent
from steelyard.engine.metrics.judging_metrics import with_probes
from steelyard.engine.metrics.run_metrics import metrics_of
from steelyard.engine.metrics.unread_records import with_unread
from steelyard.engine.redaction.redactor import Redactor, json_bytes
from steelyard.errors import SealedElsewhereError, SourceError, UnavailableError, UnresumableError
from steelyard.execution.early_sealing import EarlySealing
from steelyard.execution.ports import Artifacts, ExecutionPorts, RunRepository
from steelyard.execution.prepared import Prepared
from steelyard.execution.provenance import Provenance
from steelyard.execution.row_artifacts import RowArtifacts, row_artifacts
from steelyard.formats.json_hash import record_sha256
from steelyard.model.json_value import JsonObject
from steelyard.model.run import UNCOUNTED, RunState
from steelyard.results import exemptions
from steelyard.results.artifacts import MANIFEST
from steelyard.results.manifest import Interruption, Manifest, StateTime, read_manifest
from steelyard.results.metrics import Metrics, Slice, Taken, read_metrics, slices_json
from steelyard.results.sealing import Seal, sealed_json, with_own_hash

_COST_DIGITS = 12


def finalize(
    ports: ExecutionPorts,
    run_id: str,
    provenance: Provenance,
    redact: Redactor,
    early: EarlySealing | None = None,
) -> tuple[RunState, Metrics, str]:
    """Write all eight artifacts, the manifest last, and move the run to its last state.

    Artifacts with many rows may have been started earlier, with the same redactor.
    """
    try:
        return _finalized(ports, run_id, provenance, redact, early)
    except UnavailableError as error:
        # Of the same kind: a worker tries again where it is away for a while.
        raise type(error)(
            f"{error}. All results are kept; seal them with: steelyard resume {run_id}"
        ) from None


def _finalized(
    ports: ExecutionPorts,
    run_id: str,
    provenance: Provenance,
    redact: Redactor,
    early: EarlySealing | None,
) -> tuple[RunState, Metrics, str]:
    """The same; where another process has sealed the run meanwhile, that is its end."""
    artifacts = ports.artifacts(run_id)
    if early is None:
        artifacts.clear_drafts()
        ended = _ended(ports, run_id, artifacts)
        if ended:
            return ended
    try:
        return _sealed(ports, run_id, provenance, redact, early)
    except SealedElsewhereError:
        artifacts.clear_drafts()
        ended = _ended(ports, run_id, artifacts)
        if ended is None:
            raise
        return ended


def _sealed(
    ports: ExecutionPorts,
    run_id: str,
    provenance: Provenance,
    redact: Redactor,
    early: EarlySealing | None,
) -> tuple[RunState, Metrics, str]:
    artifacts = ports.artifacts(run_id)
    rows = early.rows if early else row_artifacts(ports, run_id, provenance, redact)
    with closing(rows):
        extent = provenance.planned.extent if provenance.unread else ALL_ROWS
        metrics, slices = early.metrics() if early else _metrics(ports, run_id, rows, extent)
        sealed = rows.seal()
    metrics = _beside(ports, run_id, provenance, with_probes(metrics, provenance.probes))
    metrics = _corrected(ports, provenance, artifacts.folder, metrics)
    _seal_json(artifacts, "metrics_summary.json", metrics.json(), sealed)
    _seal_json(artifacts, "metrics_by_slice.json", slices_json(slices), sealed)
    # A record may have a score although one of its repeats failed.
    status: RunState = "completed_with_failures" if _has_failed(metrics) else "completed"
    if ports.repository.is_cancelling(run_id):
        status = "cancelled"
    at = ports.clock.stamp()
    manifest = _manifest(ports, run_id, provenance, (status, at), sealed)
    redact.carry((provenance.setup.options.where or "").encode("utf-8", "surrogatepass"))
    row: JsonObject = json.loads(redact(json_bytes(manifest.json()), exempt=exemptions.MANIFEST))
    row["redaction"] = redact.described(ports.repository.redactions(run_id)).json()
    if artifacts.writer:
        row["writer"] = artifacts.writer
    _seal_json(artifacts, MANIFEST, with_own_hash(row), sealed)
    ports.repository.finish(run_id, status, at, metrics.json())
    ports.fix_published(_graders(manifest), ports.caller)
    return status, metrics, str(artifacts.folder)


def _has_failed(metrics: Metrics) -> bool:
    """Whether a row, or a record without one, keeps a run from being completed."""
    return bool(metrics.failure_rows or metrics.unread_records)


def _graders(manifest: Manifest) -> list[str]:
    """The rubrics and judges of a run, and the rubric as it was named, which may be a path."""
    rubrics = [row.rubric for row in manifest.setup.rubrics]
    judges = [row.judge for row in manifest.judges or ()]
    given = manifest.setup.options.rubric
    return [*rubrics, *judges, *([given] if given else [])]


def require_same_source(ports: ExecutionPorts, run_id: str, prepared: Prepared) -> None:
    """Check that the dataset did not change during the run, because rows are read lazily."""
    for path in prepared.paths:
        # Files of the registry are named after their content.
        if _digest(ports, path) != prepared.source.get(path.name, path.name):
            raise SourceError(
                f"{path} has changed while {run_id} was going on; put the old file back and "
                f"resume it with: steelyard resume {run_id}"
            )


def _digest(ports: ExecutionPorts, path: Path) -> str | None:
    """The hash of a file, if it still exists."""
    try:
        return ports.digest(path)
    except OSError:
        return None


def require_same_records(ports: ExecutionPorts, run_id: str, prepared: Prepared) -> None:
    """Check that results of an earlier process come from the same dataset."""
    hashes = (
        (row.index, record_sha256(prepared.reading.hashed(row, case) if case else row.value))
        for row, case, _, _ in prepared.records()
    )
    carried = ((one.index, one.record_sha256 or "") for one in prepared.carried)
    kept = ports.repository.record_hashes(run_id)
    if any(one != other for one, other in zip_longest(merge(hashes, carried), kept)):
        raise UnresumableError(
            f"results of {run_id} belong to another version of {prepared.options.dataset}; "
            "start a new run"
        )


def _ended(
    ports: ExecutionPorts, run_id: str, artifacts: Artifacts
) -> tuple[RunState, Metrics, str] | None:
    """Finish a run whose manifest was written before it was interrupted."""
    data = artifacts.read(MANIFEST)
    if data is None:
        return None
    manifest = read_manifest(data)
    metrics = read_metrics(artifacts.read("metrics_summary.json") or b"")
    at = manifest.completed_at or ports.clock.stamp()
    ports.repository.finish(run_id, manifest.status, at, metrics.json())
    return manifest.status, metrics, str(artifacts.folder)


def _metrics(
    ports: ExecutionPorts, run_id: str, rows: RowArtifacts, extent: Extent
) -> tuple[Metrics, list[Slice]]:
    """Compute the metrics while writing the results."""
    metrics = metrics_of(rows.facts(ports.repository.results(run_id)), extent)
    rows.add_attempts(ports.repository.attempt_rows(run_id))
    return metrics


def _beside(
    ports: ExecutionPorts, run_id: str, provenance: Provenance, metrics: Metrics
) -> Metrics:
    """The metrics with figures that are not in the results."""
    if provenance.unread:
        metrics = with_unread(metrics, provenance.planned)
    copied, new = _derived(ports, run_id, provenance, metrics)
    return structs.replace(
        metrics,
        omitted_blocks=provenance.setup.omitted_blocks,
        documents_not_shown=provenance.setup.documents_not_shown,
        **uncounted_calls(ports.repository, run_id),
        copied=copied,
        new=new,
    )


def _derived(
    ports: ExecutionPorts, run_id: str, provenance: Provenance, metrics: Metrics
) -> tuple[Taken | UnsetType, Taken | UnsetType]:
    """Copied and new rows, attempts and cost of a derived run."""
    derived = provenance.setup.derived_from
    if derived is None or derived.how == "pairwise":
        return UNSET, UNSET
    copied, cost = ports.repository.copied(run_id), metrics.cost_usd.total
    new = Taken(
        rows=metrics.rows - copied.rows,
        attempts=metrics.attempts - copied.attempts,
        cost_usd=None if cost is None else cost_beyond(cost, copied.cost_usd or 0.0),
    )
    return copied, new


def cost_beyond(cost: float, copied: float) -> float:
    """What was spent beyond what was copied; sums of the same costs may differ in a last bit."""
    return max(0.0, round(cost - copied, _COST_DIGITS))


def _corrected(
    ports: ExecutionPorts, provenance: Provenance, folder: Path, metrics: Metrics
) -> Metrics:
    """The metrics with corrected rates, if judges decided anything."""
    found = ports.correct(folder, provenance.claims) if provenance.judges else None
    if found is None:
        return metrics
    checks = {
        name: structs.replace(check, corrected_pass_rate=found.checks.get(name, UNSET))
        for name, check in metrics.checks.items()
    }
    return structs.replace(metrics, corrected_pass_rate=found.whole, checks=checks)


def _seal_json(
    artifacts: Artifacts, name: str, value: JsonObject, sealed: dict[str, Seal]
) -> None:
    with closing(artifacts.draft(name)) as draft:
        draft.write(sealed_json(value))
        sealed[name] = draft.seal()


def _manifest(
    ports: ExecutionPorts,
    run_id: str,
    provenance: Provenance,
    end: tuple[RunState, str],
    sealed: Mapping[str, Seal],
) -> Manifest:
    times = [*ports.repository.state_times(run_id), end]
    started = next((when for state, when in times if state == "running"), None)
    return Manifest(
        run_id=run_id,
        status=end[0],
        created_at=times[0][1],
        started_at=started,
        completed_at=end[1],
        states=tuple(StateTime(state=state, at=when) for state, when in times),
        interruptions=tuple(
            Interruption(stopped_at=stopped, resumed_at=resumed)
            for stopped, resumed in ports.repository.interruptions(run_id)
        ),
        setup=provenance.setup,
        judges=provenance.judges,
        probes=provenance.probes,
        harness=ports.harness,
        environment=ports.environment,
        unread=provenance.unread or None,
        artifacts=dict(sorted(sealed.items())),
    )


def uncounted_calls(repository: RunRepository, run_id: str) -> dict[str, int]:
    """How many calls were cut off, and how many a target that was away did not answer."""
    return {
        f"{code}_calls": repository.uncounted_calls(run_id, code) for code in sorted(UNCOUNTED)
    }
