"""Spans that judge, guard or rank what is said in a trace, and are no part of it."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.contracts.importers.otel_spans import Span

OPERATIONS = {"EVALUATOR": "evaluate", "GUARDRAIL": "guardrail", "RERANKER": "rerank"}
"""The kinds of OpenInference that do so, each with the operation that it is here."""
_OPERATION = "gen_ai.operation.name"
LANGFUSE_TYPE = "langfuse.observation.type"
_OF_LANGFUSE = ("evaluator", "guardrail")
_EVALUATION = "gen_ai.evaluation."


def apart(spans: Sequence[Span]) -> tuple[list[Span], list[Span]]:
    """What is said, and what judges it: evaluators, guardrails, rerankers and all beneath them."""
    by_id = {span.span_id: span for span in spans if span.span_id}
    known: dict[str, bool] = {}
    said: list[Span] = []
    verdicts: list[Span] = []
    for span in spans:
        (verdicts if _is_beneath(span, by_id, known) else said).append(span)
    return said, verdicts


def _is_beneath(span: Span, by_id: dict[str, Span], known: dict[str, bool]) -> bool:
    """Whether a span, or one that holds it, gives verdicts; a circle of parents ends."""
    way: list[str] = []
    found, at = False, span
    while True:
        if _gives_verdict(at) or known.get(at.span_id, False):
            found = True
            break
        if at.span_id in known or at.span_id in way:
            break
        way.append(at.span_id)
        parent = by_id.get(at.parent_id)
        if parent is None:
            break
        at = parent
    known.update((span_id, found) for span_id in way if span_id)
    return found


def _gives_verdict(span: Span) -> bool:
    """Whether a span is of such an operation; scores noted at a call of a model make it none."""
    if str(span.attributes.get(LANGFUSE_TYPE)).lower() in _OF_LANGFUSE:
        return True
    operation = span.attributes.get(_OPERATION)
    if operation:
        return operation in OPERATIONS.values()
    return any(name.startswith(_EVALUATION) for name in span.attributes)
