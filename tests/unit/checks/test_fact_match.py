"""`fact_match`."""

from __future__ import annotations

import random
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.checks.fact_match import FactMatch, Passages
from steelyard.errors import SettingError
from steelyard.model.case import Case
from strategies.dataset_documents import texts
from strategies.traces import said

FACTS = ("Paris is the capital", "It lies on the Seine", "2 million people live there")
ALL = "Paris, the capital, lies on the Seine. 2 million people live there."


@pytest.mark.parametrize(
    ("response", "score", "passed"),
    [
        (ALL, 1.0, True),
        ("Paris is the capital and lies on the Seine.", 2 / 3, False),
        ("Paris is the capital.", 1 / 3, False),
        ("Lyon.", 0.0, False),
        ("", 0.0, False),
    ],
)
def test_the_share_of_facts_found_must_reach_the_threshold(
    response: str, score: float, passed: bool
) -> None:
    outcome = FactMatch(facts=FACTS).check(said(response), Case(id="a"))

    assert outcome.score == pytest.approx(score)
    assert outcome.passed is passed


@pytest.mark.parametrize(
    ("threshold", "passed"), [(0.0, True), (0.5, True), (0.51, False), (1.0, False)]
)
def test_a_share_equal_to_the_threshold_passes(threshold: float, passed: bool) -> None:
    check = FactMatch(facts=("Paris", "Lyon"), threshold=threshold)

    assert check.check(said("Paris"), Case(id="a")).passed is passed


def test_without_facts_those_of_the_case_are_looked_for() -> None:
    """CR-08"""
    case = Case(id="a", expected={"expected_facts": ["Paris", "Seine"]})

    assert FactMatch().check(said("Paris, Seine"), case).score == 1
    assert FactMatch(facts=("Lyon",)).check(said("Paris, Seine"), case).score == 0


@pytest.mark.parametrize("case", [Case(id="a"), Case(id="a", expected={"expected_facts": []})])
def test_without_any_fact_it_is_skipped(case: Case) -> None:
    """CR-08"""
    outcome = FactMatch().check(said(ALL), case)

    assert outcome.status == "skipped"
    assert outcome.reason == "neither the check nor the case states facts"


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (ALL, "3 of 3 fact(s) found"),
        ("2 million people live there, on the Seine", "1 of 3 fact(s) found"),
        ("Lyon", "0 of 3 fact(s) found; missing: 'Paris is the capital' and 2 more"),
    ],
)
def test_the_reason_counts_and_shows_what_is_missing(response: str, reason: str) -> None:
    outcome = FactMatch(facts=FACTS).check(said(response), Case(id="a"))

    assert outcome.reason.startswith(reason)


@pytest.mark.parametrize("fact", ["", " \n"])
def test_a_blank_fact_is_refused(fact: str) -> None:
    """CR-10"""
    with pytest.raises(SettingError, match="must not be blank") as caught:
        FactMatch(facts=("Paris", fact))

    assert caught.value.name == "facts"


FILLER = "and so on " * 20


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("Paris is the capital of France", "Paris is the capital of France."),
        ("Paris is the capital of France", "The capital of France? It is PARIS!"),
        (
            "Paris is the capital of France",
            "**Paris** – since 987 – has been the\ncapital of France",
        ),
        ("The fee is 1,000 EUR", "A fee of 1000 EUR applies"),
        ("The fee is 1000 EUR", "a fee of 1,000 EUR"),
        ("the trip is 100 km", "a trip of 100km"),
        ("Closes at 20:00 on Fridays", "It closes at 20:00 every Friday"),
        ("version 1.2.3", "as of Version 1.2.3."),
        ("Ålesund", "A\u030alesund"),
        ("ﬁne", "It is FINE"),
        ("Straße", "STRASSE"),
        ("it is on", "it is on"),
        ("The contract", "a contract"),
        ("\N{PARROT}", "a \N{PARROT}!"),
        ("++", "C++"),
        ("The tour isn't free", "The tour is not free."),
        ("Dogs cannot enter", "Dogs can’t enter"),
        ("We will not pay", "We won't pay"),
        ("it costs €5", "it costs 5 EUR"),
        ("it costs $5", "it costs 5 dollars"),
        ("a rate of 10 %", "a rate of 10 percent"),
        ("a rate of 10 per cent", "a rate of 10%"),
        ("a balance of -40 EUR", "a balance of −€40"),
        ("a balance of -40 EUR", "a balance of minus 40 euros"),
        ("pages 10 to 40", "pages 10-40 and to"),
        ("opens at 9 am", "opens at 9 a.m. sharp"),
        ("the tour is free", "This, not that, is the free tour"),
        ("Chanel 5", "Chanel No. 5"),
        ("Paris is the capital of France", "Paris, not Lyon, is the capital of France"),
        ("It is open", "It is not only open but free"),
        ("Paris", "not London but Paris"),
        ("It is free", "It isn't expensive; it is free"),
        ("Paris is the capital", "There is no doubt that Paris is the capital"),
        ("2 million people", "two or 2 Millions people"),
        ("5k users", "5 thousand users"),
        ("a fee of 5 bn EUR", "a fee of 5 billion EUR"),
        (">= 10 days", "≥ 10 days"),
        ("Article 5a", "under article 5A"),
        ("a trip of 5 h", "a trip of 5h"),
    ],
)
def test_a_fact_is_stated_when_its_telling_words_stand_together(fact: str, text: str) -> None:
    assert Passages(text).state(fact)
    assert Passages(f"{FILLER}\n{text}\n{FILLER}").state(fact)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        ("Paris is the capital of France", "Berlin is the capital of Germany"),
        ("Paris is the capital of France", "Lyon is the capital of France"),
        ("Paris is the capital of France", ""),
        ("The fee is 100 EUR", "The fee is 1000 EUR"),
        ("The fee is 100 EUR", "The fee is 100 USD"),
        ("The fee is 1.5 EUR", "The fee is 15 EUR"),
        ("open in 20", "open in 1920"),
        ("Dogs are not allowed", "Dogs are allowed"),
        ("It is legal", "It is illegal"),
        ("The employer pays", "The employee pays"),
        ("Austria joined", "Australia joined"),
        ("it is on", "it is off"),
        ("USA", "us, a"),
        ("\N{PARROT}", "a parrot"),
        ("It isn't free", "It is free"),
        ("It isn’t free", "It is free"),
        ("It is free", "It isn't free"),
        ("It is free", "It is not free"),
        ("Dogs can't enter", "Dogs can enter"),
        ("Dogs can enter", "Dogs can't enter"),
        ("They won't pay", "They will pay"),
        ("They will pay", "They won't pay"),
        ("They don't pay", "They do pay"),
        ("-40 EUR", "40 EUR"),
        ("40 EUR", "-40 EUR"),
        ("40 EUR", "−40 EUR"),
        ("10 %", "10 EUR"),
        ("10%", "10"),
        ("€5", "$5"),
        ("€5", "5 USD"),
        ("10 km", "10 m"),
        ("10 eur", "10 usd"),
        ("at 9 am", "at 9 pm"),
        ("> 5 years", "< 5 years"),
        ("ist geöffnet", "ist nicht geöffnet"),
        ("est gratuit", "n'est pas gratuit"),
        ("is open", "is no longer open"),
        ("is open", "is not currently open"),
        ("is allowed", "is not at all allowed"),
        ("is valid", "is in no way valid"),
        ("is free", "is hardly free"),
        ("is free", "is n't free"),
        ("Lyon is the capital", "Lyon is not the capital"),
        ("ist offen", "ist nicht mehr offen"),
        (">= 10", "> 10"),
        ("> 10", "10"),
        ("10", "> 10"),
        ("the fee is 5", "the fee is 5 million"),
        ("5 million", "5 billion"),
        ("5 million eur", "5 million usd"),
        ("5k", "5"),
        ("Article 5", "Article 5a"),
        ("Article 5a", "Article 5b"),
    ],
)
def test_a_fact_is_not_stated_when_a_telling_word_differs(fact: str, text: str) -> None:
    assert not Passages(text).state(fact)


@pytest.mark.parametrize(("between", "stated"), [(16, True), (17, False)])
def test_a_passage_has_twice_the_words_of_the_fact_and_ten_more(
    between: int, stated: bool
) -> None:
    """Four words make a passage of eighteen."""
    text = "Paris " + "x " * between + "France"

    assert Passages(text).state("Paris is in France") is stated


@pytest.mark.parametrize(
    ("word", "other", "near"),
    [
        ("Fridays", "Friday", True),
        ("close", "closes", True),
        ("open", "opens", False),
        ("close", "loses", False),
        ("stationary", "stationery", True),
        ("library", "libraries", False),
    ],
)
def test_a_long_word_may_differ_a_little_but_not_in_its_first_letter(
    word: str, other: str, near: bool
) -> None:
    assert Passages(other).state(word) is near


@pytest.mark.parametrize(
    ("fact", "text", "stated"),
    [
        ("東京は日本の首都", "ご存じのとおり、東京は日本の首都です。", True),
        ("東京は日本の首都", "京都は日本の古都です。", False),
        ("2020年东京", "在2020年东京举办", True),
        ("2020年东京", "在2021年东京举办", False),
        ("서울 수도", "서울은 한국의 수도입니다", True),
        ("القاهرة", "عاصمة مصر هي القاهرة", True),
    ],
)
def test_scripts_without_capitals_need_no_spaces(fact: str, text: str, stated: bool) -> None:
    assert Passages(text).state(fact) is stated


@given(texts(1, 40), texts(0, 40), texts(0, 40))
def test_a_text_states_every_fact_that_it_quotes(fact: str, before: str, after: str) -> None:
    if fact.strip():
        assert Passages(f"{before} . {fact} . {after}").state(fact)


@given(st.text(max_size=60), st.text(min_size=1, max_size=30))
def test_no_text_and_no_fact_does_harm(text: str, fact: str) -> None:
    assert Passages(text).state(fact) in {True, False}


def test_a_megabyte_takes_less_than_a_few_seconds() -> None:
    made = random.Random(7)
    words = [
        "".join(made.choices(string.ascii_lowercase, k=made.randint(2, 9))) for _ in range(9_000)
    ]
    text = " ".join(made.choices(words, k=170_000))
    facts = [" ".join(made.choices(words, k=12)) for _ in range(20)]
    started = time.process_time()
    passages = Passages(text)
    found = [passages.state(fact) for fact in facts]

    assert len(text) > 1_000_000
    assert len(found) == 20
    assert time.process_time() - started < 3
