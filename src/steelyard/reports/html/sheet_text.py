"""Responses for people to label, as Markdown and as one HTML file: no verdict, room to answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steelyard.model.labels.sheet import LabelSheet, SheetRow, answer_column
from steelyard.model.question import Question
from steelyard.reports.html.legible_text import legible
from steelyard.reports.html.single_file import single_files

_FENCE = re.compile(r"`{3,}")
_PASSED = "Is the answer good? (yes or no)"


def sheet_markdown(sheet: LabelSheet) -> Iterator[str]:
    """A section per response, with a line to fill in for every question."""
    yield f"# {len(sheet.rows)} responses to label\n"
    yield f"Rubric: {sheet.rubric}. Run: {sheet.run_id}.\n"
    if sheet.questions:
        yield from (f"- {line}" for line in sheet.questions.guidance)
    for row in sheet.rows:
        person = f" ({row.annotator})" if row.annotator else ""
        repeat = f", repeat {row.repeat}" if row.repeat else ""
        yield f"\n## {_plain(row.record_id)}{repeat}{person}\n"
        yield "**Question**\n"
        yield _fenced(row.question)
        yield "\n**Answer**\n"
        yield _fenced(row.answer)
        yield "\n| column | question | label |\n|---|---|---|"
        yield from (f"| `{column}` | {_cell(text)} | |" for column, text in asked_of(sheet, row))


def sheet_html(sheet: LabelSheet) -> str:
    """The same as one file that loads nothing, to read or to print."""
    rows = [(row, list(asked_of(sheet, row))) for row in sheet.rows]
    guidance = sheet.questions.guidance if sheet.questions else ()
    template = single_files().get_template("sheet.html")
    return legible(template.render(sheet=sheet, rows=rows, guidance=guidance))


def asked_of(sheet: LabelSheet, row: SheetRow) -> Iterator[tuple[str, str]]:
    """The columns of a response that can be filled in, and what is asked."""
    if sheet.questions is None:
        yield "passed", _PASSED
        return
    for key, question in sheet.questions.asked("trace").items():
        yield answer_column(key), question_line(question)
    for turn in range(1, row.turns + 1):
        for key, question in sheet.questions.asked("turn").items():
            yield f"turn_{turn}.{key}", f"Turn {turn}: {question_line(question)}"


def question_line(question: Question) -> str:
    """A question with what can be answered."""
    if question.type == "yes_no":
        choices = "yes or no"
    elif question.type == "score":
        choices = str(question.answer_scale)
    else:
        choices = ", ".join(option.value for option in question.options)
        choices = f"any of {choices}" if question.type == "multi_select" else choices
    must = ", required" if question.required else ""
    told = f" ({choices or 'free text'}{must})"
    guidance = f" {question.guidance}" if question.guidance else ""
    return f"{question.label}{told}{guidance}"


def _fenced(text: str) -> str:
    """Text as a code block whose fence is longer than any inside: nothing in it is markup."""
    longest = max((len(found) for found in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _plain(text: str) -> str:
    """Text on one line without signs that Markdown reads."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", " ".join(text.split()))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
