"""Assertions about questions, contexts and answers, which promptfoo computes in several calls."""

from __future__ import annotations

from steelyard.contracts.importers.source_row import wrong
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.usecases.convert.promptfoo.context import AssertionContext
from steelyard.usecases.convert.promptfoo.judged import asked
from steelyard.usecases.convert.promptfoo.source import ConfigPlace, listed

_QUESTION = "Question:\n{query}\n\n"
_CONTEXT = "Context:\n{context}\n\n"
_ANSWER = "Answer:\n{{{{ candidate_answer }}}}\n\n"
_SHARE = "The score is that share, from 0 to 1. Judge nothing else."
_PROMPTS = {
    "context-faithfulness": (
        f"{_QUESTION}{_CONTEXT}{_ANSWER}"
        "Take the answer apart into its statements. Which share of them does the context support? "
        f"{_SHARE}"
    ),
    "context-relevance": (
        f"{_QUESTION}{_CONTEXT}"
        "Which share of the sentences of the context is needed to answer the question? The "
        f"answer itself does not count. {_SHARE}"
    ),
    "context-recall": (
        f"{_CONTEXT}Expected:\n{{expected}}\n\n"
        "Take what is expected apart into its sentences. Which share of them is stated in the "
        f"context? The answer itself does not count. {_SHARE}"
    ),
    "answer-relevance": (
        f"{_QUESTION}{_ANSWER}"
        "How far does the answer address exactly this question? The score is 1 if it answers it "
        "and nothing else, and 0 if it evades it or is about something else. Whether it is true "
        "does not count."
    ),
}
RETRIEVAL = tuple(_PROMPTS)
_JUDGED = (
    "promptfoo computes it from several calls of a model; one judge says the share instead, so "
    "that scores differ"
)


def retrieval(
    kind: str,
    entry: JsonObject,
    grading: AssertionContext,
    place: ConfigPlace,
    changes: list[Change],
) -> JsonObject:
    """The judge that says the share which the assertion is about."""
    if entry.get("rubricPrompt", grading.options.get("rubricPrompt")):
        raise wrong("a rubricPrompt of its own has no counterpart")
    parts = {"query": "", "context": "", "expected": ""}
    if "{query}" in _PROMPTS[kind]:
        parts["query"] = _query(kind, grading)
    if "{context}" in _PROMPTS[kind]:
        parts["context"] = _context(kind, grading)
    if "{expected}" in _PROMPTS[kind]:
        parts["expected"] = _text(entry.get("value"), "its value", grading)
    least = entry.get("threshold", 0)
    if isinstance(least, bool) or not isinstance(least, int | float) or not 0 <= least <= 1:
        raise wrong("its threshold must be between 0 and 1")
    made: JsonObject = {"name": kind, "type": "llm_judge", "threshold": least}
    if provider := entry.get("provider", grading.options.get("provider")):
        made.update(asked(provider, grading, place, changes))
    changes.append(place.replaced(_JUDGED))
    return {**made, "prompt": _PROMPTS[kind].format(**parts)}


def _query(kind: str, grading: AssertionContext) -> str:
    """The question: the variable of that name, or for answers all that was asked."""
    if kind == "answer-relevance" and not isinstance(grading.values.get("query"), str):
        return "{{ question }}"
    return _text(grading.values.get("query"), "the variable 'query'", grading)


def _context(kind: str, grading: AssertionContext) -> str:
    """The context; what should be in it is else looked for in the prompt."""
    stated = grading.values.get("context")
    if stated is None and kind == "context-recall":
        return "{{ question }}"
    texts = [_text(one, "the variable 'context'", grading) for one in listed(stated)]
    return "\n\n".join(texts) or _text(None, "the variable 'context'", grading)


def _text(value: JsonValue, name: str, grading: AssertionContext) -> str:
    if not isinstance(value, str) or not value.strip():
        raise wrong(f"{name} must be a text")
    # Braces would name a variable of the judge's prompt.
    return grading.render(value).replace("{{", "{ {").replace("}}", "} }")
