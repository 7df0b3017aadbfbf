"""Tests in tables: columns are variables, those that begin with `__` say more."""

from __future__ import annotations

import csv
import re

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.usecases.convert.promptfoo.source import listed

_TYPED = re.compile(
    r"(?P<type>(?:not-)?[a-z]+(?:-[a-z]+)*)(?:\((?P<threshold>\d+(?:\.\d+)?)\))?"
    r"(?::(?P<value>[\s\S]*))?"
)
_CODE = re.compile(r"(?:javascript|fn|eval):")
_LISTS = ("contains-any", "contains-all", "icontains-any", "icontains-all")
_MEASURED = {"similar": 0.8}
_KNOWN = frozenset(
    [
        *("equals", "contains", "icontains", "regex", "starts-with", "is-json", "contains-json"),
        *("contains-html", "is-html", "is-sql", "contains-sql", "is-xml", "contains-xml"),
        *("is-refusal", "javascript", "python", "ruby", "webhook", "rouge-n", "bleu", "gleu"),
        *("levenshtein", "latency", "meteor", "perplexity", "perplexity-score", "cost", "similar"),
        *("is-valid-function-call", "is-valid-openai-function-call", "guardrails", "classifier"),
        *("is-valid-openai-tools-call", "moderation", "llm-rubric", "g-eval", "factuality", "pi"),
        *("answer-relevance", "context-faithfulness", "context-recall", "context-relevance"),
        *("model-graded-closedqa", "model-graded-factuality", "select-best", "max-score"),
        *("word-count", "finish-reason", *_LISTS),
    ]
)


def table_test(row: JsonObject) -> JsonObject:
    """The test that a row of a table stands for."""
    test: JsonObject = {"vars": {}, "assert": [], "options": {}, "metadata": {}}
    configs: dict[str, JsonObject] = {}
    for name, cell in row.items():
        text = str(cell)
        if name.startswith("__config:"):
            expected, _, setting = name.removeprefix("__config:").partition(":")
            if text.strip():
                configs.setdefault(expected, {})[setting] = _number(text)
        else:
            _take(test, name, text)
    asserted = [
        {**(assertion if isinstance(assertion, dict) else {}), **_config(configs, number)}
        for number, assertion in enumerate(listed(test["assert"]), start=1)
    ]
    metric = test.pop("metric", None)
    test["assert"] = [{"metric": metric, **one} if metric else one for one in asserted]
    return {name: value for name, value in test.items() if value or name == "vars"}


def _take(test: JsonObject, name: str, text: str) -> None:
    """Put the cell of one column into the test."""
    if not name.startswith("__"):
        _inside(test, "vars")[name] = text
    elif not text.strip():
        return
    elif name.startswith("__expected"):
        listed(test["assert"]).append(assertion_of(text.strip()))
    elif name in {"__prefix", "__suffix"}:
        _inside(test, "options")[name[2:]] = text
    elif name.startswith("__metadata:"):
        _describe(_inside(test, "metadata"), name.removeprefix("__metadata:"), text)
    elif name == "__threshold":
        test["threshold"] = _number(text)
    else:
        test[name[2:]] = text


def _inside(test: JsonObject, name: str) -> JsonObject:
    value = test[name]
    assert isinstance(value, dict)
    return value


def _describe(metadata: JsonObject, name: str, text: str) -> None:
    if name.endswith("[]"):
        items = re.split(r"(?<!\\),", text)
        metadata[name[:-2]] = [item.strip().replace("\\,", ",") for item in items]
    else:
        metadata[name] = text


def _config(configs: dict[str, JsonObject], number: int) -> JsonObject:
    named = configs.get(f"__expected{number}", {})
    return {**(configs.get("__expected", {}) if number == 1 else {}), **named}


def assertion_of(text: str) -> JsonObject:
    """The assertion that a cell stands for: a type before a colon, else the answer itself."""
    if code := _CODE.match(text):
        return {"type": "javascript", "value": text[code.end() :].strip()}
    if text.startswith("file://"):
        is_python = bool(re.search(r"\.py(:\w+)?$", text))
        return {"type": "python" if is_python else "javascript", "value": text}
    if text.startswith("grade:"):
        return {"type": "llm-rubric", "value": text.removeprefix("grade:").strip()}
    typed = _TYPED.fullmatch(text)
    if typed is None or typed["type"].removeprefix("not-") not in _KNOWN:
        return {"type": "equals", "value": text}
    return _typed(typed)


def _typed(found: re.Match[str]) -> JsonObject:
    kind = found["type"].removeprefix("not-")
    made: JsonObject = {"type": found["type"]}
    value: JsonValue = found["value"].strip() if found["value"] else None
    if kind in _LISTS and isinstance(value, str):
        cells = next(csv.reader([value], skipinitialspace=True), list[str]())
        value = [cell.strip() for cell in cells if cell.strip()]
    if value is not None:
        made["value"] = value
    threshold = found["threshold"]
    if threshold is not None:
        made["threshold"] = float(threshold)
    elif kind in _MEASURED:
        made["threshold"] = _MEASURED[kind]
    return made


def _number(text: str) -> JsonValue:
    try:
        return float(text)
    except ValueError:
        return text
