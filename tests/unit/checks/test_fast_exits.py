"""What is passed over to save time changes no verdict: checked against the long way round."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.checks.choice_answers import ChoiceReader
from steelyard.checks.choice_patterns import CUE, PRAISE, WordPattern
from steelyard.checks.fact_match import Passages
from steelyard.model.case import AnswerChoice
from strategies.effort import examples

CORPUS = Path(__file__).parents[2] / "corpus"
ANSWERS: st.SearchStrategy[list[str]] = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *(
                    "The answer is",
                    "Antwort:",
                    "la réponse est",
                    "ANſWER:",
                    "my choıce is",
                    "pick",
                ),
                *("I choose", "we'd select", "Ich nehme", "richtig ist", "ik kies", "İk Kies"),
                *("is correct", "ist die richtige", "È giusta", "é a melhor", "would be the best"),
                *(
                    "is therefore the final answer",
                    "wäre korrekt",
                    "ſont justes",
                    "elijo",
                    "scelgo",
                ),
                *(
                    "Option",
                    "selection -",
                    "answers to the question are",
                    "respuesta correcta =",
                    "opção",
                ),
                *(
                    "minus",
                    "MINUS $5",
                    "-$3",
                    ">= 4",
                    "1,000",
                    "p.m.",
                    "per cent",
                    "can't",
                    "do n't",
                ),
                *("cannot", "WON'T", "–3", "’", "not", "A", "B", "\n", "_", "x", "9"),
            ]
        ),
        st.text(st.sampled_from("aAeiIsSkKſıİKéÉ .,:=-_'1$<>"), max_size=4),
    ),
    max_size=12,
)
TEXTS: st.SearchStrategy[str] = st.one_of(ANSWERS.map(" ".join), ANSWERS.map("".join))


def spans(pattern: WordPattern, text: str) -> list[tuple[int, int]]:
    return [found.span() for found in pattern.finditer(text)]


def all_spans(pattern: WordPattern, text: str) -> list[tuple[int, int]]:
    """Those that are found by a look at every place."""
    return [found.span() for found in pattern.pattern.finditer(text)]


@settings(max_examples=examples(500))
@given(text=TEXTS)
def test_a_word_pattern_finds_what_a_look_at_every_place_finds(text: str) -> None:
    assert spans(CUE, text) == all_spans(CUE, text)
    assert spans(PRAISE, text) == all_spans(PRAISE, text)


@pytest.mark.parametrize("contract", ["legal_eval", "eval_cases", "evals_json"])
def test_a_word_pattern_finds_the_same_in_the_corpus(contract: str) -> None:
    files = sorted(path for path in (CORPUS / contract).rglob("*") if path.is_file())
    text = "\n".join(path.read_text("utf-8", "replace")[:20_000] for path in files)

    assert text
    assert spans(CUE, text) == all_spans(CUE, text)
    assert spans(PRAISE, text) == all_spans(PRAISE, text)


@settings(max_examples=examples(500))
@given(text=TEXTS, fact=TEXTS)
def test_facts_are_found_as_in_a_text_that_is_read_the_long_way(text: str, fact: str) -> None:
    """A text beyond ASCII is never taken for plain; one strange word more says nothing else."""
    assert Passages(text).state(fact) == Passages(f"{text}\n\n号").state(fact)


SIGNED = (
    *('{"answer": "A"}', '["A"]', "{'choice': 'B'}", '```json\n{"answer": "A"}\n```', "###A###"),
    *("\\boxed{A}", "<answer>A</answer>", "Answer: A", "alpha", "A", " and ", "\n"),
)


@settings(max_examples=examples(300))
@given(text=st.lists(st.sampled_from(SIGNED), max_size=6).map("".join))
def test_a_rule_finds_nothing_in_a_text_without_its_sign(text: str) -> None:
    reader = ChoiceReader((AnswerChoice("A", "alpha"), AnswerChoice("B", "beta")))

    for _, sign, rule in ChoiceReader.LADDER:
        if sign:
            assert not rule(reader, text.replace(sign, "")).is_decided


def test_words_that_are_near_count_where_the_same_words_stand_apart() -> None:
    apart = f"payment {'. '.join(['word'] * 60)} payments weekly"

    assert Passages(apart).state("payment weekly")
    assert not Passages(apart.replace("payments", "pavement")).state("payment weekly")
