"""The prompt of a call to a judge."""

from __future__ import annotations

from steelyard.model.judgement import JudgeCall
from steelyard.ports import Prompt, Turn


def prompt_of_call(call: JudgeCall, *, blanked: bool = False) -> Prompt:
    """The prompt of a judge; `blanked` removes the nonce, which differs from call to call."""
    messages = call.messages
    if blanked and call.nonce:
        messages = tuple((role, text.replace(call.nonce, "")) for role, text in messages)
    text = "\n\n".join(text for _, text in messages)
    if not call.images:
        return Prompt(messages, text)
    *before, last = (Turn(role, (text,)) for role, text in messages)
    return Prompt(messages, text, (*before, last._replace(parts=(*last.parts, *call.images))))
