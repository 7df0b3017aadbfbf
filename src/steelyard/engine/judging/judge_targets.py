"""The targets that judges are asked through, and what is known of their endpoints."""

from __future__ import annotations

import json
import re
from collections import deque
from dataclasses import dataclass
from typing import Any, TypeAlias

from msgspec import field

from steelyard.engine.cache import AnswerCache
from steelyard.engine.claims import Claims
from steelyard.engine.judging.judge_prompt import known_by
from steelyard.engine.limiter import Limiter
from steelyard.engine.slots import Slots
from steelyard.errors import TargetError
from steelyard.judging.fingerprint import fingerprint
from steelyard.judging.once import Once
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.judgement import JudgeCall
from steelyard.model.unsent import NOTHING
from steelyard.ports import Judged, Target

# The words in which servers refuse a request for the sake of its schema, or of log probabilities.
_SCHEMA = re.compile(
    r"response_format|json_schema|output_config|output_format|structured.?output|grammar"
    r"|guided|schema|text\.format",
    re.IGNORECASE,
)
_LOGPROBS = re.compile(r"logprob", re.IGNORECASE)
_REFUSED = {400, 422, 501}
Coming: TypeAlias = dict[tuple[int, int, str], tuple[Any, int]]
"""The calls that wait for a slot, first come first, by their places, with their attempts."""


@dataclass(slots=True, kw_only=True)
class Endpoint:
    """What is known of a model at its address; targets with the same share one."""

    id: str = ""
    """What it is known by."""
    can_hold: bool = False
    """Whether its protocol has a way to hold a reply to a schema."""
    is_enforced: bool | None = None
    """Whether it was seen to do so; None as long as nobody knows."""
    gives_logprobs: bool = True

    @property
    def is_held(self) -> bool:
        """Whether the schema goes with a call for the endpoint to hold to."""
        return self.can_hold and self.is_enforced is not False

    def is_downgraded(self, error: TargetError, sent: Judged) -> bool:
        """Whether a refusal was about what the endpoint cannot do; then it is not asked to again.

        A refusal for another reason that happens to use the word costs one more call.
        """
        if error.http_status not in _REFUSED:
            return False
        if sent.wants_logprobs and _LOGPROBS.search(str(error)):
            self.gives_logprobs = False
            return True
        if sent.is_held and _SCHEMA.search(str(error)):
            self.is_enforced = False
            return True
        return False


class JudgeTarget(FrozenStruct, frozen=True, kw_only=True):
    """A target as calls to judges see it."""

    name: str
    target: Target
    limiter: Limiter
    """The same that the records of the target share, where it has any."""
    slots: Slots
    """Calls that are made but not committed."""
    claims: Claims[Any] | None = None
    """Calls that may be under way; None where a call leaves nothing behind, as a recording."""
    coming: Coming = field(default_factory=dict[tuple[int, int, str], tuple[Any, int]])
    endpoint: Endpoint = field(default_factory=Endpoint)
    price: tuple[float, float] | None = None
    counts_tokens: bool = False
    cache: AnswerCache | None = None
    model: str | None = None
    sampling: JsonObject = field(default_factory=dict[str, JsonValue])
    replies_sha256: str | None = None
    """Of a judge that is a recording or a program, the hash of its files."""
    carries: frozenset[str] = NOTHING
    """What it can be shown beside texts."""
    omits: bool = False
    """Whether what it cannot be shown is left out, and it judges the rest."""
    is_timed: bool = True
    """Whether it takes time to answer; how long a recording is looked for says nothing."""
    answered: deque[tuple[Any, int]] = field(default_factory=lambda: deque(maxlen=1))
    """The call that it has answered last, with the number of the attempt."""

    fingerprints: dict[str, str] = field(default_factory=dict[str, str])
    """Those that are known, by the identity of the call."""
    adapted: set[tuple[int, int, str]] = field(default_factory=set[tuple[int, int, str]])
    """The calls that were made again because the target knew better by then how to ask."""

    def fingerprint(self, identity: str) -> str:
        """What makes a judgement one of the same instrument."""
        known = self.fingerprints.get(identity)
        if known is None:
            made = fingerprint(identity, self.model, self.sampling, self.replies_sha256)
            known = self.fingerprints[identity] = made
        return known

    def cache_key(self, cache: AnswerCache, call: JudgeCall) -> bytes:
        """The cache key of a question: everything that is sent, and the call."""
        is_held, wants_logprobs = self.endpoint.is_held, call.wants_logprobs
        told = _told(call.schema, call.sample, call.round, is_held, wants_logprobs)
        return cache.key(known_by(call, told), 0)


def _as_json(
    schema: JsonObject, sample: int, round_: int, is_held: bool, wants_logprobs: bool
) -> str:
    """What is told beside a prompt, the same for all records that are asked the same."""
    told: JsonObject = {
        "schema": schema,
        "sample": sample,
        "round": round_,
        "is_held": is_held,
        "wants_logprobs": wants_logprobs,
    }
    return json.dumps(told, sort_keys=True)


_told = Once(_as_json)
