"""A sample of responses as a sheet for people: questions and answers, no verdict.

How records were chosen would tell the verdict, so it is written to a file of its own, which
stays with whoever imports the labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from steelyard.formats.csv_line import csv_line
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.labels.assignment import Assignment
from steelyard.model.labels.sheet import LabelSheet, SheetRow
from steelyard.reports.asked_text import question_text, shown
from steelyard.results.predictions import Prediction
from steelyard.usecases.results.read_run import read_predictions
from steelyard.usecases.review.assign import stub_rows
from steelyard.usecases.review.labels import KnownRubrics
from steelyard.usecases.review.ports import ReviewPorts
from steelyard.usecases.review.reviewed_runs import read_responses


def make_sheet(
    ports: ReviewPorts, run: str, assignment: Assignment, annotators: Sequence[str]
) -> LabelSheet:
    """The responses of a sample, once for each person."""
    folder = ports.run_folder(run)
    texts = _texts(folder, assignment)
    turns = {place: row.turns for place, row in read_responses(folder).places.items()}
    rubric = KnownRubrics(ports.references).questions(assignment.rubric)
    rows = [
        SheetRow(
            record_id=one.candidate.record_id,
            repeat=one.candidate.repeat,
            annotator=person,
            question=texts[place][0],
            answer=texts[place][1],
            turns=turns[place] if rubric and rubric.asked("turn") else 0,
        )
        for person in annotators or ("",)
        for one in assignment.assigned
        for place in [(one.candidate.record_id, one.candidate.repeat)]
    ]
    return LabelSheet(
        run_id=assignment.run_id, rubric=assignment.rubric, questions=rubric, rows=tuple(rows)
    )


def sheet_csv(sheet: LabelSheet) -> Iterator[str]:
    """The sheet as CSV with empty columns; a spreadsheet runs none of it as a formula."""
    has_repeats = any(row.repeat for row in sheet.rows)
    empty: list[JsonValue] = [""] * len(sheet.answer_columns)
    repeat = ("repeat",) if has_repeats else ()
    yield csv_line(
        ("record_id", *repeat, "annotator", "question", "answer", *sheet.answer_columns)
    )
    for row in sheet.rows:
        place = (row.repeat,) if has_repeats else ()
        yield csv_line((row.record_id, *place, row.annotator, row.question, row.answer, *empty))


def design_rows(assignment: Assignment) -> Iterator[JsonObject]:
    """How each record was chosen, and what its labels are about."""
    for row, one in zip(stub_rows(assignment, ()), assignment.assigned, strict=True):
        del row["annotator"]
        yield row if one.stratum is None else {**row, "stratum": one.stratum}


def design_path(sheet: Path) -> Path:
    """The file beside a sheet that says how its records were chosen."""
    return sheet.with_name(f"{sheet.stem}.design.jsonl")


def design_place(row: JsonObject) -> tuple[str, int]:
    """The record and the repeat that a row is about."""
    repeat = row.get("repeat", 0)
    return str(row.get("record_id", "")), repeat if isinstance(repeat, int) else 0


def _texts(folder: Path, assignment: Assignment) -> dict[tuple[str, int], tuple[str, str]]:
    """The question and the answer of each response, by record and repeat."""
    names = read_responses(folder).names
    wanted = {(one.candidate.record_id, one.candidate.repeat) for one in assignment.assigned}
    found: dict[tuple[str, int], tuple[str, str]] = {}
    for row in read_predictions(folder):
        place = (names[row.index], row.repeat)
        if place in wanted:
            found[place] = (question_text(row), conversation_text(row))
    return found


def conversation_text(row: Prediction) -> str:
    """The answer of a response; a conversation with its turns and tool calls."""
    messages: list[JsonObject] = (row.trace or {}).get("messages", [])
    if len(messages) == 1 and not messages[0].get("tool_calls"):
        return shown(messages[0].get("content"))
    turn = 0
    lines: list[str] = []
    for message in messages:
        is_turn = message.get("role") == "assistant"
        turn += is_turn
        role = f"assistant (turn {turn})" if is_turn else shown(message.get("role"))
        lines.append(f"{role}: {shown(message.get('content') or '')}")
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, dict):
                used = f"{shown(call.get('tool'))}({shown(call.get('input'))})"
                lines.append(f"  called {used} → {shown(call.get('output'))}")
    return "\n".join(lines)
