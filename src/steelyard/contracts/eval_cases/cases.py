"""A row of an eval file, merged with its file's defaults, to a case."""

from __future__ import annotations

import json
from dataclasses import replace

from steelyard.contracts.eval_cases.defaults import Defaults
from steelyard.contracts.eval_cases.evaluators import (
    EvaluatorBuilder,
    range_problems,
    rubric,
    rubric_items,
)
from steelyard.contracts.eval_cases.filling import with_values
from steelyard.contracts.eval_cases.messages import MessageBuilder
from steelyard.contracts.eval_cases.spelling import (
    EVALUATORS,
    GOAL,
    INPUT,
    REFERENCE,
    canonical_type,
    listed_evaluators,
    text_of,
    written,
)
from steelyard.formats.json_fields import (
    fields,
    items,
    list_field,
    object_field,
    optional_text,
    text_field,
    text_list,
    texts,
)
from steelyard.formats.problem import Problem, under
from steelyard.formats.schema import Schema
from steelyard.model.case import Case, Place
from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.json_value import JsonObject, JsonValue, Path
from steelyard.model.message import ContentBlock, FileBlock, Message, Role, TextBlock
from steelyard.ports import Files

_NAMED = {
    *GOAL,
    *INPUT,
    *REFERENCE,
    *EVALUATORS,
    "id",
    "input_files",
    "conversation_id",
    "evaluator",
    "rubrics",
    "vars",
    "tags",
    "metadata",
    "execution",
}
_BLOCKS = ("text", "file")


class CaseBuilder:
    """Builds one case from a row whose shape has been checked."""

    def __init__(self, row: JsonObject, defaults: Defaults, files: Files, message: Schema) -> None:
        self.problems: list[Problem] = []
        self._row = row
        self._defaults = defaults
        self._asked = MessageBuilder(files, self.problems, is_input=True)
        self._expected = MessageBuilder(files, self.problems, is_input=False)
        self._evaluators = EvaluatorBuilder(files, self.problems, is_later=defaults.is_later)
        self._message_schema = message

    def case(self, place: Place) -> Case:
        """The case; files that cannot be had are in `problems` afterwards."""
        row, defaults = self._row, self._defaults
        execution = object_field(row, "execution")
        stated = list_field(row, "rubrics")
        self.problems.extend(range_problems(stated, ("rubrics",)))
        rubrics = rubric_items(stated)
        asked = (*self._before(), *self._input())
        guidelines, files = _paths(asked)
        return Case(
            id=text_field(row, "id"),
            dataset=defaults.dataset,
            input_messages=asked,
            expected_messages=self._reference(),
            expected_outcome=text_of(row, GOAL),
            conversation_id=optional_text(row, "conversation_id"),
            tags=tuple(text_list(row, "tags")),
            metadata=object_field(row, "metadata"),
            target=text_field(execution, "target", defaults.target),
            evaluator=canonical_type(text_field(row, "evaluator", defaults.evaluator)),
            evaluators=self._graded_by(rubrics),
            rubrics=rubrics,
            guideline_paths=guidelines,
            file_paths=files,
            extra=_beyond(row, execution),
            place=place,
        )

    def _graded_by(self, rubrics: tuple[RubricItem, ...]) -> tuple[Evaluator, ...]:
        """The rubrics field as one evaluator, then the nearest list of evaluators, whole.

        In the later dialect those of the file come after the case's own.
        """
        first = (rubric(rubrics),) if rubrics else ()
        shared = () if self._skips_defaults else self._defaults.evaluators
        listed = listed_evaluators(self._row)
        if listed is None:
            return (*first, *shared)
        own = self._evaluators.evaluators(listed[1], listed[0])
        return (*first, *own, *shared) if self._defaults.is_later else (*first, *own)

    @property
    def _skips_defaults(self) -> bool:
        return skips_defaults(self._row)

    def _before(self) -> tuple[Message, ...]:
        """The messages that the file puts before the input of every case."""
        if self._defaults.input is None or self._skips_defaults:
            return ()
        return self._messages("input", self._filled(self._defaults.input, ("input",)), [])

    def _filled(self, shared: JsonValue, path: Path) -> JsonValue:
        """What the file says for all cases, with the values of this one."""
        values = {**self._defaults.vars, **object_field(self._row, "vars")}
        return with_values(shared, values, self.problems, path)

    def _input(self) -> tuple[Message, ...]:
        name = written(self._row, INPUT)
        assert name
        shared = () if self._skips_defaults else self._defaults.input_files
        files = self._row.get("input_files", self._filled([*shared], ("input_files",)))
        return self._messages(name, self._row[name], texts(files))

    def _messages(self, name: str, value: JsonValue, files: list[str]) -> tuple[Message, ...]:
        if isinstance(value, str):
            return (Message(role="user", content=self._with_files(value, files)),)
        if files:
            message = "{} needs a text under 'input'; write file blocks into the messages"
            wrong = Problem(code="invalid_field_type", message=message, path=("input_files",))
            self.problems.append(wrong)
        if isinstance(value, list):
            return self._asked.messages(value, (name,))
        return (self._object_message(fields(value), "user", (name,)),)

    def _with_files(self, text: str, files: list[str]) -> str | tuple[ContentBlock, ...]:
        if not files:
            return text
        blocks = [
            self._asked.file_block({"type": "file", "value": value}, ("input_files", index))
            for index, value in enumerate(files)
        ]
        return (*blocks, TextBlock(text=text))

    def _reference(self) -> tuple[Message, ...]:
        name = written(self._row, REFERENCE)
        if name is None:
            return ()
        value, path = self._row[name], (name,)
        if isinstance(value, str):
            return (Message(role="assistant", content=value),)
        if isinstance(value, dict):
            return (self._object_message(value, "assistant", path),)
        listed = items(value)
        if name == "expected_output" and listed:
            return self._listed_reference(listed, path)
        return self._expected.messages(listed, path)

    def _listed_reference(self, items: list[JsonValue], path: Path) -> tuple[Message, ...]:
        """A list under `expected_output`: its first item says of what."""
        first = items[0]
        if isinstance(first, dict) and "role" in first:
            valid = [self._is_message(item, (*path, index)) for index, item in enumerate(items)]
            return self._expected.messages(items, path) if all(valid) else ()
        if isinstance(first, str) or (isinstance(first, dict) and first.get("type") in _BLOCKS):
            return (Message(role="assistant", content=self._listed_blocks(items, path)),)
        data = json.dumps(items, ensure_ascii=False, indent=2)
        return (Message(role="assistant", content=data),)

    def _listed_blocks(self, items: list[JsonValue], path: Path) -> tuple[ContentBlock, ...]:
        row: JsonObject = {"role": "assistant", "content": items}
        found = self._message_schema.problems(row)
        self.problems.extend(replace(wrong, path=(*path, *wrong.path[1:])) for wrong in found)
        if any(problem.severity == "error" for problem in found):
            return ()
        return self._expected.blocks(items, path)

    def _object_message(self, value: JsonObject, role: Role, path: Path) -> Message:
        """A message, or an object that is the content of one."""
        if "role" not in value:
            return Message(role=role, content=value)
        if not self._is_message(value, path):
            return Message(role=role)
        builder = self._asked if role == "user" else self._expected
        return builder.message(value, path)

    def _is_message(self, item: JsonValue, path: Path) -> bool:
        """Whether an item under `input` or `expected_output` is a message; if not, why."""
        found = [under(path, problem) for problem in self._message_schema.problems(item)]
        self.problems.extend(found)
        return not any(problem.severity == "error" for problem in found)


def skips_defaults(row: JsonObject) -> bool:
    """Whether a case goes without what its file says for all cases."""
    execution = row.get("execution")
    return isinstance(execution, dict) and execution.get("skip_defaults") is True


def _paths(messages: tuple[Message, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The guideline files, and all files with the guidelines first."""
    shown = [
        block
        for message in messages
        if isinstance(message.content, tuple)
        for block in message.content
        if isinstance(block, FileBlock)
    ]
    guidelines = tuple(block.path for block in shown if block.guideline)
    return guidelines, (*guidelines, *(block.path for block in shown if not block.guideline))


def _beyond(row: JsonObject, execution: JsonObject) -> JsonObject:
    """What the row carries beyond the fields of a case."""
    beyond = {name: value for name, value in row.items() if name not in _NAMED}
    taken = {"target", "skip_defaults", *EVALUATORS}
    rest = {key: value for key, value in execution.items() if key not in taken}
    return {**beyond, "execution": rest} if rest else beyond
