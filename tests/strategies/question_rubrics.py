"""Question rubrics and the answers to them: to build, to read and to vary in a test."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any, cast

from hypothesis import strategies as st

from steelyard.contracts.question_rubric.reader import read_question_rubric
from steelyard.contracts.question_rubric.writer import rubric_row
from steelyard.formats.lines import Lines, Located
from steelyard.judging.coercion import folded
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.question import (
    Option,
    Question,
    QuestionRubric,
    Scale,
)
from steelyard.model.question_types import QUESTION_TYPES, QuestionType

HEAD: JsonObject = {"name": "Help desk", "version": "helpdesk-v1"}

SELECT_TYPES = [name for name, one in QUESTION_TYPES.items() if one.needs == "options"]


def question(kind: str = "yes_no", **changes: JsonValue) -> JsonObject:
    """A good question of a type with some fields changed or added."""
    row: JsonObject = {"key": "q", "label": "Is it good?", "type": kind}
    if kind in SELECT_TYPES:
        row["options"] = [{"value": "a", "label": "First"}, {"value": "b", "label": "Second"}]
    if kind == "score":
        row["scale"] = "0-5"
    return {**row, **changes}


def rubric(*questions: JsonValue, **changes: JsonValue) -> JsonObject:
    """A rubric with these questions, or with one good one."""
    return {**HEAD, "questions": list(questions) or [question()], **changes}


def read(value: JsonValue) -> tuple[QuestionRubric | None, list[Finding]]:
    """A rubric that was read from a value."""
    return read_question_rubric(Located(value, Lines(1)))


def sound(value: JsonValue) -> QuestionRubric:
    """A rubric that was read without a finding."""
    made, findings = read(value)
    assert findings == []
    assert made
    return made


def told(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    """Code and path of each finding."""
    return [(finding.code, finding.path) for finding in findings]


def problems(value: JsonValue) -> list[tuple[str, str]]:
    """Code and path of what is wrong with a rubric."""
    return told(read(value)[1])


# Letters of several scripts, quotes, signs that YAML knows, odd but legal characters.
ALPHABET = "ab0 _-.\n\"\\/{}[],:'#&*!|>%@éßжש語\u2028\ufeff\N{PARROT}"
texts = st.text(ALPHABET, max_size=12)
# For a schema, a byte order mark is white space too.
filled = texts.map(lambda text: text if text.strip(" \n\u2028\ufeff") else f"{text}a")
keys = st.text("ab0_", min_size=1, max_size=3)
slugs = st.lists(st.text("ab0", min_size=1, max_size=2), min_size=1, max_size=3).map("-".join)
# Fields that no contract knows; drawn for every object, so they come from a short list.
BEYOND: list[JsonObject] = [{}, {"x-a": 1}, {"x-b": {"c": [None, "ä"]}, "x-c": "2025-01-01"}]
extras = st.sampled_from(BEYOND)


def _scale(low: int, step: int, count: int, extra: JsonObject) -> Scale:
    return Scale(min=low, max=low + step * count, step=step, extra=extra)


scales = st.builds(_scale, st.integers(-60, 60), st.integers(1, 7), st.integers(1, 70), extras)
options = st.lists(
    st.builds(Option, value=filled, label=filled, extra=extras),
    min_size=1,
    max_size=4,
    unique_by=lambda option: folded(option.value),
).map(tuple)
types = st.sampled_from([one.name for one in QUESTION_TYPES.values()])


def _question(kind: QuestionType, **drawn: Any) -> Question:
    """A question that has only what its type takes."""
    if kind != "score":
        drawn["scale"] = None
    if kind not in SELECT_TYPES:
        drawn["options"] = ()
    if kind == "comment":
        drawn["answered_by_auto"] = False
    return Question(type=kind, **drawn)


questions = st.builds(
    _question,
    types,
    key=keys,
    label=filled,
    scope=st.sampled_from(["trace", "turn"]),
    required=st.booleans(),
    guidance=st.none() | texts,
    answered_by_auto=st.booleans(),
    scale=scales,
    options=options,
    extra=extras,
)
rubrics = st.builds(
    QuestionRubric,
    name=filled,
    version=slugs,
    questions=st.lists(questions, min_size=1, max_size=5, unique_by=lambda one: one.key).map(
        tuple
    ),
    status=st.sampled_from(["draft", "published", "archived"]),
    scale=st.none() | scales,
    guidance=st.lists(texts, max_size=2).map(tuple),
    extra=extras,
)
"""Rubrics in every form that the contract can carry."""

scalars = cast(
    "st.SearchStrategy[JsonValue]",
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
)
json_values: st.SearchStrategy[JsonValue] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("name", "version", "status", "scale", "guidance", "questions", "dimensions"),
                    *("key", "label", "type", "scope", "required", "answeredByAuto", "options"),
                    *("min", "max", "step", "value", "trace", "turns", "turn_1", "\ud800", ""),
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)
"""Values of any shape under the contract's own names."""
MOSTLY = st.sampled_from([True, True, True, True, False])
RARELY = st.sampled_from([False, False, False, False, False, False, True])


def _parts(node: JsonValue) -> list[Any]:
    if isinstance(node, list):
        return [*range(len(node))]
    return [*node] if isinstance(node, dict) else []


@st.composite
def spoilt_rubrics(draw: st.DrawFn) -> JsonObject:
    """A rubric as it is written, with one of its parts replaced or taken out."""
    row = deepcopy(rubric_row(draw(rubrics)))
    node: Any = row
    while True:
        part = draw(st.sampled_from(_parts(node)))
        if not _parts(node[part]) or draw(RARELY):
            break
        node = node[part]
    if draw(st.booleans()):
        del node[part]
    else:
        node[part] = draw(json_values)
    return row


def good_answers(question: Question) -> st.SearchStrategy[JsonValue]:
    """What a question may be answered with."""
    values = [option.value for option in question.options]
    if question.type == "score":
        assert question.scale
        scores = st.sampled_from(question.scale.values)
        return scores | scores.map(float)
    if question.type == "yes_no":
        return st.sampled_from([0, 1, 0.0, 1.0])
    if question.type == "multi_select":
        return cast(Any, st.lists(st.sampled_from(values), unique=True))
    return filled if question.type == "comment" else st.sampled_from(values)


@st.composite
def odd_answers(draw: st.DrawFn, rubric: QuestionRubric, turns: int) -> JsonObject:
    """Answers of which about half are right: values, keys and turns from a pool."""
    pool: list[JsonValue] = [
        *(None, True, False, 0, 1, 2, -1, 1.0, 0.5, 10**30, "", " ", "1", "a", [], {}, ["a"]),
        *(["a", "a"], [1], [["a"]], {"a": 1}),
    ]

    def part(scope: str) -> JsonObject:
        asked = {one.key: one for one in rubric.questions}
        names = [one.key for one in rubric.questions if one.scope == scope or draw(RARELY)]
        names += ["zz"] if draw(RARELY) else []
        given: JsonObject = {}
        for name in names:
            if draw(MOSTLY):
                good = good_answers(asked[name]) if name in asked else st.just(1)
                given[name] = draw(st.sampled_from(pool) if draw(RARELY) else good)
        return given

    answers: JsonObject = {}
    if draw(MOSTLY):
        answers["trace"] = part("trace")
    names = [f"turn_{number}" for number in range(1, turns + 1)]
    names += draw(st.sampled_from([[], [], ["turn_0"], ["turn_9"], ["turn_01"], ["x"]]))
    if draw(MOSTLY):
        answers["turns"] = {name: part("turn") for name in names if draw(MOSTLY)}
    if draw(RARELY):
        answers[draw(st.sampled_from(["Trace", "turn_1", "trace", "turns"]))] = draw(
            st.sampled_from(pool)
        )
    return answers
