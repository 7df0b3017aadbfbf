"""What became of labels that were brought in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice

from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.reports.findings import Paint, findings_text, printable


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedLabels:
    """Every label that was read: imported, there already, or refused."""

    path: str
    read: int
    imported: int
    same: int
    replaced: int
    """Of the imported: those that take the place of something that was said before."""
    findings: tuple[Finding, ...]
    redacted: Mapping[str, int]
    """How much of each kind was replaced by a mark before anything was kept."""
    renamed: int = 0
    """How many people are kept under a made-up name, because theirs is personal data."""

    @property
    def refused(self) -> int:
        """Those that were not kept; a finding says why."""
        return self.read - self.imported - self.same

    @property
    def contract(self) -> str:
        """What the rows are."""
        return "labels"

    @property
    def total(self) -> int:
        """The rows."""
        return self.read

    @property
    def accepted(self) -> int:
        """The rows that are right."""
        return self.imported + self.same

    @property
    def rejected(self) -> int:
        """The rows that are not."""
        return self.refused

    @property
    def is_valid(self) -> bool:
        """Whether every row is right."""
        return not self.refused


def imported_lines(found: ImportedLabels, paint: Paint) -> Iterator[str]:
    """What is wrong, and the sum."""
    # The headline of a file counts records; labels have a sum of their own.
    yield from islice(findings_text(found, {}, paint), 1, None)
    refused = f"{found.refused:,} refused"
    parts = (
        f"{found.imported:,} imported",
        f"{found.same:,} there already",
        paint(refused, "error") if found.refused else refused,
    )
    yield f"{printable(found.path)}: {found.read:,} label(s) read = {' + '.join(parts)}"
    if found.replaced:
        yield f"  {found.replaced:,} of the imported replace what was said before, now history"
    if found.redacted:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(found.redacted.items()))
        yield f"  redacted before it was kept: {kinds}"
    if found.renamed:
        yield (
            f"  {found.renamed:,} annotator(s) kept as person-…, for their names are personal data"
        )


def imported_json(found: ImportedLabels) -> JsonObject:
    """The same for programs."""
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
        "findings": findings,
    }
