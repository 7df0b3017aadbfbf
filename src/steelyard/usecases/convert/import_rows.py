"""Rows of benchmarks, tables and other tools as a source of cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from steelyard.contracts.catalog import Contracts
from steelyard.contracts.contract import Contract, DatasetFile
from steelyard.contracts.importers.apexv1 import import_apexv1
from steelyard.contracts.importers.columns import ColumnMap
from steelyard.contracts.importers.includebase import import_includebase
from steelyard.contracts.importers.inspect_log import import_case
from steelyard.contracts.importers.lar_echr import import_lar_echr
from steelyard.contracts.importers.lexam import import_lexam
from steelyard.contracts.importers.openai_evals import import_openai_evals
from steelyard.contracts.importers.prbench import import_prbench
from steelyard.contracts.importers.source_row import Import, Imported
from steelyard.errors import InvalidError, ParseError, argument
from steelyard.formats.json_fields import fields
from steelyard.formats.json_text import compact
from steelyard.formats.records import Record
from steelyard.formats.seen_ids import SeenIds
from steelyard.model.conversion import Change, Refusal
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject
from steelyard.ports import Workspace
from steelyard.usecases.convert.inspect_logs import LogFile, open_logs
from steelyard.usecases.convert.intake import Beside, Intake, IntakeCandidate, read_row
from steelyard.usecases.convert.promptfoo.intake import PromptfooIntake
from steelyard.usecases.convert.source_records import Frames, file_records, source_files

BENCHMARKS: dict[str, Callable[[JsonObject], list[JsonObject]]] = {
    "prbench": import_prbench,
    "apexv1": import_apexv1,
    "lexam": import_lexam,
    "includebase": import_includebase,
    "lar_echr": import_lar_echr,
}
TABLES = ("csv", "parquet", "hf")
TOOLS = ("openai-evals", "promptfoo", "inspect")
_BATCH = 500
_MAPPED = ("id", "input", "expected_output", "expected_outcome")


class RowSource(NamedTuple):
    """What to import: the source, its format and the contract."""

    path: Path
    name: str
    to: str
    names: Mapping[str, str]
    split: str | None = None
    output: Path | None = None
    title: str = ""
    """The name in the source, if it has one."""

    @property
    def dataset(self) -> str:
        """The dataset's name: from the source, otherwise from its file or folder."""
        return self.name if self.name in BENCHMARKS else self.title or self.path.resolve().stem


def row_intake(
    workspace: Workspace, contracts: Contracts, source: RowSource, frames: Frames
) -> Intake:
    """The imported rows of a source, as cases of the contract of the importer."""
    changes: tuple[Change, ...] = ()
    description = ""
    beside: Callable[[], Beside] | None = None
    if source.name == "promptfoo":
        promptfoo = PromptfooIntake(workspace, source.path, source.output)
        source = source._replace(path=promptfoo.path)
        changes = tuple(promptfoo.project.changes)
        description = promptfoo.description
        imports: Iterator[tuple[str, Import]] = promptfoo.cases()
        beside = promptfoo.beside
        contract = "eval_cases"
    elif source.name == "inspect":
        logs = open_logs(workspace, source.path)
        tasks = {log.head.task for log in logs}
        source = source._replace(title=tasks.pop() if len(tasks) == 1 else "")
        contract, imports = _samples(source, logs)
        changes = tuple(change for log in logs for change in log.changes)
    else:
        contract, make = _importer(source, contracts)
        imports = _imports(_records(workspace, source, frames), make)
    made = contracts[contract]
    unique = _Unique(made).only(imports)
    if contract == "legal_eval" == source.to:
        # Rows of the contract itself: they are written unchanged and read afterwards.
        candidates = _as_rows(unique)
    else:
        candidates = _as_cases(unique, made, source, workspace)
    header = Dataset(id=source.dataset, contract=source.name, description=description)
    return Intake(
        name=source.name,
        contract=made,
        header=header,
        candidates=lambda: candidates,
        changes=changes,
        beside=beside,
        names_each=beside is not None,
    )


def _importer(
    source: RowSource, contracts: Contracts
) -> tuple[str, Callable[[Record], list[Import]]]:
    """The contract of the imported rows, and their importer."""
    if source.name in BENCHMARKS:
        _refuse_map(source)
        importer = BENCHMARKS[source.name]
        return "legal_eval", lambda record: [
            Imported(row) for row in importer(fields(record.value))
        ]
    if source.name == "openai-evals":
        unknown = [name for name in source.names if name not in _MAPPED]
        if unknown:
            raise InvalidError(
                f"{argument('names')} {unknown[0]}=…: an item can fill {', '.join(_MAPPED)}; "
                "its other fields are kept in metadata"
            )
        is_legal = source.to == "legal_eval"
        importer = partial(
            import_openai_evals, names=source.names, legal=source.dataset if is_legal else None
        )
        return ("legal_eval" if is_legal else "eval_cases"), lambda record: importer(
            fields(record.value)
        )
    columns = ColumnMap.checked(contracts[source.to], source.dataset, source.names)
    return source.to, lambda record: [columns.imported(fields(record.value))]


def _samples(source: RowSource, logs: list[LogFile]) -> tuple[str, Iterator[tuple[str, Import]]]:
    """The cases of the samples in Inspect logs."""
    _refuse_map(source)
    contract = "legal_eval" if source.to == "legal_eval" else "eval_cases"
    records = (
        Record(sample.place, sample.value, sample.fault)
        for log in logs
        for sample in log.samples()
    )

    def make(record: Record) -> list[Import]:
        return [import_case(fields(record.value), contract)]

    return contract, _imports(records, make)


def _refuse_map(source: RowSource) -> None:
    if source.names:
        raise InvalidError(
            f"{argument('names')} is for tables; the columns of {source.name} are known"
        )


def _records(workspace: Workspace, source: RowSource, frames: Frames) -> Iterator[Record]:
    """All records of a source with their places, and with their splits if the table has any."""
    files = source_files(workspace, source.path, source.split)
    has_splits = source.name in TABLES and len({file.split for file in files}) > 1
    for file in files:
        within = f"{file.path.name} " if len(files) > 1 else ""
        for record in file_records(workspace, file.path, frames):
            value = record.value
            if has_splits and value is not None and "split" not in value:
                value = {**value, "split": file.split}
            yield Record(f"{within}{record.place}", value, record.fault)


def _imports(
    records: Iterable[Record], make: Callable[[Record], list[Import]]
) -> Iterator[tuple[str, Import]]:
    for record in records:
        if record.value is None:
            yield record.place, Refusal("invalid", record.fault)
            continue
        try:
            made = make(record)
        except ParseError as wrong:
            yield record.place, Refusal("invalid", str(wrong))
            continue
        for found in made:
            yield record.place, found


class _Unique:
    """Passes each row once: repeated rows are skipped, other rows with the same id are invalid."""

    def __init__(self, contract: Contract) -> None:
        self._key = contract.row_id
        self._rows = SeenIds()
        self._ids = SeenIds()

    def only(self, imports: Iterable[tuple[str, Import]]) -> Iterator[tuple[str, Import]]:
        """The same imports, with refusals in place of repeated rows."""
        for place, found in imports:
            yield place, self._checked(found) if isinstance(found, Imported) else found

    def _checked(self, found: Imported) -> Import:
        name = found.row.get(self._key)
        if not self._rows.add(compact(found.row).decode("utf-8", "surrogatepass")):
            return Refusal("skipped", "the same row again")
        if isinstance(name, str) and not self._ids.add(name):
            reason = f"{self._key} '{name}' is used by an earlier row with other content"
            return Refusal("invalid", reason, "duplicate_record_id")
        return found


def _as_rows(imports: Iterator[tuple[str, Import]]) -> Iterator[IntakeCandidate]:
    for place, found in imports:
        if isinstance(found, Refusal):
            yield IntakeCandidate(place, found)
        else:
            name = found.row.get("id")
            yield IntakeCandidate(
                name if isinstance(name, str) else place, found.row, found.changes
            )


def _as_cases(
    imports: Iterator[tuple[str, Import]],
    contract: Contract,
    source: RowSource,
    workspace: Workspace,
) -> Iterator[IntakeCandidate]:
    """The cases of the rows, read in batches by the reader of the contract."""
    while batch := list(islice(imports, _BATCH)):
        rows = [found.row for _, found in batch if isinstance(found, Imported)]
        reading = contract.open(
            DatasetFile(
                name=source.dataset,
                content=contract.part("wrapper")(source.dataset, rows),
                files=workspace.files_of(source.path),
                is_made=True,
            )
        )
        read = reading.rows()
        for place, found in batch:
            if isinstance(found, Refusal):
                yield IntakeCandidate(place, found)
            else:
                row = next(read)
                yield IntakeCandidate(
                    row.record_id or place, read_row(reading, row), found.changes
                )
