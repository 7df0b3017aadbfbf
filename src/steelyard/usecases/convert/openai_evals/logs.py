"""The logs that `oaieval` writes, as recorded responses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steelyard.contracts.importers.conversation import as_object, as_text
from steelyard.contracts.importers.openai_messages import messages_of, text_of
from steelyard.contracts.importers.source_row import Import, Imported
from steelyard.errors import ParseError
from steelyard.formats.json_fields import fields
from steelyard.formats.records import Record
from steelyard.model.conversion import Change, Refusal
from steelyard.model.json_value import JsonObject, JsonValue

_EVENT = {"sample_id", "type", "data"}
_SCORED = {"match", "metrics"}
_FIRST = "only the first answer of a sample comes over; later ones are those of a grader or a tool"
_SCORES = "what the log scored is no part of a trace; grade with the cases of the registry"
_NO_MODEL = "the log has no 'spec' line with the completion_fns that answered"


class RunLog:
    """The events of one log, gathered by sample."""

    def __init__(self) -> None:
        self.model = ""
        self._answers: dict[str, tuple[str, JsonObject]] = {}
        self._errors: dict[str, tuple[str, str]] = {}
        self._later: set[str] = set()
        self._is_scored = False

    def add(self, record: Record) -> bool:
        """Take in a line of a log; False where it is none."""
        value = fields(record.value)
        if "spec" in value:
            named = as_object(value["spec"]).get("completion_fns")
            first = named[0] if isinstance(named, list) and named else None
            self.model = first if isinstance(first, str) else ""
            return True
        if "final_report" in value:
            self._is_scored = True
            return True
        if not value.keys() >= _EVENT:
            return False
        self._event(record.place, value)
        return True

    def _event(self, place: str, event: JsonObject) -> None:
        sample, data = str(event["sample_id"]), as_object(event["data"])
        kind = event["type"]
        if kind == "sampling":
            if sample in self._answers:
                self._later.add(sample)
            else:
                self._answers[sample] = place, data
        elif kind == "error":
            message = as_text(data.get("message")) or as_text(data.get("error"))
            self._errors.setdefault(sample, (place, message))
        self._is_scored = self._is_scored or kind in _SCORED

    def imports(self) -> Iterator[tuple[str, Import]]:
        """One response for each sample, in the order of the log."""
        if self._answers and not self.model:
            yield "log", Refusal("invalid", _NO_MODEL)
            return
        for sample, (place, data) in self._answers.items():
            changes = (Change("scores", _SCORES),) if self._is_scored else ()
            changes += (Change("sampling", _FIRST),) if sample in self._later else ()
            try:
                messages = [*messages_of(data.get("prompt")), _said(data.get("sampled"))]
            except ParseError as wrong:
                yield place, Refusal("invalid", str(wrong))
                continue
            yield place, Imported(self._row(sample, messages), changes)
        for sample, (place, message) in self._errors.items():
            if sample not in self._answers:
                row = self._row(sample, [])
                failed: JsonObject = {"error_code": "target_error", "message": message or "failed"}
                yield place, Imported({**row, **failed})

    def _row(self, sample: str, messages: Iterable[JsonObject]) -> JsonObject:
        trace: JsonObject = {"messages": [*messages], "model": self.model}
        return {"record_id": sample, "candidate_name": self.model, "trace": trace}


def _said(sampled: JsonValue) -> JsonObject:
    """The answer; of several samples the first, as the graders take it."""
    first = sampled[0] if isinstance(sampled, list) and sampled else sampled
    return {"role": "assistant", "content": text_of(first)}
