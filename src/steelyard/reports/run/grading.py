"""What grades the records of a run, as text."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.results.grading_summary import GradingSummary

_SHOWN_JUDGES = 10


def grading_lines(graders: GradingSummary) -> Iterator[str]:
    """A line per rubric or kind, and one per judge."""
    for one in graders.rubrics:
        checks, records = _counted(one.checks, "check"), _counted(one.records, "record")
        yield f"graded by {one.rubric} ({checks}): {records}"
    if graders.brought.records:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in graders.brought.kinds.items())
        records = _counted(graders.brought.records, "record")
        yield f"graded by their own expectations: {records} ({kinds})"
    if graders.skipped:
        yield f"graded by nothing: {_counted(graders.skipped, 'record')}"
    for asked in graders.asked[:_SHOWN_JUDGES]:
        yield f"asking {asked.judge} by target {asked.target}"
    more = len(graders.asked) - _SHOWN_JUDGES
    if more > 0:
        yield f"asking {_counted(more, 'more judge')}"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
