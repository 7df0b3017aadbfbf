"""The provenance of a run: its setup, targets, graders and source."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import UNSET, UnsetType, field, structs

from steelyard.contracts.judge.validation import file_claim
from steelyard.engine.metrics.unread_records import PlannedRecords
from steelyard.engine.redaction.redactor import Redactor, json_bytes
from steelyard.engine.selection import without_values
from steelyard.execution.judge_manifest import judge_templates, probe_calls, used_judges
from steelyard.execution.ports import ExecutionPorts, TargetSpec
from steelyard.execution.prepared import Prepared
from steelyard.execution.run_options import options_from
from steelyard.formats.json_fields import fields
from steelyard.formats.root_paths import value_from
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.results.exemptions import MANIFEST
from steelyard.results.grading_summary import GradingSummary, JudgeUse, OwnChecks, RubricUse
from steelyard.results.json_struct import from_json
from steelyard.results.manifest import (
    ProbeCall,
    Retry,
    RunSetup,
    UsedJudge,
    UsedPolicy,
    UsedPrice,
    UsedProgram,
    UsedRubric,
    UsedTemplate,
)
from steelyard.results.stored_run import StoredRun, require_plan

SAMPLING = ("temperature", "top_p", "max_new_tokens", "seed")
"""The settings of a model that the manifest has on their own."""


class Provenance(FrozenStruct, frozen=True, kw_only=True):
    """Where the results of a run come from."""

    setup: RunSetup
    judges: tuple[UsedJudge, ...]
    documents: Callable[[], Iterator[JsonValue]] | None = None
    """The accepted records of a dataset document; for other contracts, their hashes."""
    beside: JsonObject | None = None
    """The fields of such a document other than its records."""
    unread: str = ""
    """Why records of the run have no row, if so: its source cannot be read."""
    planned: PlannedRecords = field(default_factory=PlannedRecords)
    """All records of the run, those without a row included."""
    claims: Mapping[str, str] = field(default_factory=dict[str, str])
    """The validation times stated in the files of its judges, by reference."""
    probes: tuple[ProbeCall, ...] = ()
    """The probes of judge endpoints, with their cost."""


def provenance_of(ports: ExecutionPorts, run_id: str, prepared: Prepared) -> Provenance:
    """The provenance of a run whose source is available."""
    is_document = prepared.contract.name == "dataset_document"
    dataset = prepared.dataset
    metadata: JsonObject = {"metadata": dict(dataset.metadata)} if dataset.metadata else {}
    unread = prepared.unread
    return Provenance(
        setup=setup_of(prepared, ports.root),
        unread=unread.why if unread else "",
        planned=_planned(prepared),
        judges=tuple(used_judges(ports, run_id, prepared)),
        probes=tuple(probe_calls(ports, run_id)),
        documents=(lambda: _documents(prepared)) if is_document else None,
        beside={**dataset.extra, **metadata} if is_document else None,
        claims={
            name: claim.validated_at
            for name, judge in prepared.judges.judges.items()
            if (claim := file_claim(judge))
        },
    )


def _planned(prepared: Prepared) -> PlannedRecords:
    """All records of a run, those included that its parent could not read."""
    unread, forecast = prepared.unread, prepared.forecast
    if unread is None:
        return PlannedRecords()
    return PlannedRecords(
        records=forecast.total + len(prepared.carried) + unread.records,
        valid=forecast.valid + unread.valid,
        repeats=prepared.options.repeat,
    )


def unread_provenance(ports: ExecutionPorts, run: StoredRun, why: str) -> Provenance:
    """The provenance of a run whose source cannot be read, from its stored plan."""
    used = {(one.judge, one.target) for one in ports.judgements.used(run.run_id)}
    plan = require_plan(run)
    assert plan.setup
    return Provenance(
        setup=plan.setup,
        judges=tuple(UsedJudge(judge=judge, target=target) for judge, target in sorted(used)),
        unread=why,
        planned=PlannedRecords(
            records=plan.selected, valid=plan.valid, repeats=plan.options.repeat
        ),
    )


def kept_setup(prepared: Prepared, redact: Redactor, root: Path) -> RunSetup:
    """The setup of a run, redacted."""
    clean = redact(json_bytes(setup_of(prepared, root).json()), exempt=MANIFEST)
    return from_json(json.loads(clean), RunSetup)


def kept_graders(prepared: Prepared, redact: Redactor) -> GradingSummary:
    """What grades a run, redacted."""
    clean = redact(json_bytes(graders_of(prepared).json()), exempt=MANIFEST)
    return from_json(json.loads(clean), GradingSummary)


def graders_of(prepared: Prepared) -> GradingSummary:
    """What grades the records of a run."""
    grading = prepared.grading
    return GradingSummary(
        rubrics=tuple(
            RubricUse(
                rubric=one.name, checks=len(one.checks), records=grading.graded.get(one.name, 0)
            )
            for one in grading.rubrics
        ),
        brought=OwnChecks(records=grading.bringing, kinds=grading.brought),
        skipped=prepared.forecast.skipped,
        asked=tuple(JudgeUse(judge=judge.name, target=target) for judge, target in grading.judges),
    )


def setup_of(prepared: Prepared, root: Path) -> RunSetup:
    """The setup of a run; paths begin at the project's root."""
    dataset, grading, forecast = prepared.dataset, prepared.grading, prepared.forecast
    specs, retry = prepared.specs, prepared.retry
    single = next(iter(specs.values())) if len(specs) == 1 else None
    options = options_from(root, prepared.options.stored())
    if options.where:
        where = without_values(options.where, prepared.redacted.fields)
        options = structs.replace(options, where=where)
    return RunSetup(
        group_id=prepared.options.group_id,
        dataset_id=dataset.id,
        # The hash of its source, if the contract has no version.
        dataset_version=dataset.version or f"sha256:{next(iter(prepared.source.values()))}",
        schema_version=prepared.contract.version,
        contract=prepared.contract.name,
        source=prepared.source,
        model=single.model if single else None,
        **_sampling(single),
        targets=_described(specs, root),
        judge_targets=_described(prepared.judge_specs, root),
        prices=used_prices({**specs, **prepared.judge_specs}.values()),
        rubrics=tuple(_rubrics(prepared)),
        graders=grading.revisions,
        programs=tuple(
            UsedProgram(file=name, sha256=sha256) for name, sha256 in grading.programs.items()
        ),
        policies=tuple(
            UsedPolicy(policy=policy.id, revision=policy.revision, sha256=policy.sha256)
            for policy in grading.policies
        ),
        templates=(*judge_templates(prepared), *_prompts(prepared)),
        options=options,
        not_selected=_not_selected(prepared),
        retry=Retry(
            max_attempts=retry.max_attempts, backoff_s=retry.backoff_s, jitter=retry.jitter
        ),
        derived_from=options.derived,
        omitted_blocks=forecast.omitted_blocks or UNSET,
        documents_not_shown=forecast.documents_not_shown or UNSET,
    )


def _not_selected(prepared: Prepared) -> int | UnsetType:
    """How many records of its dataset a run with a selection leaves out."""
    options, forecast = prepared.options, prepared.forecast
    if options.derived or (options.limit is None and not options.where):
        return UNSET
    return forecast.in_dataset - forecast.total


def used_prices(specs: Iterable[TargetSpec]) -> tuple[UsedPrice, ...]:
    """The prices of the targets that have one."""
    return tuple(
        UsedPrice(
            target=spec.name,
            input=spec.price[0],
            output=spec.price[1],
            source="list" if spec.price_as_of else "project",
            as_of=spec.price_as_of or UNSET,
        )
        for spec in specs
        if spec.price
    )


def _described(specs: Mapping[str, TargetSpec], root: Path) -> dict[str, JsonObject]:
    """The settings of targets."""
    return {name: fields(value_from(root, spec.described())) for name, spec in specs.items()}


def _sampling(spec: TargetSpec | None) -> dict[str, Any]:
    """The sampling settings, if the run has a single target."""
    return {name: spec.sampling.get(name) for name in SAMPLING} if spec else {}


def _prompts(prepared: Prepared) -> Iterator[UsedTemplate]:
    """The templates of the targets of a run."""
    for name, spec in prepared.specs.items():
        if spec.template:
            text = spec.template.text.encode("utf-8", "surrogatepass")
            yield UsedTemplate(target=name, sha256=hashlib.sha256(text).hexdigest())


def _documents(prepared: Prepared) -> Iterator[JsonValue]:
    for row, case, _, _ in prepared.records():
        if case is not None:
            yield row.value


def _rubrics(prepared: Prepared) -> Iterator[UsedRubric]:
    for rubric in prepared.grading.rubrics:
        yield UsedRubric(
            rubric=rubric.name,
            sha256=rubric.sha256,
            grading_sha256=rubric.grading_sha256,
            combine=rubric.combine,
        )
    if prepared.grading.is_implicit:
        yield UsedRubric(
            rubric="rubric/implicit@1.0.0", grading_sha256=None, combine="weighted_avg"
        )
