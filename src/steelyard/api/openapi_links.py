"""Which operations take what an answer names: for generators, and for tests of sequences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_PATH_NAME = re.compile(r"{(\w+)}")


class _Source(NamedTuple):
    """An address whose answers name something, and where operations about it begin."""

    path: str
    name: str
    """The part of an address that stands for it."""
    readers: str
    listed: str = ""
    """Its field in a list, where that is another than the name."""


_SOURCES = (
    _Source("/v1/runs", "run_id", "/v1/runs/"),
    _Source("/v1/runs/{run_id}/retry", "run_id", "/v1/runs/"),
    _Source("/v1/runs/{run_id}/regrade", "run_id", "/v1/runs/"),
    _Source("/v1/runs/{run_id}/records", "index", "/v1/runs/"),
    _Source("/v1/datasets", "ref", "/v1/datasets/"),
    _Source("/v1/rubrics", "ref", "/v1/rubrics/"),
    _Source("/v1/judges", "ref", "/v1/judges/"),
    _Source("/v1/suites", "name", "/v1/suites/"),
    _Source("/v1/targets", "name", "/v1/targets/"),
    _Source("/v1/users", "name", "/v1/users/"),
    _Source("/v1/keys", "key_id", "/v1/keys/"),
    _Source("/v1/queues", "queue_id", "/v1/"),
    _Source("/v1/queues/{queue_id}/items", "item_id", "/v1/annotations/"),
    _Source("/v1/queues/{queue_id}/claim", "item_id", "/v1/annotations/"),
    _Source("/v1/trace-sets", "trace_set", "/v1/trace-sets/", listed="name"),
    _Source("/v1/trace-sets/{trace_set}/traces", "trace_id", "/v1/trace-sets/"),
)


def add_links(paths: dict[str, Any]) -> None:
    """Say in the answers that name something which operations take that name."""
    for source in _SOURCES:
        for method, operation in paths.get(source.path, {}).items():
            field = f"/data/0/{source.listed or source.name}" if method == "get" else None
            links = {
                name: {"operationId": name, "parameters": _parameters(source, own, field)}
                for name, own in _readers(paths, source)
            }
            for status in ("200", "201", "202"):
                if answer := operation["responses"].get(status):
                    answer["links"] = links


def _readers(paths: dict[str, Any], source: _Source) -> Iterator[tuple[str, list[str]]]:
    """The operations about what is named, with the parts of their addresses."""
    outer = _PATH_NAME.findall(source.path)
    for path, item in paths.items():
        own = _PATH_NAME.findall(path)
        if path.startswith(source.readers) and own in ([source.name], [*outer, source.name]):
            for operation in item.values():
                yield operation["operationId"], own


def _parameters(source: _Source, own: list[str], field: str | None) -> dict[str, str]:
    """Where each part of an address is taken from: the answer, or the request before it."""
    named = f"$response.body#{field or f'/{source.name}'}"
    return {name: named if name == source.name else f"$request.path.{name}" for name in own}
