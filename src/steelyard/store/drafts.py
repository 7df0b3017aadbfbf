"""Files that are written whole: beside their place first, and moved there when they are done."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO

from steelyard.errors import ConflictError, InvalidError, argument
from steelyard.store.file_names import take_name
from steelyard.store.private_files import make_private_folder, private

_NUMBERS = count()


class FileDraft:
    """A file on its way to its place."""

    _opener: Callable[[str, int], int] | None = None
    """Without one, the umask says who may read the file."""

    def __init__(self, path: Path, *, force: bool) -> None:
        self._final = path
        self._force = force
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._part = path.with_name(f".{path.name}.{os.getpid()}-{next(_NUMBERS)}.part")
            self._stream = open(self._part, "xb", opener=self._opener)  # noqa: SIM115 - settled later
        except OSError as error:
            raise _refused(path, error) from None

    def write(self, data: bytes) -> None:
        """Append."""
        try:
            self._stream.write(data)
        except OSError as error:
            raise _refused(self._final, error) from None

    def read(self) -> BinaryIO:
        """What was written so far."""
        self._stream.flush()
        return self._part.open("rb")

    def settle(self) -> None:
        """Sync, and take the name; one that is taken is refused unless forced."""
        try:
            self._stream.flush()
            os.fsync(self._stream.fileno())
            self._stream.close()
            if self._force:
                self._part.replace(self._final)
            else:
                take_name(self._part, self._final)
        except FileExistsError:
            raise ConflictError(
                f"{self._final} exists; {argument('force')} writes over it"
            ) from None
        except OSError as error:
            raise _refused(self._final, error) from None
        self.discard()

    def discard(self) -> None:
        """Remove what is not settled."""
        with suppress(OSError):
            self._stream.close()
        self._part.unlink(missing_ok=True)


class PrivateDraft(FileDraft):
    """A file of the project's data, which only its owner may read."""

    _opener = staticmethod(private)

    def __init__(self, path: Path) -> None:
        make_private_folder(path.parent)
        super().__init__(path, force=True)


class ScratchDraft(FileDraft):
    """A file that goes nowhere, in a folder where others look around."""

    _opener = staticmethod(private)

    def __init__(self) -> None:
        super().__init__(Path(tempfile.gettempdir()) / "steelyard", force=False)


def _refused(path: Path, error: OSError) -> InvalidError:
    return InvalidError(f"cannot write {path}: {error.strerror}")


def replace_file(path: Path, data: bytes) -> None:
    """Put a file in the place of another, whole."""
    draft = FileDraft(path, force=True)
    try:
        draft.write(data)
        draft.settle()
    finally:
        draft.discard()
