"""`regex`: the response matches a pattern, in linear time."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, cast

import re2  # pyright: ignore[reportMissingTypeStubs]

from steelyard.checks.setting_rules import Rule
from steelyard.checks.text import clip
from steelyard.errors import SettingError
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace

_re2 = cast(Any, re2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Regex:
    """Pass when the pattern is found in the response, or matches the whole of it.

    Patterns are RE2's: no look-around and no back-references, so that no pattern and no response
    can take more than linear time.
    """

    kind: ClassVar[str] = "regex"

    pattern: Annotated[str, Rule("An RE2 pattern.", {"minLength": 1})]
    match: Literal["search", "full"] = "search"
    _compiled: Any = field(init=False, repr=False, compare=False)
    _shown: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile once; a pattern RE2 does not know is a SettingError."""
        object.__setattr__(self, "_compiled", _compile(self.pattern))
        object.__setattr__(self, "_shown", repr(clip(self.pattern)))

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
        """Match the response."""
        match = self._compiled.fullmatch if self.match == "full" else self._compiled.search
        # In bytes: to say where in a text a match stands takes longer than to find it.
        found = match(trace.response.encode())
        if found:
            text = found.group(0).decode("utf-8", "replace")
            return Outcome.passing(f"matches {self._shown}: {clip(text)!r}")
        return Outcome.failing(f"does not match {self._shown}")


def flagged_regex(pattern: str, flags: str) -> Regex:
    """A search by a pattern with flags; of these only i, m and s change what matches."""
    telling = "".join(sorted(set(flags) & set("ims")))
    return Regex(pattern=f"(?{telling}){pattern}" if telling else pattern)


@lru_cache(maxsize=256)
def pattern_fault(pattern: str, flags: str) -> str | None:
    """Why no search can be made; remembered, because many files repeat one in every row."""
    try:
        flagged_regex(pattern, flags)
    except SettingError as wrong:
        return str(wrong)
    return None


def _compile(pattern: str) -> Any:
    options = _re2.Options()
    options.log_errors = False
    try:
        return _re2.compile(pattern, options)
    except _re2.error as error:
        reason: object = error.args[0]
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise SettingError("pattern", f"not a pattern RE2 knows: {text}") from None
