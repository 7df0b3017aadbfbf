"""`--out FORMAT=PATH`: the result of a command in several formats, each file written whole."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple, TypeAlias

import typer

from steelyard.cli.opening import print_warning
from steelyard.errors import InvalidError

SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable that names the file which GitHub shows as the summary of a job."""
_MOST_SUMMARY = 1024 * 1024
"""GitHub shows no larger one."""


class ReportFormat(StrEnum):
    """The formats of a result; all but text can be written to a file."""

    text = "text"
    json = "json"
    junit = "junit"
    markdown = "markdown"
    html = "html"


Rendering: TypeAlias = Callable[[ReportFormat], str]
"""The result in a format."""
FormatOption: TypeAlias = Annotated[ReportFormat, typer.Option("--format", help="Output format.")]
OutOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--out",
        metavar="FORMAT=PATH",
        help="Also write the result as junit, markdown, json or html; repeatable.",
    ),
]


class OutFile(NamedTuple):
    """A file to write, and its format."""

    format: ReportFormat
    path: Path


def out_files(given: Sequence[str] | None) -> tuple[OutFile, ...]:
    """The files of `--out`; one that cannot be written is refused before anything runs."""
    files = tuple(_out_file(text) for text in given or ())
    named: set[Path] = set()
    for one in files:
        place = one.path.resolve()
        if place in named:
            raise InvalidError(f"--out names {one.path} twice; name a file for each format")
        named.add(place)
    return files


def _out_file(text: str) -> OutFile:
    word, equals, name = text.partition("=")
    formats = [one.value for one in ReportFormat if one is not ReportFormat.text]
    if word not in formats:
        known = f"{', '.join(formats[:-1])} or {formats[-1]}"
        what = f"unknown format '{word}'" if equals else "no format"
        raise InvalidError(f"--out {text}: {what}; write FORMAT=PATH, FORMAT is {known}")
    if not name.strip():
        raise InvalidError(f"--out {text}: no path; write {word}=PATH")
    path = Path(name)
    if path.is_dir():
        raise InvalidError(f"--out {text}: {path} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise InvalidError(f"--out {text}: the folder {path.parent} does not exist; create it")
    if not os.access(path.parent, os.W_OK):
        raise InvalidError(f"--out {text}: the folder {path.parent} is not writable")
    return OutFile(ReportFormat(word), path)


def refuse_formats(
    files: Sequence[OutFile], output: ReportFormat, unfit: Sequence[ReportFormat], why: str
) -> None:
    """Refuse the formats that a result does not have."""
    for one in files:
        if one.format in unfit:
            raise InvalidError(f"--out {one.format}={one.path}: {why}")
    if output in unfit:
        raise InvalidError(f"--format {output}: {why}")


def refuse_reports(files: Sequence[OutFile], output: ReportFormat, why: str) -> None:
    """Refuse files, and all formats but text and JSON."""
    every = [one for one in ReportFormat if one is not ReportFormat.text]
    refuse_formats(files, ReportFormat.text, every, why)
    refuse_formats((), output, [one for one in every if one is not ReportFormat.json], why)


def write_files(files: Sequence[OutFile], rendered: Rendering) -> None:
    """Write each file whole, and say so."""
    for one in files:
        write_report(one.path, rendered(one.format))
        typer.echo(f"wrote {one.path}", err=True)


def write_report(path: Path, text: str) -> None:
    """Put a report in place as a whole; a pipe or a device is written to as it is."""
    from steelyard.store.drafts import replace_file

    data = f"{text}\n".encode("utf-8", "backslashreplace")
    try:
        place = path.resolve()
        if place.exists() and not place.is_file():
            path.write_bytes(data)
            return
        if not place.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    except OSError as error:
        raise InvalidError(f"cannot write {path}: {error.strerror}") from None
    try:
        replace_file(place, data)
    except InvalidError as error:
        raise InvalidError(str(error).replace(str(place), str(path))) from None


def add_summary(rendered: Rendering) -> None:
    """Append the Markdown to the summary of the CI job, if there is one.

    Nobody asked for it, so that a problem is a warning.
    """
    path = os.environ.get(SUMMARY)
    if not path:
        return
    data = f"{rendered(ReportFormat.markdown)}\n\n".encode("utf-8", "backslashreplace")
    try:
        with Path(path).open("ab") as summary:
            if summary.tell() + len(data) > _MOST_SUMMARY:
                print_warning(f"{SUMMARY} would be larger than 1 MiB; nothing is added to it")
                return
            summary.write(data)
    except OSError as error:
        print_warning(f"{SUMMARY}: cannot write {path}: {error.strerror}")
