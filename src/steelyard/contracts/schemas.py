"""The JSON Schemas of the contracts, as the readers run them."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from steelyard.model.json_value import JsonObject

SUFFIX = ".schema.json"


@cache
def load_schema(name: str, package: str = "") -> JsonObject:
    """A schema as the reader of its contract runs it; `package` holds its file."""
    place = files(package or f"steelyard.contracts.{name}")
    return json.loads(place.joinpath(f"{name}{SUFFIX}").read_bytes())
