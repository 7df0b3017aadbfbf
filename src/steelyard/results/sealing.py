"""How the JSON artifacts of a run are written, so that any later change shows."""

from __future__ import annotations

import json
import re

from steelyard.formats.json_hash import record_sha256
from steelyard.model.json_value import JsonObject
from steelyard.results.json_struct import JsonStruct

_OWN_HASH = "manifest_sha256"
_WRITER = re.compile(r"w[0-9a-f]{16}")


class Seal(JsonStruct, frozen=True, kw_only=True):
    """What the manifest says of a file."""

    sha256: str
    size: int


def with_own_hash(manifest: JsonObject) -> JsonObject:
    """The manifest with a hash of all else that it says."""
    sealed = {name: value for name, value in manifest.items() if name != _OWN_HASH}
    return {**sealed, _OWN_HASH: record_sha256(sealed)}


def is_as_written(manifest: JsonObject, data: bytes) -> bool:
    """Whether a manifest says what was sealed, and names nothing else as its writer."""
    is_named = "writer" not in manifest or writer_of(manifest) is not None
    return is_named and sealed_json(with_own_hash(manifest)) == data


def writer_of(manifest: JsonObject) -> str | None:
    """Who has sealed a run in a bucket, which is the folder of its files there; None: nobody."""
    found = manifest.get("writer")
    return found if isinstance(found, str) and _WRITER.fullmatch(found) else None


def sealed_json(value: JsonObject) -> bytes:
    """A JSON artifact as it is written: one value has one form, so that any change shows."""
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass") + b"\n"
