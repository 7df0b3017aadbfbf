"""`steelyard compare`: whether one run is better than another."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.terminal import painter, show, show_json


class Format(StrEnum):
    """The forms of the answer."""

    text = "text"
    json = "json"
    html = "html"


class FailIf(StrEnum):
    """What makes the command exit with 1."""

    worse = "worse"


def command(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="A B…", help="Runs: ids, prefixes, latest, or their folders."),
    ],
    fail_if: Annotated[
        FailIf | None, typer.Option("--fail-if", help="Exit with 1 when B is worse than A.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse runs that do not measure the same.")
    ] = False,
    output: Annotated[Format, typer.Option("--format", help="How to print it.")] = Format.text,
    file: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it to a file instead.")
    ] = None,
) -> None:
    """Say whether B is better than A. Records count that both have scored.

    With more than two runs, every pair of them is compared.
    """
    from steelyard.errors import UsageError
    from steelyard.usecases.compare import compare_all
    from steelyard.validation_wiring import as_of_today
    from steelyard.wiring import run_folder

    if len(runs) < 2:
        raise UsageError("name two runs to compare, or more")
    folders = [run_folder(name) for name in runs]
    found = compare_all(folders, strict=strict, today=as_of_today)
    is_single = len(found) == 1
    if output is Format.html and not is_single:
        raise UsageError("--format html compares two runs; name two")
    if output is Format.html:
        from steelyard.reports.comparison_html import comparison_html

        _put(comparison_html(found[0]), file)
    elif output is Format.json:
        rows = [{**asdict(one), "comparable": one.is_comparable} for one in found]
        _put_json(rows[0] if is_single else {"comparisons": rows}, file)
    else:
        from steelyard.reports.comparison_text import comparison_lines, table_lines

        lines = comparison_lines(found[0], painter()) if is_single else table_lines(found)
        _put("\n".join(lines), file)
    is_worse = any(one.answer == "worse" for one in found)
    raise typer.Exit(1 if fail_if and is_worse else 0)


def _put(text: str, file: Path | None) -> None:
    from steelyard.errors import UsageError

    if file is None:
        show(text)
        return
    try:
        file.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}") from None
    show(f"wrote {file}")


def _put_json(value: object, file: Path | None) -> None:
    import json

    if file is None:
        show_json(value)
    else:
        _put(json.dumps(value, ensure_ascii=False, indent=2), file)
