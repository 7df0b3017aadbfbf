"""Question sets in every form that the contract can carry, for hypothesis."""

from __future__ import annotations

from typing import Any, cast

from hypothesis import strategies as st

from steelyard.model.json_value import JsonObject, JsonValue
from strategies.judges import EXTRAS, FILLED

_TEXTS = st.text(max_size=10)
_REFERENCES = st.sampled_from(["rubric/basic@1.2", "rubric/basic", "rubric/agent-quality-v2"])
_NAMED: dict[str, Any] = {"name": FILLED}
_ARGUMENTS: dict[str, Any] = {"args": st.dictionaries(_TEXTS, _TEXTS, max_size=2)}
_TOOLS: st.SearchStrategy[Any] = FILLED | st.fixed_dictionaries(_NAMED, optional=_ARGUMENTS)
_DEMANDS: dict[str, Any] = {
    "answer": _TEXTS,
    "format": st.sampled_from(["json", "text"]),
    "x_tone": _TEXTS,
}
_OPTIONAL: dict[str, Any] = {
    "criteria": _TEXTS | st.lists(FILLED, max_size=3),
    "expected": _TEXTS | st.fixed_dictionaries({}, optional=_DEMANDS),
    "expected_facts": st.lists(FILLED, max_size=2),
    "expected_tools": st.lists(_TOOLS, max_size=2),
    "rubric_ref": _REFERENCES,
    "bundle": FILLED,
    "metadata": st.dictionaries(_TEXTS, _TEXTS, max_size=2),
}


def _joined(question: JsonObject, more: JsonObject) -> JsonObject:
    return {**question, **more}


QUESTIONS: st.SearchStrategy[JsonObject] = st.builds(
    _joined,
    st.fixed_dictionaries({"id": FILLED, "input": FILLED}, optional=_OPTIONAL),
    EXTRAS,
)
"""Questions that the contract allows."""
_HEADER: dict[str, Any] = {
    "description": _TEXTS,
    "version": _TEXTS,
    "metadata": st.dictionaries(_TEXTS, _TEXTS, max_size=2),
    "bundles": st.dictionaries(FILLED, st.lists(FILLED, max_size=2), max_size=2),
}


def _document(header: JsonObject, more: JsonObject, listed: list[JsonObject]) -> JsonObject:
    by_id = {str(question["id"]): question for question in listed}
    return {**header, **more, "questions": cast(JsonValue, list(by_id.values()))}


DOCUMENTS: st.SearchStrategy[JsonObject] = st.builds(
    _document,
    st.fixed_dictionaries({}, optional=_HEADER),
    EXTRAS,
    st.lists(QUESTIONS, min_size=1, max_size=3),
)
"""Documents that the contract allows."""
