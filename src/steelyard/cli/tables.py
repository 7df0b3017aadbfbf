"""Tables among the datasets of `run`: `--input`, `--expected` and `--id` name their columns."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.cli.opening import opened, print_warning
from steelyard.cli.suggestions import completed
from steelyard.errors import InvalidError

if TYPE_CHECKING:
    from steelyard.contracts.importers.table import TableColumns
    from steelyard.project import Project


def suite_datasets(suite: str | None) -> tuple[Path, ...]:
    """The dataset of a suite of the project in the current folder."""
    if suite is None:
        return ()
    from steelyard.usecases.runs import suites

    return suites.suite_datasets(opened().run_ports(), suite)


def run_datasets(
    paths: Sequence[Path],
    columns: TableColumns,
    *,
    has_rubric: bool,
    strict: bool,
    lacks: Sequence[str] = (),
) -> Iterator[Path]:
    """The datasets of a command; in place of a table, the file of its cases.

    `lacks` names what the command needs beside a table and does not have.
    """
    from steelyard.usecases.convert.table_cases import (
        TableSource,
        is_table,
        no_table,
        write_cases,
    )

    for named in paths:
        project = opened(named)
        path = _local_copy(project, named)
        ports = project.table_ports()
        table = TableSource(path, columns, has_rubric, strict)
        if path.exists() and is_table(ports, table):
            with _completed_suggestions(project, lacks):
                cases = write_cases(ports, table, project.folder / "tables", print_warning)
            yield cases
        elif columns.names:
            option = f"--{next(iter(columns.names))}"
            raise InvalidError(f"{path}: {option} names a column of a table; {no_table(path)}")
        else:
            yield path


def _local_copy(project: Project, path: Path) -> Path:
    """The file of a dataset; of one in a bucket, a copy."""
    if path.parts[:1] != ("s3:",):
        return path
    from steelyard.store.buckets.bucket_files import local_copy

    return local_copy(path, project.folder / "objects", os.environ)


@contextmanager
def _completed_suggestions(project: Project, lacks: Sequence[str]) -> Generator[None]:
    try:
        yield
    except InvalidError as error:
        if error.suggestion:
            settings = project.registry_ports().settings
            error.suggestion = completed(error.suggestion, settings, lacks)
        raise
