"""What the target is asked for a case, by the template of its policy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

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
    prompt = asked.text
    system = _filled(policy.system, case, prompt, policy.defaults) if policy.system else ""
    written = replace(asked, content=_filled(policy.user, case, prompt, policy.defaults))
    first = (Message(role="system", content=system),) if system else ()
    return (*first, *earlier, written)


def choice_lines(choices: Iterable[AnswerChoice]) -> str:
    """Choices as a target sees them, one a line: `A. text`."""
    return "\n".join([f"{choice.id}. {choice.text}" for choice in choices])


def _split(messages: tuple[Message, ...]) -> tuple[tuple[Message, ...], Message]:
    if messages and messages[-1].role == "user":
        return messages[:-1], messages[-1]
    return messages, Message(role="user", content="")


class _Name(NamedTuple):
    """A name in a part of a template."""

    name: str
    value: Callable[[Case, str], str]
    """What it stands for in a case, of which the prompt is given beside."""
    after: str
    """The text between it and the next name."""


_VALUES: dict[str, Callable[[Case, str], str]] = {
    "prompt": lambda _, prompt: prompt,
    "context": lambda case, _: case.context,
    "choices": lambda case, _: choice_lines(case.choices),
    "choice_ids": lambda case, _: ", ".join([choice.id for choice in case.choices]),
    "attachments": lambda case, _: "\n\n".join(map(_document, case.attachments)),
}


def _filled(
    template: tuple[str, ...], case: Case, prompt: str, defaults: Mapping[str, str]
) -> str:
    taken = _taken_apart(template)
    parts = [_part(first, names, case, prompt, defaults) for first, names in taken]
    return "\n\n".join([part for part in parts if part])


def _part(
    first: str, names: Iterable[_Name], case: Case, prompt: str, defaults: Mapping[str, str]
) -> str:
    """A part with its names filled in one pass, so that `{{` in a case stays `{{`."""
    filled = [first]
    for name, value, after in names:
        shown = value(case, prompt).strip() or defaults.get(name, "")
        if not shown:
            return ""
        filled += (shown, after)
    return "".join(filled)


@lru_cache(maxsize=256)
def _taken_apart(template: tuple[str, ...]) -> list[tuple[str, list[_Name]]]:
    """Each part as its first text and its names."""
    pieces = map(PLACEHOLDER.split, template)
    return [
        (texts[0], [_named(*one) for one in zip(texts[1::2], texts[2::2], strict=True)])
        for texts in pieces
    ]


def _named(written: str, after: str) -> _Name:
    name = written.strip()
    return _Name(name, _VALUES.get(name) or _metadata(name.removeprefix("metadata.")), after)


def _metadata(field: str) -> Callable[[Case, str], str]:
    return lambda case, _: _text(case.metadata.get(field))


def _document(attachment: Attachment) -> str:
    name = attachment.title or attachment.path
    if attachment.text is None:
        return f"{name} (not shown)"
    return f'<file path="{name}">\n{attachment.text.strip()}\n</file>'


def _text(value: JsonValue) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
