"""`format`: the response is JSON or plain text, and not too long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from steelyard.checks.json_reply import strict_json
from steelyard.checks.setting_rules import Rule
from steelyard.errors import ParseError
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace

_FORMATS = ("json", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """Pass when the response has the format of the check, or else of the case, and fits."""

    kind: ClassVar[str] = "format"

    format: Annotated[
        Literal["json", "text"] | None,
        Rule("What the response is to be; without it the case's expected.format."),
    ] = None
    max_chars: Annotated[
        int | None, Rule("Characters at most, in code points.", {"minimum": 1})
    ] = None

    def check(self, trace: Trace, case: Case) -> Outcome:
        """Look at form and length."""
        wanted = self.format or case.expected.get("format")
        if wanted not in _FORMATS and self.max_chars is None:
            form = "states no format" if wanted is None else f"states the format {wanted!r}"
            return Outcome.skipped(f"the check states neither format nor length; the case {form}")
        faults = [*_form_faults(trace.response, wanted), *self._length_faults(trace.response)]
        if faults:
            return Outcome.failing("; ".join(faults))
        return Outcome.passing(f"is {wanted}" if wanted in _FORMATS else "is short enough")

    def _length_faults(self, response: str) -> Iterator[str]:
        if self.max_chars is not None and len(response) > self.max_chars:
            yield f"has {len(response):,} characters, over {self.max_chars:,}"


def _form_faults(response: str, wanted: object) -> Iterator[str]:
    if wanted not in _FORMATS:
        return
    try:
        value = strict_json(response)
    except ParseError as wrong:
        if wanted == "json":
            yield f"is not JSON: {wrong}"
        elif not response.strip():
            yield "is blank"
        return
    if wanted == "text" and isinstance(value, dict | list):
        yield "is JSON where text was asked for"
