"""Datasets of eval cases in every form that the contract can carry, for hypothesis.

Strategies are made once, at the top level: making them anew for each draw costs more than drawing.
"""

from __future__ import annotations

from typing import Any, TypeAlias, cast

from hypothesis import strategies as st

from steelyard.formats.schema import BLANK
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import (
    ROLES,
    Content,
    FileBlock,
    Message,
    OtherBlock,
    TextBlock,
    ToolCall,
)
from steelyard.ports import FileFault, FoundFile, NoFiles

FOUND = {
    "notes.md": FoundFile("/project/notes.md", "Notes\n"),
    "a.guide.md": FoundFile("/project/a.guide.md", "Be brief.\n", is_guideline=True),
    "judge.md": FoundFile("/project/judge.md", "Judge {{ candidate_answer }}."),
}


class KnownFiles(NoFiles):
    """The files that generated cases show."""

    def read(self, reference: str) -> FoundFile | FileFault:
        """One of three files."""
        return FOUND.get(reference) or FileFault("missing_file", f"no such file: {reference}")


texts = st.text(max_size=12)
filled = texts.map(lambda text: text if text.strip(BLANK) else f"{text}a")
labels = st.sampled_from(["a", "b c", "ä", "no", "1.5", "#x: y"])
maybe_label = st.none() | labels
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
weights = st.just(1.0) | st.floats(0, 100)
scalars = cast("st.SearchStrategy[JsonValue]", st.none() | st.booleans() | numbers | texts)
json_values: st.SearchStrategy[JsonValue] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=4,
)
json_objects: st.SearchStrategy[JsonObject] = st.dictionaries(texts, json_values, max_size=3)
# Fields that no contract knows; drawn for every object, so they come from a short list.
BEYOND: list[JsonObject] = [{}, {"x_a": 1}, {"x_b": {"c": [None, "ä"]}, "x_c": "2025-01-01"}]
extras = st.sampled_from(BEYOND)

tool_calls = st.builds(
    ToolCall, tool=labels, input=json_values, output=scalars, id=maybe_label, extra=extras
)
blocks = st.one_of(
    st.builds(TextBlock, text=texts, extra=extras),
    extras.map(lambda extra: OtherBlock(data={"type": "chart", **extra})),
)


def _file_block(name: str, extra: JsonObject, *, is_input: bool) -> FileBlock:
    found = FOUND[name]
    guideline = found.is_guideline and is_input
    return FileBlock(
        value=name, path=found.path, text=found.text, guideline=guideline, extra=extra
    )


def _contents(block: st.SearchStrategy[Any]) -> st.SearchStrategy[Content]:
    return st.one_of(texts, json_objects, st.lists(block, max_size=2).map(tuple))


def _messages(block: st.SearchStrategy[Any]) -> st.SearchStrategy[Message]:
    content = _contents(block)
    with_calls = st.builds(
        Message,
        role=st.just("assistant"),
        content=st.none() | content,
        name=maybe_label,
        tool_calls=st.lists(tool_calls, min_size=1, max_size=2).map(tuple),
        extra=extras,
    )
    said = st.builds(
        Message, role=st.sampled_from(ROLES), content=content, name=maybe_label, extra=extras
    )
    return st.one_of(said, with_calls)


def _shown(*, is_input: bool) -> st.SearchStrategy[Any]:
    names = st.sampled_from(["notes.md", "a.guide.md"])
    return blocks | st.builds(_file_block, names, extras, is_input=st.just(is_input))


messages = _messages(blocks)
"""Messages as traces have them: without files."""
asked = st.lists(_messages(_shown(is_input=True)), min_size=1, max_size=2).map(tuple)
expected = st.lists(_messages(_shown(is_input=False)), max_size=1).map(tuple)

rubric_items = st.builds(
    RubricItem, id=labels, description=filled, weight=weights, required=st.booleans(), extra=extras
)
phrases = st.lists(filled, min_size=1, max_size=3)
amounts = st.integers(0, 9)
SETTINGS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "code_judge": {"script": phrases},
    "latency": {"threshold": amounts},
    "cost": {"budget": amounts},
    "token_usage": {"max_total": amounts},
    "tool_trajectory": {
        "mode": st.just("exact"),
        "expected": st.just([{"tool": "a", "args": "any"}]),
        "args_match": st.sampled_from(["superset", "exact"]),
    },
    "field_accuracy": {"fields": st.just([{"path": "a", "match": "exact"}])},
    "contains": {"value": filled},
    "icontains": {"value": filled},
    "starts_with": {"value": filled},
    "equals": {"value": texts},
    "contains_any": {"value": phrases},
    "icontains_all": {"value": phrases},
    "is_json": {},
}
Prompt: TypeAlias = tuple[str, str | None, str | None]
PROMPTS: list[Prompt] = [
    ("", None, None),
    ("Is it good?", "Is it good?", None),
    ("judge.md", FOUND["judge.md"].text, FOUND["judge.md"].path),
    ("file://judge.md", FOUND["judge.md"].text, FOUND["judge.md"].path),
]


def _plain(kind: str, weight: float, settings: JsonObject, extra: JsonObject) -> Evaluator:
    """An evaluator of a type that asks no judge."""
    return Evaluator(name=f"a {kind}", type=kind, weight=weight, settings={**settings, **extra})


def _judged(
    name: str,
    prompt: tuple[str, str | None, str | None],
    items: list[RubricItem],
    extra: JsonObject,
) -> Evaluator:
    """A judge or a rubric, with its prompt."""
    written, text, path = prompt
    return Evaluator(
        name=name,
        type="rubric" if items else "llm_judge",
        prompt=text,
        prompt_path=path,
        rubrics=tuple(items),
        settings={**({"prompt": written} if written else {}), **extra},
    )


def _composite(name: str, members: list[Evaluator], way: str, prompt: Prompt) -> Evaluator:
    """An evaluator that joins others."""
    written, text, path = prompt
    aggregators: dict[str, JsonObject] = {
        "weighted_average": {"weights": {members[0].name: 2}},
        "code_judge": {"script": "node join.js"},
        "threshold": {"threshold": 0.5},
        "llm_judge": {"prompt": written},
    }
    is_asked = way == "llm_judge"
    return Evaluator(
        name=name,
        type="composite",
        prompt=text if is_asked else None,
        prompt_path=path if is_asked else None,
        members=tuple(members),
        settings={"aggregator": {**aggregators[way], "type": way}},
    )


ways = st.sampled_from(["weighted_average", "code_judge", "threshold", "llm_judge"])
prompts = st.sampled_from(PROMPTS)
written_prompts = st.sampled_from(PROMPTS[1:])
evaluators: st.SearchStrategy[Evaluator] = st.recursive(
    st.one_of(
        *(
            st.builds(_plain, st.just(kind), weights, st.fixed_dictionaries(own), extras)
            for kind, own in SETTINGS.items()
        ),
        st.builds(
            _judged,
            labels,
            prompts,
            st.lists(rubric_items, max_size=2),
            extras,
        ),
    ),
    lambda inner: st.builds(
        _composite, labels, st.lists(inner, min_size=1, max_size=2), ways, written_prompts
    ),
    max_leaves=3,
)


def _case(**fields: Any) -> Case:
    """The case that a reader would make of these fields."""
    shown = [
        block
        for message in fields["input_messages"]
        for block in message.blocks
        if isinstance(block, FileBlock)
    ]
    guidelines = tuple(block.path for block in shown if block.guideline)
    others = tuple(block.path for block in shown if not block.guideline)
    execution, rubrics = fields.pop("execution"), fields["rubrics"]
    first = [Evaluator(name="rubric", type="rubric", rubrics=rubrics)] if rubrics else []
    fields["evaluators"] = (*first, *fields["evaluators"])
    if not (fields["evaluators"] or fields["expected_messages"]):
        fields["expected_outcome"] = fields["expected_outcome"] or "Goal"
    if execution:
        fields["extra"] = {**fields["extra"], "execution": execution}
    return Case(
        **fields, dataset="data", guideline_paths=guidelines, file_paths=(*guidelines, *others)
    )


def cases(goals: st.SearchStrategy[str] = filled) -> st.SearchStrategy[Case]:
    """Cases of the dataset `data`; one without a goal has something else to be graded by."""
    return st.builds(
        _case,
        id=filled,
        input_messages=asked,
        expected_messages=expected,
        expected_outcome=goals,
        conversation_id=maybe_label,
        tags=st.lists(labels, max_size=2).map(tuple),
        metadata=json_objects,
        target=labels,
        evaluator=st.sampled_from(["llm_judge", "rubric", "code_judge"]),
        evaluators=st.lists(evaluators, max_size=2).map(tuple),
        rubrics=st.lists(rubric_items, max_size=2).map(tuple),
        extra=extras,
        execution=extras,
    )


HEADERS: list[JsonObject] = [
    {},
    {"execution": {"target": "live"}},
    {"target": "live", "evaluator": "rubric", "tags": ["a"]},
    {"evaluators": [{"type": "latency", "threshold": 5}, "Is polite"]},
    {"execution": {"assertions": ["Is polite"], "region": "eu"}, "x_a": [None]},
]


def datasets(goals: st.SearchStrategy[str] = filled) -> st.SearchStrategy[Dataset]:
    """Datasets called `data`, as a reader would make them."""
    return st.builds(
        Dataset,
        id=st.just("data"),
        contract=st.just("eval_cases"),
        version=st.none() | texts,
        description=texts,
        cases=st.lists(cases(goals), min_size=1, max_size=2, unique_by=lambda case: case.id).map(
            tuple
        ),
        metadata=json_objects,
        extra=st.sampled_from(HEADERS),
    )
