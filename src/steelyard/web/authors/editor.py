"""The text in an editor: how it is read, what is wrong in it, and what would mend it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonValue
from steelyard.usecases.datasets.finding_fixes import WordFix, fix_of
from steelyard.usecases.datasets.mend_json import MendedText

MOST_SHOWN = 200
"""The most findings beside a text; more are counted."""
_MOST_LINES = 20_000


CUT_OFF = Finding(
    code="invalid_json",
    severity="warning",
    path="",
    message="The text was cut off; what followed is missing",
    hint="Paste the whole text again, or write the rest",
)
"""What a mended text keeps saying that was cut off; nothing in it shows that any more."""


def is_cut_off(form: Mapping[str, str], mended: MendedText | None) -> bool:
    """Whether the text that a form was sent with lacks its end, or once did."""
    action = form.get("action", "create")
    if action == "mend" and mended and mended.is_cut:
        return True
    return bool(form.get("cut")) and action != "complete"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedText:
    """What an editor shows."""

    text: str = ""
    about: str = ""
    """What the text was taken for, such as `question rubric`."""
    is_checked: bool = False
    findings: tuple[Finding, ...] = ()
    mended: MendedText | None = None
    """What would be right, where the text is almost JSON."""
    mended_findings: tuple[Finding, ...] = ()
    """Those of the findings that would be left once the text is mended."""
    is_cut: bool = False
    """Whether it was made of a text that was cut off."""
    row: JsonValue = None
    """What the text says, where it can be read: some findings are mended by one word."""

    @property
    def shown(self) -> tuple[Finding, ...]:
        """The findings to show, errors first, by line; those of the mended text last."""
        ordered = sorted(
            self.findings,
            key=lambda one: (self.is_of_mended(one), not one.is_error, one.line or 0),
        )
        return tuple(ordered[:MOST_SHOWN])

    def is_of_mended(self, finding: Finding) -> bool:
        """Whether a finding is about the mended text."""
        return finding in self.mended_findings

    def is_cut_off(self, finding: Finding) -> bool:
        """Whether a finding says that the end is missing."""
        return self.is_cut and finding is CUT_OFF

    def fix_of(self, finding: Finding) -> WordFix | None:
        """What mends a finding, where one word does."""
        return fix_of(finding, self.row)

    @property
    def hidden(self) -> int:
        """How many findings are only counted."""
        return max(0, len(self.findings) - MOST_SHOWN)

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(one.is_error for one in self.findings)

    @property
    def warnings(self) -> int:
        """How many findings are warnings."""
        return len(self.findings) - self.errors

    @property
    def lines(self) -> list[str]:
        """The mark of each line: `err`, `warn` or none."""
        marks = {one.line: "err" if one.is_error else "warn" for one in reversed(self.shown)}
        count = min(_MOST_LINES, max(20, self.text.count("\n") + 1))
        return [marks.get(line, "") for line in range(1, count + 1)]
