"""What a target is asked, from a case: conversation, context, files, guidelines and images."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple, TypeAlias

from steelyard.model.case import Case
from steelyard.model.json_value import JsonValue
from steelyard.model.message import FileBlock, ImageBlock, Message, TextBlock
from steelyard.model.tool_history import ToolHistory, tool_history
from steelyard.model.unsent import has_more_than_text
from steelyard.ports import Prompt, ToolUse, Turn

CHARACTERS_A_TOKEN = 4
"""By which tokens are estimated before a target counts them."""
IMAGE_TOKENS = 1600
"""What an image is taken for: about the most that one costs."""
# What every protocol takes for the id of a call.
_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")


_Parts: TypeAlias = tuple[str | ImageBlock, ...]


class _Turn(NamedTuple):
    role: str
    text: str

    @property
    def marked(self) -> str:
        return f"@[{self.role.capitalize()}]:\n{self.text}"


def build_prompt(case: Case) -> Prompt:
    """The prompt as chat messages and as one text.

    Guidelines go first, in a block of their own; other files stand where the message shows them.
    The text form carries role markers only when more than one message speaks.
    """
    return prompt_from(case.input_messages, case.context)


def prompt_from(messages: Sequence[Message], context: str = "") -> Prompt:
    """The same for the messages and the context of a case."""
    if len(messages) == 1 and not context:
        # What most records are; the long way round comes to the same.
        only = messages[0]
        text = only.content.strip() if isinstance(only.content, str) else ""
        if text and only.role == "user":
            return Prompt((("user", text),), text)
    guidelines = _guidelines(messages)
    parts = list(map(message_parts, messages))
    texts = list(map(_text, parts))
    turns = [_Turn("system", context.strip())]
    turns += [_Turn(message.role, said) for message, said in zip(messages, texts, strict=True)]
    turns = [turn for turn in turns if turn.text]
    shown = [turn.marked if len(turns) > 1 else turn.text for turn in turns]
    chat = _chat(turns, guidelines)
    rich = ()
    if has_more_than_text(messages):
        system = _joined([guidelines, context.strip()])
        rich = tuple(_rich(messages, parts, texts, system))
    return Prompt(chat, _joined([guidelines, *shown]), rich)


def prompt_tokens(prompt: Prompt) -> int:
    """About how many tokens a prompt has."""
    if not prompt.turns:
        return sum(len(text) for _, text in prompt.messages) // CHARACTERS_A_TOKEN
    characters = images = 0
    for turn in prompt.turns:
        texts = [part for part in turn.parts if isinstance(part, str)]
        images += len(turn.parts) - len(texts)
        characters += sum(map(len, texts))
        characters += sum(len(used.result) + len(str(used.input)) for used in turn.tools)
    return characters // CHARACTERS_A_TOKEN + images * IMAGE_TOKENS


def _guidelines(messages: Sequence[Message]) -> str:
    """All guideline files of a case in one block, each once."""
    blocks = {
        block.path: block
        for message in messages
        if isinstance(message.content, tuple)
        for block in message.content
        if isinstance(block, FileBlock) and block.guideline
    }
    if not blocks:
        return ""
    files = [_file(block, block.path.rsplit("/", 1)[-1]) for block in blocks.values()]
    return _joined(["[[ ## guidelines ## ]]", *files])


def _chat(turns: list[_Turn], guidelines: str) -> tuple[tuple[str, str], ...]:
    """Guidelines and leading system messages become one, as chat templates demand.

    A tool's message stands as the assistant's: endpoints refuse one without the call it answers.
    """
    leading = list(takewhile(lambda turn: turn.role == "system", turns))
    system = _joined([guidelines, *(turn.text for turn in leading)])
    rest = [
        ("assistant", turn.marked) if turn.role == "tool" else (turn.role, turn.text)
        for turn in turns[len(leading) :]
    ]
    return (("system", system), *rest) if system else tuple(rest)


def message_text(message: Message) -> str:
    """The text of a message with the files that it shows, but for guidelines."""
    return _text(message_parts(message))


def message_parts(message: Message) -> _Parts:
    """What a message shows, but for guidelines: its texts, and the images between them."""
    content = message.content
    if not isinstance(content, tuple):
        text = message.text.strip()
        return (text,) if text else ()
    parts: list[str | ImageBlock] = []
    texts: list[str] = []
    for block in content:
        if isinstance(block, TextBlock):
            texts.append(block.text.strip())
        elif isinstance(block, FileBlock) and not block.guideline:
            texts.append(_file(block, block.value))
        elif isinstance(block, ImageBlock):
            parts += [_joined(texts), block]
            texts = []
    return tuple([part for part in (*parts, _joined(texts)) if part])


def _text(parts: _Parts) -> str:
    return _joined([part for part in parts if isinstance(part, str)])


def _file(block: FileBlock, name: str) -> str:
    return f'<file path="{name}">\n{block.text.strip()}\n</file>'


def _rich(
    messages: Sequence[Message], parts: Sequence[_Parts], texts: Sequence[str], system: str
) -> Iterator[Turn]:
    """The turns of a conversation with images or tool calls, as the protocols of models have them.

    Leading system messages become one, and results stand with their calls.
    """
    start = 0
    while start < len(messages) and messages[start].role == "system":
        start += 1
    if opening := _joined([system, *texts[:start]]):
        yield Turn("system", (opening,))
    history = tool_history(messages)
    for index, message in enumerate(messages[start:], start):
        if message.role == "tool":
            continue
        used = tuple(_used(messages, texts, index, history)) if message.tool_calls else ()
        if parts[index] or used:
            yield Turn(message.role, parts[index], used)


def _used(
    messages: Sequence[Message], texts: Sequence[str], index: int, history: ToolHistory
) -> Iterator[ToolUse]:
    """The calls of a message that have a result."""
    for number, call in enumerate(messages[index].tool_calls):
        if (index, number) not in history.results:
            continue
        answered = history.results[index, number]
        result = _json(call.output) if answered is None else texts[answered]
        is_usable = call.id is not None and _ID.fullmatch(call.id)
        name = call.id if call.id and is_usable else f"call_{index}_{number}"
        yield ToolUse(name, call.tool, call.input, result)


def _json(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join([part for part in parts if part])
