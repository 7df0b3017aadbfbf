"""Texts that are almost JSON: what they mean, and when nobody can say."""

from __future__ import annotations

import json

import pytest

from steelyard.usecases.datasets.mend_json import (
    MOST_CHARACTERS,
    mended_json,
    mended_rows,
    unwrapped_json,
)

MEANT = {"name": "It's 1 // 2", "questions": [{"key": "a"}]}
PLAIN = json.dumps(MEANT)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            '{"name": "a", "questions": [{"key": "a"',
            "The text was cut off, and what followed is missing.",
        ),
        (
            '```json\n{"name": "a", "questions": [{"key": "a"}',
            "The JSON stands in a code fence; the text was cut off, and what followed is missing.",
        ),
    ],
)
def test_a_text_that_was_cut_off_is_said_to_be_so(text: str, why: str) -> None:
    mended = mended_json(text)

    assert mended
    assert (mended.why, mended.is_cut) == (why, True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"```json\n{PLAIN}\n```", "The JSON stands in a code fence."),
        (f"Here is the rubric:\n{PLAIN}\nTell me more.", "There is other text around the JSON."),
        (f"{PLAIN[:-1]},}}", "This is almost JSON: quotes, commas or brackets in it are wrong."),
        (f"{{ // the rubric\n{PLAIN[1:-1]} /* end */ }}", "The JSON has comments."),
        (
            PLAIN.replace('"questions"', "\u201cquestions\u201d"),
            "This is almost JSON: quotes, commas or brackets in it are wrong.",
        ),
        (
            PLAIN.replace('"key": "a"', "'key': 'a'"),
            "This is almost JSON: quotes, commas or brackets in it are wrong.",
        ),
        (
            f"```\n{PLAIN[:-1]} // end\n}}\n```",
            "The JSON stands in a code fence; it has comments.",
        ),
    ],
)
def test_says_what_is_meant_and_what_stood_in_the_way(text: str, why: str) -> None:
    mended = mended_json(text)

    assert mended
    assert json.loads(mended.text) == MEANT
    assert (mended.why, mended.is_cut) == (why, False)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (json.dumps(PLAIN), "The JSON stands in a quoted string."),
        (
            json.dumps(f"```\n{PLAIN}\n```"),
            "The JSON stands in a quoted string. The JSON stands in a code fence.",
        ),
    ],
)
def test_json_in_a_string_is_unpacked(text: str, why: str) -> None:
    mended = mended_json(text)

    assert mended
    assert mended[:2] == (json.dumps(MEANT, indent=2) + "\n", why)


ROWS = '{"id": "a"}\n{"id": "b"}\n'


@pytest.mark.parametrize(
    ("text", "meant", "why"),
    [
        (f"```jsonl\n{ROWS}```", ROWS, "The dataset stands in a code fence."),
        (
            "Here:\n```yaml\nquestions:\n  - id: a\n```\nGood luck.",
            "questions:\n  - id: a\n",
            "The dataset stands in a code fence.",
        ),
        ('{"id": "a"},\n{"id": "b"},', ROWS, "2 of 2 rows are almost JSON"),
        ('{"id": "a",}\n{"id": "b"}', ROWS, "1 of 2 rows are almost JSON"),
        ("{'id': 'a'}", '{\n  "id": "a"\n}\n', "This is almost JSON"),
    ],
)
def test_a_dataset_is_mended_without_losing_a_row(text: str, meant: str, why: str) -> None:
    mended = mended_rows(text)

    assert mended
    assert mended.text == meant
    assert mended.why.startswith(why)


@pytest.mark.parametrize(
    "text",
    [
        ROWS,
        PLAIN,
        "questions: []\n",
        "",
        "hello",
        "```\n```",
        "a ``` b",
        "```x",
        "```\na\n```\n```\nb\n```",
    ],
)
def test_a_dataset_that_is_right_or_in_doubt_is_left_alone(text: str) -> None:
    assert mended_rows(text) is None


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        "",
        "  \n",
        "no object at all",
        '{"a": [1, 2',
        '{"a": 1} {"a": 2}',
        "id: basic\nversion: 1.0.0",
        '{"a": 1, "a": 2}',
        "{" + " " * MOST_CHARACTERS,
    ],
)
def test_mends_nothing_that_is_right_or_in_doubt(text: str) -> None:
    assert mended_json(text) is None


def test_an_object_around_a_rubric_is_taken_off() -> None:
    mended = unwrapped_json(f'{{"rubric": {PLAIN}}}', ("questions",))

    assert mended
    assert json.loads(mended.text) == MEANT
    assert mended.why == 'It stands within "rubric"; leave that out.'


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        '{"questions": {"questions": []}}',
        '{"a": {"b": 1}}',
        f'{{"a": {PLAIN}, "b": 1}}',
        "[",
    ],
)
def test_what_is_no_wrapper_is_left_alone(text: str) -> None:
    assert unwrapped_json(text, ("questions",)) is None
