"""`steelyard validate`: report every error in evaluation files."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.opening import opened, references_of
from steelyard.cli.terminal import painter, show

if TYPE_CHECKING:
    from steelyard.ports import Workspace
    from steelyard.usecases.datasets.validate import ValidationReport


class ValidateFormat(StrEnum):
    """Output formats of the report."""

    text = "text"
    json = "json"
    github = "github"
    junit = "junit"


def command(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files, folders or globs.")
    ],
    kind: Annotated[
        str | None,
        typer.Option(help="Expected kind: dataset, rubric, judge or an exact contract name."),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Report misspelt fields, missing pins and stale judges as errors.",
        ),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Also warn about JSONL files without a sidecar.")
    ] = False,
    output: Annotated[
        ValidateFormat, typer.Option("--format", help="Output format.")
    ] = ValidateFormat.text,
) -> None:
    """Check evaluation files. Exit 1 if any file has an error."""
    from steelyard.contracts.catalog import KINDS
    from steelyard.errors import InvalidError
    from steelyard.plugins import installed_checks, installed_contracts
    from steelyard.usecases.datasets.validate import ValidateOptions, validate

    forms = installed_contracts()
    known = (*KINDS, *forms.names)
    if kind is not None and kind not in known:
        raise InvalidError(f"unknown kind '{kind}'; known are {', '.join(dict.fromkeys(known))}")
    disk = opened().workspace
    options = ValidateOptions(kind=kind, strict=strict, verbose=verbose)
    references = references_of(Path())
    report = validate(disk, paths, options, installed_checks(), references, contracts=forms)
    for line in _lines(report, output, disk):
        show(line)
    raise typer.Exit(0 if report.is_valid else 1)


def _lines(
    report: ValidationReport, output: ValidateFormat, disk: Workspace
) -> Iterator[str | bytes]:
    from steelyard.reports import findings
    from steelyard.usecases.datasets.excerpts import excerpts

    if output is ValidateFormat.text:
        paint = painter()
        for file in report.files:
            spots = excerpts(disk, Path(file.path), findings.shown_findings(file))
            yield from findings.findings_text(file, spots, paint)
        yield from findings.summary_text(report.files, report.skipped, paint)
        return
    if report.skipped:
        # The other formats are for programs and do not list skipped files.
        typer.echo(findings.skipped_text(report.skipped), err=True)
    if output is ValidateFormat.json:
        yield findings.findings_json(report.files).encode("utf-8")
    elif output is ValidateFormat.junit:
        yield findings.findings_junit(report.files).encode("utf-8")
    else:
        for file in report.files:
            without_line = [finding for finding in file.findings if finding.line is None]
            spots = excerpts(disk, Path(file.path), without_line)
            yield from findings.findings_github(file, spots)
