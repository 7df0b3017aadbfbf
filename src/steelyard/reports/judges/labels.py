"""The result of importing labels, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice

from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.reports.findings import Paint, findings_text, printable


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedLabels:
    """Counts of labels: imported, unchanged, or refused."""

    path: str
    read: int
    imported: int
    same: int
    replaced: int
    """Imported labels that replace an earlier one."""
    findings: tuple[Finding, ...]
    redacted: Mapping[str, int]
    """Number of redactions by kind."""
    renamed: int = 0
    """Number of annotators stored under a pseudonym, because their name is personal data."""
    unfilled: int = 0
    """Rows of a table without any answer; they are no labels."""
    gold: int = 0
    """Decisions of adjudicators, which are no labels of people."""

    @property
    def refused(self) -> int:
        """Labels that were not stored; a finding says why."""
        return self.read - self.imported - self.same

    @property
    def contract(self) -> str:
        """The contract of the rows."""
        return "labels"

    @property
    def total(self) -> int:
        """The number of rows."""
        return self.read

    @property
    def accepted(self) -> int:
        """The number of valid rows."""
        return self.imported + self.same

    @property
    def rejected(self) -> int:
        """The number of invalid rows."""
        return self.refused

    @property
    def is_valid(self) -> bool:
        """Whether every row is valid."""
        return not self.refused


def imported_lines(found: ImportedLabels, paint: Paint) -> Iterator[str]:
    """The findings, and the counts."""
    # Skip the headline, which counts records; labels have their own counts.
    yield from islice(findings_text(found, {}, paint), 1, None)
    refused = f"{found.refused:,} refused"
    parts = (
        f"{found.imported:,} imported",
        f"{found.same:,} unchanged",
        paint(refused, "error") if found.refused else refused,
    )
    yield f"{printable(found.path)}: {found.read:,} label(s) read = {' + '.join(parts)}"
    if found.unfilled:
        yield f"  {found.unfilled:,} row(s) without an answer passed over"
    if found.gold:
        yield f"  {found.gold:,} gold label(s) passed over: decisions stay with their queue"
    if found.replaced:
        yield f"  {found.replaced:,} of the imported replace earlier labels (kept as history)"
    if found.redacted:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(found.redacted.items()))
        yield f"  redacted before storing: {kinds}"
    if found.renamed:
        yield (
            f"  {found.renamed:,} annotator(s) stored as person-…: their names are personal data"
        )


def imported_json(found: ImportedLabels) -> JsonObject:
    """The result as JSON."""
    findings: list[JsonValue] = [asdict(finding) for finding in found.findings]
    return {
        "path": found.path,
        "read": found.read,
        "imported": found.imported,
        "same": found.same,
        "refused": found.refused,
        "replaced": found.replaced,
        "redacted": dict(found.redacted),
        "renamed": found.renamed,
        "unfilled": found.unfilled,
        "gold": found.gold,
        "findings": findings,
    }
