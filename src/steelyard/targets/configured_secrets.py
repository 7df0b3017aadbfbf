"""The secrets of a whole project, whether a run asks their targets or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import cast

from steelyard.errors import ConfigError
from steelyard.model.json_value import JsonObject
from steelyard.settings import TargetEntry
from steelyard.targets.target_settings import filled, named_secrets


def configured_secrets(
    targets: Mapping[str, TargetEntry], environ: Mapping[str, str]
) -> tuple[str, ...]:
    """The keys, header values and passed-on variables of all targets that the environment has.

    A dataset or a recorded answer may hold a key of a target that this run does not use.
    """
    return tuple(
        secret for entry in targets.values() for secret in _secrets(entry.row(), environ) if secret
    )


def _secrets(row: JsonObject, environ: Mapping[str, str]) -> Iterator[str]:
    variable = row.get("api_key_env")
    if isinstance(variable, str):
        yield environ.get(variable, "").strip()
    headers = cast(JsonObject, row.get("headers", {}))
    outside = (
        (name, value)
        for key in ("env", "settings")
        for name, value in cast(JsonObject, row.get(key, {})).items()
        if isinstance(value, str) and "${" in value
    )
    for name, value in (*headers.items(), *outside):
        # What is not in the environment cannot have been written either.
        with suppress(ConfigError):
            yield str(filled(value, name, environ))
    yield from named_secrets(row, environ)
