"""The records of a run as work items of the engine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache, partial
from typing import NamedTuple

from msgspec.structs import replace

from steelyard.contracts.reading import Row
from steelyard.contracts.trace.reader import read_trace
from steelyard.engine.activity import CallActivity
from steelyard.engine.answer_places import AnswerPlaces
from steelyard.engine.cache import AnswerCache
from steelyard.engine.circuit import Circuit
from steelyard.engine.grading.implicit import NothingGrades
from steelyard.engine.limiter import Limiter
from steelyard.engine.pending_rows import read_answered
from steelyard.engine.record_work import AskedTarget, Work
from steelyard.engine.records import RecordLoop
from steelyard.engine.redaction.hidden_values import cut_values, hidden_values
from steelyard.engine.selection import value_at
from steelyard.engine.sharing.messages import News
from steelyard.engine.sharing.shared_limits import SharedLimiter
from steelyard.execution.parts import Coordinator
from steelyard.execution.ports import ExecutionPorts, RunRepository, TargetSpec
from steelyard.execution.prepared import NoAnswer, Prepared
from steelyard.execution.prompting import asking_of
from steelyard.execution.record_selection import cluster_of_case, field_of, fields_of
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
"""Maximum length of a tag (contract 2)."""
_NONE: Mapping[tuple[int, int], bytes] = {}


class TargetShare(NamedTuple):
    """The records of one loop: those of one target."""

    target: str
    is_first: bool
    """Whether it includes records without a call."""


def shares(prepared: Prepared) -> Iterator[tuple[TargetShare, TargetSpec]]:
    """A share per target, so that a slow or failing target does not delay others."""
    for place, (name, spec) in enumerate(prepared.specs.items()):
        yield TargetShare(name, place == 0), spec


class Limiters:
    """The limits of each target, shared by all its callers."""

    def __init__(
        self,
        clock: Clock,
        has_answered: Callable[[str], bool],
        outage_s: float,
        warn: Warn = log_warning,
        *,
        coordinator: Coordinator | None = None,
        keys: Mapping[int, str] | None = None,
    ) -> None:
        """`keys` has the names by which the processes of a run know its targets."""
        self._warn = warn
        self._coordinator = coordinator
        self._keys = keys or {}
        self._shared: dict[str, SharedLimiter] = {}
        self._clock = clock
        self._outage_s = outage_s
        self._has_answered = has_answered
        """Whether a target has answered in the run, so that an outage is waited for."""
        self._known: dict[int, Limiter] = {}
        self._names: dict[int, str] = {}

    def of(self, spec: TargetSpec) -> Limiter:
        """The limits of a target."""
        key = id(spec.target)
        if key not in self._known:
            self._names[key] = spec.name
            self._known[key] = self._shared_of(spec) or self._own(spec)
        return self._known[key]

    def hear(self, news: News) -> None:
        """What the process that holds the run tells."""
        if known := self._shared.get(news.target):
            known.hear(news)

    def close(self) -> None:
        """No further call comes."""
        for known in self._shared.values():
            known.close()

    def _own(self, spec: TargetSpec) -> Limiter:
        return Limiter(
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

    def _shared_of(self, spec: TargetSpec) -> SharedLimiter | None:
        """The limits that processes share; of a recording nobody needs to know."""
        if self._coordinator is None or not spec.is_asked:
            return None
        name = self._keys[id(spec.target)]
        self._shared[name] = SharedLimiter(
            self._clock,
            name,
            spec.max_concurrency,
            is_paced=bool(spec.requests_per_minute or spec.tokens_per_minute),
            say=self._coordinator.say,
            warn=self._warn,
        )
        return self._shared[name]

    def activity(self, loops: Collection[RecordLoop]) -> CallActivity:
        """What loops and judges are doing now."""
        waiting = [one for loop in loops for one in loop.retries()]
        oldest = [one for loop in loops if (one := loop.oldest_s) is not None]
        known = self._known.items()
        return CallActivity(
            in_flight=sum(one.in_flight for _, one in known),
            oldest_s=max(oldest, default=None),
            retrying=Counter(error for error, _ in waiting),
            next_retry_s=min((seconds for _, seconds in waiting), default=None),
            away=tuple(self._names[key] for key, one in known if one.is_probing),
            held_s=max((one.held_s for _, one in known), default=0.0),
        )


def asked(
    ports: ExecutionPorts, run_id: str, spec: TargetSpec, limiter: Limiter, prepared: Prepared
) -> AskedTarget:
    """A target with its limits and its cached answers, as a loop calls it.

    Cached answers of other runs of the project are used if requested.
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
    """A stored answer; None if it was redacted, because it differs from the original."""
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
    """Every record and repeat of a share without a result, in dataset order.

    `tried` has the number of earlier attempts and the time of the first; `answered` has stored
    answers that only need judging; `prompt` makes the prompt of a case.
    """
    spec = prepared.specs.get(share.target)
    past = spec.past if spec else None
    for result in prepared.carried if share.is_first else ():
        if prepared.part.number == 0 and not is_done(result.index, 0):
            yield result
    for row, case, graded, made_prompt in prepared.records():
        if case is None or graded is None:
            if share.is_first and not is_done(row.index, 0):
                yield _invalid(prepared, row)
            continue
        is_asked = isinstance(graded, Rubric) and prepared.is_asked(row.index)
        if not (prepared.target_of(case) == share.target if is_asked else share.is_first):
            continue
        repeats = range(prepared.options.repeat)
        left = [repeat for repeat in repeats if not is_done(row.index, repeat)]
        if not left:
            continue
        case_prompt = made_prompt or prompt(case)
        planned = _planned(prepared, row, case, case_prompt)
        for repeat in left:
            no_answer = prepared.unanswered(row.index, repeat)
            if no_answer or not isinstance(graded, Rubric):
                yield _unasked(replace(planned, repeat=repeat), graded, no_answer)
                continue
            made, first = tried.get((row.index, repeat), (0, None))
            is_fresh = repeat == 0 and first is None
            known = {"repeat": repeat, "first_attempt_at": first}
            again = planned if is_fresh else replace(planned, **known)
            work = Work(
                record=again, case=case, prompt=case_prompt, rubric=graded, attempt=made + 1
            )
            work = _with_past(work, past(row.index, repeat)) if past else work
            kept = answered.get((row.index, repeat)) if answered else None
            yield replace(work, answered=read_answered(kept, again)) if kept else work


def _with_past(work: Work, past: tuple[Attempt, ...]) -> Work:
    """Work whose calls were made by another run; some used no attempt."""
    made = sum(one.error_code not in UNCOUNTED for one in past)
    if not made:
        return work
    known = replace(work.record, first_attempt_at=past[0].at, copied_attempts=made)
    return replace(work, record=known, attempt=made, past=past)


def _planned(prepared: Prepared, row: Row, case: Case, prompt: Prompt) -> PlannedRecord:
    name = prepared.target_of(case)
    spec = prepared.specs.get(name)
    hashed, hidden = prepared.reading.hashed(row, case), prepared.redacted.fields
    return PlannedRecord(
        index=row.index,
        record_id=case.id,
        record_sha256=record_sha256(hashed),
        target=name,
        response_source=spec.response_source if spec else None,
        slices=_slices(prepared, case),
        cluster=cluster_of_case(case, prepared.options.cluster),
        asking=asking_of(prompt, case),
        private=hidden_values(hidden, row.value, hashed, fields_of(case)) if hidden else (),
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
    """The task type from the metadata of the record, else of the dataset."""
    for found in (metadata.get("task_type"), prepared.dataset.metadata.get("task_type")):
        if isinstance(found, str):
            return found
    return None


def _invalid_slices(prepared: Prepared, row: Row) -> tuple[tuple[str, str | None], ...]:
    """The slices of a record that is not evaluated, as far as they can be read."""
    record = row.value if isinstance(row.value, dict) else {}
    metadata = record.get("metadata")
    task_type = _task_type(prepared, metadata if isinstance(metadata, dict) else {})
    known = {"dataset": prepared.dataset.id, "task_type": task_type}
    found = {**known, **{name: value for name, value in record.items() if value is not None}}
    groups = ((path, name) for path in prepared.slices for name in _names(value_at(found, path)))
    return tuple(dict.fromkeys(groups))


def _names(value: JsonValue) -> Iterator[str | None]:
    """The slice value of an invalid record; None if it is unusable."""
    for item in value if isinstance(value, list) and value else (value,):
        name = None if item is None or isinstance(item, dict | list) else str(item)
        yield name if name and len(name) <= _LONGEST and name.isprintable() else None


@lru_cache
def _usual_slices(
    paths: tuple[str, ...], tags: tuple[str, ...], task_type: str | None
) -> tuple[tuple[str, str | None], ...]:
    """The values of the default slices, which many records share."""
    case = Case(id="", tags=tags, task_type=task_type)
    return tuple(pair for path in paths for pair in _groups(path, field_of(case, path)))


def _groups(path: str, value: JsonValue) -> Iterator[tuple[str, str | None]]:
    """The slice values of a field; a list has several."""
    if isinstance(value, list) and value:
        yield from ((path, item) for item in dict.fromkeys(str(item) for item in value))
    elif value is None or isinstance(value, dict | list):
        yield path, None
    else:
        yield path, str(value)


def _unasked(
    record: PlannedRecord, graded: Rubric | NothingGrades, no_answer: NoAnswer | None
) -> Result:
    """A record that nobody has answered in the run that is regraded, or that nothing grades."""
    reason = graded.reason if isinstance(graded, NothingGrades) else ""
    status, label, message = no_answer or NoAnswer("skipped", "nothing_grades", reason)
    return replace(record.result(status), response_source=None, label=label, message=message)


def _invalid(prepared: Prepared, row: Row) -> Result:
    first, *others = (finding for finding in row.findings if finding.is_error)
    private = hidden_values(prepared.redacted.fields, row.value)
    cut = cut_values(private, [finding.message for finding in row.findings]) if private else ()
    return Result(
        index=row.index,
        record_id=row.record_id,
        status="invalid_record",
        record_sha256=record_sha256(row.value),
        errors=(first, *others),
        label=first.code,
        message=first.message,
        slices=_invalid_slices(prepared, row),
        private=(*private, *cut),
    )
