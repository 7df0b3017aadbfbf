"""promptfoo: prompts and tests of a configuration, one eval case for each pair."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from itertools import product

from steelyard.contracts.importers.openai_messages import messages_of
from steelyard.contracts.importers.promptfoo_assertions import Render, evaluators_of
from steelyard.contracts.importers.source_row import Import, Imported, content_id, wrong
from steelyard.errors import ParseError
from steelyard.formats.json_text import parse_json
from steelyard.model.conversion import Change, Refusal
from steelyard.model.json_value import JsonObject, JsonValue

_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][\w.]*)\s*\}\}")
_LOGIC = re.compile(r"\{%|\{#|\{\{")
_CONFIG = {"prompts", "tests", "defaultTest", "description", "$schema"}
_TEST = {"vars", "assert", "description", "metadata", "threshold", "options", "prompts"}
_OPTIONS = {"disableDefaultAsserts", "prefix", "suffix"}
_NO_PLACE = "a dataset has no place for it"
_DEFAULTS_OFF = "disableDefaultAsserts"
_UNGRADED = "no assertion of the test came along, so that nothing in the case grades it"


def import_promptfoo(config: JsonValue) -> Iterator[Import]:
    """Every pair of a prompt and a test; what is kept in other files is skipped and said."""
    top = checked_config(config)
    default = _object(top, "defaultTest")
    for test in _listed(top["tests"]):
        if not isinstance(test, dict):
            yield Refusal("left_out", f"tests in another file are not read: {test}", "tests file")
            continue
        made = _Test(test, default)
        prompts = made.prompts(_listed(top["prompts"]))
        if isinstance(prompts, Refusal):
            yield prompts
            continue
        for prompt in prompts:
            yield from _pair(prompt, made)


def checked_config(config: JsonValue) -> JsonObject:
    """A configuration with prompts and tests; raises ParseError where it is none."""
    if not isinstance(config, dict):
        raise wrong("the top level must be an object with 'prompts' and 'tests'")
    for name in ("prompts", "tests"):
        if name not in config:
            raise wrong(f"there is no '{name}'; a promptfoo configuration has prompts and tests")
    return config


def unread_config(config: JsonObject) -> list[Change]:
    """What a configuration says beside its prompts and tests."""
    changes = [Change(name, _NO_PLACE) for name in config if name not in _CONFIG]
    default = config.get("defaultTest")
    if default is not None and not isinstance(default, dict):
        changes.append(
            Change("defaultTest", f"it is in another file, which is not read: {default}")
        )
    return changes


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]


def _pair(prompt: JsonValue, test: _Test) -> Iterator[Import]:
    try:
        text = _prompt_text(prompt)
    except ParseError as why:
        yield Refusal("left_out", str(why), "prompt file")
        return
    for values in test.variants():
        try:
            yield test.row(text, values)
        except ParseError as why:
            yield Refusal("left_out", str(why))


def _prompt_text(prompt: JsonValue) -> str:
    raw = prompt
    if isinstance(prompt, dict):
        raw = prompt.get("raw", prompt.get("content", prompt.get("id")))
    if not isinstance(raw, str) or not raw.strip():
        raise wrong(f"a prompt must be a text, not {json.dumps(prompt)[:60]}")
    is_path = "\n" not in raw and re.fullmatch(r"\S+\.(txt|md|j2|json|ya?ml|js|ts|py|csv)", raw)
    if raw.startswith("file://") or is_path:
        raise wrong(f"a prompt in another file is not read; write its text in place of {raw}")
    return raw


class _Test:
    """One test, merged with what the configuration says for all of them."""

    def __init__(self, test: JsonObject, default: JsonObject) -> None:
        self._test = test
        self._default = default
        self._vars: JsonObject = {**_object(default, "vars"), **_object(test, "vars")}

    def prompts(self, listed: list[JsonValue]) -> list[JsonValue] | Refusal:
        """The prompts that the test asks with: all, unless it names some."""
        named = self._test.get("prompts", self._default.get("prompts"))
        if named is None:
            return listed
        wanted = [str(name) for name in _listed(named)]
        found = [prompt for prompt in listed if _is_named(prompt, wanted)]
        reason = f"the test asks with the prompts {', '.join(wanted)}, and there is none of them"
        return found or Refusal("left_out", reason, "prompts")

    def variants(self) -> Iterator[JsonObject]:
        """The values of the variables: a list stands for one test with each of its items."""
        names = list(self._vars)
        choices = [value if isinstance(value, list) else [value] for value in self._vars.values()]
        for combination in product(*choices):
            yield dict(zip(names, combination, strict=True))

    def row(self, prompt: str, values: JsonObject) -> Imported:
        """The case of this test with one prompt."""
        for name, value in values.items():
            if isinstance(value, str) and value.startswith("file://"):
                raise wrong(f"variable '{name}' is in another file: {value}")
            if isinstance(value, str) and _LOGIC.search(value):
                raise wrong(f"variable '{name}' is a template itself: {_short(value)}")

        render = partial(rendered, values=values)
        asked = _messages(self._framed(prompt), render)
        threshold = self._test.get("threshold", self._default.get("threshold"))
        options = self._options()
        default = [] if options.get(_DEFAULTS_OFF) is True else self._default.get("assert") or []
        entries = [*_listed(default), *_listed(self._test.get("assert") or [])]
        evaluators, changes = evaluators_of(entries, render, all_must_pass=threshold is None)
        if not evaluators:
            changes.append(Change("grading", _UNGRADED))
        if threshold is not None:
            changes.append(Change("threshold", "set 'pass_threshold' in a suite instead"))
        description = self._test.get("description")
        row: JsonObject = {
            "id": content_id("promptfoo", [*asked], values, description),
            "input_messages": [*asked],
            "evaluators": [*evaluators],
        }
        metadata = {**_object(self._default, "metadata"), **_object(self._test, "metadata")}
        if isinstance(description, str):
            metadata = {"description": description, **metadata}
        if metadata:
            row["metadata"] = metadata
        changes += [Change(f"tests.{name}", _NO_PLACE) for name in self._unread()]
        return Imported(row, tuple(changes))

    def _unread(self) -> list[str]:
        names = [name for name in (*self._default, *self._test) if name not in _TEST]
        options = [f"options.{name}" for name in self._options() if name not in _OPTIONS]
        return [*dict.fromkeys(names), *options]

    def _options(self) -> JsonObject:
        return {**_object(self._default, "options"), **_object(self._test, "options")}

    def _framed(self, prompt: str) -> str:
        """The prompt between the texts that the test puts around it."""
        options = self._options()
        before, after = options.get("prefix") or "", options.get("suffix") or ""
        if not isinstance(before, str) or not isinstance(after, str):
            raise wrong("options.prefix and options.suffix must be texts")
        if (before or after) and _conversation(prompt) is not None:
            raise wrong("a conversation cannot stand between options.prefix and options.suffix")
        return f"{before}{prompt}{after}"


def _object(row: JsonObject, name: str) -> JsonObject:
    value = row.get(name)
    return value if isinstance(value, dict) else {}


def _messages(prompt: str, render: Render) -> list[JsonObject]:
    """A prompt as messages: a conversation where it is written as one, else what the user says."""
    conversation = _conversation(prompt)
    if conversation is None:
        return messages_of(render(prompt))
    return [
        {**message, "content": _filled(message.get("content", ""), render)}
        for message in messages_of(conversation)
    ]


def _filled(value: JsonValue, render: Render) -> JsonValue:
    """A content with the variables of all its texts filled in."""
    if isinstance(value, str):
        return render(value)
    if isinstance(value, list):
        return [_filled(item, render) for item in value]
    if isinstance(value, dict):
        return {name: _filled(item, render) for name, item in value.items()}
    return value


def _is_named(prompt: JsonValue, wanted: list[str]) -> bool:
    """Whether one of the names, which may end in `*`, is a prompt's label, id or text."""
    given = prompt if isinstance(prompt, dict) else {"raw": prompt}
    names = [given.get(key) for key in ("label", "id", "raw")]
    return any(
        name.startswith(f"{one}:")
        or (name.startswith(one[:-1]) if one[-1:] == "*" else name == one)
        for name in names
        if isinstance(name, str)
        for one in wanted
    )


def _conversation(prompt: str) -> list[JsonValue] | None:
    if not prompt.lstrip().startswith("["):
        return None
    try:
        value = parse_json(prompt.encode("utf-8", "surrogatepass"))
    except ParseError:
        return None
    if not isinstance(value, list):
        return None
    return value if all(isinstance(item, dict) and "role" in item for item in value) else None


def rendered(text: str, values: JsonObject) -> str:
    """A template with its variables filled in; raises ParseError for one that does more."""

    def fill(found: re.Match[str]) -> str:
        value: JsonValue = values
        for part in found[1].split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value is None:
            raise wrong(f"no variable '{found[1]}' for the template {_short(text)}")
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    if _LOGIC.search(_VARIABLE.sub("", text)):
        raise wrong(
            f"only {{{{ variable }}}} can be filled in, and the template is {_short(text)}"
        )
    return _VARIABLE.sub(fill, text)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
