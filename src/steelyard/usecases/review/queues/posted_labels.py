"""Labels that are sent to a server, which knows who has opened results there."""

from __future__ import annotations

from steelyard.errors import RequestError
from steelyard.model.audit import Caller
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.annotation import Wanted
from steelyard.model.labels.label import Label
from steelyard.model.labels.queue import QueueSource
from steelyard.reports.judges.labels import ImportedLabels
from steelyard.usecases.review.import_labels import LabelFile, import_labels
from steelyard.usecases.review.queues.ports import QueuePorts
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
    return import_labels(
        ports.review,
        file,
        run=run,
        is_replacing=is_replacing,
        caller=caller,
        is_seen=_SeenLabels(ports).has,
    )


class _SeenLabels:
    """Which blind labels cannot be blind: their person has opened the results before."""

    def __init__(self, ports: QueuePorts) -> None:
        self._ports = ports
        self._runs: dict[str, tuple[RunResponses, tuple[str, ...]]] = {}

    def has(self, label: Label, row: JsonObject) -> bool:
        """Whether a label says that it is blind and is not; one that is stored stays as it is."""
        if not label.is_blind or label.run_id is None:
            return False
        try:
            responses, sources = self._responses(label.run_id)
        except RequestError:
            return False
        found = responses.find(label.record_id, label.repeat)
        if found is None or not self._ports.seen.has_seen({label.annotator}, sources, found.index):
            return False
        wanted = Wanted(
            rubric=label.rubric,
            runs=(label.run_id,),
            annotator=str(row["annotator"]),
            records=(str(row["record_id"]),),
        )
        return all(one.row != row for one in self._ports.review.annotations.all(wanted))

    def _responses(self, run_id: str) -> tuple[RunResponses, tuple[str, ...]]:
        if run_id not in self._runs:
            source = self._ports.source(QueueSource(kind="run", id=run_id))
            responses = read_responses(self._ports.review.known_run(run_id))
            self._runs[run_id] = responses, source.ids
        return self._runs[run_id]
