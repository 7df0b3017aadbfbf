"""Whether what a run reads is still what it began with."""

from __future__ import annotations

from msgspec import UNSET

from steelyard.errors import SourceError
from steelyard.execution.prepared import Prepared
from steelyard.results.plan import Plan

_IDENTITY = ("provider", "callable")
"""The settings that identify a target, with its model; its URL may change during a run."""
_FIXED = {
    "source": "the dataset",
    "shown": "a file that the dataset shows",
    "responses": "the response file",
    "rubric": "a rubric",
    "models": "a target's model, sampling or prompt",
    "judges": "a judge, or the model or sampling of its target,",
    "programs": "a program that grades",
    "redacted": "the choice of what is redacted",
}


def require_same_targets(run_id: str, kept: Plan, prepared: Prepared) -> None:
    """Refuse a target that was replaced since the start, or that was a Python function."""
    for name, spec in prepared.specs.items():
        before, now = kept.targets.get(name, {}), spec.described()
        for setting in _IDENTITY:
            if setting in before and before[setting] != now.get(setting):
                raise SourceError(
                    f"targets.{name} is not what {run_id} began with: its {setting} was "
                    f"{before[setting]}; start a new run, or put the old one back"
                )


def require_unchanged(run_id: str, kept: Plan, plan: Plan) -> None:
    """Refuse changed inputs: one run must not mix results of different questions."""
    for name, what in _FIXED.items():
        before = getattr(kept, name)
        if before is not UNSET and before != getattr(plan, name):
            raise SourceError(
                f"{what} of {run_id} has changed since it began; start a new run, "
                "or put the old one back"
            )
