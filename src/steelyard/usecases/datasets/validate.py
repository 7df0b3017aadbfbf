"""Report all problems in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from steelyard.checks.catalog import Catalog
from steelyard.contracts.catalog import Contracts
from steelyard.contracts.duplicates import Duplicates
from steelyard.contracts.reading import located_finding
from steelyard.errors import NotFoundError
from steelyard.model.finding import Finding, error, warning
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.ports import Workspace
from steelyard.usecases.datasets.open_dataset import Opened, Sidecar, find_sidecar, open_dataset
from steelyard.usecases.datasets.referenced_rows import with_references
from steelyard.usecases.registry.references import References

ReferencesOf: TypeAlias = Callable[[Path], References]
"""The rubrics and judges that a file may refer to."""


class FileReport(FrozenStruct, frozen=True, kw_only=True):
    """The findings of one file; `total = accepted + rejected`, always."""

    path: str
    contract: str | None
    total: int = 0
    accepted: int = 0
    findings: tuple[Finding, ...] = ()

    @property
    def rejected(self) -> int:
        """How many records have an error."""
        return self.total - self.accepted

    @property
    def is_valid(self) -> bool:
        """Whether there is no error."""
        return not any(finding.is_error for finding in self.findings)


class ValidationReport(FrozenStruct, frozen=True, kw_only=True):
    """The findings of all files, and the files of a folder that were skipped."""

    files: tuple[FileReport, ...]
    skipped: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether every file is valid."""
        return all(file.is_valid for file in self.files)

    def count(self, severity: str) -> int:
        """How many findings there are of a severity."""
        findings = (finding for file in self.files for finding in file.findings)
        return sum(finding.severity == severity for finding in findings)


class ValidateOptions(FrozenStruct, frozen=True, kw_only=True):
    """How to validate."""

    kind: str | None = None
    strict: bool = False
    verbose: bool = False
    max_findings: int | None = None
    """After so many, the rest of the records is not looked at; None for all."""


def validate(
    workspace: Workspace,
    patterns: Sequence[str],
    options: ValidateOptions,
    catalog: Catalog | None = None,
    references: ReferencesOf | None = None,
    *,
    contracts: Contracts | None = None,
) -> ValidationReport:
    """Validate files, folders and globs, with their references if those can be resolved."""
    if not all(patterns):
        raise NotFoundError("an empty path names nothing; '.' is the current folder")
    forms = contracts or Contracts()
    reports: dict[Path, FileReport] = {}
    skipped: list[str] = []
    for found in workspace.expand(patterns):
        opened = _open(workspace, found.path, options, catalog, forms)
        if references:
            opened = _with_references(opened, references)
        if not (opened.is_recognised or found.is_named):
            skipped.append(str(found.path))
            continue
        if opened.path == found.path and found.path not in reports:
            reports[found.path] = _report(opened, options)
        if opened.sidecar and opened.sidecar.is_found:
            reports[opened.sidecar.path] = _sidecar_report(opened, opened.sidecar, options)
    if not reports:
        places = ", ".join(patterns)
        raise NotFoundError(f"no evaluation file in {places}; {len(skipped)} file(s) skipped")
    return ValidationReport(files=tuple(reports.values()), skipped=tuple(skipped))


def _open(
    workspace: Workspace,
    path: Path,
    options: ValidateOptions,
    catalog: Catalog | None,
    contracts: Contracts,
) -> Opened:
    """Open a file; for a sidecar, open the JSONL file that it belongs to."""
    beside = None if options.kind else find_sidecar(workspace, path, contracts)
    if beside:
        opened = open_dataset(workspace, beside, contracts=contracts)
        if opened.sidecar and opened.is_recognised:
            return opened
    return open_dataset(workspace, path, options.kind, catalog, contracts)


def _with_references(opened: Opened, references: ReferencesOf) -> Opened:
    """The same file with the problems of its references."""
    look_up = partial(references, opened.path)
    if opened.reading:
        return replace(opened, reading=with_references(opened.reading, look_up))
    if opened.content is None:
        return opened
    known, lines = look_up(), opened.lines
    found = tuple(
        located_finding(problem, lines)
        for problem in (
            *known.conflicts_of(opened.path, opened.content),
            *known.problems_of(opened.content),
        )
    )
    return replace(opened, findings=(*opened.findings, *found))


def _report(opened: Opened, options: ValidateOptions) -> FileReport:
    findings = _seen(opened.findings, options)
    total = int(opened.is_single)
    rejected = int(opened.is_single and any(finding.is_error for finding in findings))
    if opened.reading:
        findings.extend(_seen(opened.reading.findings, options))
        is_spoiled = any(finding.is_error for finding in findings)
        duplicates = Duplicates()
        try:
            for row in opened.reading.rows():
                total += 1
                is_rejected = False
                if row.findings:
                    seen = _seen(row.findings, options)
                    findings.extend(seen)
                    is_rejected = any(finding.is_error for finding in seen)
                    rejected += is_rejected
                if not is_rejected:
                    duplicates.add(row)
                if options.max_findings and len(findings) >= options.max_findings:
                    findings.append(_stopped(len(findings)))
                    is_spoiled = True
                    break
        except OSError as wrong:
            reason = wrong.strerror or type(wrong).__name__
            findings.append(error("unreadable_file", f"reading stopped: {reason}"))
            is_spoiled = True
        if not any(finding.is_error for finding in findings):
            # Errors come first: a rejected record may be the one to change.
            findings.extend(duplicates.findings())
        if is_spoiled or opened.reading.is_spoiled:
            rejected = total
    if options.verbose and opened.sidecar and not opened.sidecar.is_found:
        name = opened.sidecar.path.name
        findings.append(warning("missing_sidecar", f"no sidecar {name}; defaults are used"))
    return FileReport(
        path=str(opened.path),
        contract=opened.contract,
        total=total,
        accepted=total - rejected,
        findings=tuple(findings),
    )


def _stopped(count: int) -> Finding:
    message = f"there are {count:,} findings by now; the rest of the file was not validated"
    return error("payload_too_large", message)


def _sidecar_report(opened: Opened, sidecar: Sidecar, options: ValidateOptions) -> FileReport:
    findings = tuple(_seen(sidecar.findings, options))
    return FileReport(path=str(sidecar.path), contract=opened.contract, findings=findings)


def _seen(findings: Sequence[Finding], options: ValidateOptions) -> list[Finding]:
    return [finding.strict() for finding in findings] if options.strict else list(findings)
