"""Runs derived from finished runs: retry failed records, or regrade stored traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import UnsetType, structs

from steelyard.contracts.reading import ChangedReading, DatasetReading, Row
from steelyard.errors import ConflictError, InvalidError
from steelyard.execution.prepared import Prepared
from steelyard.execution.run_options import RunOptions, stored_options
from steelyard.model.finding import Finding
from steelyard.model.published import dataset_name
from steelyard.model.run import Result
from steelyard.model.upload import upload_of
from steelyard.ports import Warn
from steelyard.results.manifest import Manifest
from steelyard.results.options import Derived, How
from steelyard.results.predictions import PREDICTIONS, Prediction, read_prediction
from steelyard.results.projections import Answer, read_answer, read_graded
from steelyard.results.record_validation import RECORD_VALIDATION, read_record_validation
from steelyard.usecases.results.read_run import decoded_rows, read_run
from steelyard.usecases.runs.kept_documents import DOCUMENT, require_whole_copy
from steelyard.usecases.runs.pairing import pair_records

_TRIED_AGAIN = ("timeout", "evaluation_error", "invalid_record", "cancelled")
_LEFT_OUT = ("skipped", "cancelled")
"""What a regrade has no answer of; invalid records are in it as they were."""
_NEVER_ASKED = ("invalid_record", *_LEFT_OUT)


def retry_options(folder: Path) -> RunOptions:
    """Options of a new run over all records that repeats only the failed ones."""
    manifest, options = _parent(folder)
    derived = _derived(manifest, "retry", folder)
    before = options.derived
    if before and before.how == "regrade":
        raise InvalidError(
            f"{derived.run_id} asked no target: it grades what {before.run_id} was answered; "
            f"try the failed records of that run again, or regrade it"
        )
    if not _indices(derived):
        _require_copy(manifest)
        raise InvalidError(f"{derived.run_id} has no failed record to try again")
    return structs.replace(options, derived=derived)


def regrade_options(
    folder: Path, rubric: str | None, only: Sequence[int] | None = None
) -> RunOptions:
    """Options of a new run over the stored traces of a finished run; no target is called.

    Without a rubric, each case is graded by its own rubric or expectations. `only` names the
    indices of the records to grade.
    """
    manifest, options = _parent(folder)
    targets = list(manifest.setup.targets)
    return structs.replace(
        options,
        rubric=rubric,
        target=targets[0] if len(targets) == 1 else options.target,
        responses=None,
        from_conversation=False,
        pass_threshold=None,
        derived=structs.replace(
            _derived(manifest, "regrade", folder), only=None if only is None else tuple(only)
        ),
    )


def warn_of_unasked(warn: Warn, folder: Path) -> None:
    """Warn of the records that a regrade leaves out."""
    if left_out := _never_asked(folder):
        why = ", ".join(f"{count:,} {status}" for status, count in sorted(left_out.items()))
        warn(f"left out: {left_out.total():,} record(s) without an answer ({why})")


def _never_asked(folder: Path) -> Counter[str]:
    """The number of valid records without an answer to regrade, by status."""
    statuses: dict[int, str] = {}
    for row in decoded_rows(folder, PREDICTIONS, read_answer):
        if statuses.get(row.index, "skipped") in _NEVER_ASKED:
            statuses[row.index] = "evaluated" if _is_gradable(row) else row.status
    return Counter(status for status in statuses.values() if status in _LEFT_OUT)


def invalid_results(options: RunOptions, slices: Sequence[str]) -> tuple[Result, ...]:
    """The invalid records of the run that is regraded, which are invalid in the new one, too."""
    derived = options.derived
    if derived is None or derived.how != "regrade" or derived.against:
        return ()
    rejected = {
        row.index: row.errors
        for row in decoded_rows(derived.folder, RECORD_VALIDATION, read_record_validation)
        if not row.is_accepted
    }
    if not rejected:
        return ()
    rows = decoded_rows(derived.folder, PREDICTIONS, read_prediction)
    return tuple(
        _invalid(row, rejected[row.index], slices) for row in rows if row.index in rejected
    )


def _invalid(row: Prediction, errors: tuple[Finding, ...], slices: Sequence[str]) -> Result:
    known = {} if isinstance(row.slices, UnsetType) else row.slices
    groups = {name: [one] if isinstance(one, str) else one for name, one in known.items()}
    return Result(
        index=row.index,
        record_id=row.record_id,
        status="invalid_record",
        record_sha256=row.record_sha256,
        errors=errors,
        label=errors[0].code,
        message=errors[0].message,
        slices=tuple((name, value) for name in slices for value in groups.get(name, [None])),
    )


def _parent(folder: Path) -> tuple[Manifest, RunOptions]:
    manifest = read_run(folder).manifest
    options = stored_options(manifest.setup.options, None)
    before = options.derived
    if before and before.against:
        raise InvalidError(
            f"{manifest.run_id} compares the answers of {before.against.run_id} and "
            f"{before.run_id}; name one of those"
        )
    return manifest, options


def _derived(manifest: Manifest, how: How, folder: Path) -> Derived:
    # An absolute path: the run may be resumed from another folder.
    return Derived(run_id=manifest.run_id, how=how, folder=folder.resolve())


def dataset_of(root: Path, options: RunOptions) -> Path:
    """The dataset file of a derived run; for a dataset document, the copy in the folder."""
    path = root / options.dataset
    derived = options.derived
    if derived is None or path.is_file() or dataset_name(options.dataset.as_posix()):
        return path
    manifest = read_run(derived.folder).manifest
    if upload_of(options.dataset):
        _require_copy(manifest)
        if derived.how == "retry":
            require_whole_copy(derived)
        return derived.folder / DOCUMENT
    # The copy is redacted: sufficient for grading, but not for calls.
    if manifest.setup.contract != "dataset_document" or derived.how == "retry":
        raise InvalidError(f"the dataset of {derived.run_id} is gone: {options.dataset}")
    _require_copy(manifest)
    return derived.folder / DOCUMENT


def _require_copy(manifest: Manifest) -> None:
    """Refuse a folder that has hashes in the place of records: its run ended without them."""
    if manifest.unread:
        raise ConflictError(
            f"{manifest.run_id} ended when its dataset could not be read, so that its folder has "
            "no copy of the records; start a new run of the dataset"
        )


def require_same_dataset(options: RunOptions, path: Path, source: dict[str, str]) -> None:
    """Restrict a derived run to the records of its parent."""
    derived = options.derived
    if derived is None or _is_kept(path, derived):
        return
    if read_run(derived.folder).manifest.setup.source != source:
        raise ConflictError(
            f"{options.dataset} has changed since {derived.run_id}; start a new run, or put the "
            "old file back"
        )


def only_derived(reading: DatasetReading, options: RunOptions, path: Path) -> DatasetReading:
    """Of a derived run, the records that it is about.

    A retry is about all that its selection finds, or that its parent's has found.
    """
    derived = options.derived
    if derived is None:
        return reading
    is_whole = derived.how == "retry" and options.selection == options.where
    if is_whole and not _is_kept(path, derived):
        return reading
    places = _accepted(derived.folder) if _is_kept(path, derived) else None
    chosen = _all_indices(derived) if derived.how == "retry" else _indices(derived)
    return SomeRows(reading, chosen, places)


def tried_again(options: RunOptions) -> tuple[str, ...]:
    """The statuses whose records a retry repeats; all others are copied.

    Of a posted dataset only the valid records were kept, so that the others cannot change.
    """
    if upload_of(options.dataset):
        return tuple(status for status in _TRIED_AGAIN if status != "invalid_record")
    return _TRIED_AGAIN


def planned_counts(prepared: Prepared) -> dict[str, int]:
    """The records of a plan, and their rows: an invalid record has one in all repeats."""
    options, forecast = prepared.options, prepared.forecast
    selected = forecast.total + _rejected_before(options) + len(prepared.carried)
    return {"selected": selected, "rows": selected + forecast.valid * (options.repeat - 1)}


def _rejected_before(options: RunOptions) -> int:
    """How many invalid records a retry copies from its parent."""
    derived = options.derived
    if derived is None or derived.how != "retry" or not upload_of(options.dataset):
        return 0
    rows = decoded_rows(derived.folder, RECORD_VALIDATION, read_record_validation)
    return sum(not row.is_accepted for row in rows)


def _is_kept(path: Path, derived: Derived) -> bool:
    """Whether the dataset is the copy in the parent's folder."""
    return path == derived.folder / DOCUMENT


def _accepted(folder: Path) -> list[int]:
    """The original indices of the records in the folder's copy."""
    rows = decoded_rows(folder, RECORD_VALIDATION, read_record_validation)
    return [row.index for row in rows if row.is_accepted]


def _indices(derived: Derived) -> set[int]:
    """The records to retry (failed) or to regrade (answered).

    A pairwise run has the records that both runs answered.
    """
    if derived.against:
        return set(pair_records(derived.against.folder, derived.folder).partners)
    is_retry = derived.how == "retry"
    found = {
        row.index
        for row in decoded_rows(derived.folder, PREDICTIONS, read_answer)
        if (row.status in _TRIED_AGAIN if is_retry else _is_gradable(row))
    }
    return found if derived.only is None else found & set(derived.only)


def _is_gradable(row: Answer) -> bool:
    """Whether a record was asked, or has an answer that nothing has graded yet."""
    return row.status not in _NEVER_ASKED or (row.status == "skipped" and row.is_answered)


def _all_indices(derived: Derived) -> set[int]:
    return {row.index for row in decoded_rows(derived.folder, PREDICTIONS, read_graded)}


class SomeRows(ChangedReading):
    """A dataset restricted to some records, with their original indices."""

    def __init__(
        self, reading: DatasetReading, indices: set[int], places: Sequence[int] | None
    ) -> None:
        super().__init__(reading)
        self._indices = indices
        self._places = places

    def rows(self) -> Iterator[Row]:
        """The selected records."""
        for row in self._reading.rows():
            if self._places is None:
                place, findings = row.index, row.findings
            else:
                # All of them were valid; redaction may have made them invalid.
                place, findings = self._places[row.index], ()
            if place in self._indices:
                yield row._replace(index=place, findings=findings)
