"""A target's own words around what a case asks, so that variants of a prompt are targets."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from steelyard.engine.prompts import build_prompt, message_text
from steelyard.formats.mustache import rendered
from steelyard.formats.mustache_tags import names_in, template_problems
from steelyard.formats.problem import Problem
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from steelyard.model.message import ContentBlock, FileBlock, ImageBlock, Message, TextBlock
from steelyard.ports import Prompt

# What would give the answer away is no part of it.
VARIABLES = (
    *("input", "context", "choices", "id", "dataset", "conversation_id"),
    *("task_type", "tags", "metadata"),
)
CONSTANT = (
    "shows nothing of a record, so that all would be asked the same; write {{input}} for the "
    f"question, or {', '.join(VARIABLES[1:])}"
)


class PromptTemplate:
    """A Mustache template that becomes the last user message of a case."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._shows_context = "context" in names_in(text)
        self.is_constant = "{{" not in text
        """Whether it says the same whatever the case, and no comment says that this is meant."""

    @property
    def problems(self) -> list[Problem]:
        """What is wrong with it, whatever the case."""
        return template_problems(self.text, VARIABLES, "prompt")

    def prompt(self, case: Case) -> Prompt:
        """What a target is asked; a name that the case cannot fill is a `TemplateError`.

        The conversation before the last user message stays as it is. A context that the template
        shows stands there and nowhere else.
        """
        *earlier, asked = _ending_with_user(case.input_messages)
        text = rendered(self.text, _values(case, message_text(asked)))
        written = replace(asked, content=(TextBlock(text=text), *_beside(asked)))
        context = "" if self._shows_context else case.context
        return build_prompt(replace(case, input_messages=(*earlier, written), context=context))


def _ending_with_user(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    is_asked = bool(messages) and messages[-1].role == "user"
    return messages if is_asked else (*messages, Message(role="user", content=""))


def _beside(message: Message) -> Iterator[ContentBlock]:
    """What no template can show: guidelines, which go before the prompt, and images."""
    for block in message.blocks:
        if isinstance(block, ImageBlock) or (isinstance(block, FileBlock) and block.guideline):
            yield block


def _values(case: Case, asked: str) -> JsonObject:
    return {
        "input": asked,
        "context": case.context,
        "choices": "\n".join(f"{choice.id}. {choice.text}" for choice in case.choices),
        "id": case.id,
        "dataset": case.dataset,
        "conversation_id": case.conversation_id,
        "task_type": case.task_type,
        "tags": list(case.tags),
        "metadata": dict(case.metadata),
    }
