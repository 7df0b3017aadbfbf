"""The records of a run as work for the engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import NamedTuple

from steelyard.contracts.reading import Row
from steelyard.contracts.trace.reader import read_trace
from steelyard.engine.answer_places import AnswerPlaces
from steelyard.engine.cache import AnswerCache
from steelyard.engine.circuit import Circuit
from steelyard.engine.limiter import Limiter
from steelyard.engine.pending_rows import read_answered
from steelyard.engine.record_work import AskedTarget, Work
from steelyard.engine.selection import value_at
from steelyard.execution.ports import ExecutionPorts, RunRepository, TargetSpec
from steelyard.execution.prepared import Prepared
from steelyard.execution.prompting import asking_of
from steelyard.execution.record_selection import cluster_of_case, field_of
from steelyard.formats.json_hash import record_sha256
from steelyard.model.case import Case
from steelyard.model.json_value import JsonValue
from steelyard.model.rubric import Rubric
from steelyard.model.run import UNCOUNTED, PlannedRecord, Result
from steelyard.model.trace import Trace
from steelyard.ports import Clock, Prompt, Warn, log_warning
from steelyard.results.attempts import Attempt
from steelyard.results.projections import read_answer

_USUAL = frozenset(("tags", "task_type"))
_LONGEST = 64
"""So many characters a tag may have (contract 2)."""
_NONE: Mapping[tuple[int, int], bytes] = {}


class TargetShare(NamedTuple):
    """The part of a run's records that one loop works on: those of one target."""

    target: str
    is_first: bool
    """Whether records that no target is asked about are in it, too."""


def shares(prepared: Prepared) -> Iterator[tuple[TargetShare, TargetSpec]]:
    """A share for each target, so that a slow or failing one keeps no other waiting."""
    for place, (name, spec) in enumerate(prepared.specs.items()):
        yield TargetShare(name, place == 0), spec


class Limiters:
    """The limits of each target, shared by all who ask it."""

    def __init__(
        self,
        clock: Clock,
        has_answered: Callable[[str], bool],
        outage_s: float,
        warn: Warn = log_warning,
    ) -> None:
        self._warn = warn
        self._clock = clock
        self._outage_s = outage_s
        self._has_answered = has_answered
        """Whether a target has answered in the run, so that it is waited for when it is away."""
        self._known: dict[int, Limiter] = {}

    def of(self, spec: TargetSpec) -> Limiter:
        """Those of a target."""
        key = id(spec.target)
        if key not in self._known:
            self._known[key] = Limiter(
                self._clock,
                spec.max_concurrency,
                spec.requests_per_minute,
                spec.tokens_per_minute,
                circuit=Circuit(
                    self._clock,
                    spec.name,
                    self._outage_s,
                    has_answered=partial(self._has_answered, spec.name),
                    warn=self._warn,
                ),
            )
        return self._known[key]


def asked(
    ports: ExecutionPorts, run_id: str, spec: TargetSpec, limiter: Limiter, prepared: Prepared
) -> AskedTarget:
    """A target with its limits and its answers so far, as a loop asks it.

    The answers of other runs of the project count where the user wants them to.
    """
    cache, places = None, AnswerPlaces()
    if spec.is_cacheable:
        for answered in ports.repository.answers(None if prepared.options.cache else run_id):
            places.add(*answered)
        settings = json.dumps(spec.described(), sort_keys=True)
        cache = AnswerCache(settings, partial(_recalled, ports.repository, places), places)
    return AskedTarget(
        target=spec.target,
        limiter=limiter,
        price=spec.price,
        counts_tokens=spec.tokens_per_minute is not None,
        cache=cache,
        on_answer=lambda key, record: places.add(key, run_id, record.index, record.repeat),
        claims=prepared.part.holder(spec.name) if spec.response_source == "sampled" else None,
    )


def _recalled(repository: RunRepository, places: AnswerPlaces, key: bytes) -> Trace | None:
    """A stored answer; one in which something was redacted is not what the target said."""
    place = places.find(key)
    kept = repository.answer(key, *place) if place else None
    trace = bytes(read_answer(kept).trace) if kept else b""
    return read_trace(json.loads(trace))[0] if trace and b"[redacted" not in trace else None


def work_items(
    prepared: Prepared,
    share: TargetShare,
    is_done: Callable[[int, int], bool],
    tried: Mapping[tuple[int, int], tuple[int, str]],
    answered: Mapping[tuple[int, int], bytes] = _NONE,
    *,
    prompt: Callable[[Case], Prompt],
) -> Iterator[Work | Result]:
    """Every record and repeat of a share that has no result yet, in dataset order.

    `tried` says how many attempts were made for those, and when the first was; `answered` has
    the answers of those that only judges are to be asked about; `prompt` makes what a target is
    asked of a case.
    """
    spec = prepared.specs.get(share.target)
    past = spec.past if spec else None
    for row, case, graded in prepared.records():
        if case is None or graded is None:
            if share.is_first and not is_done(row.index, 0):
                yield _invalid(prepared, row)
            continue
        is_asked = isinstance(graded, Rubric)
        if not (prepared.target_of(case) == share.target if is_asked else share.is_first):
            continue
        repeats = range(prepared.options.repeat)
        left = [repeat for repeat in repeats if not is_done(row.index, repeat)]
        if not left:
            continue
        told = prompt(case)
        planned = _planned(prepared, row, case, told)
        for repeat in left:
            made, first = tried.get((row.index, repeat), (0, None))
            if isinstance(graded, Rubric):
                is_fresh = repeat == 0 and first is None
                known = {"repeat": repeat, "first_attempt_at": first}
                again = planned if is_fresh else replace(planned, **known)
                work = Work(record=again, case=case, prompt=told, rubric=graded, attempt=made + 1)
                work = _with_past(work, past(row.index, repeat)) if past else work
                kept = answered.get((row.index, repeat)) if answered else None
                yield replace(work, answered=read_answered(kept, again)) if kept else work
            else:
                yield _skipped(replace(planned, repeat=repeat), graded.reason)


def _with_past(work: Work, past: tuple[Attempt, ...]) -> Work:
    """Work whose calls another run has made; some of them used no attempt."""
    made = sum(one.error_code not in UNCOUNTED for one in past)
    if not made:
        return work
    known = replace(work.record, first_attempt_at=past[0].at, copied_attempts=made)
    return replace(work, record=known, attempt=made, past=past)


def _planned(prepared: Prepared, row: Row, case: Case, prompt: Prompt) -> PlannedRecord:
    name = prepared.target_of(case)
    spec = prepared.specs.get(name)
    return PlannedRecord(
        index=row.index,
        record_id=case.id,
        record_sha256=record_sha256(prepared.reading.hashed(row, case)),
        target=name,
        response_source=spec.response_source if spec else None,
        slices=_slices(prepared, case),
        cluster=cluster_of_case(case, prepared.options.cluster),
        asking=asking_of(prompt, case, prepared.redacted.fields),
    )


def _slices(prepared: Prepared, case: Case) -> tuple[tuple[str, str | None], ...]:
    paths, task_type = prepared.slices, case.task_type or _task_type(prepared, case.metadata)
    if _USUAL.issuperset(paths):
        return _usual_slices(paths, case.tags, task_type)
    return tuple(
        pair
        for path in paths
        for pair in _groups(path, task_type if path == "task_type" else field_of(case, path))
    )


def _task_type(prepared: Prepared, metadata: Mapping[str, JsonValue]) -> str | None:
    """The task type of a record, in a contract that has it in the metadata; else its dataset's."""
    for found in (metadata.get("task_type"), prepared.dataset.metadata.get("task_type")):
        if isinstance(found, str):
            return found
    return None


def _invalid_slices(prepared: Prepared, row: Row) -> tuple[tuple[str, str | None], ...]:
    """The groups of a record that is counted, though not evaluated, as far as they can be read."""
    record = row.value if isinstance(row.value, dict) else {}
    metadata = record.get("metadata")
    task_type = _task_type(prepared, metadata if isinstance(metadata, dict) else {})
    known = {"dataset": prepared.dataset.id, "task_type": task_type}
    found = {**known, **{name: value for name, value in record.items() if value is not None}}
    groups = ((path, name) for path in prepared.slices for name in _names(value_at(found, path)))
    return tuple(dict.fromkeys(groups))


def _names(value: JsonValue) -> Iterator[str | None]:
    """What a broken record says of a slice; None for what cannot be the name of a group."""
    for item in value if isinstance(value, list) and value else (value,):
        name = None if item is None or isinstance(item, dict | list) else str(item)
        yield name if name and len(name) <= _LONGEST and name.isprintable() else None


@lru_cache
def _usual_slices(
    paths: tuple[str, ...], tags: tuple[str, ...], task_type: str | None
) -> tuple[tuple[str, str | None], ...]:
    """The groups of the usual slices, which are the same for many records."""
    case = Case(id="", tags=tags, task_type=task_type)
    return tuple(pair for path in paths for pair in _groups(path, field_of(case, path)))


def _groups(path: str, value: JsonValue) -> Iterator[tuple[str, str | None]]:
    """The groups of a slice that a value stands for; a list stands for several."""
    if isinstance(value, list) and value:
        yield from ((path, item) for item in dict.fromkeys(str(item) for item in value))
    elif value is None or isinstance(value, dict | list):
        yield path, None
    else:
        yield path, str(value)


def _skipped(record: PlannedRecord, reason: str) -> Result:
    skipped = record.result("skipped")
    return replace(skipped, response_source=None, label="nothing_grades", message=reason)


def _invalid(prepared: Prepared, row: Row) -> Result:
    first, *others = (finding for finding in row.findings if finding.is_error)
    return Result(
        index=row.index,
        record_id=row.record_id,
        status="invalid_record",
        record_sha256=record_sha256(row.value),
        errors=(first, *others),
        label=first.code,
        message=first.message,
        slices=_invalid_slices(prepared, row),
    )
