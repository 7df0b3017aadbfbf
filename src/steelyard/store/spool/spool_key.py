"""The key of the spool: from the environment, or a private file beside the database."""

from __future__ import annotations

import base64
import binascii
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from steelyard.errors import ConfigError, UnavailableError
from steelyard.store.file_names import take_name
from steelyard.store.private_files import make_private_folder, private

SPOOL_KEY = "STEELYARD_SPOOL_KEY"
_FILE = "spool.key"
KEY_BYTES = 32


def spool_key(data: Path, environ: Mapping[str, str] = os.environ) -> bytes:
    """The key of a project's spool; a key file is made where there is none yet."""
    given = environ.get(SPOOL_KEY)
    if given:
        return _decoded(given, f"the environment variable {SPOOL_KEY}")
    path = data / _FILE
    try:
        if not path.exists():
            _make(path)
        return _decoded(path.read_text(encoding="ascii"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UnavailableError(f"cannot read the key of the spool: {error}") from None


def written_key(key: bytes) -> str:
    """A key as it stands in a file or in the environment."""
    return base64.b64encode(key).decode("ascii")


def require_valid_key(environ: Mapping[str, str] = os.environ) -> None:
    """Refuse a key of the environment that is none."""
    if environ.get(SPOOL_KEY):
        _decoded(environ[SPOOL_KEY], f"the environment variable {SPOOL_KEY}")


def _make(path: Path) -> None:
    """Write a new key; of several processes that do so at once, the first wins."""
    make_private_folder(path.parent)
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with open(part, "xb", opener=private) as stream:
            stream.write(f"{written_key(secrets.token_bytes(KEY_BYTES))}\n".encode("ascii"))
            stream.flush()
            os.fsync(stream.fileno())
        with suppress(FileExistsError):
            take_name(part, path)
    finally:
        part.unlink(missing_ok=True)


def _decoded(text: str, where: str) -> bytes:
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise ConfigError(f"{where} must hold {KEY_BYTES} bytes in base64")
    return key
