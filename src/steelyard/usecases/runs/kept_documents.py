"""The copy of a posted document in the folder of its run, in the place of the upload."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from steelyard.contracts.dataset_document.reader import DatasetDocumentReading
from steelyard.errors import ConflictError
from steelyard.formats.json_hash import record_sha256
from steelyard.results.options import Derived
from steelyard.results.record_validation import (
    RECORD_VALIDATION,
    RecordValidation,
    read_record_validation,
)
from steelyard.usecases.results.read_run import decoded_rows

DOCUMENT = "input_dataset.json"


def require_whole_copy(derived: Derived) -> None:
    """Refuse to ask a target again about a copy in which something was redacted.

    The hashes of records are those of the document as it was posted.
    """
    document = DatasetDocumentReading((derived.folder / DOCUMENT).read_bytes())
    copied = (record_sha256(row.value) for row in document.rows())
    posted = (row.record_sha256 for row in _validated(derived.folder) if row.is_accepted)
    if any(one != other for one, other in zip_longest(copied, posted)):
        raise ConflictError(
            f"the posted dataset of {derived.run_id} is no longer kept, and parts of its copy are "
            "redacted; post it again"
        )


def rejected_records(derived: Derived) -> int:
    """How many records of a posted document are not in its copy."""
    return sum(not row.is_accepted for row in _validated(derived.folder))


def _validated(folder: Path) -> Iterator[RecordValidation]:
    return decoded_rows(folder, RECORD_VALIDATION, read_record_validation)
