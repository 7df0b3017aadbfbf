"""The judges of a run as recorded in its plan and its manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from steelyard.engine.judging.judge_probe import is_enforced
from steelyard.engine.pending_rows import read_judgement
from steelyard.execution.judging import NO_RECORD, endpoint_id
from steelyard.execution.ports import ExecutionPorts, TargetSpec
from steelyard.execution.prepared import Prepared
from steelyard.judging.fingerprint import fingerprint
from steelyard.model.judge import Judge
from steelyard.model.judgement import Judgement
from steelyard.results.manifest import ProbeCall, UsedJudge, UsedTemplate

MOST_FINGERPRINTS = 100


def judge_sha256(judge: Judge) -> str:
    """The hash of a judge; of one made in code, that of its template."""
    return judge.sha256 or template_sha256(judge)


def template_sha256(judge: Judge) -> str:
    """The hash of a judge's template."""
    return hashlib.sha256(judge.template.encode("utf-8", "surrogatepass")).hexdigest()


def used_judges(ports: ExecutionPorts, run_id: str, prepared: Prepared) -> Iterator[UsedJudge]:
    """The judges that were called, one entry per target."""
    asked: dict[tuple[str, str], list[str]] = {}
    for used in ports.judgements.used(run_id):
        asked.setdefault((used.judge, used.target), []).append(used.fingerprint)
    enforced = dict(_enforced(ports, run_id))
    judges, specs = prepared.judges.judges, prepared.judge_specs
    for (name, target), found in asked.items():
        judge, spec = judges.get(name), specs.get(target)
        template = template_sha256(judge) if judge else None
        yield UsedJudge(
            judge=name,
            id=judge.id if judge else None,
            version=judge.version if judge else None,
            sha256=judge.sha256 if judge else None,
            template_sha256=template,
            model=spec.model if spec else None,
            fingerprint=fingerprint(template, spec.model, spec.sampling, spec.replies_sha256)
            if template and spec
            else None,
            target=target,
            enforced=enforced.get(_endpoint(spec)),
            fingerprints=tuple(found[:MOST_FINGERPRINTS]),
            fingerprint_count=len(found),
        )


def judge_templates(prepared: Prepared) -> Iterator[UsedTemplate]:
    """The templates of the judges of a run."""
    judges = prepared.judges.judges
    for name in sorted(judges):
        yield UsedTemplate(judge=name, sha256=template_sha256(judges[name]))


def probe_calls(ports: ExecutionPorts, run_id: str) -> Iterator[ProbeCall]:
    """The cost of each probe of an endpoint, which belongs to no record."""
    for probe in _probes(ports, run_id):
        usage = probe.trace.usage if probe.trace else None
        yield ProbeCall(
            target=probe.target,
            enforced=is_enforced(probe.trace.response) if probe.trace else None,
            attempts=probe.attempts,
            input_tokens=usage.input_tokens if usage else None,
            output_tokens=usage.output_tokens if usage else None,
            cost_usd=probe.cost_usd,
        )


def _enforced(ports: ExecutionPorts, run_id: str) -> Iterator[tuple[str | None, bool | None]]:
    """The results of the probes, by endpoint."""
    for probe in _probes(ports, run_id):
        yield probe.item, is_enforced(probe.trace.response) if probe.trace else None


def _probes(ports: ExecutionPorts, run_id: str) -> Iterator[Judgement]:
    return map(read_judgement, ports.judgements.judged(run_id).get(NO_RECORD, {}).values())


def _endpoint(spec: TargetSpec | None) -> str | None:
    return endpoint_id(spec) if spec else None
