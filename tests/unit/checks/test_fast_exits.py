"""What is passed over to save time changes no verdict: checked against the long way round."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.checks.choice_patterns import CUE, PRAISE, WordPattern
from steelyard.checks.fact_match import Passages
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
