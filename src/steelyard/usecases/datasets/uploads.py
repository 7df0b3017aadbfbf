"""Files that were sent and lie in no folder: what their readers see, and what is wrong in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from steelyard.contracts.contract import EXTENSIONS
from steelyard.errors import InvalidError
from steelyard.model.finding import error
from steelyard.model.saved import SAVED
from steelyard.ports import Files, FilesOfUpload, FoundPath
from steelyard.usecases.datasets.excerpts import with_lines as lines_of
from steelyard.usecases.datasets.sent_limits import document_refusal, lines_refusal, yaml_refusal
from steelyard.usecases.datasets.validate import FileReport, ValidateOptions, validate
from steelyard.usecases.registry.registry import RegistryPorts

_FOLDERS = ("rubrics", "judges")
_UPLOADS = Path(f"{SAVED}uploads")


class Upload(NamedTuple):
    """A file that was sent."""

    name: str
    """What its sender calls it: `desk.jsonl`, or with its folder, `rubrics/polite.yaml`."""
    open: Callable[[], BinaryIO]
    size: int
    sha256: str

    @property
    def path(self) -> Path:
        """Where it seems to be; no file of a project is there."""
        parts = PurePosixPath(self.name).parts
        folder = parts[-2:-1] if parts[-2:-1] and parts[-2] in _FOLDERS else ()
        return _UPLOADS.joinpath(*folder, parts[-1])

    @property
    def extension(self) -> str:
        """How its content is read."""
        return self.path.suffix.lower()

    def data(self) -> bytes:
        """All of it."""
        with self.open() as stream:
            return stream.read()


MAX_FINDINGS = 10_000
"""After so many findings a file that was sent is not looked at further."""


def require_upload_name(name: str, endings: Sequence[str] = EXTENSIONS) -> None:
    """Refuse a name that no file has, or that no reader reads."""
    path = PurePosixPath(name)
    is_file = path.name and len(name) <= 255 and name.isprintable() and ".." not in path.parts
    if not is_file or path.suffix.lower() not in endings:
        raise InvalidError(
            f"name must be that of a file that ends with {', '.join(endings)}, not {name!r}"
        )


class SentFiles:
    """A folder with one file that was sent, which may show no other."""

    def __init__(self, upload: Upload) -> None:
        self._upload = upload

    def expand(self, patterns: Sequence[str]) -> list[FoundPath]:
        """The file."""
        del patterns
        return [FoundPath(self._upload.path, is_named=True)]

    def open(self, path: Path) -> BinaryIO:
        """Its bytes."""
        if path != self._upload.path:
            raise FileNotFoundError(path)
        return self._upload.open()

    def is_file(self, path: Path) -> bool:
        """Whether it is this file."""
        return path == self._upload.path

    def size(self, path: Path) -> int:
        """How many bytes it has."""
        del path
        return self._upload.size

    def files_of(self, path: Path) -> Files:
        """None: whoever sends a file must not read those of the server."""
        del path
        return FilesOfUpload()


def validate_upload(ports: RegistryPorts, upload: Upload, options: ValidateOptions) -> FileReport:
    """What `validate` says of a file."""
    known = ("dataset", "rubric", "judge", *ports.contracts.names)
    if options.kind is not None and options.kind not in known:
        names = ", ".join(dict.fromkeys(known))
        raise InvalidError(f"unknown kind '{options.kind}'; known are {names}")
    if refusal := upload_refusal(upload):
        finding = error("payload_too_large", refusal)
        return FileReport(path=upload.name, contract=None, findings=(finding,))
    options = replace(options, max_findings=MAX_FINDINGS)
    report = validate(
        *(SentFiles(upload), [upload.name], options, ports.catalog),
        references=lambda _path: ports.references,
        contracts=ports.contracts,
    )
    return replace(report.files[0], path=upload.name)


def with_lines(report: FileReport, upload: Upload) -> FileReport:
    """The same report, in which findings of JSON have lines, too."""
    found = lines_of(SentFiles(upload), upload.path, report.findings)
    return replace(report, findings=found)


def upload_refusal(upload: Upload, *, has_records: bool = True) -> str | None:
    """Why a file would take too much memory or time; None where it does not."""
    if upload.extension == ".json":
        return document_refusal(upload.data(), has_records=has_records)
    if upload.extension == ".jsonl":
        with upload.open() as stream:
            return lines_refusal(stream)
    return yaml_refusal(upload.data()) if upload.extension in {".yaml", ".yml"} else None
