"""A question is asked once, or twice where the reply is unusable; nothing is made of nothing."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.scripted_judges import ScriptedAsker, a_judge, answer, asked_for, asker_saying, said
from steelyard.errors import TargetError
from steelyard.judging.asking import is_quoted
from steelyard.judging.questions_asked import AnswerField, AskedQuestion

FIELD = AnswerField(key="score", kind="number", span=(0, 5))
OTHER = AnswerField(key="met", values=(0, 1))
QUESTION = AskedQuestion(
    judge=a_judge(),
    fields=(FIELD,),
    material={"input": "q", "output": "It is Paris."},
    quotable="It is Paris.",
    item="accuracy",
)


def rounds(asker: ScriptedAsker) -> list[int]:
    return [call.round for call in asker.calls]


def test_a_good_reply_is_an_answer() -> None:
    asker = asker_saying(answer(4, evidence="it is  paris", reasoning="right"))

    found = asked_for(asker, QUESTION)

    assert found.only.value == 4
    assert found.only.evidence_found is True
    assert found.rung == "native"
    assert rounds(asker) == [0]


def test_it_says_what_names_and_dates_the_instrument() -> None:
    reply = said(answer(4, evidence="x"), model="m-1", is_enforced=True, cost_usd=0.5)

    found = asked_for(asker_saying(reply), QUESTION)

    assert (found.target, found.model, found.is_enforced) == ("scripted", "m-1", True)
    assert found.cost_usd == 0.5
    details = found.details()
    assert details.pop("fingerprint") == found.fingerprint
    assert details == {
        "judge": "judge/short@1.0.0",
        "target": "scripted",
        "model": "m-1",
        "is_enforced": True,
        "rung": "native",
        "seed": found.seed,
        "item": "accuracy",
        "sample": 0,
        "value": 4,
        "evidence": "x",
        "evidence_found": False,
        "reasoning": "",
    }


@pytest.mark.parametrize(
    ("first", "complaint"),
    [
        (answer(9), "must be an integer from 0 to 5"),
        ("Five stars!", "must be an integer"),
        ("", "it was empty"),
        (said(answer(4)[:20], finish_reason="length"), "in fewer words"),
    ],
)
def test_an_unusable_reply_is_asked_for_once_more_with_what_is_wrong(
    first: Any, complaint: str
) -> None:
    asker = asker_saying(first, answer(3))

    found = asked_for(asker, QUESTION)

    assert found.only.value == 3
    assert found.rung == "asked_again"
    assert rounds(asker) == [0, 1]
    assert complaint in asker.calls[1].messages[1][1]


def test_two_unusable_replies_leave_it_unscored() -> None:
    asker = asker_saying("bad", "worse", answer(3))

    found = asked_for(asker, QUESTION)

    assert found.only.value is None
    assert (found.rung, found.only.reason) == ("unscored", "unusable")
    assert rounds(asker) == [0, 1]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (said("", refusal="no"), "refusal"),
        (answer("cannot_judge", reasoning="too short"), "cannot_judge"),
        (TargetError("timeout", "no answer in 60 s"), "timeout"),
    ],
)
def test_these_are_not_asked_again(line: Any, reason: str) -> None:
    asker = asker_saying(line, answer(3))

    found = asked_for(asker, QUESTION)

    assert found.only.value is None
    assert found.only.reason == reason
    assert found.only.message
    assert rounds(asker) == [0]


def test_a_judge_that_refuses_the_second_time_has_refused() -> None:
    found = asked_for(asker_saying("bad", said("", refusal="no")), QUESTION)

    assert found.only.reason == "refusal"


def test_when_the_second_call_fails_the_first_reply_is_what_is_known() -> None:
    asker = asker_saying(said("bad", cost_usd=1.0), TargetError("timeout", "late"))

    found = asked_for(asker, QUESTION)

    assert found.only.reason == "unusable"
    assert found.fingerprint is not None
    assert found.cost_usd == 1.0


def test_both_replies_cost() -> None:
    asker = asker_saying(said("bad", cost_usd=1.0), said(answer(3), cost_usd=0.5))

    assert asked_for(asker, QUESTION).cost_usd == 1.5


def test_of_a_group_only_what_is_missing_comes_from_the_second_reply() -> None:
    group = AskedQuestion(judge=a_judge(), fields=(FIELD, OTHER))
    first = json.dumps({"answers": {"score": 4, "met": "perhaps"}})
    second = json.dumps({"answers": {"score": 1, "met": 1}})

    found = asked_for(asker_saying(first, second), group)

    assert {key: one.value for key, one in found.answers.items()} == {"score": 4, "met": 1}
    assert [one.rung for one in found.answers.values()] == ["coerced", "asked_again"]
    assert found.details("met")["value"] == 1


def test_a_template_that_names_nothing_known_is_a_reason_and_no_call() -> None:
    asker = asker_saying(answer(3))
    broken = AskedQuestion(judge=a_judge("{{ outptu }}"), fields=(FIELD,))

    found = asked_for(asker, broken)

    assert found.only.reason == "invalid_template"
    assert "'outptu'" in found.only.message
    assert asker.calls == []


def test_several_options_are_a_list_in_the_details() -> None:
    field = AnswerField(key="tags", kind="many", values=("a", "b"))
    asker = asker_saying(answer(["b", "a"], key="tags"))

    found = asked_for(asker, AskedQuestion(judge=a_judge(), fields=(field,)))

    assert found.only.value == ("a", "b")
    assert found.details()["value"] == ["a", "b"]


def test_the_same_question_shows_its_options_in_the_same_order() -> None:
    field = AnswerField(key="pick", values=tuple("abcdef"))
    asked = AskedQuestion(judge=a_judge(), fields=(field,))
    first, second = asker_saying(answer("a", key="pick")), asker_saying(answer("a", key="pick"))

    seeds = {asked_for(asker, asked).seed for asker in (first, second)}

    assert len(seeds) == 1
    assert first.calls[0].messages == second.calls[0].messages


TEXT = "The landlord may not  enter\nwithout “notice”; that’s § 11 – the “Act”. It costs 3.50 €."


@pytest.mark.parametrize(
    "quote",
    [
        *("may not enter without", "MAY NOT ENTER", '"notice"', "'notice'", "that's § 11 - the"),
        *("“may not enter”", "may not enter...", "…the “Act”.", "3.50 €."),
        *("The landlord ... notice", "The landlord [...] that's § 11", "landlord…enter…costs"),
        "ﬁ".replace("ﬁ", "may"),
    ],
)
def test_a_quote_is_found(quote: str) -> None:
    assert is_quoted(quote, TEXT) is True


@pytest.mark.parametrize(
    "quote", ["may enter without", "landlady", "notice ... landlord", "the Act!", "§ 12"]
)
def test_words_that_are_not_there_are_not_found(quote: str) -> None:
    assert is_quoted(quote, TEXT) is False


@pytest.mark.parametrize("quote", ["", "  ", '""', "...", "“…”", "."])
def test_no_words_are_no_quote(quote: str) -> None:
    assert is_quoted(quote, TEXT) is None


def test_a_judge_quotes_what_it_was_shown() -> None:
    assert is_quoted("< |im_start| >system", "so <|im_start|>system goes") is True


@given(st.text(min_size=1), st.text(), st.text())
def test_every_passage_of_a_text_is_found_or_empty(passage: str, before: str, after: str) -> None:
    assert is_quoted(f"a{passage}z", f"{before} a{passage}z {after}") is not False


@pytest.mark.parametrize(
    ("quote", "text"), [("ab" * 50_000, "a" * 400_000), ("... " * 9_000, "x")]
)
def test_long_quotes_take_no_time(quote: str, text: str) -> None:
    started = time.process_time()

    is_quoted(quote + "c", text)

    assert time.process_time() - started < 2


WORDS = [
    "three weeks",
    "Three",
    " ",
    "\n",
    "`",
    "'",
    ".",
    "...",
    "<",
    "s>",
    "[",
    "INST]",
    "|",
    "\x00",
    "-",
]


@given(
    st.lists(st.sampled_from(WORDS), max_size=3).map("".join),
    st.lists(st.sampled_from(WORDS), max_size=6).map("".join),
)
def test_words_that_stand_in_plain_text_are_found_as_in_any_other(quote: str, text: str) -> None:
    """Letters beyond ASCII in a text keep it from the short way to find what is quoted."""
    assert is_quoted(quote, text) == is_quoted(quote, f"{text} \u00e9")
