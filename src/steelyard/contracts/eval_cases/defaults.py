"""What a file or sidecar says for all of its cases."""

from __future__ import annotations

from msgspec import field

from steelyard.contracts.eval_cases.evaluators import EvaluatorBuilder
from steelyard.contracts.eval_cases.spelling import (
    CASES,
    DATASET,
    LATER,
    canonical_type,
    listed_evaluators,
    text_of,
    without_evaluators,
)
from steelyard.formats.json_fields import object_field, text_field, text_list
from steelyard.formats.problem import Problem
from steelyard.model.evaluator import Evaluator
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import Extra, JsonObject, JsonValue, no_extra
from steelyard.ports import Files

DEFAULT_TARGET = "default"
DEFAULT_EVALUATOR = "llm_judge"


class Defaults(FrozenStruct, frozen=True, kw_only=True):
    """The values that a case has unless it says otherwise."""

    dataset: str
    description: str = ""
    version: str | None = None
    target: str = DEFAULT_TARGET
    evaluator: str = DEFAULT_EVALUATOR
    evaluators: tuple[Evaluator, ...] = ()
    is_later: bool = False
    """Whether the file lists its cases under `tests`, so that the rules of that dialect hold."""
    input: JsonValue = None
    """What goes before the input of every case, as it is written."""
    input_files: tuple[str, ...] = ()
    prompt: str | None = None
    """The input of cases that write none, with names of their `vars`."""
    vars: Extra = field(default_factory=no_extra)
    metadata: Extra
    extra: Extra

    @classmethod
    def without_file(cls, stem: str) -> Defaults:
        """The defaults where no sidecar stands beside the file."""
        return cls(dataset=stem, metadata={}, extra={})


def default_target(header: JsonObject) -> str:
    """The target that a file names for all of its cases."""
    provided = text_list(header, "providers") if LATER in header else []
    named = text_field(header, "target", next(iter(provided), DEFAULT_TARGET))
    return text_field(object_field(header, "execution"), "target", named)


def prompt_of_all(header: JsonObject) -> str | None:
    """The one text that asks every case which writes no input."""
    match header.get("prompts"):
        case [str() as prompt]:
            return prompt
        case _:
            return None


def read_defaults(
    header: JsonObject, stem: str, files: Files, problems: list[Problem]
) -> Defaults:
    """The defaults of a header whose shape has been checked."""
    listed = listed_evaluators(header)
    evaluators: tuple[Evaluator, ...] = ()
    is_later = LATER in header
    if listed:
        builder = EvaluatorBuilder(files, problems, is_later=is_later)
        evaluators = builder.evaluators(listed[1], listed[0])
    named = {*DATASET, *CASES, "description", "version", "metadata"}
    if is_later:
        # Every case says these for itself.
        named |= {"input", "input_files", "vars", "prompts", "providers"}
    kept = without_evaluators(header) if is_later else header
    return Defaults(
        dataset=text_of(header, DATASET).strip() or stem,
        description=text_field(header, "description", ""),
        version=str(header["version"]) if "version" in header else None,
        target=default_target(header),
        evaluator=canonical_type(text_field(header, "evaluator", DEFAULT_EVALUATOR)),
        evaluators=evaluators,
        is_later=is_later,
        input=header.get("input"),
        input_files=tuple(text_list(header, "input_files")),
        prompt=prompt_of_all(header) if is_later else None,
        vars=object_field(header, "vars"),
        metadata=object_field(header, "metadata"),
        extra={key: value for key, value in kept.items() if key not in named},
    )
