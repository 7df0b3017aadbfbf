"""Files that were sent and lie in no folder: what their readers see, and what is wrong in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from steelyard.contracts.contract import EXTENSIONS
from steelyard.errors import InvalidError, ParseError
from steelyard.formats.encoding import without_bom
from steelyard.formats.json_text import raw_members
from steelyard.model.finding import error
from steelyard.model.saved import SAVED
from steelyard.ports import Files, FilesOfUpload, FoundPath
from steelyard.usecases.datasets.excerpts import with_lines as lines_of
from steelyard.usecases.datasets.validate import FileReport, ValidateOptions, validate
from steelyard.usecases.registry.registry import RegistryPorts

MAX_VALUES = 3_000_000
"""The most values of a JSON document that is read as a whole."""
MAX_RECORD_VALUES = 12_000_000
"""The most values of the records of a dataset document, which are read one by one."""
_FOLDERS = ("rubrics", "judges")
_UPLOADS = Path(f"{SAVED}uploads")
_SMALL = 1024 * 1024


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
    if refusal := _bomb(upload):
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


def _bomb(upload: Upload) -> str | None:
    """Why a JSON document would take too much memory; the readers of other forms count."""
    if upload.extension != ".json" or upload.size <= _SMALL:
        return None
    data = without_bom(upload.data())
    if _values(data) <= MAX_VALUES:
        return None
    if _values(data) > MAX_RECORD_VALUES:
        return f"the document has more than {MAX_RECORD_VALUES:,} values"
    try:
        members = raw_members(data)
    except ParseError:
        members = {}
    rest = sum(_values(bytes(raw)) for name, raw in members.items() if name != "records")
    if not members or "records" not in members or rest > MAX_VALUES:
        return f"the document has more than {MAX_VALUES:,} values beside records"
    return None


def _values(data: bytes) -> int:
    """How many values JSON has at the most."""
    return data.count(b",") + data.count(b"[") + data.count(b"{") + 1
