"""Style sheets and scripts: read once, addressed by their hash, sent compressed."""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from steelyard.errors import NotFoundError
from steelyard.web.compression import takes_gzip

_SOURCES = ("steelyard.reports", "steelyard.web")
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
_A_YEAR = "public, max-age=31536000, immutable"


class Asset(NamedTuple):
    """A file that pages load."""

    name: str
    digest: str
    media_type: str
    data: bytes
    compressed: bytes


@cache
def assets() -> dict[str, Asset]:
    """Every file by its name."""
    found: dict[str, Asset] = {}
    for package in _SOURCES:
        for entry in (files(package) / "assets").iterdir():
            _, _, ending = entry.name.rpartition(".")
            if ending in _TYPES:
                data = entry.read_bytes()
                found[entry.name] = Asset(
                    name=entry.name,
                    digest=hashlib.sha256(data).hexdigest()[:12],
                    media_type=_TYPES[ending],
                    data=data,
                    compressed=gzip.compress(data, 9, mtime=0),
                )
    return found


@cache
def assets_version() -> str:
    """A hash of all files: modules import each other by name, so they change together."""
    digests = "".join(asset.digest for _, asset in sorted(assets().items()))
    return hashlib.sha256(digests.encode()).hexdigest()[:12]


def asset_url(name: str) -> str:
    """The address of a file; it changes with the content of any of them."""
    return f"/assets/{assets_version()}/{assets()[name].name}"


def asset_answer(request: Request) -> Response:
    """A file, compressed where the client takes that."""
    asset = assets().get(request.path_params["name"])
    if asset is None:
        raise NotFoundError(f"there is nothing at {request.url.path}")
    is_current = request.path_params["version"] == assets_version()
    headers = {"cache-control": _A_YEAR if is_current else "no-store", "vary": "accept-encoding"}
    data = asset.data
    if takes_gzip(request.headers):
        headers["content-encoding"] = "gzip"
        data = asset.compressed
    return Response(data, media_type=asset.media_type, headers=headers)
