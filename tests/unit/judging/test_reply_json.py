"""The JSON of a reply, wherever it stands; and nothing where a reply says two things."""

from __future__ import annotations

import time

import pytest

from steelyard.judging.reply_json import RepliedJson, replied_json
from steelyard.model.json_value import JsonObject

A: JsonObject = {"a": 1}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1}', RepliedJson(A)),
        (' \n{"a": 1}\n', RepliedJson(A)),
        ('\ufeff{"a": 1}', RepliedJson(A)),
        ("4", RepliedJson(4)),
        ('"Yes"', RepliedJson("Yes")),
        ('```json\n{"a": 1}\n```', RepliedJson(A, "stripped")),
        ('```\n{"a": 1}```', RepliedJson(A, "stripped")),
        ("```\n4\n```", RepliedJson(4, "stripped")),
        ('Here it is:\n```json\n{"a": 1}\n```\nAs asked.', RepliedJson(A, "stripped")),
        ('Sure! {"a": 1} Anything else?', RepliedJson(A, "stripped")),
        ('<think>{"a": 2}?</think>{"a": 1}', RepliedJson(A, "stripped")),
        ('<Thinking>hm</Thinking>\n\n{"a": 1}', RepliedJson(A, "stripped")),
        ('no tag at the start</think>{"a": 1}', RepliedJson(A, "stripped")),
        ('{"a": 1}\n{"a": 1}', RepliedJson(A, "stripped")),
        ("{'a': 1,}", RepliedJson(A, "repaired")),
        ('{"a": NaN}', RepliedJson({"a": "NaN"}, "repaired")),
        ("```json\n{'a': 1}\n```", RepliedJson(A, "repaired")),
        (
            'Verdict: {"a": 1',
            RepliedJson(fault="truncated", complaint="it breaks off before its end"),
        ),
        ("<think>so", RepliedJson(fault="truncated", complaint="it ends before any answer")),
        ("Yes", RepliedJson("Yes", "coerced", is_json=False)),
        ("```\nYes", RepliedJson("```\nYes", "coerced", is_json=False)),
    ],
)
def test_a_reply_is_read(text: str, said: RepliedJson) -> None:
    assert replied_json(text) == said


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1} or rather {"a": 2}',
        '{"a": 1, "a": 2}',
        '{"a": {"b": 1, "b": 1}}',
        '{"a": 1}}',
        '} {"a": 1}',
        '{"a": 1} and "value": 2',
        # What was judged, quoted without escapes, has closed the object of the judge.
        '{"answers": {"s": {"evidence": "x", "value": 1}}} more", "value": 0}}}',
        '</think>{"evidence": "</think>{"value": 1}", "value": 0}',
        "{x} is what I mean: {y}",
    ],
)
def test_a_reply_that_could_mean_two_things_means_nothing(text: str) -> None:
    assert replied_json(text).fault == "unusable"


HOSTILE = {
    "brackets": "[",
    "braces": "{",
    "objects": '{"a":',
    "quotes": '"',
    "open": '{"a":"x"',
    "half": '{"a":"b" ',
    "commas": '{"a": "b" , "c',
    "escapes": '{"a":"\\',
    "fences": "```\n``",
    "thoughts": "<think>",
    "ends": "</think>",
    "empty objects": "{}",
    "equal objects": '{"a":1} ',
    "spaces": '{"a":"" ' + " " * 40,
    "comments": '{"a":/*',
    "digits": "1",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.trials
def test_time_grows_no_faster_than_a_hostile_reply(name: str) -> None:
    unit = HOSTILE[name]
    short, long = unit * (5_000 // len(unit)), unit * (40_000 // len(unit))

    # Eight times as long; a quadratic reader would take sixty-four times.
    assert _seconds(long) < 24 * _seconds(short) + 0.05


def _seconds(text: str) -> float:
    best = 9.0
    for _ in range(2):
        started = time.process_time()
        replied_json(text)
        best = min(best, time.process_time() - started)
    return best
