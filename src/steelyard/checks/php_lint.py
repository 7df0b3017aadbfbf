"""`php_lint`: the PHP in the response has no syntax error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from steelyard.checks.markdown import outline
from steelyard.checks.programs import NoPrograms, NotRun, ProgramCall, Programs
from steelyard.checks.setting_rules import PORT
from steelyard.checks.text import clip
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace

# Without the machine's php.ini, so that its settings do not change the result.
_LINT = ("php", "-n", "-l")
_TIMEOUT_S = 10.0
_OPENING_TAGS = ("<?php", "<?=")


@dataclass(frozen=True, slots=True, kw_only=True)
class PhpLint:
    """Pass when `php -l` accepts every fenced block that is marked as PHP."""

    kind: ClassVar[str] = "php_lint"
    revision: ClassVar[int] = 2
    runs_commands: ClassVar[bool] = True

    programs: Programs = field(
        default_factory=NoPrograms, repr=False, compare=False, metadata=PORT
    )

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
        """Lint each block; the score is the share of blocks without an error."""
        blocks = [one.text for one in outline(trace.response).fences if one.language == "php"]
        if not blocks:
            return Outcome.skipped("the response has no fenced block marked php")
        faults: list[str] = []
        for number, block in enumerate(blocks, start=1):
            ran = self.programs.run(ProgramCall(_LINT, _with_tag(block), _TIMEOUT_S))
            if isinstance(ran, NotRun):
                is_absent = ran.why in {"not_allowed", "not_found"}
                made = Outcome.unavailable if is_absent else Outcome.unscored
                return made(ran.reason)
            if ran.exit_code:
                output = clip(f"{ran.output} {ran.complaint}", 160)
                faults.append(f"block {number}: {output}")
        if not faults:
            return Outcome.passing(f"{len(blocks)} block(s) of PHP without a syntax error")
        score = 1 - len(faults) / len(blocks)
        return Outcome(passed=False, score=score, reason="; ".join(faults[:3]))


def _with_tag(block: str) -> str:
    """The block as PHP; a line break after the tag would move the lines of errors."""
    is_tagged = any(tag in block.casefold() for tag in _OPENING_TAGS)
    return block if is_tagged else f"<?php {block}"
