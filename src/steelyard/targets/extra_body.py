"""`extra`: members of the request body that no setting of ours has a name for."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.model.json_value import JsonObject
from steelyard.targets.json_template import value_at
from steelyard.targets.target_settings import TargetSettings


def extra_of(given: TargetSettings, owned: Mapping[str, str]) -> JsonObject:
    """The setting, which leaves alone what other settings, cases and judges decide."""
    extra = given.object("extra")
    for path, advice in owned.items():
        if value_at(extra, tuple(path.split(".")))[0]:
            raise given.wrong(f"extra must not set '{path}': {advice}")
    return extra


def merged(extra: JsonObject, body: JsonObject) -> JsonObject:
    """Both: objects member by member, and of anything else what the body has."""
    made = {**extra, **body}
    for name in extra.keys() & body.keys():
        under, over = extra[name], body[name]
        if isinstance(under, dict) and isinstance(over, dict):
            made[name] = merged(under, over)
    return made
