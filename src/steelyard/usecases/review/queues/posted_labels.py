"""Labels that are sent to a server, which knows who has opened results there."""

from __future__ import annotations

from collections.abc import Collection

from steelyard.errors import NotFoundError, RequestError
from steelyard.model.audit import Caller
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.annotation import Wanted
from steelyard.model.labels.label import Label
from steelyard.model.labels.queue import QueueSource, ReviewQueue
from steelyard.model.names import folded_name
from steelyard.reports.judges.labels import ImportedLabels
from steelyard.usecases.review.import_labels import LabelFile, import_labels
from steelyard.usecases.review.queues.exposure import has_seen_record, has_seen_response
from steelyard.usecases.review.queues.ports import QueuePorts, TraceSource
from steelyard.usecases.review.reviewed_runs import RunResponses, read_responses


def import_posted_labels(
    ports: QueuePorts,
    file: LabelFile,
    *,
    run: str | None = None,
    is_replacing: bool = False,
    caller: Caller | None = None,
) -> ImportedLabels:
    """Import labels; refuse new blind ones of users about results that they have opened."""
    queues, seen = NamedQueues(ports), _SeenLabels(ports)
    return import_labels(
        ports.review,
        file,
        run=run,
        is_replacing=is_replacing,
        caller=caller,
        refuse=lambda label, row: queues.wrong(label) or seen.wrong(label, row),
    )


class NamedQueues:
    """The queues that labels say they were given in."""

    def __init__(self, ports: QueuePorts) -> None:
        self._ports = ports
        self._known: dict[str, tuple[ReviewQueue, set[tuple[str, int]]] | None] = {}

    def wrong(self, label: Label) -> Finding | None:
        """What is wrong with the queue of a label, if it names one."""
        if label.queue_id is None:
            return None
        found = self._found(label.queue_id)
        if found is None:
            return _no_queue(f"there is no queue '{label.queue_id}'")
        queue, places = found
        is_of_run = label.run_id in {None, queue.source.id}
        if is_of_run and (label.record_id, label.repeat) in places:
            return None
        run = "" if label.run_id is None else f" of {label.run_id}"
        return _no_queue(f"{label.queue_id} has no item '{label.record_id}'{run}")

    def _found(self, queue_id: str) -> tuple[ReviewQueue, set[tuple[str, int]]] | None:
        if queue_id not in self._known:
            try:
                queue = self._ports.queues.find(queue_id)
            except NotFoundError:
                self._known[queue_id] = None
            else:
                items = self._ports.queues.items(queue_id)
                self._known[queue_id] = queue, {(one.record_id, one.repeat) for one in items}
        return self._known[queue_id]


def _no_queue(message: str) -> Finding:
    return Finding(
        severity="error",
        code="dangling_reference",
        path="queue_id",
        message=message,
        hint="leave queue_id out of labels that were given elsewhere",
    )


class _SeenLabels:
    """Which blind labels cannot be blind: their person has opened the results before."""

    def __init__(self, ports: QueuePorts) -> None:
        self._ports = ports
        self._known = ports.seen.people()
        self._runs: dict[str, tuple[RunResponses, TraceSource]] = {}

    def wrong(self, label: Label, row: JsonObject) -> Finding | None:
        """Why a label cannot be blind, if it says so."""
        if not self._has(label, row):
            return None
        return Finding(
            severity="error",
            code="conflicting_fields",
            path="exposure",
            message=f"{label.annotator} had opened the results of '{label.record_id}' here",
            hint="only answers given before that are blind; write suggested",
        )

    def _has(self, label: Label, row: JsonObject) -> bool:
        """Whether a label says that it is blind and is not; one that is stored stays as it is."""
        name = folded_name(label.annotator)
        people = {one for one in self._known if folded_name(one) == name}
        if not label.is_blind or not people or not self._is_seen(label, people):
            return False
        wanted = Wanted(
            rubric=label.rubric,
            runs=(label.run_id,) if label.run_id else (),
            annotator=str(row["annotator"]),
            records=(str(row["record_id"]),),
        )
        return all(one.row != row for one in self._ports.review.annotations.all(wanted))

    def _is_seen(self, label: Label, people: Collection[str]) -> bool:
        if label.run_id is None:
            # It is about every run that has the record.
            return has_seen_record(self._ports, label.record_id, people)
        try:
            responses, source = self._responses(label.run_id)
        except RequestError:
            return False
        found = responses.find(label.record_id, label.repeat)
        if found is None:
            return False
        return has_seen_response(self._ports, source, (found.index, found.repeat), people)

    def _responses(self, run_id: str) -> tuple[RunResponses, TraceSource]:
        if run_id not in self._runs:
            source = self._ports.source(QueueSource(kind="run", id=run_id))
            self._runs[run_id] = read_responses(self._ports.review.known_run(run_id)), source
        return self._runs[run_id]
