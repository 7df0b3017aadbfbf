"""The ports of review: annotations, rubrics and runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from steelyard.engine.redaction.redactor import Redactor
from steelyard.model.audit import AuditEntry, Caller
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.annotation import KeptAs, Revision, Wanted
from steelyard.ports import CallerPorts
from steelyard.usecases.registry.references import References

FixPublished: TypeAlias = Callable[[Collection[str], Caller], None]


class Annotations(Protocol):
    """Human labels by rubric, run, record, repeat and person."""

    def keep(
        self, rows: Sequence[JsonObject], entry: AuditEntry, *, is_replacing: bool
    ) -> list[KeptAs]:
        """Store labels in one logged transaction; return the outcome of each row."""
        ...

    def people(self) -> list[str]:
        """Everybody who has given a label."""
        ...

    def all(self, wanted: Wanted, *, with_history: bool = False) -> Iterator[Revision]:
        """The labels; with history, also those that were replaced."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPorts(CallerPorts):
    """The ports of the use cases of review."""

    annotations: Annotations
    references: References
    run_folder: Callable[[str], Path]
    """The folder of a finished run that a user names: by id, prefix, `latest` or path."""
    known_run: Callable[[str], Path]
    """The folder of a finished run of this project by its whole id, as labels name it."""
    redactor: Callable[[], Redactor]
    """Create a redactor with empty counts."""
    fix_published: FixPublished = lambda _names, _caller: None
    """Fix the content of rubrics marked as published: labels now depend on it."""
