"""What grades the records of a run, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_SHOWN_JUDGES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class WhoGrades:
    """What grades the records of a run."""

    rubrics: Mapping[str, tuple[int, int]]
    """Rubric name to number of checks and number of records."""
    brought: Mapping[str, int]
    """Check kinds defined by records, with their counts."""
    bringing: int = 0
    """Number of records graded by their own expectations."""
    skipped: int = 0
    judges: Sequence[tuple[str, str | None]] = ()
    """Every judge with its target."""


def grading_lines(who: WhoGrades) -> Iterator[str]:
    """A line per rubric or kind, and one per judge."""
    for name, (checks, records) in who.rubrics.items():
        yield f"graded by {name} ({_counted(checks, 'check')}): {_counted(records, 'record')}"
    if who.bringing:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in who.brought.items())
        yield f"graded by their own expectations: {_counted(who.bringing, 'record')} ({kinds})"
    if who.skipped:
        yield f"graded by nothing: {_counted(who.skipped, 'record')}"
    for judge, target in who.judges[:_SHOWN_JUDGES]:
        yield f"asking {judge} by target {target}"
    more = len(who.judges) - _SHOWN_JUDGES
    if more > 0:
        yield f"asking {_counted(more, 'more judge')}"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
