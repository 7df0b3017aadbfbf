"""What every asker promises; whoever tests a check with the fake may rely on it."""

from __future__ import annotations

import asyncio

import pytest

from fakes.scripted_judges import ScriptedAsker, a_judge, answer, asker_saying
from steelyard.errors import TargetError
from steelyard.judging.prompting import judge_call
from steelyard.judging.questions_asked import AnswerField, AskedQuestion
from steelyard.model.judgement import Asker, JudgeCall

QUESTION = AskedQuestion(judge=a_judge(), fields=(AnswerField(key="met", values=(0, 1)),))


@pytest.fixture
def asker() -> ScriptedAsker:
    return asker_saying(answer(1), answer(0))


def call(asker: Asker) -> JudgeCall:
    return judge_call(asker, QUESTION, seed=1)


def test_a_secret_is_the_same_for_one_check_and_purpose(asker: Asker) -> None:
    assert asker.within("a").secret("nonce") == asker.within("a").secret("nonce")


def test_a_secret_differs_between_checks_and_purposes(asker: Asker) -> None:
    secrets = {asker.within(check).secret(what) for check in "ab" for what in ("nonce", "order")}

    assert len(secrets) == 4
    assert all(len(secret) >= 16 for secret in secrets)


def test_checks_within_checks_have_names_of_their_own(asker: Asker) -> None:
    assert asker.within("a").within("b").secret("x") != asker.within("b").secret("x")


def test_a_reply_that_was_given_is_given_again(asker: ScriptedAsker) -> None:
    first, second = asyncio.run(asker.ask(call(asker))), asyncio.run(asker.ask(call(asker)))

    assert first == second
    assert len(asker.calls) == 1


def test_a_reply_has_the_fingerprint_of_its_call(asker: Asker) -> None:
    assert len(asyncio.run(asker.ask(call(asker))).fingerprint) == 64


def test_a_call_that_cannot_be_answered_is_an_error() -> None:
    asker = asker_saying(TargetError("timeout", "late"))

    with pytest.raises(TargetError, match="late"):
        asyncio.run(asker.ask(call(asker)))
