"""How fast checks look and judges' replies are read, and that neither is worse than linear.

Run it with `python -m bench.grading`. Each number is CPU time of this process. Every kind sees an
answer of some 600 characters, and then hostile ones of 100,000 and 200,000: what takes more than
two and a half times as long for twice the text would be a way to stop a run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from bench.page import machine, write_section

from steelyard.checks.catalog import Catalog
from steelyard.judging.ladder import read_reply
from steelyard.judging.questions_asked import AnswerField
from steelyard.model.case import AnswerChoice, Case
from steelyard.model.judgement import Reply
from steelyard.model.message import Message, ToolCall
from steelyard.model.trace import Trace, Usage

SECONDS = 0.3
SIZES = (100_000, 200_000)
WORST = 2.5
TEXT = "The library opens at nine, and a renewal adds 28 days. " * 11
SETTINGS: dict[str, dict[str, Any]] = {
    "choice": {},
    "contains_all": {"phrases": ["nine", "28 days"]},
    "cost": {"max_usd": 0.1},
    "ends_with": {"value": "days. "},
    "equals": {"value": "nine"},
    "fact_match": {"facts": ["The library opens at nine.", "A renewal adds 28 days."]},
    "field_accuracy": {"fields": [{"path": "answer", "match": "exact"}]},
    "format": {"format": "text", "max_chars": 4_000},
    "is_json": {},
    "json_schema": {"schema": {"type": "object", "required": ["answer"]}},
    "latency": {"max_ms": 900},
    "markdown_structure": {"min_headings": 1, "required_sections": ["Usage"]},
    "must_contain_any": {"phrases": ["noon", "midnight", "28 days"]},
    "must_not_contain": {"phrases": ["sorry", "as a language model"]},
    "regex": {"pattern": "(a+)+$|(?i)renewal .* ([0-9]+) weeks"},
    "starts_with": {"value": "The library"},
    "token_usage": {"max_total": 900},
    "tool_trajectory": {"mode": "in_order", "expected": [{"tool": "search"}, {"tool": "book"}]},
    "tool_usage": {"expected_tools": ["search", "book"], "order": "in_order"},
}
PROGRAMS = ("command", "php_lint")
"""Kinds that start a program, which costs what the program costs."""
HOSTILE = (
    "a",
    "{",
    "[",
    '"',
    "\\",
    "`",
    "# ",
    "```\n",
    "{{",
    "\u0301",
    "answer is ",
    "1e9",
    "-\n",
)
ANSWER = '{"answers": {"good": {"evidence": "nine", "reasoning": "It says so.", "value": 1}}}'
REPLIES = {
    "as asked": ANSWER,
    "in a fence": f"```json\n{ANSWER}\n```",
    "to repair": "{'answers': {'good': {'evidence': '', 'reasoning': 'Right', 'value': 'Yes',}}}",
}
FIELD = AnswerField(key="good", values=(0, 1), labels={0: "No", 1: "Yes"})


class Row(NamedTuple):
    """One row of the table."""

    what: str
    a_second: str
    growth: str


def results() -> Iterator[Row]:
    """Every kind of check, and every way in which a judge may reply."""
    catalog, case, usual = Catalog(), _case(), _trace(TEXT)
    for kind in sorted(set(catalog.kinds) - set(PROGRAMS)):
        check = catalog.make(kind, SETTINGS[kind])
        speed = _a_second(lambda check=check: check.check(usual, case))
        worst = _growth(lambda text, check=check: check.check(_trace(text), case))
        yield Row(f"`{kind}`", f"{speed:,.0f}", worst)
    for name, text in REPLIES.items():
        speed = _a_second(lambda text=text: read_reply(_reply(text), (FIELD,)))
        worst = _growth(lambda text: read_reply(_reply(text), (FIELD,)))
        yield Row(f"a judge's reply, {name}", f"{speed:,.0f}", worst)


def _case() -> Case:
    choices = tuple(AnswerChoice(id=letter, text=f"Choice {letter}") for letter in "ABCD")
    return Case(
        id="c",
        input_messages=(Message(role="user", content="When does it open?"),),
        expected_messages=(Message(role="assistant", content='{"answer": "nine"}'),),
        choices=choices,
        correct_choice_ids=("B",),
    )


def _trace(text: str) -> Trace:
    calls = (ToolCall(tool="search", input={"q": "hours"}), ToolCall(tool="book", input={}))
    message = Message(role="assistant", content=text, tool_calls=calls)
    return Trace(
        messages=(message,),
        usage=Usage(input_tokens=90, output_tokens=12),
        latency_ms=40.0,
        extra={"cost_usd": 0.01},
    )


def _reply(text: str) -> Reply:
    return Reply(text=text, fingerprint="f", target="bench")


def _a_second(once: Callable[[], object]) -> float:
    """How often something is done in a second of CPU."""
    done, begin = 0, time.process_time()
    while (spent := time.process_time() - begin) < SECONDS:
        for _ in range(20):
            once()
        done += 20
    return done / spent


def _growth(look: Callable[[str], object]) -> str:
    """The worst that twice the text does to the time, over hostile texts."""
    worst = 0.0
    for piece in HOSTILE:
        short, long = (_seconds(look, (piece * size)[:size]) for size in SIZES)
        worst = max(worst, long / short)
    return f"{worst:.1f} ×"


def _seconds(look: Callable[[str], object], text: str) -> float:
    """The least of three times, and never so little that the clock's grain counts."""
    taken: list[float] = []
    for _ in range(3):
        begin = time.process_time()
        look(text)
        taken.append(time.process_time() - begin)
    return max(min(taken), 0.002)


def main() -> None:
    """Measure, print each row as it comes, and write the page."""
    rows: list[Row] = []
    for row in results():
        print(*row, flush=True)
        rows.append(row)
    lines = [
        f"Measured by `python -m bench.grading`: {machine()}. `command` and `php_lint` cost what",
        "their program costs. Growth is the time for a hostile answer of 200,000 characters over",
        f"that for half of it, the worst of {len(HOSTILE)} such answers: 2 is linear.",
        "",
        "| what | a CPU second | growth |",
        "|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    write_section("grading", "\n".join(lines))


if __name__ == "__main__":
    main()
