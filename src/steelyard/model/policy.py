"""How the rows of a benchmark are asked and graded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, TypeAlias

from steelyard.model.rubric import FIRST_REVISION

PolicyAggregation: TypeAlias = Literal[
    "default", "points_over_maximum", "share_met", "score", "choice"
]
"""How verdicts become a score: points and shares over criteria, a judge's own score, or a choice.

With `default`, a row is scored by what it brings.
"""
DEFAULT_JUDGE = "default"
NO_JUDGE = "none"


def _no_defaults() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a case's `policy_id` stands for.

    A template is a list of parts. `{{name}}` in a part is filled from the case; a part in
    which a name has nothing to show is left out; the rest is joined by blank lines.
    """

    id: str
    description: str
    user: tuple[str, ...]
    """The last user message."""
    system: tuple[str, ...] = ()
    """What is said before the conversation."""
    defaults: Mapping[str, str] = field(default_factory=_no_defaults)
    """What a name shows where the case has nothing for it."""
    judge: str = DEFAULT_JUDGE
    """The id of the judge that grades what needs one."""
    aggregation: PolicyAggregation = "default"
    revision: int = FIRST_REVISION
    """Raised by every change that can move a score."""

    @property
    def sha256(self) -> str:
        """The hash of all that answers and scores depend on."""
        content = {name: value for name, value in asdict(self).items() if name != "description"}
        text = json.dumps(content, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def criteria_judge(self) -> str:
        """The judge of one criterion."""
        return self._judge_unless("criterion", ("score", "choice"))

    @property
    def reference_judge(self) -> str:
        """The judge that compares with reference answers."""
        return self._judge_unless("reference", ("points_over_maximum", "share_met", "choice"))

    @property
    def criteria_aggregation(self) -> Literal["points_over_maximum", "share_met"]:
        """What criteria come to."""
        return "share_met" if self.aggregation == "share_met" else "points_over_maximum"

    def _judge_unless(self, usual: str, others: tuple[PolicyAggregation, ...]) -> str:
        """The policy's own judge, except for rows of another sort than it is made for."""
        is_own = self.judge not in {DEFAULT_JUDGE, NO_JUDGE} and self.aggregation not in others
        return self.judge if is_own else usual
