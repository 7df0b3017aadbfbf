"""What a judge is asked and what it says; whoever carries a call is known by one method."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge
from steelyard.model.message import ImageBlock
from steelyard.model.trace import Trace


class TokenChoice(NamedTuple):
    """A token of a reply, and how likely the ones were that could have stood in its place."""

    token: str
    logprobs: dict[str, float]


class JudgeCall(FrozenStruct, frozen=True, kw_only=True):
    """One question to a judge: what is sent, and what names its reply within a check."""

    judge: Judge
    messages: tuple[tuple[str, str], ...]
    """Roles and texts; what came from a trace stands between delimiters with the nonce."""
    schema: JsonObject
    """The shape of the answer, for endpoints that can be held to one."""
    identity: str
    """The sha256 of template, schema, question and examples: what makes it the same judge."""
    nonce: str = ""
    """Blanked in cache keys, because it differs from call to call."""
    item: str | None = None
    """The key of the question, or the id of the criterion."""
    turn: int | None = None
    sample: int = 0
    round: int = 0
    """0 for the first asking; 1 when the judge is asked again because its reply was unusable."""
    target: str | None = None
    """The target that a jury names for this juror; else the `judges` setting does."""
    wants_logprobs: bool = False
    images: tuple[ImageBlock, ...] = ()
    """What is shown after the last message."""


class Reply(FrozenStruct, frozen=True, kw_only=True):
    """What a judge said."""

    text: str
    fingerprint: str
    """The sha256 of the call's identity, the model and its sampling settings."""
    target: str
    model: str | None = None
    is_enforced: bool = False
    """Whether the endpoint was seen to hold to the schema."""
    finish_reason: str | None = None
    refusal: str | None = None
    logprobs: tuple[TokenChoice, ...] = ()
    cost_usd: float | None = None


class Judgement(FrozenStruct, frozen=True, kw_only=True):
    """What came of one call to a judge: its reply, or how it failed for good.

    It is kept before it is used, so that nobody asks again.
    """

    index: int | None
    """The record's; None for a call that is about no record."""
    record_id: str | None
    repeat: int
    key: str
    """What the call is known by within its record."""
    check: str
    judge: str
    target: str
    fingerprint: str
    item: str | None = None
    turn: int | None = None
    sample: int = 0
    round: int = 0
    is_enforced: bool = False
    trace: Trace | None = None
    """None when the call failed."""
    error_code: str | None = None
    message: str | None = None
    attempts: int = 0
    cost_usd: float | None = None
    is_cached: bool = False
    """Whether the reply was given before, to another call that asked the same."""
    saved_usd: float | None = None
    cache_key: bytes | None = None
    """What the question is known by, where another call may be given the same reply."""
    prompt: tuple[tuple[str, str], ...] = ()
    nonce: str = ""
    """What stands around material in the prompt."""
    private: tuple[tuple[str, str], ...] = ()
    """What fields of the record hold that are never written, each with its path."""


class Asker(Protocol):
    """Carries calls to judges for one record, or for one check of it.

    A call that cannot be answered, after every retry, raises `TargetError`.
    """

    def within(self, check: str) -> Asker:
        """The same for one check; the names of checks within checks are joined by `/`."""
        ...

    def secret(self, what: str) -> bytes:
        """Bytes that nobody outside the run can guess, always the same for this check and `what`.

        Nonces and the order of options come from them.
        """
        ...

    async def ask(self, call: JudgeCall) -> Reply:
        """The judge's reply; one that was given before is not asked for again."""
        ...
