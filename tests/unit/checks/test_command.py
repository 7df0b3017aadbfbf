"""`command`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from fakes.programs import ScriptedPrograms
from steelyard.checks.catalog import Catalog
from steelyard.checks.command import Command
from steelyard.checks.programs import NotRun, Ran
from steelyard.errors import SettingError
from steelyard.formats.schema import Schema
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from steelyard.model.message import FileBlock, Message, OtherBlock, TextBlock, ToolCall
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace, Usage
from steelyard.targets.processes.programs import LocalPrograms
from strategies.traces import said

CASE = Case(id="a")


def replied(reply: object, **settings: Any) -> Outcome:
    programs = ScriptedPrograms([Ran(0, reply if isinstance(reply, str) else json.dumps(reply))])
    return Command(script=("judge",), programs=programs, **settings).check(said("x"), CASE)


def told(trace: Trace, case: Case, **settings: Any) -> JsonObject:
    """What the program was told."""
    programs = ScriptedPrograms([Ran(0, '{"score": 1}')])
    Command(script=("judge",), programs=programs, **settings).check(trace, case)
    return json.loads(programs.runs[0].given)


@pytest.mark.parametrize(
    ("reply", "score", "passed"),
    [
        ({"score": 1}, 1.0, True),
        ('\ufeff{"score": 1}\r\n', 1.0, True),
        ({"score": 0.7}, 0.7, True),
        ({"score": 0.69}, 0.69, False),
        ({"score": 0}, 0.0, False),
        ({"score": 7}, 1.0, True),
        ({"score": -1}, 0.0, False),
        ({"score": 1, "verdict": ["pass"]}, 1.0, True),
        ({"score": 0.2, "verdict": "pass"}, 0.2, True),
        ({"score": 0.9, "verdict": "fail"}, 0.9, False),
        ({"score": 0.9, "verdict": "borderline"}, 0.9, True),
        ({"assertions": [{"text": "a", "passed": True}]}, 1.0, True),
        ({"assertions": [{"passed": True}, {"passed": False}]}, 0.5, False),
        ({"score": 0.8, "assertions": [{"passed": False}]}, 0.8, True),
    ],
)
def test_the_program_gives_a_score_or_assertions(
    reply: JsonObject | str, score: float, passed: bool
) -> None:
    outcome = replied(reply)

    assert (outcome.status, outcome.score, outcome.passed) == ("scored", score, passed)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "the program's output is not JSON"),
        ("1.0", "the program's output is no JSON object; got '1.0'"),
        ("[1]", "the program's output is no JSON object; got '[1]'"),
        ("score: 1", "the program's output is not JSON"),
        ('{"score": NaN}', "the program's output is not JSON"),
        ({}, "the program's reply has no score"),
        ({"score": None}, "the program's reply has no score"),
        ({"score": "1"}, "the program's reply has no score"),
        ({"score": True}, "the program's reply has no score"),
        ({"assertions": []}, "the program's reply has no score"),
        ({"assertions": [{"text": "a"}]}, "the program's reply has no score"),
        ({"assertions": "all"}, "the program's reply has no score"),
    ],
)
def test_a_reply_that_says_nothing_is_unscored_and_never_0(reply: object, reason: str) -> None:
    outcome = replied(reply)

    assert (outcome.status, outcome.score, outcome.passed) == ("unscored", None, None)
    assert outcome.reason.startswith(reason)


@pytest.mark.parametrize(
    ("ran", "reason"),
    [
        (Ran(1, '{"score": 1}', "Traceback\nboom\n"), "the program exited with 1: Traceback boom"),
        (Ran(3, "said this"), "the program exited with 3: said this"),
        (Ran(-9, ""), "the program exited with -9: without a word"),
        (NotRun("timeout", "judge took longer than 60 s"), "judge took longer than 60 s"),
        (NotRun("not_found", "judge is not installed"), "judge is not installed"),
        (NotRun("too_much", "judge wrote more than 1 MB"), "judge wrote more than 1 MB"),
    ],
)
def test_a_program_that_fails_is_unscored_and_never_0(ran: Ran | NotRun, reason: str) -> None:
    check = Command(script=("judge",), programs=ScriptedPrograms([ran]))
    outcome = check.check(said("x"), CASE)

    assert (outcome.status, outcome.reason) == ("unscored", reason)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"score": 1, "reasoning": " It is  fine. "}, "It is fine."),
        ({"score": 1, "hits": ["one", " ", 2]}, "one"),
        ({"score": 0, "hits": ["one"], "misses": ["two", "three"]}, "two; three"),
        ({"score": 0.5}, "the program gave 0.5"),
        ({"assertions": [{"text": "says so", "passed": False}]}, "says so"),
    ],
)
def test_the_reason_is_what_the_program_says(reply: JsonObject, reason: str) -> None:
    assert replied(reply).reason == reason


def test_what_else_the_program_says_is_in_the_details() -> None:
    reply = {"score": 2, "hits": ["a"], "misses": ["b"], "details": {"n": [1]}}
    programs = ScriptedPrograms([Ran(0, json.dumps(reply), "warning: old")])
    outcome = Command(script=("judge",), programs=programs).check(said("x"), CASE)

    assert outcome.details == {
        "hits": ["a"],
        "misses": ["b"],
        "details": {"n": [1]},
        "stated_score": 2,
        "stderr": "warning: old",
    }


@pytest.mark.parametrize(("threshold", "passed"), [(0.5, True), (0.51, False)])
def test_it_passes_at_its_threshold(threshold: float, passed: bool) -> None:
    assert replied({"score": 0.5}, threshold=threshold).passed is passed


def test_the_program_is_told_about_trace_and_case() -> None:
    blocks = (
        TextBlock(text="Look:"),
        FileBlock(value="a.md", path="/p/a.md", text="# A"),
        OtherBlock(data={"type": "image"}),
    )
    case = Case(
        id="a",
        input_messages=(
            Message(role="system", content=" Be kind. "),
            Message(role="user", name="ann", content=blocks),
        ),
        expected_messages=(Message(role="assistant", content={"decision": "yes"}),),
        expected_outcome="Says yes.",
        guideline_paths=("/p/g.md",),
        file_paths=("/p/g.md", "/p/a.md"),
        metadata={"topic": "x"},
    )
    call = ToolCall(
        tool="search", input={"q": 1}, output="found", id="c1", extra={"error": "late"}
    )
    trace = Trace(
        messages=(
            Message(role="assistant", tool_calls=(call,)),
            Message(role="assistant", content="Yes."),
        ),
        usage=Usage(input_tokens=3, output_tokens=4),
        latency_ms=12.5,
        extra={"cost_usd": 0.1},
    )
    row: JsonObject = {"id": "c1", "tool": "search", "input": {"q": 1}, "output": "found"}

    found = told(trace, case, config={"strict": True})
    later = {
        "criteria": found["expected_outcome"],
        "expected_output": found["expected_messages"],
        "output": found["candidate_answer"],
        "messages": found["output_messages"],
        "input": found["input_messages"],
        "token_usage": {"input": 3, "output": 4},
        "cost_usd": 0.1,
        "duration_ms": 12.5,
    }
    assert found == {
        **later,
        "question": "Be kind.\n\nLook:\n# A",
        "expected_outcome": "Says yes.",
        "expected_messages": [{"role": "assistant", "content": {"decision": "yes"}}],
        "reference_answer": '{\n  "decision": "yes"\n}',
        "candidate_answer": "Yes.",
        "output_messages": [
            {"role": "assistant", "tool_calls": [row]},
            {"role": "assistant", "content": "Yes."},
        ],
        "guideline_files": ["/p/g.md"],
        "input_files": ["/p/g.md", "/p/a.md"],
        "input_messages": [
            {"role": "system", "content": " Be kind. "},
            {
                "role": "user",
                "name": "ann",
                "content": [
                    {"type": "text", "value": "Look:", "text": "Look:"},
                    {"type": "file", "value": "a.md", "path": "/p/a.md", "text": "# A"},
                    {"type": "image"},
                ],
            },
        ],
        "trace_summary": {
            "event_count": 1,
            "tool_names": ["search"],
            "tool_calls": {"search": 1},
            "tool_calls_by_name": {"search": 1},
            "error_count": 1,
            "llm_call_count": 2,
            "token_usage": {"input": 3, "output": 4},
            "cost_usd": 0.1,
            "duration_ms": 12.5,
        },
        "metadata": {"topic": "x"},
        "config": {"strict": True},
    }


def test_figures_that_are_not_known_are_left_out() -> None:
    found = told(said("x"), CASE)

    assert (found["config"], found["reference_answer"]) == (None, "")
    assert not {"token_usage", "cost_usd", "duration_ms"} & found.keys()
    assert found["trace_summary"] == {
        "event_count": 0,
        "tool_names": [],
        "tool_calls": {},
        "tool_calls_by_name": {},
        "error_count": 0,
        "llm_call_count": 1,
    }


NUMBER: JsonObject = {"type": "number"}
TEXT: JsonObject = {"type": "string"}
LIST: JsonObject = {"type": "array"}
CALL: JsonObject = {
    "type": "object",
    "required": ["tool"],
    "properties": {"tool": {"type": "string"}, "id": {"type": "string"}},
}
MESSAGES: JsonObject = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["role"],
        "properties": {
            "content": {"type": ["string", "object", "array"], "items": {"type": "object"}},
            "name": {"type": "string"},
            "tool_calls": {"type": "array", "items": CALL},
        },
    },
}
FIGURES: JsonObject = {
    "token_usage": {
        "type": "object",
        "required": ["input", "output"],
        "properties": {"input": NUMBER, "output": NUMBER},
    },
    "cost_usd": NUMBER,
    "duration_ms": NUMBER,
}
COUNTS: JsonObject = {"type": "object", "additionalProperties": NUMBER}
# What the kits for such programs, of two generations, check before the program sees anything.
KITS: dict[str, tuple[dict[str, JsonObject], dict[str, JsonObject]]] = {
    "first": (
        {
            **dict.fromkeys(("question", "expected_outcome", "candidate_answer"), TEXT),
            **dict.fromkeys(("expected_messages", "input_messages", "output_messages"), MESSAGES),
            **dict.fromkeys(("guideline_files", "input_files"), LIST),
        },
        {"tool_names": {"type": "array"}, "tool_calls_by_name": COUNTS},
    ),
    "later": (
        {
            **dict.fromkeys(("criteria", "output"), TEXT),
            **dict.fromkeys(("expected_output", "input", "messages"), MESSAGES),
            "input_files": {"type": "array"},
        },
        {"tool_calls": COUNTS},
    ),
}


@pytest.mark.parametrize("kit", KITS)
@pytest.mark.parametrize(
    "usage", [Usage(), Usage(input_tokens=1), Usage(input_tokens=1, output_tokens=2)]
)
def test_a_program_made_with_a_kit_accepts_what_it_is_told(kit: str, usage: Usage) -> None:
    fields, counted = KITS[kit]
    summary = {"event_count": NUMBER, "error_count": NUMBER, **counted}
    properties: JsonObject = {
        **fields,
        "trace_summary": {
            "type": "object",
            "required": [*summary],
            "properties": {**summary, **FIGURES},
        },
    }
    schema: JsonObject = {
        "type": "object",
        "required": [*properties],
        "properties": {**FIGURES, **properties},
    }
    messages = (Message(role="assistant", content="x", tool_calls=(ToolCall(tool="a"),)),)

    given = told(Trace(messages=messages, usage=usage), CASE)
    assert Schema(schema).problems(given) == []


def test_a_list_of_words_is_the_program_and_a_text_is_for_the_shell() -> None:
    programs = ScriptedPrograms([Ran(0, "{}"), Ran(0, "{}")])
    Command(script=("judge", "--all"), cwd="x", near="e/c.yaml", programs=programs).check(
        said("x"), CASE
    )
    Command(script="judge | tee log", timeout_s=5, programs=programs).check(said("x"), CASE)
    first, second = programs.runs

    assert (first.argv, first.timeout_s) == (("judge", "--all"), 60.0)
    assert (first.folder, first.near) == ("x", "e/c.yaml")
    assert (second.argv, second.timeout_s) == (("sh", "-c", "judge | tee log"), 5.0)
    assert (second.folder, second.near) == (None, None)


@pytest.mark.parametrize("script", ["", (), ("",), (" ", "a")])
def test_a_program_without_a_name_is_refused(script: str | tuple[str, ...]) -> None:
    with pytest.raises(SettingError, match="the program must have a name"):
        Command(script=script)


def test_without_leave_to_run_programs_it_is_unscored_and_names_the_setting() -> None:
    outcome = Catalog().make("command", {"script": ["judge"]}).check(said("x"), CASE)

    assert outcome.status == "unscored"
    assert "allow.commands" in outcome.reason


JUDGE = """\
import json, sys
told = json.load(sys.stdin)
good = told["config"]["word"] in told["candidate_answer"]
print(json.dumps({"score": float(good), "reasoning": "looked for the word"}))
"""


@pytest.mark.parametrize(("response", "passed"), [("Guten Täg", True), ("Hello", False)])
def test_a_real_program_judges(tmp_path: Path, response: str, passed: bool) -> None:
    (tmp_path / "judge.py").write_text(JUDGE, encoding="utf-8")
    catalog = Catalog(programs=LocalPrograms(tmp_path))
    settings: JsonObject = {"script": [sys.executable, "judge.py"], "config": {"word": "Täg"}}
    outcome = catalog.make("command", settings).check(said(response), CASE)

    assert (outcome.passed, outcome.reason) == (passed, "looked for the word")
