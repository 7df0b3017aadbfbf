"""What is wrong with a project file that its schema cannot say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steelyard.formats.json_fields import fields, object_field
from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonObject, JsonValue, Path
from steelyard.settings import SQLITE, is_header

_RAYS_OWN = ("CPU", "GPU")
_MEMORY = ("memory", "object_store_memory")
"""Resources that Ray counts by itself, and takes from nobody under these names."""
_DECIMALS = 4
"""Of the least share of a resource that Ray gives."""
_BUCKET = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/([A-Za-z0-9!_.*'()/ =-]*))?")
_STORE = re.compile(r"postgresql://|[^/@]*\$\{")
RAY_HERE = ("auto", "local")
"""Addresses of clusters of this machine."""
_LAST_PORT = 65_535


def further_problems(value: JsonObject) -> Iterator[Problem]:
    """What is wrong beside what the schema says."""
    yield from _header_problems(value)
    yield from _resource_problems(value)
    yield from _address_problems(value)


def _header_problems(value: JsonObject) -> Iterator[Problem]:
    """Headers of targets that cannot be sent; the values may be secrets and are not shown."""
    for target, row in object_field(value, "targets").items():
        for name, text in object_field(fields(row), "headers").items():
            if not is_header(name, str(text)):
                shown = ascii(name)[1:-1]
                message = f"{{}}: the header '{shown}' has characters that no header can carry"
                path = ("targets", target, "headers")
                yield _problem(path, f"{message}, such as a line break")


def _resource_problems(value: JsonObject) -> Iterator[Problem]:
    """Resources that no node of a Ray cluster has, or of which Ray gives no such share."""
    targets = object_field(value, "targets")
    holders: dict[Path, JsonObject] = {
        ("targets", name): fields(targets[name]) for name in targets
    }
    for place, row in {**holders, ("engine",): object_field(value, "engine")}.items():
        for name, much in object_field(row, "resources").items():
            if wrong := wrong_resource(name, much):
                message, hint = wrong
                yield _problem((*place, "resources", name), f"{{}} {message}", hint)


def _address_problems(value: JsonObject) -> Iterator[Problem]:
    """Addresses that are none; they may hold a password and are not shown."""
    bucket, store = value.get("artifacts"), value.get("store", SQLITE)
    address = object_field(value, "engine").get("address")
    if isinstance(bucket, str) and not bucket_parts(bucket):
        yield _problem(("artifacts",), "{} is no address of a bucket; write s3://bucket/path")
    if isinstance(store, str) and store != SQLITE and not _STORE.match(store):
        example = "postgresql://user:${VARIABLE}@host:5432/database"
        yield _problem(("store",), f"{{}} must be {SQLITE}, or an address such as {example}")
    if isinstance(address, str) and not is_ray_address(address):
        yield _problem(("engine", "address"), "{} must be host:port")


def _problem(path: Path, message: str, hint: str | None = None) -> Problem:
    return Problem(code="value_out_of_range", message=message, path=path, hint=hint)


def bucket_parts(address: str) -> tuple[str, str] | None:
    """The bucket and path of an address such as s3://bucket/path; None if it is none."""
    found = _BUCKET.fullmatch(address)
    parts = (found[2] or "").rstrip("/").split("/") if found else []
    if not found or {".", ".."}.intersection(parts) or "" in parts[:-1]:
        return None
    return found[1], "/".join(parts)


def is_ray_address(address: str) -> bool:
    """Whether a text can be the address of a Ray cluster."""
    host, _, port = address.rpartition(":")
    is_port = port.isascii() and port.isdigit() and 0 < int(port) <= _LAST_PORT
    return address in RAY_HERE or bool(host and "/" not in host and is_port)


def wrong_resource(name: str, much: JsonValue) -> tuple[str, str | None] | None:
    """What is wrong with what workers on Ray are to take, and a hint."""
    if name.strip() and name != name.strip():
        return "has a space around its name", f"did you mean '{name.strip()}'?"
    plain = name.lower().replace("_", "").removeprefix("num").removesuffix("s").upper()
    if plain in _RAYS_OWN and name != plain:
        return "is no resource of Ray", f"did you mean '{plain}'?"
    if name in _MEMORY:
        return "cannot be asked for", "name such nodes by a resource of your own"
    if not name.strip() or not name.isascii():
        return "is no name that Ray takes", "use ASCII characters"
    if name == "GPU" and isinstance(much, float) and much > 1 and not much.is_integer():
        return "must be whole above 1", None
    if isinstance(much, float) and round(much, _DECIMALS) != much:
        return f"must have at most {_DECIMALS} decimals", None
    return None
