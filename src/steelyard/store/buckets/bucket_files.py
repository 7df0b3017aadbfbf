"""Datasets that lie in a bucket: copied here once a version of the object, in constant memory."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from pathlib import Path

from steelyard.errors import NotFoundError, RunError, UnavailableError
from steelyard.store.buckets.bucket import SCHEME, Bucket, place_of
from steelyard.store.private_files import make_private_folder, private


def local_copy(path: Path, folder: Path, environ: Mapping[str, str]) -> Path:
    """The copy of an object in a folder; one of the same version is not fetched again."""
    address = SCHEME + "/".join(path.parts[1:])
    place = place_of(address)
    above, _, name = place.path.rpartition("/")
    bucket = Bucket(f"{SCHEME}{place.bucket}/{above}", environ)
    found = bucket.version(name) if name else None
    if found is None:
        raise NotFoundError(f"no such object: {address}")
    version = hashlib.sha256(f"{address}\n{found.tag}\n{found.size}".encode()).hexdigest()
    copy = folder / version[:16] / name
    if not copy.is_file():
        make_private_folder(copy.parent)
        _fetch(bucket, name, found.size, copy)
        if bucket.version(name) != found:
            copy.unlink()
            raise UnavailableError(f"{address} was changed while it was read; run it again")
    return copy


def _fetch(bucket: Bucket, name: str, size: int, copy: Path) -> None:
    part = copy.with_name(f".{name}.{secrets.token_hex(4)}.part")
    try:
        with open(part, "xb", opener=private) as stream:
            stream.writelines(bucket.parts(name, size))
        part.replace(copy)
    except OSError as error:
        raise RunError(f"cannot write {copy}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
