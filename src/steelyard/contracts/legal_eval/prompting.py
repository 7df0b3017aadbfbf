"""What the target is asked for a case, by the template of its policy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache

from msgspec.structs import replace

from steelyard.contracts.legal_eval.policies import PLACEHOLDER
from steelyard.model.case import AnswerChoice, Attachment, Case
from steelyard.model.json_value import JsonValue
from steelyard.model.message import Message
from steelyard.model.policy import Policy


def policy_messages(case: Case, policy: Policy) -> tuple[Message, ...]:
    """The conversation of a case as it is put to the target.

    The last user message is written by the policy's template, which shows the prompt, the
    context, the attachments and the choices; what came before stays as it is.
    """
    earlier, asked = _split(case.input_messages)
    values = _Values(case, asked.text)
    system = _filled(policy.system, values, policy.defaults)
    written = replace(asked, content=_filled(policy.user, values, policy.defaults))
    first = (Message(role="system", content=system),) if system else ()
    return (*first, *earlier, written)


def choice_lines(choices: Iterable[AnswerChoice]) -> str:
    """Choices as a target sees them, one a line: `A. text`."""
    return "\n".join(f"{choice.id}. {choice.text}" for choice in choices)


def _split(messages: tuple[Message, ...]) -> tuple[tuple[Message, ...], Message]:
    if messages and messages[-1].role == "user":
        return messages[:-1], messages[-1]
    return messages, Message(role="user", content="")


class _Values:
    """What the names of a template stand for in one case."""

    def __init__(self, case: Case, prompt: str) -> None:
        self._case = case
        self._prompt = prompt

    def of(self, name: str) -> str:
        case = self._case
        if name.startswith("metadata."):
            return _text(case.metadata.get(name.removeprefix("metadata.")))
        if name == "prompt":
            return self._prompt
        if name == "context":
            return case.context
        if name == "choices":
            return choice_lines(case.choices)
        if name == "choice_ids":
            return ", ".join(choice.id for choice in case.choices)
        return "\n\n".join(_document(attachment) for attachment in case.attachments)


def _filled(template: tuple[str, ...], values: _Values, defaults: Mapping[str, str]) -> str:
    parts = [_part(texts, names, values, defaults) for texts, names in _taken_apart(template)]
    return "\n\n".join([part for part in parts if part])


def _part(texts: list[str], names: list[str], values: _Values, defaults: Mapping[str, str]) -> str:
    """A part with its names filled in one pass, so that `{{` in a case stays `{{`."""
    filled = [texts[0]]
    for name, text in zip(names, texts[1:], strict=True):
        shown = values.of(name).strip() or defaults.get(name, "")
        if not shown:
            return ""
        filled += (shown, text)
    return "".join(filled)


@lru_cache(maxsize=256)
def _taken_apart(template: tuple[str, ...]) -> list[tuple[list[str], list[str]]]:
    """The texts of each part, and the names between them."""
    pieces = map(PLACEHOLDER.split, template)
    return [(part[::2], [name.strip() for name in part[1::2]]) for part in pieces]


def _document(attachment: Attachment) -> str:
    name = attachment.title or attachment.path
    if attachment.text is None:
        return f"{name} (not shown)"
    return f'<file path="{name}">\n{attachment.text.strip()}\n</file>'


def _text(value: JsonValue) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
