"""What every reader of a dataset gives: rows, one at a time, and what is wrong with the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple, Protocol, runtime_checkable

from steelyard.formats.json_fields import fields, text_field
from steelyard.formats.json_text import parse_json_either_way
from steelyard.formats.jsonl import jsonl_lines
from steelyard.formats.lines import Lines
from steelyard.formats.problem import Problem
from steelyard.formats.schema import spoken
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonValue, Path, path_text


class Row(NamedTuple):
    """One record as it stands in the file, with what is wrong with it.

    A tuple, because hundreds of thousands are made a second.
    """

    index: int  # pyright: ignore[reportIncompatibleMethodOverride]
    line: int | None
    record_id: str | None
    value: JsonValue
    findings: tuple[Finding, ...]
    content: bytes = b""
    """What it says without its ids, where the reader has written it down already."""

    @property
    def is_accepted(self) -> bool:
        """Whether no error finding speaks against the row."""
        return not self.findings or not any(finding.is_error for finding in self.findings)


class DatasetReading(Protocol):
    """A dataset file that has been opened; rows are read as they are asked for."""

    contract: str

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What concerns the file as a whole."""
        ...

    @property
    def is_spoiled(self) -> bool:
        """Whether the file is wrong as a whole and no row counts; known when all rows are read."""
        ...

    def rows(self) -> Iterator[Row]:
        """Every record of the file in order, the bad ones too."""
        ...

    def case(self, row: Row) -> Case:
        """The case that an accepted row stands for."""
        ...

    def hashed(self, row: Row, case: Case) -> JsonValue:
        """What `record_sha256` is taken over."""
        ...

    def dataset(self, cases: tuple[Case, ...]) -> Dataset:
        """The dataset with the given cases."""
        ...


class ChangedReading:
    """A dataset file with other rows: whoever inherits says which."""

    def __init__(self, reading: DatasetReading) -> None:
        self.contract = reading.contract
        self._reading = reading

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What concerns the file as a whole."""
        return self._reading.findings

    @property
    def is_spoiled(self) -> bool:
        """Whether the file is wrong as a whole and no row counts."""
        return self._reading.is_spoiled

    def case(self, row: Row) -> Case:
        """The case that an accepted row stands for."""
        return self._reading.case(row)

    def hashed(self, row: Row, case: Case) -> JsonValue:
        """What `record_sha256` is taken over."""
        return self._reading.hashed(row, case)

    def dataset(self, cases: tuple[Case, ...]) -> Dataset:
        """The dataset with the given cases."""
        return self._reading.dataset(cases)


@runtime_checkable
class Rereadable(Protocol):
    """A dataset file whose rows can be read again for less than the first time took."""

    def reread(self, is_wanted: Callable[[int], bool]) -> Iterator[Row]:
        """The rows at wanted indices, unchecked: every row of the file was accepted before."""
        ...


@runtime_checkable
class Referring(DatasetReading, Protocol):
    """A dataset file whose rows may name a rubric, under `rubric_ref`."""

    def place_of(self, row: Row) -> RowPlace:
        """Where a row stands, for what is found out about it later."""
        ...


@runtime_checkable
class WithSidecar(Protocol):
    """A dataset file whose rows were read together with the file beside them."""

    sidecar_findings: tuple[Finding, ...]


def reread_lines(stream: BinaryIO, is_wanted: Callable[[int], bool]) -> Iterator[Row]:
    """The rows at wanted indices of a JSONL file of which every row was accepted before."""
    for index, (number, text) in enumerate(jsonl_lines(stream)):
        if is_wanted(index):
            value = fields(parse_json_either_way(text)[0])
            yield Row(index, number, text_field(value, "id"), value, ())


def duplicate_id(record_id: str, noun: str) -> Problem:
    """The id of a row that an earlier one has, too."""
    message = f"{{}} '{record_id}' is used by an earlier {noun}"
    return Problem(code="duplicate_record_id", message=message, path=("id",))


def located_finding(problem: Problem, lines: Lines | None = None) -> Finding:
    """A problem of a file's own fields as a finding; with its line where the format has lines."""
    return Finding(
        severity=problem.severity,
        code=problem.code,
        message=spoken(problem),
        path=path_text(problem.path),
        line=lines.at(problem.path) if lines else None,
        hint=problem.hint,
    )


class RowPlace(FrozenStruct, frozen=True):
    """Where a row stands: what its findings say beside what is wrong."""

    index: int
    record_id: str | None
    start: Path = ()
    """The path of the row in its file; JSONL rows start their own paths."""
    line: int | None = None
    lines: Lines | None = None
    has_line_prefix: bool = False
    """Whether messages begin with the line, as contract 5 wants them."""
    file: str | None = None
    """The file in which the row stands, where another names it at `line`."""

    def finding(self, problem: Problem) -> Finding:
        """A problem of this row as a finding."""
        line = self.lines.at(problem.path) if self.lines else self.line
        message = spoken(problem)
        if self.file is not None:
            message, line = f"{self.file}, line {line}: {message}", self.line
        return Finding(
            severity=problem.severity,
            code=problem.code,
            message=f"Line {line}: {message}" if self.has_line_prefix else message,
            path=path_text((*self.start, *problem.path)),
            line=line,
            index=self.index,
            record_id=self.record_id,
            hint=problem.hint,
        )
