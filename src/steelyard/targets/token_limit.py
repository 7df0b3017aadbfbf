"""The name of the limit of tokens: some models refuse the one that all others know."""

from __future__ import annotations

import re

from steelyard.errors import TargetError
from steelyard.model.json_value import JsonObject
from steelyard.model.run import ADAPTED

_USUAL = "max_tokens"
_OTHER = "max_completion_tokens"
_UNKNOWN = re.compile(
    r"unsupported|not supported|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed",
    re.IGNORECASE,
)
_NAMED = re.compile(rf"\b{_USUAL}\b")
_found: set[tuple[str, str]] = set()
"""The address and name of each model that was found to want the other name."""


class TokenLimit:
    """What one model at one address calls it; found out once, for the whole process."""

    def __init__(self, url: str, model: str) -> None:
        self._model = url, model

    def named(self, fixed: JsonObject) -> JsonObject:
        """Settings with the name that the model is known to take."""
        if _USUAL not in fixed or self._model not in _found:
            return fixed
        return {_OTHER if name == _USUAL else name: value for name, value in fixed.items()}

    def refused(self, sent: JsonObject, error: TargetError) -> TargetError | None:
        """The error that has a call made again with the other name, if the name was refused."""
        text = str(error)
        if error.http_status not in {400, 422} or _USUAL not in sent or not _NAMED.search(text):
            return None
        if _OTHER not in text and not _UNKNOWN.search(text):
            return None
        _found.add(self._model)
        message = f"{text}; asked again with {_OTHER}"
        return TargetError(
            ADAPTED, message, http_status=error.http_status, request_id=error.request_id
        )
