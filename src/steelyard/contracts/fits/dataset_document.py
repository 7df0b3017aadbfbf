"""Cases as contract 2 can hold them."""

from __future__ import annotations

from dataclasses import replace

from steelyard.contracts.dataset_document.rules import MAX_METADATA_DEPTH, MAX_RECORD_METADATA
from steelyard.contracts.fits.fit import Carrier, Fit, Fitted, Way, one_prompt
from steelyard.formats.json_text import compact, depth
from steelyard.model.case import Case
from steelyard.model.conversion import Refusal
from steelyard.model.json_value import JsonObject
from steelyard.model.message import Message

_TO = "dataset_document"
_EXPECTED = ("max_latency_ms", "required_criteria")


def fit_dataset_document(case: Case, way: Way) -> Fit:
    """A case with one prompt, one reference answer, tags, expectations and metadata."""
    carrier = Carrier(case, way)
    prompt = one_prompt(carrier, _TO)
    if isinstance(prompt, Refusal):
        return prompt
    answers = carrier.first_answer()
    carrier.lose("expected_outcome", case.expected_outcome)
    carrier.lose("criteria", case.criteria)
    carrier.lose("rubric_ref", case.rubric_ref)
    carrier.lose_grading(case.evaluators)
    carrier.lose_expected(*_EXPECTED)
    carrier.keep_labels("conversation_id", "task_type", "bundle")
    carrier.keep_extra()
    fitted = Case(
        id=case.id,
        dataset=case.dataset,
        input_messages=(Message(role="user", content=prompt),),
        reference_answers=answers,
        tags=case.tags,
        expected={name: value for name, value in case.expected.items() if name in _EXPECTED},
    )
    metadata = _within_limits(carrier)
    return Fitted(replace(fitted, metadata=metadata), tuple(carrier.changes))


def _within_limits(carrier: Carrier) -> JsonObject:
    """The metadata without what is too deep, and without the largest parts if it is too large."""
    metadata = carrier.metadata
    for name in [name for name, value in metadata.items() if depth(value) >= MAX_METADATA_DEPTH]:
        message = f"{_TO} has at most {MAX_METADATA_DEPTH} levels of metadata"
        carrier.lose(f"metadata.{name}", value=True, message=message)
        del metadata[name]
    while len(compact(metadata)) > MAX_RECORD_METADATA:
        largest = max(metadata, key=lambda name: len(compact(metadata[name])))
        message = f"{_TO} has at most {MAX_RECORD_METADATA:,} bytes of metadata a record"
        carrier.lose(f"metadata.{largest}", value=True, message=message)
        del metadata[largest]
    return metadata
