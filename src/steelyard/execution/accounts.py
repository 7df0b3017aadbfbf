"""What the artifacts say of a run beside its results: who was asked, what graded, from where."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from steelyard.contracts.judge.validation import file_claim
from steelyard.contracts.legal_eval.writer import SCHEMA_VERSION as LEGAL_EVAL
from steelyard.contracts.run_artifacts.exemptions import MANIFEST
from steelyard.engine.redaction import Redactor, json_bytes
from steelyard.execution.judge_manifest import judge_rows, probe_rows, template_rows
from steelyard.execution.ports import ExecutionPorts
from steelyard.execution.prepared import Prepared
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.run import StoredRun

_SCHEMA_VERSIONS = {"dataset_document": "1.0", "legal_eval": LEGAL_EVAL}
"""What the datasets of a contract call their own version; others are called by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A run as its manifest tells it."""

    about: JsonObject
    """What is known when a run begins, by the names of the manifest."""
    judges: list[JsonValue]
    documents: Callable[[], Iterator[JsonValue]] | None = None
    """The accepted records of a dataset document, which is kept whole; of others, their hashes."""
    beside: JsonObject | None = None
    """What such a document says beside its records."""
    unread: str = ""
    """Why the source cannot be read, where it cannot; records without a result are missing."""
    selected: int | None = None
    """How many records the run is about, where that was kept."""
    claims: Mapping[str, str] = field(default_factory=dict[str, str])
    """When the files of its judges say that they were validated, by their references."""
    probes: tuple[JsonObject, ...] = ()
    """The calls that found out about the endpoints of judges, with what each took."""


def account_of(ports: ExecutionPorts, run_id: str, prepared: Prepared) -> Account:
    """The account of a run whose source is there."""
    is_document = prepared.contract == "dataset_document"
    dataset = prepared.dataset
    metadata: JsonObject = {"metadata": dict(dataset.metadata)} if dataset.metadata else {}
    return Account(
        about=about(prepared),
        judges=judge_rows(ports, run_id, prepared),
        probes=tuple(probe_rows(ports, run_id)),
        documents=(lambda: _documents(prepared)) if is_document else None,
        beside={**dataset.extra, **metadata} if is_document else None,
        claims={
            name: claim.validated_at
            for name, judge in prepared.judges.judges.items()
            if (claim := file_claim(judge))
        },
    )


def unread_account(ports: ExecutionPorts, run: StoredRun, why: str) -> Account:
    """The account of a run whose source cannot be read: what was kept of it when it began."""
    used = {(one.judge, one.target) for one in ports.judgements.used(run.run_id)}
    return Account(
        about=cast(JsonObject, run.plan["about"]),
        judges=[{"judge": judge, "target": target} for judge, target in sorted(used)],
        unread=why,
        selected=cast("int | None", run.plan.get("selected")),
    )


def kept_about(prepared: Prepared, redact: Redactor) -> JsonObject:
    """What is known when a run begins, as it may be written."""
    clean = redact(json_bytes(about(prepared)), exempt=MANIFEST)
    return cast(JsonObject, json.loads(clean))


def about(prepared: Prepared) -> JsonObject:
    """The part of a manifest that is known when a run begins."""
    specs = prepared.specs
    single = next(iter(specs.values())) if len(specs) == 1 else None
    options = prepared.options.stored().json()
    sampling = single.sampling if single else {}
    first = next(iter(prepared.source.values()))
    return {
        "group_id": prepared.options.group_id,
        "dataset_id": prepared.dataset.id,
        # The hash of its source where the contract has no version.
        "dataset_version": prepared.dataset.version or f"sha256:{first}",
        "schema_version": _SCHEMA_VERSIONS.get(prepared.contract, prepared.contract),
        "contract": prepared.contract,
        "source": cast(JsonObject, dict(prepared.source)),
        "model": single.model if single else None,
        "temperature": sampling.get("temperature"),
        "top_p": sampling.get("top_p"),
        "max_new_tokens": sampling.get("max_new_tokens"),
        "seed": sampling.get("seed"),
        "targets": {name: spec.described() for name, spec in specs.items()},
        "judge_targets": {name: spec.described() for name, spec in prepared.judge_specs.items()},
        "rubrics": _rubrics(prepared),
        "graders": cast(JsonObject, prepared.grading.revisions),
        "programs": [
            {"file": name, "sha256": sha256} for name, sha256 in prepared.grading.programs.items()
        ],
        "policies": [
            {"policy": policy.id, "revision": policy.revision, "sha256": policy.sha256}
            for policy in prepared.grading.policies
        ],
        "templates": [*template_rows(prepared), *_prompt_rows(prepared)],
        "options": options,
        "retry": {
            "max_attempts": prepared.retry.max_attempts,
            "backoff_s": list(prepared.retry.backoff_s),
            "jitter": prepared.retry.jitter,
        },
        "derived_from": options["derived_from"],
        **prepared.outlook.not_sent,
    }


def _prompt_rows(prepared: Prepared) -> Iterator[JsonObject]:
    """The templates of the targets of a run."""
    for name, spec in prepared.specs.items():
        if spec.template:
            text = spec.template.text.encode("utf-8", "surrogatepass")
            yield {"target": name, "sha256": hashlib.sha256(text).hexdigest()}


def _documents(prepared: Prepared) -> Iterator[JsonValue]:
    for row, case, _ in prepared.records():
        if case is not None:
            yield row.value


def _rubrics(prepared: Prepared) -> list[JsonValue]:
    named: list[JsonValue] = [
        {
            "rubric": rubric.name,
            "sha256": rubric.sha256,
            "grading_sha256": rubric.grading_sha256,
            "combine": rubric.combine,
        }
        for rubric in prepared.grading.rubrics
    ]
    brought: JsonObject = {
        "rubric": "rubric/implicit@1.0.0",
        "sha256": None,
        "grading_sha256": None,
        "combine": "weighted_avg",
    }
    return [*named, brought] if prepared.grading.is_implicit else named
