"""The report of a conversion, as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

from steelyard.model.conversion import OUTCOMES, ChangedField, Conversion, UnwrittenRows
from steelyard.model.json_value import JsonObject
from steelyard.reports.findings import Paint, printable

_STYLES = {"invalid": "error", "left_out": "error", "skipped": "quiet"}
_WORDS = {"invalid": "invalid", "left_out": "left out", "skipped": "skipped"}


def conversion_text(made: Conversion, paint: Paint) -> Iterator[str]:
    """Counts, rows that were not written and why, and lost or moved fields."""
    where = f": {', '.join(made.files)}" if made.files else ""
    yield printable(f"{made.source} ({made.made_from}) to {made.made_to}{where}")
    parts = [f"{made.emitted:,} written"]
    parts += [f"{made.count(outcome):,} {_WORDS[outcome]}" for outcome in OUTCOMES]
    yield f"  {made.read:,} read = {' + '.join(parts)}"
    for rows in made.unwritten:
        outcome = f"{_WORDS[rows.outcome]:<8}"
        yield f"  {paint(outcome, _STYLES[rows.outcome])}  {printable(_rows_text(rows))}"
    for changed in made.fields:
        outcome = paint("lost    ", "warning") if changed.is_lost else paint("moved   ", "quiet")
        yield f"  {outcome}  {printable(_field_text(changed))}"
    if command := _next(made):
        yield f"  {paint('next    ', 'quiet')}  {printable(command)}"


def conversion_json(made: Conversion) -> str:
    """The report as one JSON object."""
    rows: JsonObject = {"read": made.read, "emitted": made.emitted}
    rows.update({outcome: made.count(outcome) for outcome in OUTCOMES})
    report: JsonObject = {
        "source": made.source,
        "from": made.made_from,
        "to": made.made_to,
        "files": list(made.files),
        "rows": rows,
        "unwritten": [
            {
                "outcome": unwritten.outcome,
                "reason": unwritten.reason,
                "count": unwritten.count,
                "first": list(unwritten.first),
            }
            for unwritten in made.unwritten
        ],
        "fields": [
            {
                "field": changed.field,
                "outcome": "lost" if changed.is_lost else "moved",
                "message": changed.message,
                "count": changed.count,
                "first": list(changed.first),
            }
            for changed in made.fields
        ],
        "targets": list(made.targets),
        "next": _next(made) or None,
    }
    return json.dumps(report, ensure_ascii=False, indent=2)


def _next(made: Conversion) -> str:
    """The command that asks the targets which were written with the cases."""
    if not made.targets:
        return ""
    named = [f"--target {name}" for name in made.targets]
    lacking = () if made.is_graded else ("--rubric FILE",)
    return " ".join(["steelyard run", made.files[-1], *named, *lacking])


def _rows_text(rows: UnwrittenRows) -> str:
    return f"{_counted(rows.count, 'row', rows.first)}: {rows.reason}"


def _field_text(changed: ChangedField) -> str:
    if not changed.first:
        return f"{changed.field}: {changed.message}"
    return f"{changed.field} ({_counted(changed.count, 'case', changed.first)}): {changed.message}"


def _counted(count: int, noun: str, first: tuple[str, ...]) -> str:
    """`12 cases: a, b, c, …`."""
    plural = "" if count == 1 else "s"
    more = ", …" if count > len(first) else ""
    return f"{count:,} {noun}{plural}: {', '.join(first)}{more}"
