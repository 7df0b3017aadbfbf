"""What model protocols call our settings, and which members of a body are not for `extra`."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.model.frozen_struct import FrozenStruct

_ASKED = "the case and the prompt of the target say what is asked"
_SHAPE = "a judge sets it"


class ModelProtocol(FrozenStruct, frozen=True, kw_only=True):
    """How one protocol names what it is sent."""

    sampling: Mapping[str, str]
    """Our name and the protocol's of each sampling setting that it has."""
    owned: Mapping[str, str]
    """Members of the body that `extra` may not set, and what to do instead."""


def _instead(key: str) -> str:
    return f"use '{key}' of the target instead"


def _named(sampling: Mapping[str, str]) -> dict[str, str]:
    return {wire: _instead(ours) for ours, wire in sampling.items()}


_SAMPLED = {"temperature": "temperature", "top_p": "top_p", "max_new_tokens": "max_tokens"}
_CHAT = {**_SAMPLED, "seed": "seed", "response_format": "response_format"}
_SHARED = {key: _instead(key) for key in ("model", "tools", "stream")}

CHAT = ModelProtocol(
    sampling=_CHAT,
    owned={
        **_SHARED,
        **_named(_CHAT),
        "max_completion_tokens": _instead("max_new_tokens"),
        "messages": _ASKED,
        "n": "one answer is read; repeat the run to get more",
        "stream_options.include_usage": _instead("stream"),
    },
)
RESPONSES = ModelProtocol(
    sampling={
        **_SAMPLED,
        "max_new_tokens": "max_output_tokens",
        "response_format": "response_format",
    },
    owned={
        **_SHARED,
        **{key: _instead(key) for key in ("temperature", "top_p", "response_format")},
        "max_output_tokens": _instead("max_new_tokens"),
        "text.format": _instead("response_format"),
        **dict.fromkeys(("input", "instructions", "conversation", "previous_response_id"), _ASKED),
        "background": "a call waits for its answer",
    },
)
MESSAGES = ModelProtocol(
    sampling=_SAMPLED,
    owned={
        **_SHARED,
        **_named(_SAMPLED),
        "messages": _ASKED,
        "system": _ASKED,
        "output_config.format": _SHAPE,
    },
)
