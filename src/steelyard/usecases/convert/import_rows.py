"""The rows of a source as cases of a contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import cast

from steelyard.contracts.contract import Contract, DatasetFile
from steelyard.contracts.importers.source_row import Import, Imported
from steelyard.errors import InvalidError, argument
from steelyard.formats.json_text import compact
from steelyard.formats.seen_ids import SeenIds
from steelyard.model.conversion import Refusal
from steelyard.model.dataset import Dataset
from steelyard.ports import Workspace
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.intake import Intake, IntakeCandidate, read_row
from steelyard.usecases.convert.output_forms import FORMS
from steelyard.usecases.convert.source import CaseRows, PlacedImports
from steelyard.usecases.convert.sources import SOURCES

_BATCH = 500


def row_intake(ports: ConvertPorts, options: ConvertOptions) -> Intake:
    """The imported rows of a source, as cases of the contract of the importer."""
    name = cast(str, options.made_from)
    source = SOURCES[name]
    if source.cases is None:
        forms = [form for form in FORMS if getattr(source, form)]
        raise InvalidError(f"{name} holds no cases; {argument('to')} may be {' or '.join(forms)}")
    source.check_names(options, source.case_names)
    rows = source.cases(ports, options)
    made = ports.contracts[rows.contract]
    unique = _Unique(made).only(rows.imports)
    if rows.contract == "legal_eval" == options.to:
        # Rows of the contract itself: they are written unchanged and read afterwards.
        candidates = _as_rows(unique)
    else:
        candidates = _as_cases(unique, made, rows, ports.workspace)
    return Intake(
        name=name,
        contract=made,
        header=Dataset(id=rows.dataset, contract=name, description=rows.description),
        candidates=lambda: candidates,
        changes=rows.changes,
        beside=rows.beside,
        names_each=rows.beside is not None,
    )


class _Unique:
    """Passes each row once: repeated rows are skipped, other rows with the same id are invalid."""

    def __init__(self, contract: Contract) -> None:
        self._key = contract.row_id
        self._rows = SeenIds()
        self._ids = SeenIds()

    def only(self, imports: Iterable[tuple[str, Import]]) -> PlacedImports:
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


def _as_rows(imports: PlacedImports) -> Iterator[IntakeCandidate]:
    for place, found in imports:
        if isinstance(found, Refusal):
            yield IntakeCandidate(place, found)
        else:
            name = found.row.get("id")
            yield IntakeCandidate(
                name if isinstance(name, str) else place, found.row, found.changes
            )


def _as_cases(
    imports: PlacedImports,
    contract: Contract,
    source: CaseRows,
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
