"""The documents of a row: which are read, and what is wrong with those that cannot be."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

from steelyard.contracts.message_rows import beyond
from steelyard.formats.json_fields import optional_text, text_field
from steelyard.formats.office_text import SUFFIXES as OFFICE
from steelyard.formats.problem import Problem
from steelyard.model.case import Attachment
from steelyard.model.json_value import JsonObject, Path
from steelyard.ports import FileFault, Files

_NAMED = {"path", "kind", "title"}
_READ_KINDS = {"pdf", "text", "txt", "markdown", "md"}
_READ_SUFFIXES = {
    *(".pdf", ".txt", ".text", ".md", ".markdown", ".rst", ".html", ".htm", ".xml"),
    *(".csv", ".tsv", ".json", ".jsonl", ".yaml", ".yml"),
    *OFFICE,
}
_SHOWN = "texts, PDFs, .docx, .xlsx and .pptx are shown"
# A document of another kind is there, whatever the reader of texts says about its bytes.
_FOUND_ANYHOW = {"invalid_encoding", "record_too_large", "unreadable_file"}


class AttachmentBuilder:
    """Builds attachments; what is wrong with a document is in `problems` afterwards."""

    def __init__(self, files: Files) -> None:
        self.problems: list[Problem] = []
        self._files = files

    def attachments(self, rows: list[JsonObject]) -> tuple[Attachment, ...]:
        """The documents of a row whose shape has been checked."""
        return tuple(
            self._attachment(row, ("attachments", index, "path")) for index, row in enumerate(rows)
        )

    def _attachment(self, row: JsonObject, path: Path) -> Attachment:
        reference = text_field(row, "path")
        kind = optional_text(row, "kind")
        return Attachment(
            path=reference,
            kind=kind,
            title=optional_text(row, "title"),
            text=self._text(reference, kind, path),
            extra=beyond(row, _NAMED),
        )

    def _text(self, reference: str, kind: str | None, path: Path) -> str | None:
        if _escapes(reference):
            message = f"{{}}: {reference} does not lie beneath the folder of the file"
            hint = "write a path relative to that folder, without '..'"
            self._add("file_outside_root", message, path, hint=hint)
            return None
        is_read = _is_read(reference, kind)
        found = self._files.read(reference)
        if isinstance(found, FileFault) and (is_read or found.code not in _FOUND_ANYHOW):
            self._fault(found, path)
            return None
        if isinstance(found, FileFault) or not is_read:
            message = f"{{}}: {reference} is of a kind that no prompt shows; it is named there"
            self._add("unsupported_format", message, path, hint=_SHOWN, is_error=False)
            return None
        if not found.text.strip():
            message = f"{{}}: there is no text in {reference}"
            hint = "pages that are pictures need text recognition first"
            self._add("unreadable_file", message, path, hint=hint, is_error=False)
        return found.text

    def _fault(self, fault: FileFault, path: Path) -> None:
        """A document that is not there is a warning: benchmarks are passed on without theirs."""
        is_error = fault.code != "missing_file"
        self._add(fault.code, f"{{}}: {fault.message}", path, hint=fault.hint, is_error=is_error)

    def _add(
        self, code: str, message: str, path: Path, *, hint: str | None, is_error: bool = True
    ) -> None:
        severity = "error" if is_error else "warning"
        self.problems.append(
            Problem(code=code, message=message, path=path, hint=hint, severity=severity)
        )


def _escapes(reference: str) -> bool:
    """Whether a path is absolute, or climbs out of the folder that it starts from."""
    windows = PureWindowsPath(reference)
    if windows.drive or windows.root:
        return True
    depth = 0
    for part in PurePosixPath(reference.replace("\\", "/")).parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return True
    return False


def _is_read(reference: str, kind: str | None) -> bool:
    """Whether the text of a document is shown; pictures and others are kept by their path."""
    if kind and kind.strip().casefold() in _READ_KINDS:
        return True
    return PurePosixPath(reference).suffix.casefold() in _READ_SUFFIXES
