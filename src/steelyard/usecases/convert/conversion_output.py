"""Atomic output of converted cases: a draft that our own reader checks before the rename."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from steelyard.contracts.catalog import Contracts
from steelyard.contracts.contract import Contract
from steelyard.contracts.reading import Row
from steelyard.errors import InvalidError
from steelyard.formats.jsonl import row_bytes
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject
from steelyard.ports import Files, FoundPath, Workspace
from steelyard.usecases.datasets.open_dataset import open_dataset


class OutputDraft(Protocol):
    """A file that is being written; it gets its final name when it is settled."""

    def write(self, data: bytes) -> None:
        """Append."""
        ...

    def read(self) -> BinaryIO:
        """What was written so far."""
        ...

    def settle(self) -> None:
        """Rename it into place."""
        ...

    def discard(self) -> None:
        """Remove it; does nothing after `settle`."""
        ...


MakeDraft = Callable[[Path], OutputDraft]


class Rejected(NamedTuple):
    """A row that our own reader refused."""

    position: int
    row: Row


class Output(Protocol):
    """Writes cases of one contract to its files."""

    drafts: dict[Path, OutputDraft]

    def add(self, case: Case | JsonObject) -> None:
        """Add a case, or an unchanged row of the contract."""
        ...

    def finish(self) -> None:
        """Write what is still pending."""
        ...

    def without(self, positions: Sequence[int]) -> None:
        """Rewrite the output without the cases at these positions."""
        ...


def open_output(path: Path, contract: Contract, header: Dataset, make: MakeDraft) -> Output:
    """The output for a contract and a file's extension."""
    write = partial(contract.write, extension=path.suffix.lower())
    if path.suffix.lower() != ".jsonl":
        return DocumentOutput(path, write, header, make)
    lines = LineOutput(path, make, lambda case: write(replace(header, cases=(case,))))
    if contract.sidecar:
        lines.add_file(path.with_suffix(".yaml"), contract.part("sidecar")(header))
    return lines


def check_output(
    output: Output, workspace: Workspace, path: Path, contracts: Contracts, contract: str
) -> list[Rejected]:
    """Read the output with our own reader, as if it were already in place."""
    opened = open_dataset(_Staged(workspace, output.drafts), path, contract, contracts=contracts)
    sidecar = opened.sidecar.findings if opened.sidecar else ()
    of_file = opened.reading.findings if opened.reading else ()
    for finding in (*opened.findings, *sidecar, *of_file):
        if finding.is_error:
            raise InvalidError(f"{contract} cannot hold this: {finding.message}")
    assert opened.reading
    rows = enumerate(opened.reading.rows())
    return [Rejected(position, row) for position, row in rows if not row.is_accepted]


class LineOutput:
    """Rows of JSONL, written as they come."""

    def __init__(self, path: Path, make: MakeDraft, line: Callable[[Case], bytes]) -> None:
        self._path = path
        self._make = make
        self._line = line
        self.drafts = {path: make(path)}

    def add_file(self, path: Path, data: bytes) -> None:
        """Add a file beside the rows."""
        self.drafts[path] = self._make(path)
        self.drafts[path].write(data)

    def add(self, case: Case | JsonObject) -> None:
        """Write one row."""
        is_case = isinstance(case, Case)
        line = self._line(case) if is_case else row_bytes(case)
        self.drafts[self._path].write(line)

    def finish(self) -> None:
        """All rows are written already."""

    def without(self, positions: Sequence[int]) -> None:
        """Copy the remaining rows to a new draft."""
        left_out = array("Q", positions)
        old, new = self.drafts[self._path], self._make(self._path)
        place = 0
        with old.read() as stream:
            for position, line in enumerate(stream):
                if place < len(left_out) and left_out[place] == position:
                    place += 1
                else:
                    new.write(line)
        old.discard()
        self.drafts[self._path] = new


class DocumentOutput:
    """One document, written when all of its cases are known."""

    def __init__(
        self, path: Path, write: Callable[[Dataset], bytes], header: Dataset, make: MakeDraft
    ) -> None:
        self._path = path
        self._write = write
        self._header = header
        self._make = make
        self._cases: list[Case] = []
        self.drafts: dict[Path, OutputDraft] = {}

    def add(self, case: Case | JsonObject) -> None:
        """Keep one case."""
        assert isinstance(case, Case)
        self._cases.append(case)

    def finish(self) -> None:
        """Write the document."""
        dataset = replace(self._header, cases=tuple(self._cases))
        draft = self._make(self._path)
        draft.write(self._write(dataset))
        self.drafts[self._path] = draft

    def without(self, positions: Sequence[int]) -> None:
        """Write the document of the remaining cases."""
        left_out = set(positions)
        self._cases = [case for at, case in enumerate(self._cases) if at not in left_out]
        self.drafts[self._path].discard()
        self.finish()


class _Staged:
    """The user's files together with drafts under their final names."""

    def __init__(self, workspace: Workspace, drafts: dict[Path, OutputDraft]) -> None:
        self._workspace = workspace
        self._drafts = drafts

    def expand(self, patterns: Sequence[str]) -> list[FoundPath]:
        """The same as without drafts."""
        return self._workspace.expand(patterns)

    def open(self, path: Path) -> BinaryIO:
        """A draft's bytes, or a file's."""
        draft = self._drafts.get(path)
        return draft.read() if draft else self._workspace.open(path)

    def is_file(self, path: Path) -> bool:
        """Whether the file or a draft of it exists."""
        return path in self._drafts or self._workspace.is_file(path)

    def size(self, path: Path) -> int:
        """How many bytes a file has."""
        return self._workspace.size(path)

    def files_of(self, path: Path) -> Files:
        """The files that an eval file may use."""
        return self._workspace.files_of(path)
