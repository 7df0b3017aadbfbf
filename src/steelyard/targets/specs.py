"""Targets as a run sees them: what was made of settings, files and conversations."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from steelyard.errors import ConfigError, TargetError
from steelyard.execution.ports import OMIT, TargetSpec
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from steelyard.model.message import Message
from steelyard.model.trace import Trace
from steelyard.ports import Request, Sought
from steelyard.settings import LOCAL_CONCURRENCY, MAX_CONCURRENCY, TargetEntry
from steelyard.targets.known_prices import list_price
from steelyard.targets.making import Made
from steelyard.targets.recorded import RecordedTarget
from steelyard.targets.response_file import ResponseFile


class ConversationTarget:
    """Answers with what the conversation already says."""

    name = "conversation"

    def described(self) -> JsonObject:
        """Its settings."""
        return {"provider": "conversation"}

    def covers(self, sought: Sought) -> bool:
        """Whether the case has an answer in it; a conversation has one, and no repeats."""
        return sought.repeat == 0 and bool(_recorded(sought.case))

    async def ask(self, request: Request) -> Trace:
        """The conversation; what counts as the response is the last assistant message."""
        messages = _recorded(request.case)
        if not messages:
            raise TargetError("no_response", f"'{request.case.id}' has no assistant message")
        return Trace(messages=messages)

    async def close(self) -> None:
        """Nothing to let go."""


def spec(name: str, made: Made) -> TargetSpec:
    """A target with what a run must know about it."""
    settings, extra = made.settings, made.settings.extra
    is_local = settings.provider in {"echo", "recorded", "conversation"}
    at_once = LOCAL_CONCURRENCY if is_local else MAX_CONCURRENCY
    own = settings.price
    listed = None if own else list_price(settings)
    sampling = ("temperature", "top_p", "max_new_tokens", "seed", "api", "tools", "extra")
    return TargetSpec(
        name=name,
        target=made.target,
        max_concurrency=settings.max_concurrency or at_once,
        requests_per_minute=settings.requests_per_minute,
        tokens_per_minute=settings.tokens_per_minute,
        price=own.pair if own else (listed.input, listed.output) if listed else None,
        unpriced=own.missing if own else None,
        price_as_of=listed.as_of if listed else None,
        secrets=made.secrets,
        model=settings.text("model") or settings.text("candidate") or None,
        sampling={key: extra[key] for key in sampling if key in extra},
        response_source=made.response_source,
        can_hold=made.can_hold,
        is_cacheable=made.is_cacheable,
        covers=made.covers,
        has_replies=made.has_replies,
        replies_sha256=made.replies_sha256,
        template=made.template,
        carries=made.carries,
        omits=settings.unsupported == OMIT,
        files=made.files,
        needs_folder=settings.provider in {"command", "python"},
        resources=settings.resources or {},
    )


def candidates(path: Path) -> list[str]:
    """The candidates of a response file."""
    with closing(ResponseFile(path)) as responses:
        _require_responses(responses)
        return list(responses.candidates)


def _require_responses(responses: ResponseFile) -> None:
    if not responses.candidates:
        raise ConfigError(f"{responses.path} holds replies of judges, and no response to grade")


def recorded(path: Path, candidate: str | None) -> TargetSpec:
    """A candidate of a response file; the first where none is named."""
    responses = ResponseFile(path)
    _require_responses(responses)
    candidate = next(iter(responses.candidates)) if candidate is None else candidate
    name = candidate or "recorded"
    target = RecordedTarget(name, responses, candidate)
    settings = TargetEntry(provider="recorded", extra={"candidate": candidate or None})
    made = Made(target, settings, covers=target.covers, response_source="prefilled", files=(path,))
    return spec(name, made)


def conversation() -> TargetSpec:
    """The last assistant message of each case."""
    target = ConversationTarget()
    settings, source = TargetEntry(provider="conversation"), "part_of_conversation"
    made = Made(target, settings, covers=target.covers, response_source=source)
    return spec(target.name, made)


def _recorded(case: Case) -> tuple[Message, ...]:
    """The messages up to the last one of the assistant; none without one."""
    messages = case.input_messages
    said = [place for place, message in enumerate(messages) if message.role == "assistant"]
    return messages[: said[-1] + 1] if said else ()
