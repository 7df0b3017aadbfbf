"""Targets as a run sees them: what was made of settings, files and conversations."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from steelyard.errors import ConfigError
from steelyard.execution.ports import OMIT, TargetSpec
from steelyard.settings import LOCAL_CONCURRENCY, MAX_CONCURRENCY, TargetEntry
from steelyard.targets.conversation import ConversationTarget
from steelyard.targets.making import Made
from steelyard.targets.recorded import RecordedTarget
from steelyard.targets.response_file import ResponseFile


def spec(name: str, made: Made) -> TargetSpec:
    """A target with what a run must know about it."""
    settings, extra = made.settings, made.settings.extra
    is_local = settings.provider in {"echo", "recorded", "conversation"}
    at_once = LOCAL_CONCURRENCY if is_local else MAX_CONCURRENCY
    price = settings.price
    sampling = ("temperature", "top_p", "max_new_tokens", "seed")
    return TargetSpec(
        name=name,
        target=made.target,
        max_concurrency=settings.max_concurrency or at_once,
        requests_per_minute=settings.requests_per_minute,
        tokens_per_minute=settings.tokens_per_minute,
        price=(float(price.input), float(price.output)) if price else None,
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
