"""`echo` says back what it was asked."""

from __future__ import annotations

import pytest

from fakes.asking import answer, question
from steelyard.model.case import Case
from steelyard.model.message import Message
from steelyard.ports import Prompt, Request
from steelyard.targets.echo import EchoTarget


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ((("user", "first"), ("assistant", "so?"), ("user", "second")), "second"),
        ((("user", "first"), ("assistant", "so?")), "first"),
        ((("system", "be kind"),), ""),
        ((), ""),
    ],
)
def test_answers_with_the_last_user_message(
    messages: tuple[tuple[str, str], ...], said: str
) -> None:
    request = Request(Case(id="q1"), Prompt(messages, "all of it"))

    assert answer(EchoTarget(), request).response == said


def test_the_trace_says_who_answered_and_why_it_ended() -> None:
    trace = answer(EchoTarget(), question("hello"))

    assert trace.messages == (Message(role="assistant", content="hello"),)
    assert (trace.model, trace.finish_reason) == ("echo", "stop")


def test_its_name_can_be_chosen_and_its_settings_are_told() -> None:
    target = EchoTarget("parrot")

    assert target.name == "parrot"
    assert target.described() == {"provider": "echo"}
