"""Instructions for an assistant that writes a question rubric, made of its schema."""

from __future__ import annotations

import json
from collections.abc import Iterator

from steelyard.contracts.question_rubric.writer import rubric_row
from steelyard.contracts.schemas import load_schema
from steelyard.formats.json_fields import fields
from steelyard.model.json_value import JsonObject
from steelyard.model.question import Option, Question, QuestionRubric, Scale
from steelyard.model.question_types import QUESTION_TYPES, TypeOfQuestion

_USES = {
    "score": "a number on a scale",
    "single_select": "one option of a list",
    "multi_select": "any number of options",
    "yes_no": "Yes or No",
    "button_group": "one of a few options, as buttons side by side",
    "comment": "free text",
}
_STORED = {
    "score": "an integer of the scale",
    "single_select": "the value of the option",
    "multi_select": "a list of values",
    "button_group": "the value of the option",
    "comment": "the text",
}


def rubric_instructions() -> str:
    """What an assistant must know to write a rubric that can be imported as it is."""
    schema = load_schema("question_rubric")
    question = fields(fields(schema["$defs"])["question"])
    return "\n".join(
        [
            "Write a rubric for the evaluation of a language model or an agent.",
            "",
            "I describe the goal of the evaluation; you answer with ONE JSON object and nothing",
            "else: no words before or after it, no code fence, no comments.",
            "",
            "Rules",
            '- "version" is a new name: small letters, digits and hyphens, such as',
            "  agent-quality-v2. No other rubric may have it.",
            '- Every "key" has small letters, digits and _ only, and stands once in the rubric.',
            "- Ask one thing in each question, so that two people would answer alike. Say in its",
            "  guidance what each answer means.",
            "- Take a type that a judge model can answer for whatever it should answer;",
            "  comment is for people only.",
            "",
            "Fields of the object",
            *_fields(schema, skip={"$schema", "dimensions", "scoring"}),
            "",
            "Fields of a question",
            *_fields(question, skip={"$schema"}),
            "",
            "Types of questions",
            *(_type(one) for one in QUESTION_TYPES.values()),
            "",
            "Example",
            json.dumps(rubric_row(_EXAMPLE), ensure_ascii=False, indent=2),
            "",
        ]
    )


def _fields(schema: JsonObject, skip: set[str]) -> Iterator[str]:
    needed = schema.get("required")
    required = set(map(str, needed)) if isinstance(needed, list) else set[str]()
    for name, value in fields(schema["properties"]).items():
        if name in skip:
            continue
        said = _described(fields(value))
        yield f'- "{name}"{" (required)" if name in required else ""}: {said}'


def _described(one: JsonObject) -> str:
    reference = one.get("$ref")
    if isinstance(reference, str):
        definitions = fields(load_schema("question_rubric")["$defs"])
        one = {**fields(definitions[reference.rpartition("/")[2]]), **one}
    enum = one.get("enum")
    words = f" One of {', '.join(map(str, enum))}." if isinstance(enum, list) else ""
    return f"{one.get('description', '')}{words}"


def _type(one: TypeOfQuestion) -> str:
    stored = _STORED.get(one.name) or " or ".join(
        f"{number} for {word}" for number, word in reversed(list(enumerate(one.words)))
    )
    needs = {
        "scale": '; needs "scale", such as {"min": 0, "max": 5}, unless the rubric has one',
        "options": '; needs "options", a list of {"value": …, "label": …}',
        None: "",
    }[one.needs]
    judged = "; no judge is asked" if one.is_free_text else ""
    return f"- {one.name}: {_USES[one.name]}. Stored: {stored}{needs}{judged}."


_EXAMPLE = QuestionRubric(
    name="Support answers",
    version="support-answers-v1",
    scale=Scale(min=0, max=5),
    guidance=("Judge what the answer says, not how long it is.",),
    questions=(
        Question(
            key="correct",
            label="How correct is the answer?",
            type="score",
            required=True,
            guidance="5 = nothing is wrong; 3 = one detail is wrong; 0 = the core is wrong.",
            answered_by_auto=True,
            scale=Scale(min=0, max=5),
        ),
        Question(
            key="on_topic",
            label="Does it answer what was asked?",
            type="yes_no",
            answered_by_auto=True,
        ),
        Question(
            key="fault",
            label="What is the main fault?",
            type="single_select",
            answered_by_auto=True,
            options=(
                Option(value="none", label="None"),
                Option(value="wrong_fact", label="A fact is wrong"),
                Option(value="tool_error", label="A tool was used wrongly"),
            ),
        ),
        Question(
            key="turn_verdict",
            label="Is this turn right?",
            type="button_group",
            scope="turn",
            answered_by_auto=True,
            options=(Option(value="good", label="Right"), Option(value="bad", label="Wrong")),
        ),
        Question(
            key="issues",
            label="What else is there to say?",
            type="multi_select",
            scope="turn",
            answered_by_auto=False,
            options=(
                Option(value="unclear", label="Unclear"),
                Option(value="too_long", label="Too long"),
            ),
        ),
        Question(key="note", label="Note", type="comment", answered_by_auto=False),
    ),
)
