"""Ask a target one prompt, outside of any run: nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.engine.attempts import is_adapted
from steelyard.engine.costs import cost_of
from steelyard.engine.prompts import build_prompt
from steelyard.engine.redaction.redactor import Redactor
from steelyard.errors import NO_RESPONSE, ConnectionLostError, InvalidError, TargetError
from steelyard.model.case import Case
from steelyard.model.message import Message
from steelyard.model.trace import Trace
from steelyard.ports import Request, Target
from steelyard.usecases.runs.ports import RunPorts

MAX_PROMPT = 100_000
"""The most characters of a prompt."""
_RECORDED = (
    "a recorded target has answers to the records of its response file alone; it cannot answer a "
    "prompt of your own"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetTrial:
    """What one call to a target brought: an answer, or why there is none."""

    answer: str | None = None
    refusal: str | None = None
    error_code: str | None = None
    message: str | None = None
    model: str | None = None
    finish_reason: str | None = None
    latency_ms: float | None = None
    """None where nothing was asked: a recorded answer takes no time."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    """None where the target has no price or counts no tokens."""


async def try_target(ports: RunPorts, redact: Redactor, name: str, prompt: str) -> TargetTrial:
    """Ask once, with the target's own prompt template and limits, and without a retry."""
    if not prompt.strip():
        raise InvalidError("the prompt is empty")
    if len(prompt) > MAX_PROMPT:
        raise InvalidError(f"the prompt has more than {MAX_PROMPT:,} characters")
    spec = ports.target(name)
    case = Case(id="trial", input_messages=(Message(role="user", content=prompt),))
    asked = spec.template.prompt(case) if spec.template else build_prompt(case)
    begin = ports.clock.monotonic()
    try:
        trace = await _answer(spec.target, Request(case, asked))
    except TargetError as error:
        message = _RECORDED if error.code == NO_RESPONSE else redact.text(str(error))
        waited = _since(ports, begin) if spec.is_asked else None
        return TargetTrial(error_code=error.code, message=message, latency_ms=waited)
    finally:
        await spec.target.close()
    return TargetTrial(
        answer=redact.text(trace.response),
        refusal=redact.text(trace.refusal) if trace.refusal else None,
        model=trace.model,
        finish_reason=trace.finish_reason,
        latency_ms=_since(ports, begin)
        if trace.latency_ms is None and spec.is_asked
        else trace.latency_ms,
        input_tokens=trace.usage.input_tokens,
        output_tokens=trace.usage.output_tokens,
        cost_usd=cost_of(trace, spec.price),
    )


async def _answer(target: Target, request: Request) -> Trace:
    try:
        return await target.ask(request)
    except TargetError as error:
        if not (is_adapted(error) or isinstance(error, ConnectionLostError)):
            raise
    return await target.ask(request)


def _since(ports: RunPorts, begin: float) -> float:
    return (ports.clock.monotonic() - begin) * 1000
