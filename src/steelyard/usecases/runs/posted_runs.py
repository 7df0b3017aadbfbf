"""Make runs of posted dataset documents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Protocol

from steelyard.contracts.dataset_document.own_member import take_out
from steelyard.contracts.dataset_document.rules import RUN
from steelyard.engine.redaction.redactor import is_redacted
from steelyard.errors import InvalidError, NotFoundError, argument
from steelyard.execution.run_options import RunOptions
from steelyard.model.audit import Caller
from steelyard.model.finding import Finding, RefusedFileError, error
from steelyard.model.json_value import JsonValue
from steelyard.model.published import dataset_name
from steelyard.model.reference import Reference
from steelyard.model.upload import upload_name
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.datasets.open_dataset import MAX_JSON
from steelyard.usecases.datasets.sent_limits import MAX_HEADER_VALUES, document_refusal
from steelyard.usecases.datasets.uploads import MAX_FINDINGS
from steelyard.usecases.registry.load_definition import is_path
from steelyard.usecases.runs.execute import create_run
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.prepare import open_source
from steelyard.usecases.runs.suites import SuiteChoice, choose

_MAX_BLANK = 1024
"""A body without anything in it is not longer than this."""
RECORD_CODES = frozenset(
    (
        *("missing_required_field", "invalid_field_type", "value_out_of_range"),
        *("string_too_long", "invalid_enum_value", "duplicate_record_id"),
        *("record_too_large", "invalid_encoding", "unsupported_field"),
    )
)
"""The codes that contract 2 allows for a record."""


class UploadDraft(Protocol):
    """An upload that is being written."""

    upload_id: str

    def write(self, data: bytes) -> None:
        """Add bytes of the plain text."""
        ...

    def end(self) -> object:
        """Put the upload in its place."""
        ...

    def give_up(self) -> None:
        """Remove what was written."""
        ...


class Uploads(Protocol):
    """Posted datasets, encrypted until their runs end."""

    def writer(self, quota: int | None = None) -> UploadDraft:
        """A new upload."""
        ...

    def open(self, upload_id: str) -> BinaryIO:
        """The plain text as a stream."""
        ...

    def delete(self, name: Path) -> None:
        """Remove the upload that a name stands for."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A posted document, without the settings that it held."""

    upload_id: str | None
    """None where it held settings alone, and a saved dataset is meant."""
    settings: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCheck:
    """What contract 2 says about the records of a document."""

    total: int
    rejected: int
    errors: tuple[Finding, ...]

    @property
    def accepted(self) -> int:
        """How many records can be evaluated."""
        return self.total - self.rejected


MAX_ERRORS = 200_000
"""After so many, an answer lists the first error of each further record."""


def split_posted(uploads: Uploads, upload_id: str) -> Posted:
    """Take the settings out of a posted document; the rest is what is validated and hashed."""
    with uploads.open(upload_id) as stream:
        data = stream.read(MAX_JSON)
    if len(data) < _MAX_BLANK and data.strip() in {b"", b"{}"}:
        uploads.delete(Path(upload_name(upload_id)))
        return Posted(upload_id=None, settings=None)
    if refusal := document_refusal(data, beside=MAX_HEADER_VALUES):
        raise RefusedFileError(refusal, [error("payload_too_large", refusal)])
    taken = take_out(data, RUN)
    if taken is None:
        return Posted(upload_id=upload_id, settings=None)
    uploads.delete(Path(upload_name(upload_id)))
    if not taken.names:
        return Posted(upload_id=None, settings=taken.value)
    draft = uploads.writer()
    try:
        draft.write(taken.document)
        draft.end()
    except BaseException:
        draft.give_up()
        raise
    return Posted(upload_id=draft.upload_id, settings=taken.value)


def check_document(ports: RunPorts, options: RunOptions) -> DocumentCheck:
    """Validate every record; what is wrong with the document as a whole is an error."""
    reading = open_source(ports, options).reading
    for finding in reading.findings:
        if finding.is_error or (options.strict and finding.strict().is_error):
            where = "" if finding.path in finding.message else f"{finding.path}: "
            raise RefusedFileError(f"{where}{finding.message}", reading.findings)
    total = rejected = 0
    errors: list[Finding] = []
    for row in reading.rows():
        total += 1
        found = [finding for finding in row.findings if finding.is_error]
        rejected += bool(found)
        errors.extend(found if len(errors) < MAX_ERRORS else found[:1])
        if (
            len(errors) > 2 * MAX_ERRORS
        ):  # of a saved dataset, which may have any number of records
            told = f"the records have more than {2 * MAX_ERRORS:,} errors"
            raise RefusedFileError(told, errors[:MAX_FINDINGS])
    return DocumentCheck(total=total, rejected=rejected, errors=tuple(errors))


def posted_options(ports: RunPorts, upload_id: str | None, choice: SuiteChoice) -> RunOptions:
    """The options of a run of an upload, or of a saved dataset.

    Over HTTP no file is named: rubrics and judges by their references, datasets by theirs.
    """
    for name in ("rubric", "judge"):
        require_reference(name, getattr(choice, name))
    _refuse_secrets(ports, choice)
    if upload_id and choice.datasets:
        raise InvalidError(
            f"{argument('dataset')} names a saved dataset; leave it out where records are posted"
        )
    if upload_id:
        choice = replace(choice, datasets=(Path(upload_name(upload_id)),))
    for dataset in choice.datasets if upload_id is None else ():
        if not dataset_name(dataset.as_posix()):
            raise InvalidError(f"'{dataset}' is no reference such as dataset/id@version")
    (options,) = choose(ports, choice)
    return options


def _refuse_secrets(ports: RunPorts, choice: SuiteChoice) -> None:
    """Refuse a setting that holds a configured secret: settings are stored with the run."""
    for name in ("where", "model", "cluster"):
        given = getattr(choice, name) or ""
        if any(secret in given for secret in ports.secrets if is_redacted(secret)):
            raise InvalidError(
                f"{argument(name)} holds the value of a configured secret, which is stored nowhere"
            )


def require_reference(name: str, given: str | None) -> None:
    """Refuse the path of a rubric or a judge."""
    if given is None:
        return
    reference = Reference.parse(given if "/" in given else f"{name}/{given}")
    if is_path(given) or reference is None or reference.kind != name:
        raise InvalidError(
            f"{argument(name)} must be a reference such as {name}/id@1.0, not '{given}'"
        )


async def post_run(
    ports: RunPorts, options: RunOptions, *, run_id: str, caller: Caller | None = None
) -> StoredRun:
    """Create a run under an id; where an earlier request has done so, that run."""
    try:
        return ports.repository.find(run_id)
    except NotFoundError:
        pass
    made = replace(ports, new_run_id=lambda: run_id)
    try:
        return await create_run(made, options, in_place=True, caller=caller)
    except NotFoundError as wrong:
        # What is missing is named by the request, whose address leads somewhere.
        raise InvalidError(*wrong.args) from None
