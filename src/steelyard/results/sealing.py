"""How the JSON artifacts of a run are written, so that any later change shows."""

from __future__ import annotations

import json

from steelyard.formats.json_hash import record_sha256
from steelyard.model.json_value import JsonObject
from steelyard.results.json_struct import JsonStruct

_OWN_HASH = "manifest_sha256"


class Seal(JsonStruct, frozen=True, kw_only=True):
    """What the manifest says of a file."""

    sha256: str
    size: int


def with_own_hash(manifest: JsonObject) -> JsonObject:
    """The manifest with a hash of all else that it says."""
    sealed = {name: value for name, value in manifest.items() if name != _OWN_HASH}
    return {**sealed, _OWN_HASH: record_sha256(sealed)}


def sealed_json(value: JsonObject) -> bytes:
    """A JSON artifact as it is written: one value has one form, so that any change shows."""
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass") + b"\n"
