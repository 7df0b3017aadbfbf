"""The prompt of a call to a judge."""

from __future__ import annotations

from steelyard.model.judgement import JudgeCall
from steelyard.ports import Prompt, Turn


def prompt_of_call(call: JudgeCall) -> Prompt:
    """The prompt of a judge."""
    text = "\n\n".join([text for _, text in call.messages])
    return Prompt(call.messages, text, _turns(call, call.messages))


def known_by(call: JudgeCall, told: str) -> Prompt:
    """What a call is known by, with what is told beside it.

    Without the nonce, which differs from call to call; the text as a whole is not needed.
    """
    messages, nonce = call.messages, call.nonce
    if nonce:
        messages = tuple([(role, text.replace(nonce, "")) for role, text in messages])
    return Prompt((*messages, ("call", told)), "", _turns(call, messages))


def _turns(call: JudgeCall, messages: tuple[tuple[str, str], ...]) -> tuple[Turn, ...]:
    """The messages with the images after the last one; none where texts are all there is."""
    if not call.images:
        return ()
    *before, last = (Turn(role, (text,)) for role, text in messages)
    return (*before, last._replace(parts=(*last.parts, *call.images)))
