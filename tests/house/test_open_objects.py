"""An object of a contract knows all of its names, unless it is open on purpose.

A name that nothing looks at inside a check, a criterion or an expected call would change what is
graded without a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from fakes.contracts import SCHEMAS
from steelyard.formats.schema_names import OWN_NAMES

WHOLE = "the contract opens its files and rows"
FREE = "free-form"
FOREIGN = "what other programs write is kept as it is"
OPEN = {
    "legal_eval": {
        "#": WHOLE,
        "#/metadata": FREE,
        "#/$defs/attachment/metadata": FREE,
        "#/$defs/choice/metadata": FREE,
        "#/$defs/criterion/metadata": FREE,
    },
    "dataset_document": {
        "#": WHOLE,
        "#/$defs/header": WHOLE,
        "#/$defs/header/metadata": FREE,
        "#/$defs/record/input": WHOLE,
        "#/$defs/record/reference": WHOLE,
        "#/$defs/record/metadata": FREE,
    },
    "eval_cases": {
        "#": WHOLE,
        "#/$defs/sidecar": WHOLE,
        "#/$defs/case": WHOLE,
        "#/$defs/test": WHOLE,
        "#/$defs/graded_test": WHOLE,
        "#/$defs/vars": FREE,
        "#/$defs/listing": "the condition of a rule, and no object of its own",
        "#/$defs/defaults/metadata": FREE,
        "#/$defs/case_fields/metadata": FREE,
        "#/$defs/case_fields/expected_output": FREE,
        "#/$defs/input": "a message, which is looked at as one, or free-form content",
        "#/$defs/message/content": FREE,
        "#/$defs/block": FOREIGN,
        "#/$defs/rubric_item/score_ranges": "its names are points, which the reader checks",
        "#/$defs/evaluator/allOf/1/then/target": "a program's settings",
        "#/$defs/evaluator/allOf/1/then/config": "a program's settings",
        "#/$defs/evaluator/allOf/14/then/schema": "a JSON Schema",
        "#/$defs/evaluator/allOf/4/then/expected/items/args": "a tool's arguments",
    },
    "evals_json": {"#": WHOLE, "#/$defs/eval": WHOLE, "#/$defs/statement": FOREIGN},
    "question_rubric": {"#": WHOLE},
    "question_set": {
        "#": WHOLE,
        "#/metadata": FREE,
        "#/$defs/question": WHOLE,
        "#/$defs/question/metadata": FREE,
        "#/$defs/expected": WHOLE,
        "#/$defs/tool/args": "a tool's arguments",
    },
    "check_rubric": {
        "#": WHOLE,
        "#/$defs/check/command/config": "a program's settings",
        "#/$defs/check/json_schema/schema": "a schema of the author's own",
        "#/$defs/check/tool_trajectory/expected/items/args": "a tool's arguments",
        "#/$defs/check/tool_usage/expected_tools/items/args": "a tool's arguments",
    },
    "judge": {"#": WHOLE, "#/validation": "validations store more than the contract's fields"},
    "trace": {
        "#": FOREIGN,
        "#/usage": FOREIGN,
        "#/$defs/message": FOREIGN,
        "#/$defs/message/content": FREE,
        "#/$defs/message/content/items": FOREIGN,
        "#/$defs/message/tool_calls/items": FOREIGN,
    },
    "labels": {"#": WHOLE, "#/answers": "its names are the questions of a rubric"},
    "project": {
        "#/$defs/target/headers": "names of the protocol",
        "#/$defs/target/settings": "names of the provider",
        "#/$defs/target/extra": "names of the endpoint",
        "#/$defs/target/tools/items": "in the form of a protocol, which the target reads",
        "#/$defs/target/response_format": "names of the provider",
    },
}
"""The objects of each schema that take any name, and why."""
CONDITIONS = {"if", "not", "anyOf", "enum", "const", "default", "examples", "required"}


def open_objects(node: Any, path: str = "#") -> Iterator[str]:
    """Every object of a schema that takes names which it does not know, without a finding."""
    if isinstance(node, list):
        for index, item in enumerate(cast(list[Any], node)):
            yield from open_objects(item, f"{path}/{_place(item, index)}")
    if not isinstance(node, dict):
        return
    rule = cast(dict[str, Any], node)
    is_open = "additionalProperties" not in rule and not OWN_NAMES.items() <= rule.items()
    if "object" in rule.get("type", ()) and is_open:
        yield path
    for key, part in rule.items():
        if key in {"properties", "$defs"}:
            within = path if key == "properties" else f"{path}/$defs"
            for name, field in cast(dict[str, Any], part).items():
                yield from open_objects(field, f"{within}/{name}")
        elif key not in CONDITIONS:
            yield from open_objects(part, f"{path}/{key}")


def _place(item: Any, index: int) -> str:
    """The place of a branch: by the kind that it is for, where it says one."""
    rule: dict[str, Any] = cast(dict[str, Any], item) if isinstance(item, dict) else {}
    for name in ("if", "properties", "kind"):
        rule = rule.get(name, {})
    return cast(list[str], rule.get("enum", [str(index)]))[0]


def shortened(path: str) -> str:
    return (
        path.replace("/check/allOf/", "/check/").replace("/then/", "/")
        if "/check/" in path
        else path
    )


@pytest.mark.parametrize("name", SCHEMAS.written)
def test_every_open_object_is_open_for_a_reason(name: str) -> None:
    found = {shortened(path) for path in open_objects(SCHEMAS.load(name))}

    assert sorted(found) == sorted(OPEN[name])


def test_an_object_that_is_not_closed_is_found() -> None:
    rule = {"type": "object", "properties": {"name": {"type": "string"}}}

    assert list(open_objects({"items": rule})) == ["#/items"]
    assert list(open_objects({"items": {**rule, **OWN_NAMES}})) == []
