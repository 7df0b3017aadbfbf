"""Prompts of a configuration: texts, conversations, and the files that hold them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from steelyard.contracts.importers.openai_messages import messages_of
from steelyard.contracts.importers.source_row import wrong
from steelyard.errors import ParseError
from steelyard.formats.json_text import parse_json
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.usecases.convert.promptfoo.source import (
    SCHEME,
    ConfigFiles,
    ConfigPlace,
    Render,
    listed,
    objects,
    parsed,
)
from steelyard.usecases.convert.promptfoo.templates import is_template

_PATH = re.compile(r"[^\s{}]+\.(txt|md|j2|json|jsonl|ya?ml|js|cjs|mjs|ts|py|csv)(:\w+)?")
_SEPARATOR = re.compile(r"^---[ \t]*$", re.MULTILINE)
_MEMBERS = {"raw", "content", "id", "label"}
_MANY = {".txt", ".md", ".j2"}
_CONVERSATION = re.compile(r"\b_conversation\b")
_YAML_CHAT = re.compile(r"\s*-\s+role\s*:")


class PromptfooPrompt(NamedTuple):
    """One prompt: what names it, its text, and what a chat says, if it is one."""

    place: ConfigPlace
    text: str
    label: str = ""
    name: str = ""
    """What it has in common with others of its file."""
    config: JsonObject | None = None
    """Settings that it has in place of those of the provider."""

    @property
    def chat(self) -> list[JsonValue] | None:
        """The messages of a prompt that is written as a conversation."""
        return conversation(self.text)

    @property
    def takes_conversation(self) -> bool:
        """Whether it repeats what was said in earlier tests."""
        return is_template(self.text) and bool(_CONVERSATION.search(self.text))

    def is_named(self, wanted: str) -> bool:
        """Whether a name, which may end in `*`, is its label, id or text."""
        names = [self.label, self.name, self.text]
        if wanted.endswith("*"):
            return any(name.startswith(wanted[:-1]) for name in names if name)
        return wanted in names or any(name.startswith(f"{wanted}:") for name in names if name)


def read_prompts(
    config: JsonObject, file: str, source: ConfigFiles
) -> Iterator[PromptfooPrompt | Change]:
    """Every prompt of a configuration, and which of them cannot be read."""
    # promptfoo asks with the variable `prompt` where a configuration has no prompts.
    stated = config.get("prompts", "{{prompt}}")
    entries: list[tuple[ConfigPlace, JsonValue]]
    top = ConfigPlace(file, "prompts")
    if isinstance(stated, dict):
        entries = [(top.at(path), {"id": path, "label": label}) for path, label in stated.items()]
    else:
        entries = [(top.at(index), entry) for index, entry in enumerate(listed(stated))]
    for place, entry in entries:
        try:
            yield from _prompts(entry, place, source)
        except ParseError as why:
            yield place.lost(why)


def _prompts(
    entry: JsonValue, place: ConfigPlace, source: ConfigFiles
) -> Iterator[PromptfooPrompt | Change]:
    given = entry if isinstance(entry, dict) else {"raw": entry}
    raw = next((given[key] for key in ("raw", "content", "id") if given.get(key)), None)
    if isinstance(raw, list) and raw and _is_chat(raw):
        raw = _json(raw)
    if not isinstance(raw, str) or not raw.strip():
        raise wrong("a prompt must be a text, a file or a list of messages")
    label = str(given.get("label") or given.get("id") or "")
    name = str(given.get("id") or "")
    config = given.get("config")
    config = config if isinstance(config, dict) else None
    unread = [
        one
        for one in given
        if one not in _MEMBERS and not (one == "config" and config is not None)
    ]
    yield from (place.at(one).lost("nothing takes it from a prompt") for one in unread)
    is_path = "\n" not in raw and _PATH.fullmatch(raw)
    if not raw.startswith(SCHEME) and not is_path:
        yield PromptfooPrompt(place, raw, label, name, config)
        return
    if isinstance(entry, dict) and not entry.get("label"):
        label = ""
    for found in source.all(raw):
        path = PurePosixPath(found.path)
        for prompt in _of_file(path, found.text, place):
            yield prompt._replace(label=label or prompt.label, name=name or raw, config=config)


def _of_file(path: PurePosixPath, text: str, place: ConfigPlace) -> Iterator[PromptfooPrompt]:
    kind = path.suffix.lower()
    text = text.removeprefix("\ufeff")
    if kind in {".csv", ".jsonl"}:
        for number, row in enumerate(listed(parsed(path, text)), start=1):
            yield _of_row(row, f"{path.stem}-{number}", place)
        return
    parts = _SEPARATOR.split(text) if kind in _MANY else [text]
    parts = [part.strip("\r\n") for part in parts if part.strip()]
    if not parts:
        raise wrong(f"{path.name} is empty")
    for number, part in enumerate(parts, start=1):
        label = path.stem if len(parts) == 1 else f"{path.stem}-{number}"
        yield PromptfooPrompt(place, _as_json(part) if kind in {".yaml", ".yml"} else part, label)


def _of_row(row: JsonValue, label: str, place: ConfigPlace) -> PromptfooPrompt:
    if isinstance(row, dict) and isinstance(row.get("prompt"), str):
        return PromptfooPrompt(place, str(row["prompt"]), str(row.get("label") or label))
    if isinstance(row, list) and _is_chat(row):
        return PromptfooPrompt(place, _json(row), label)
    raise wrong(f"{label}: a row must have a 'prompt'")


def _as_json(text: str) -> str:
    """A prompt in YAML as the JSON that promptfoo makes of it; a text where it is neither."""
    try:
        value = parse_yaml(text.encode("utf-8", "surrogatepass")).value
    except ParseError:
        return text
    return _json(value) if isinstance(value, dict | list) else text


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def conversation(text: str) -> list[JsonValue] | None:
    """The messages that a prompt is written as, in JSON or in YAML; None for any other text."""
    try:
        if text.lstrip().startswith("["):
            value = parse_json(text.strip().encode("utf-8", "surrogatepass"))
        elif _YAML_CHAT.match(text):
            value = parse_yaml(text.encode("utf-8", "surrogatepass")).value
        else:
            return None
    except ParseError:
        return None
    return value if isinstance(value, list) and _is_chat(value) else None


def _part(part: JsonValue) -> JsonValue:
    """A part of a message; an image as Bedrock has it, with its bytes, as one of OpenAI."""
    if not isinstance(part, dict) or part.keys() != {"image"}:
        return part
    image = objects(part["image"])
    data = objects(image.get("source")).get("bytes")
    if not isinstance(data, str) or not data.strip():
        return part
    # A variable that names an image is filled in as a data URL already.
    kind = str(image.get("format")).replace("jpg", "jpeg")
    url = data if data.startswith("data:") else f"data:image/{kind};base64,{data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _with_parts(message: JsonValue) -> JsonValue:
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        return message
    return {**message, "content": [_part(part) for part in listed(message["content"])]}


def _is_chat(value: list[JsonValue]) -> bool:
    return bool(value) and all(isinstance(item, dict) and "role" in item for item in value)


def messages(prompt: str, render: Render) -> list[JsonObject]:
    """A prompt as messages: a conversation where it is written as one, else what the user says."""
    chat = conversation(prompt)
    if chat is not None:
        return messages_of([_with_parts(message) for message in listed(_filled(chat, render))])
    text = render(prompt)
    # A template may write the conversation itself.
    chat = conversation(text) if text != prompt else None
    return messages_of(text if chat is None else [_with_parts(message) for message in chat])


def _filled(value: JsonValue, render: Render) -> JsonValue:
    """A value with all of its texts filled in."""
    if isinstance(value, str):
        return render(value)
    if isinstance(value, list):
        return [_filled(item, render) for item in value]
    if isinstance(value, dict):
        return {name: _filled(item, render) for name, item in value.items()}
    return value
