"""Every try of every call: the rows of `attempt_logs.jsonl`."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from steelyard.model.run import UNCOUNTED, place_mark
from steelyard.results.metrics import Value

ATTEMPTS = "attempt_logs.jsonl"


class Attempt(Value, frozen=True, kw_only=True):
    """One try of one call, kept whether it succeeded or not."""

    index: int | None
    """None for a call that is about no record."""
    record_id: str | None
    target: str | None
    repeat: int | None = 0
    attempt: int
    at: str
    call: str = "target"
    """The reference of a judge where a judge was asked."""
    latency_ms: int | float | None = None
    first_token_ms: int | float | None = None
    error_code: str | None = None
    message: str | None = None
    http_status: int | None = None
    retry_in_s: int | float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    request_id: str | None = None
    check: str | UnsetType = UNSET
    """The check that asked a judge; as what follows, in calls to judges alone."""
    item: str | UnsetType | None = UNSET
    """The key of the question, or the id of the criterion."""
    turn: int | UnsetType | None = UNSET
    sample: int | UnsetType = UNSET
    round: int | UnsetType = UNSET
    """0 for the first asking; 1 when the judge was asked again."""
    key: str | UnsetType = UNSET
    """What the call is known by within its record."""
    copied_from: str | UnsetType = UNSET
    """The run that has made the call, where it is another."""

    @property
    def is_judging(self) -> bool:
        """Whether a judge was asked."""
        return self.key is not UNSET

    @property
    def named(self) -> str:
        """What the call is known by within its record."""
        return self.call if self.key is UNSET else self.key

    @property
    def place(self) -> str:
        """The key of a call within its record; some use no attempt."""
        if self.error_code in UNCOUNTED:
            return f"{self.named}{place_mark(self.error_code)}{self.at}"
        return self.named


class AttemptPlace(msgspec.Struct, gc=False):
    """Of an attempt, where it belongs."""

    index: int | None
    record_id: str | None
    call: str
    repeat: int | None = 0


read_attempt = msgspec.json.Decoder(Attempt).decode
read_attempt_place = msgspec.json.Decoder(AttemptPlace).decode
