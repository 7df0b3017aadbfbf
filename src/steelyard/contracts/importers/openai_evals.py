"""OpenAI Evals: exports of the dashboard and the API, data files, samples of `oaieval`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from steelyard.contracts.importers.source_row import Import, Imported, content_id, one_of, wrong
from steelyard.model.conversion import Change, Refusal
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import ROLES

# Under which names items carry what is asked and what a good answer is, the likelier first.
INPUTS = ("messages", "input", "prompt", "question", "query", "user_input", "text")
ANSWERS = (
    *("ideal", "expected_output", "expected", "expected_answer", "correct_answer", "answer"),
    *("reference_answer", "reference", "ground_truth", "correct_label", "label", "target"),
)
GOALS = ("expected_outcome", "criteria")
_NAMES = ("id", "case_id", "item_id")
_ASKED = ("trajectory", "input")
_RESULTS = ("grades", "passes", "grader_samples", "results")
_SEVERAL = "the first of several good answers is the reference; the expected outcome names all"
_LOG = ({"spec"}, {"final_report"}, {"event_id", "sample_id", "type"})
_ROLES = {**{role: role for role in ROLES}, "developer": "system", "function": "tool"}


def import_openai_evals(record: JsonObject, names: Mapping[str, str]) -> list[Import]:
    """One item as an eval case; `names` tells which of its fields hold what.

    A run's own part, such as its answer, is no part of the case: the same item in two runs is
    the same case.
    """
    if any(mark <= record.keys() for mark in _LOG):
        reason = "an event in the log of a run, not a sample; convert the samples file"
        return [Refusal("skipped", reason, "log")]
    item = _item(record)
    reader = _Item(item, names)
    asked = reader.asked() or _sampled(record)
    if not asked:
        known = ", ".join(INPUTS)
        raise wrong(
            f"nothing says what is asked: the item has {_listed(item)}, and none of {known}; "
            "name the field with --map input=FIELD"
        )
    row: JsonObject = {
        "id": reader.name(asked),
        "input_messages": cast(JsonValue, asked),
        **reader.expected(),
    }
    metadata = reader.rest()
    if metadata:
        row["metadata"] = metadata
    return [Imported(row, (*reader.changes, *_unsaid(record)))]


def _item(record: JsonObject) -> JsonObject:
    for name in ("item", "datasource_item"):
        if name in record:
            item = record[name]
            if not isinstance(item, dict):
                raise wrong(f"'{name}' must be an object")
            return item
    return record


def _sampled(record: JsonObject) -> list[JsonObject]:
    """What the target was shown, where only the sample of a run knows it."""
    sample = record.get("sample")
    if not isinstance(sample, dict) or record.get("item") is sample:
        return []
    for name in _ASKED:
        asked = messages_of(sample.get(name))
        if asked:
            return asked
    return []


def _unsaid(record: JsonObject) -> list[Change]:
    """What an export holds beside the items."""
    if "item" not in record and "datasource_item" not in record:
        return []
    changes: list[Change] = []
    sample = record.get("sample")
    if isinstance(sample, dict) and any(sample.get(name) for name in ("outputs", "output")):
        message = "an answer of a run is no part of a case"
        changes.append(Change("sample", message))
    if any(record.get(name) for name in _RESULTS):
        message = "an export has the results of graders, not what they ask; name a rubric instead"
        changes.append(Change("graders", message))
    return changes


class _Item:
    """The fields of one item, sorted into what a case has."""

    def __init__(self, item: JsonObject, names: Mapping[str, str]) -> None:
        self._item = item
        self._names = names
        self._taken: set[str] = set()
        self.changes: list[Change] = []

    def asked(self) -> list[JsonObject]:
        """The messages of the first field that holds any."""
        _, found = self._find("input", INPUTS)
        return messages_of(found)

    def expected(self) -> JsonObject:
        """A good answer, and what it achieves, as far as the item says so."""
        row: JsonObject = {}
        name, answer = self._find("expected_output", ANSWERS)
        texts = [_text(each) for each in (answer if isinstance(answer, list) else [answer])]
        said = [text for text in texts if text]
        if said:
            row["expected_messages"] = [{"role": "assistant", "content": said[0]}]
        _, goal = self._find("expected_outcome", GOALS)
        goals = [goal] if isinstance(goal, str) and goal.strip() else []
        if len(said) > 1:
            self._taken.discard(name)
            self.changes.append(Change(name, _SEVERAL, is_lost=False))
            goals.append(one_of(said))
        if goals:
            row["expected_outcome"] = "\n\n".join(goals)
        return row

    def name(self, asked: list[JsonObject]) -> str:
        """The item's own id, else one made of its content and of what is asked."""
        _, name = self._find("id", _NAMES)
        if isinstance(name, str | int) and not isinstance(name, bool) and str(name).strip():
            return str(name)
        return content_id("openai-evals", self._item, cast(JsonValue, asked))

    def rest(self) -> JsonObject:
        """The other fields."""
        return {
            name: value
            for name, value in self._item.items()
            if name not in self._taken and name not in _NAMES and not name.startswith("sample.")
        }

    def _find(self, field: str, known: tuple[str, ...]) -> tuple[str, JsonValue]:
        """The first field that holds something, and what."""
        mapped = self._names.get(field)
        if mapped is not None and mapped not in self._item:
            raise wrong(f"--map {field}={mapped}: the item has {_listed(self._item)}")
        for name in (mapped,) if mapped is not None else known:
            value = self._item.get(name)
            if value not in (None, "", []):
                self._taken.add(name)
                return name, value
        return "", None


def messages_of(value: JsonValue) -> list[JsonObject]:
    """Chat messages, as eval cases write them; a text is what the user says."""
    if isinstance(value, str) and value.strip():
        return [{"role": "user", "content": value}]
    if not isinstance(value, list):
        return []
    messages = [_message(entry) for entry in value]
    return [message for message in messages if message]


def _message(entry: JsonValue) -> JsonObject:
    if not isinstance(entry, dict):
        raise wrong(f"a message must be an object, not {json.dumps(entry)[:40]}")
    role = _ROLES.get(str(entry.get("role")))
    if role is None:
        raise wrong(
            f"the role of a message must be {', '.join(_ROLES)}, not {entry.get('role')!r}"
        )
    content = entry.get("content")
    text = _text(content)
    calls = entry.get("tool_calls")
    row: JsonObject = {"role": role}
    if isinstance(entry.get("name"), str):
        row["name"] = entry["name"]
    if text or not calls:
        row["content"] = text
    if isinstance(calls, list) and calls:
        row["tool_calls"] = [_tool_call(call) for call in calls]
    return row if text or calls else {}


def _tool_call(call: JsonValue) -> JsonObject:
    """A call in the platform's form to one in ours."""
    given = call if isinstance(call, dict) else {}
    function = given.get("function")
    said = function if isinstance(function, dict) else given
    row: JsonObject = {"tool": str(said.get("name", "tool"))}
    if isinstance(given.get("id"), str):
        row = {"id": given["id"], **row}
    if "arguments" in said:
        row["input"] = said["arguments"]
    return row


def _text(content: JsonValue) -> str:
    """The text of a content: itself, its parts, or its JSON."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in content]
        return "\n".join(part for part in parts if isinstance(part, str))
    return json.dumps(content, ensure_ascii=False)


def _listed(item: JsonObject) -> str:
    return ", ".join(f"'{name}'" for name in list(item)[:8]) or "no fields"
