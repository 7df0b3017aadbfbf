"""How the rows of a benchmark are asked and graded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
    judge: str = "default"
    """The judge that grades what needs one."""
    aggregation: str = "default"
    """How the judge's verdicts become a score."""
