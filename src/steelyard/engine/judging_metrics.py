"""What judging took, apart from what the targets took."""

from __future__ import annotations

from steelyard.model.json_value import JsonObject
from steelyard.model.run import Judging


class JudgingTally:
    """Adds up what it took to judge records."""

    def __init__(self) -> None:
        self._records = 0
        self._sums = dict.fromkeys(("calls", "unanswered", "attempts", "cached"), 0)
        self._tokens = dict.fromkeys(("input_tokens", "output_tokens"), 0)
        self._counted = 0
        self._cost = 0.0
        self._paid = 0
        self._saved = 0.0

    def add(self, judging: Judging) -> None:
        """One more record, in one repeat."""
        self._records += 1
        for name in self._sums:
            self._sums[name] += getattr(judging, name)
        if judging.input_tokens is not None or judging.output_tokens is not None:
            self._counted += 1
            for name in self._tokens:
                self._tokens[name] += getattr(judging, name) or 0
        if judging.cost_usd is not None:
            self._paid += 1
            self._cost += judging.cost_usd
        self._saved += judging.saved_usd or 0.0

    @property
    def cost_usd(self) -> float | None:
        """What judges cost, as far as it is known."""
        return self._cost if self._paid else None

    def summary(self) -> JsonObject | None:
        """The sums with what they are sums of; None where nobody was judged."""
        if not self._records:
            return None
        inward, outward = self._tokens.values()
        return {
            "rows": self._records,
            "calls": self._sums["calls"],
            "unanswered": self._sums["unanswered"],
            "attempts": self._sums["attempts"],
            "tokens": {
                "input": inward if self._counted else None,
                "output": outward if self._counted else None,
                "total": inward + outward if self._counted else None,
                "n": self._counted,
            },
            "cost_usd": {"total": self.cost_usd, "n": self._paid},
            "cache": {"hits": self._sums["cached"], "saved_usd": self._saved or None},
        }
