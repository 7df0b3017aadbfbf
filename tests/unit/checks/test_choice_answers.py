"""Which choices an answer selects, and by which rule."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.checks.choice_answers import RULES, ChoiceReader, Selection
from steelyard.model.case import AnswerChoice
from strategies.effort import examples
from strategies.legal_eval import choices, texts

TEXTS = ["i", "ii and iii", "A treaty is binding", "none of the statements"]
ABCD = tuple(AnswerChoice(name, text) for name, text in zip("ABCD", TEXTS, strict=True))
READER = ChoiceReader(ABCD)
SIZE = 300_000
HOSTILE = {
    "braces": "{" * 1_000_000,
    "balanced braces": "{" * (SIZE // 2) + "}" * (SIZE // 2),
    "objects": '{"answer": "Z"}' * (SIZE // 15),
    "nested objects": '{"answer":' * (SIZE // 10),
    "escaped quotes": '{"answer": "' + '\\"' * (SIZE // 2),
    "keys": '"answer":' * (SIZE // 9),
    "open strings": '"answer": "' * (SIZE // 11),
    "open lists": '"answer": [' * (SIZE // 11),
    "hashes": "#" * SIZE,
    "headings": "### " * (SIZE // 4),
    "cues": "answer is " * (SIZE // 10),
    "cues and no space": "answer:" * (SIZE // 7),
    "options": "option " * (SIZE // 7),
    "listed options": "Option Z, " * (SIZE // 10),
    "words": "the answer is a b " * (SIZE // 18),
    "a long space": "answer" + " " * SIZE,
    "spaces": ("answer" + " " * 1000) * (SIZE // 1006),
    "brackets": "Option " + "(" * SIZE,
    "many brackets": "Option ((((((((((((((((((((( " * (SIZE // 29),
    "lines": "\n" * SIZE,
    "letters": "Z\n" * (SIZE // 2),
    "letters in a list": "Z, " * (SIZE // 3),
    "thoughts": "</think>" * (SIZE // 8),
    "fences": "```{" * (SIZE // 4),
    "boxes": r"\boxed{" * (SIZE // 7),
    "praise": "is the correct answer " * (SIZE // 22),
    "praised letters": "Z is correct " * (SIZE // 13),
    "German cues": "die Antwort ist " * (SIZE // 16),
    "French cues": "la réponse correcte est " * (SIZE // 24),
    "takings": "I would choose " * (SIZE // 15),
    "contrasts": "answer is not " * (SIZE // 14),
    "it is": "it's " * (SIZE // 5),
    "doubts": " not, that the answer is" * (SIZE // 24),
    "tags": "<answer>" * (SIZE // 8),
    "foreign words": "これは長い文です。" * (SIZE // 9),
    "foreign letters": "я не знаю ответа а и о " * (SIZE // 23),
}


def read(answer: str) -> tuple[str | None, str]:
    """The rule and the ids, joined."""
    found = READER.read(answer)
    return found.rule, "".join(found.ids)


@pytest.mark.parametrize(
    ("answer", "ids"),
    [
        ('{"answer": "C"}', "C"),
        ('{"choice": "C"}', "C"),
        ('{"final_answer": "C"}', "C"),
        ('{"Answer": "c"}', "C"),
        ('{"Final Answer": "C"}', "C"),
        ('{"final-answer": "C"}', "C"),
        (' {"answer": "C", "reasoning": "Option A is wrong."}\n', "C"),
        ('{"reasoning": "the answer is A", "answer": "C"}', "C"),
        ('{"answer": "(C)"}', "C"),
        ('{"answer": "C."}', "C"),
        ('{"answer": "**C**"}', "C"),
        ('{"answer": "C. A treaty is binding"}', "C"),
        ('{"answer": "C) whatever"}', "C"),
        ('{"answer": "C - whatever"}', "C"),
        ('{"answer": "C because of it"}', "C"),
        ('{"answer": "Option C"}', "C"),
        ('{"answer": "I say that the answer is C"}', "C"),
        ('{"answer": "###C###"}', "C"),
        ('{"answer": "a treaty is binding."}', "C"),
        ('{"answer": "A treaty is binding"}', "C"),
        ('{"answer": "A because of it"}', "A"),
        ('{"answer": {"id": "C", "text": "x"}}', "C"),
        ('{"answer": {"choice": "C"}}', "C"),
        ('{"answer": "B", "final_answer": "C"}', "C"),
        ('{"answer": "C", "final_answer": null}', "C"),
        ('{"answer": "C", "choice": "Z"}', "C"),
        ('{"answer": "C\nmore"}', "C"),
        ('[{"answer": "B"}, {"answer": "C"}]', "C"),
        ('{"answer": ["A", "C"]}', "AC"),
        ('{"answer": ["c", "a", "C"]}', "CA"),
        ('{"answer": ["C", "Z"]}', "C"),
        ('{"answer": "A and C"}', "AC"),
        ('{"answer": "A, B, and C"}', "ABC"),
        ('{"answer": "A/C"}', "AC"),
        ('{"answer": "A und C"}', "AC"),
        ('["A", "C"]', "AC"),
    ],
)
def test_an_answer_in_json(answer: str, ids: str) -> None:
    """LE-40, LE-41, LE-43"""
    assert read(answer) == ("json", ids)
    assert read(f"```json\n{answer}\n```") == ("fenced_json", ids)


@pytest.mark.parametrize(
    ("answer", "rule", "ids"),
    [
        ('So: ```json\n{"answer": "B"}\n``` no: ```\n{"answer": "C"}\n```', "fenced_json", "C"),
        ('```json\n{"answer": "C"}', "fenced_json", "C"),
        ('```python\nx = 1\n```\n```json\n{"answer": "C"}\n```', "fenced_json", "C"),
        ('I take {"answer": "C"} here.', "embedded_json", "C"),
        ('First {"answer": "B"}, then {"answer": "C"}.', "embedded_json", "C"),
        ('\\text{x} {"answer": "C", "why": {"choice": "A"}}', "embedded_json", "C"),
        ('{x {"answer": "C"}', "embedded_json", "C"),
        ('{"a": {"answer": "C"}}', "embedded_json", "C"),
        ('{"answer": "C", "reasoning": "Option A is', "embedded_json", "C"),
        ('{"answer": "C', "embedded_json", "C"),
        ('{"answer": ["A", "C"', "embedded_json", "AC"),
        ('{"answer": [A, C], "x": y}', "embedded_json", "AC"),
        ("{'answer': 'C', 'reasoning': 'x'}", "embedded_json", "C"),
        ('{"answer": C}', "embedded_json", "C"),
        ('{"answer": "C",, }', "embedded_json", "C"),
    ],
)
def test_an_answer_in_json_between_words_or_broken(answer: str, rule: str, ids: str) -> None:
    """LE-40, LE-43"""
    assert read(answer) == (rule, ids)


@pytest.mark.parametrize(
    ("answer", "rule", "given"),
    [
        ('{"answer": "Z", "reasoning": "Option A is wrong."}', "json", "Z"),
        ('{"answer": "Z"} and {"answer": "Y"}, so Option A', "embedded_json", "Y"),
        ('{"answer": 2}', "json", "2"),
        ('{"answer": ["Y", "Z"]}', "json", "['Y', 'Z']"),
        ('{"answer": "a matter of law"}', "json", "a matter of law"),
        ("```\n[1, 2]\n```\nC", "fenced_json", "[1, 2]"),
    ],
)
def test_json_that_names_no_choice_ends_the_ladder(answer: str, rule: str, given: str) -> None:
    """LE-44"""
    assert READER.read(answer) == Selection(rule, (), given)


@pytest.mark.parametrize(
    "answer",
    [
        '{"answer": null}',
        '{"answer": ""}',
        '{"answer": true}',
        '{"answer": []}',
        '{"answer": "<choice_id>", "reasoning": "..."}',
        '{"answer": "..."}',
        '{"reasoning": "x"}',
        "{}",
        "[]",
        '{"answer": null, "x": ',
    ],
)
def test_json_without_an_answer_leaves_the_word_to_the_rules_below(answer: str) -> None:
    """LE-44"""
    assert READER.read(answer) == Selection()
    assert read(f"{answer}\nAnswer: C") == ("phrase", "C")


@pytest.mark.parametrize(
    ("answer", "ids"),
    [
        ("###C###", "C"),
        ("Correct Answer: ###c###", "C"),
        ("### C ###", "C"),
        ("###(C)###", "C"),
        ("###A### no: ###C###", "C"),
        ("### Heading ###\n###C###\n### End ###", "C"),
        ("###A, C###", "AC"),
        ("The answer is A, or: ###C###", "C"),
    ],
)
def test_an_answer_between_hashes(answer: str, ids: str) -> None:
    """LE-40"""
    assert read(answer) == ("hashes", ids)


@pytest.mark.parametrize(
    ("answer", "ids"),
    [
        (r"The answer is \boxed{C}", "C"),
        (r"$\boxed{\text{C}}$", "C"),
        (r"\boxed{A}, no: \boxed{\textbf{(C)}}", "C"),
        (r"\boxed{A, C}", "AC"),
    ],
)
def test_an_answer_in_a_box(answer: str, ids: str) -> None:
    """LE-40"""
    assert read(answer) == ("boxed", ids)


@pytest.mark.parametrize(
    ("answer", "ids"),
    [
        ("<answer>C</answer>", "C"),
        ("<answer>\nA treaty is binding\n</answer>", "C"),
        ("<answer>A</answer> no: <Answer>(C)</Answer>", "C"),
        ("The answer is A. <final_answer>C</final_answer>", "C"),
    ],
)
def test_an_answer_in_tags(answer: str, ids: str) -> None:
    """LE-40"""
    assert read(answer) == ("tagged", ids)


@pytest.mark.parametrize(
    ("answer", "ids"),
    [
        ("The answer is C", "C"),
        ("the correct answer is c.", "C"),
        ("The answer is **C** because of it", "C"),
        ("The answer is: (C)", "C"),
        ('The answer is "C".', "C"),
        ("The answer is option C", "C"),
        ("Answer: C", "C"),
        ("ANSWER: C", "C"),
        ("**Answer:** C", "C"),
        ("**Answer**: [C]", "C"),
        ("Answer = C", "C"),
        ("Answer:\n\nC", "C"),
        ("Final answer: C) A treaty is binding", "C"),
        ("final_answer: C", "C"),
        ("Option C", "C"),
        ("I choose option (c), clearly.", "C"),
        ("This is Choice C: it fits.", "C"),
        ("Option A is wrong. Option C is right.", "C"),
        ("Answer: A\nNo, wait.\nAnswer: C\nThat is all.", "C"),
        ("The answer is C, and A is wrong.", "C"),
        ("The answer is C, because A was repealed.", "C"),
        ("The answer is not A. The answer is C.", "C"),
        ("The answers are A and C.", "AC"),
        ("Answer: A, B and C", "ABC"),
        ("Answer: A; C", "AC"),
        ("Answer: A & C", "AC"),
        ("Options A and C are right", "AC"),
        ("Answer: both A and C", "AC"),
        ("Answer: Option A and Option C", "AC"),
        ("Answer: ii and iii", "B"),
        ("The answer is: A treaty is binding.", "C"),
        ("Answer: A", "A"),
        ("Answer: A\nThe contract is void.", "A"),
        ("The answer is A because of it", "A"),
        ("Option A best fits", "A"),
        ("C is the correct answer.", "C"),
        ("C is correct", "C"),
        ("**C** is the best choice here.", "C"),
        ("A and C are correct.", "AC"),
        ("I choose D", "D"),
        ("I'd go with D.", "D"),
        ("I would choose option B because option A is invalid.", "B"),
        ("The best answer would be B", "B"),
        ("The correct option is B", "B"),
        ("The answer is therefore B.", "B"),
        ("The answer to this question is B.", "B"),
        ("The answer is not A but C.", "C"),
        ("My choice: D", "D"),
        ("Die richtige Antwort ist C.", "C"),
        ("Richtig ist C.", "C"),
        ("Antwort C ist richtig.", "C"),
        ("C ist die richtige Antwort.", "C"),
        ("Ich wähle C.", "C"),
        ("La réponse correcte est B", "B"),
        ("La bonne réponse est B.", "B"),
        ("La re\u0301ponse est B.", "B"),
        ("La respuesta correcta es la B.", "B"),
        ("La risposta corretta è B.", "B"),
        ("A resposta correta é B.", "B"),
        ("I prefer option B over option A.", "B"),
        ("Option B, not option A.", "B"),
        ("Option B fits; option A can be ruled out.", "B"),
        ("Option B fits and option A (incorrect) does not.", "B"),
        ("Some say the answer is A, which is wrong. The answer is B.", "B"),
        ("It's C", "C"),
        ("It isn't A. It's C.", "C"),
        ("Answer - C", "C"),
        ("Between A and C, C is correct", "C"),
        ("There is no doubt that the answer is C", "C"),
        ("I'm not sure, but the answer is C", "C"),
        ("I would say the answer is C", "C"),
        ("B is wrong, so the answer is C.", "C"),
        ("The answer is C, but it is not obvious.", "C"),
        ("The answer is C, though B is not entirely wrong.", "C"),
        ("The answer is C. No other option fits.", "C"),
        ("If you ask me, the answer is C.", "C"),
        ("I thought about it and the answer is C", "C"),
        ("I don't think B fits, I'd choose C.", "C"),
        ("The answer is A or B. Since both were repealed, the answer is C.", "C"),
        ("C is correct. However, this is not legal advice.", "C"),
    ],
)
def test_an_answer_in_a_phrase(answer: str, ids: str) -> None:
    """LE-40, LE-42, LE-43"""
    assert read(answer) == ("phrase", ids)


@pytest.mark.parametrize(
    ("answer", "ids"),
    [
        ("C", "C"),
        ("c", "C"),
        (" C \n", "C"),
        ("C.", "C"),
        ("C)", "C"),
        ("(C)", "C"),
        ("[C]", "C"),
        ("**C**", "C"),
        ("`C`", "C"),
        ("_C_", "C"),
        ('"C"', "C"),
        ("- C", "C"),
        ("C:", "C"),
        ("A\n\nNo, rather:\n\nC", "C"),
        ("C\n\nThe treaty of 1969 says so.", "C"),
        ("A, C", "AC"),
        ("A and C", "AC"),
    ],
)
def test_a_letter_alone(answer: str, ids: str) -> None:
    """LE-40, LE-41, LE-43"""
    assert read(answer) == ("letter", ids)


@pytest.mark.parametrize(
    ("answer", "ids"),
    [
        ("none of the statements", "D"),
        ("None of the statements.", "D"),
        ("**None of  the statements**", "D"),
        ("After some thought:\nA treaty is binding\n", "C"),
        ("i\nii and iii\nA treaty is binding", "C"),
        ("C. A treaty is binding", "C"),
        ("C) a treaty is binding.", "C"),
        ("I say:\n\n**C. A treaty is binding**\n\nThat is all there is to it.", "C"),
    ],
)
def test_the_text_of_a_choice(answer: str, ids: str) -> None:
    """LE-40"""
    assert read(answer) == ("text", ids)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        " \n",
        "I do not know.",
        "It depends on the treaty.",
        "The answer is a matter of law.",
        "The answer is i think unclear",
        "The answer is not given.",
        "Answer: Z",
        "Option Z",
        "Options: see above",
        "AC",
        "Z",
        "### Heading ###",
        "A. i\nB. ii and iii\nC. A treaty is binding\nD. none of the statements",
        "B. A treaty is binding",
        "A treaty is binding in most cases, but not here.",
        "answers",
        "optional",
        "Option A is wrong.",
        "Option A is clearly not right.",
        "Options A and C are incorrect.",
        "Option A isn't it.",
        "Not option A.",
        "Rule out option A.",
        "The answer is not A.",
        "I would not choose A.",
        "Neither A nor B is correct.",
        "None of A, B or C is correct.",
        "A is not correct.",
        "A is incorrect.",
        "It depends on whether C is correct.",
        "Die Antwort ist nicht A.",
        "Antwort A ist falsch.",
        "La réponse A n'est pas correcte.",
        '{"answer": ""} A is wrong',
        "\\boxed{A} is wrong.",
        "###A### is wrong.",
        "<answer>A or B</answer>",
        "A or B",
        "The answer is A or B",
        "The answer is either A or B.",
        "The answer is A or, maybe, B",
        "The answer is A? No.",
        "The answer is A. No!",
        "Many would say the answer is A, but that is wrong.",
        "One might think the answer is A. However, this is incorrect.",
        "A is correct is a common misconception.",
        "A would be correct if it were signed, but it is not.",
        "If the law were different, the answer would be A.",
        "I used to think A is correct.",
        "I don't think, to be honest, that the answer is A.",
        "Option A looks right at first but fails.",
        "Option A is tempting",
        "I refuse to answer option A questions",
    ],
)
def test_where_no_rule_fires_nothing_is_selected(answer: str) -> None:
    """LE-42, LE-46"""
    assert READER.read(answer) == Selection()


DOUBTS = (
    *(
        "I don't think {}.",
        "I do not believe that {}.",
        "I doubt that {}.",
        "I can't say that {}.",
    ),
    *("It's false that {}.", "It is not true that {}.", "It would be wrong to say {}."),
    *("It is unlikely that {}.", "Nobody would say {}.", "I am not convinced that {}."),
    *("Many would say {}, but that is wrong.", "{}? No.", "{}. But this is incorrect."),
)
STATEMENTS = ("the answer is {}", "option {} is correct", "{} is the right answer", "it's {}")


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("doubt", DOUBTS)
def test_no_doubt_selects_what_it_doubts(doubt: str, statement: str) -> None:
    """LE-44"""
    doubted = doubt.format(statement.format("A"))

    assert read(doubted) == (None, "")
    assert read(f"{doubted} The answer is C.") == ("phrase", "C")


@pytest.mark.parametrize(
    "given", ["A or B", "either A or B", "A. i or B. ii and iii", "A, or perhaps C", "not A"]
)
def test_json_that_does_not_decide_selects_nothing(given: str) -> None:
    """LE-44"""
    assert READER.read(json.dumps({"answer": given})) == Selection("json", (), given)


@pytest.mark.parametrize(
    ("answer", "rule", "ids"),
    [
        ("<think>The answer is A.</think>\nC", "letter", "C"),
        ("<thinking>A</thinking><reasoning>B</reasoning> Answer: C", "phrase", "C"),
        ('<think>{"answer": "A"}</THINK>{"answer": "C"}', "json", "C"),
        ("<think>The answer is C.</think>\n ", "phrase", "C"),
        ("<think>The answer is C.", "phrase", "C"),
    ],
)
def test_reasoning_is_passed_over_when_an_answer_follows(answer: str, rule: str, ids: str) -> None:
    """LE-45"""
    assert read(answer) == (rule, ids)


@pytest.mark.parametrize(
    ("ids", "answer", "selected"),
    [
        (("1", "2", "10"), "Answer: 10", "10"),
        (("1", "2", "10"), "Answer: 1", "1"),
        (("1", "2", "10"), "2.", "2"),
        (("1", "2", "10"), "Answer: 1.5", None),
        (("1", "2", "10"), '{"answer": 2}', "2"),
        (("1", "2", "10"), '{"answer": 2.0}', "2"),
        (("1", "2", "10"), "###10###", "10"),
        (("yes", "no"), "Answer: No, because of it", "no"),
        (("yes", "no"), "The answer is nothing", None),
        (("yes", "no"), "YES", "yes"),
        (("not valid", "valid"), "Answer: not  valid", "not valid"),
        (("not valid", "valid"), "Answer: valid", "valid"),
        (("CHOICE_2", "CHOICE_26"), '{"answer": "CHOICE_26"}', "CHOICE_26"),
        (("CHOICE_2", "CHOICE_26"), "Option choice_26", "CHOICE_26"),
        (("A-1", "A-2", "A"), "Answer: A-2", "A-2"),
        (("A-1", "A"), "Answer: A", "A"),
        (("A",), "Answer: A-9", None),
        (("(a)", "(b)"), "Answer: b", "(b)"),
        (("(a)", "(b)"), '{"answer": "(b)"}', "(b)"),
        (("1.", "2."), "Answer: 2.", "2."),
        (("ä", "ö"), "Answer: Ö", "ö"),
        (("A", "a"), "Answer: a", "a"),
        (("A", "a"), "Answer: A", "A"),
        (("Ab", "aB"), "Answer: AB", None),
        (("Ab", "aB"), "Answer: aB", "aB"),
        (("***", "+++"), '{"answer": "+++"}', "+++"),
        (("N", "O"), "Answer: Option O and Option N", "O,N"),
        (("a, b", "c"), "Answer: a, b", "a, b"),
    ],
)
def test_an_id_may_be_anything(ids: tuple[str, ...], answer: str, selected: str | None) -> None:
    """LE-41, LE-42"""
    reader = ChoiceReader(tuple(AnswerChoice(name, f"text of {name}") for name in ids))

    assert ",".join(reader.read(answer).ids) == (selected or "")


def test_a_text_that_two_choices_have_selects_neither() -> None:
    reader = ChoiceReader(
        (AnswerChoice("A", "Yes"), AnswerChoice("B", "Yes"), AnswerChoice("C", "No"))
    )

    assert [reader.read(answer).ids for answer in ("Yes", "No")] == [(), ("C",)]


def test_an_id_wins_over_the_same_text_of_another_choice() -> None:
    reader = ChoiceReader((AnswerChoice("A", "B"), AnswerChoice("B", "A")))

    assert [reader.read(answer).ids for answer in ("A", "Answer: A")] == [("A",), ("A",)]


def test_a_long_line_is_no_choice() -> None:
    assert READER.read("x" * 5000 + "\nAnswer: " + "y" * 5000) == Selection()
    assert read("Answer: C " + "y" * 5000) == ("phrase", "C")


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.trials
def test_no_answer_takes_more_than_linear_time(name: str) -> None:
    """LE-49"""
    long = (*ABCD, AnswerChoice("E", "x" * 20_000))
    started = time.process_time()
    found = ChoiceReader(long).read(HOSTILE[name])

    assert found.ids == ()
    assert time.process_time() - started < 5


@given(
    st.lists(choices, min_size=1, max_size=5),
    st.lists(
        st.sampled_from(["answer is ", "Option ", "###", "{", '"answer": ', "A", "\n", " "])
        | texts
    ),
)
@settings(max_examples=examples(300))
def test_any_answer_to_any_choices_is_read(offered: list[AnswerChoice], parts: list[str]) -> None:
    found = ChoiceReader(tuple(offered)).read("".join(parts))

    assert found.rule in {None, *RULES}
    assert set(found.ids) <= {choice.id for choice in offered}
    assert (found.rule is None) == (not found.is_decided)


@given(st.lists(choices, min_size=1, max_size=5, unique_by=lambda choice: choice.id), st.data())
@settings(max_examples=examples(200))
def test_an_id_in_json_is_always_found(offered: list[AnswerChoice], data: st.DataObject) -> None:
    picked = data.draw(st.sampled_from(offered))
    found = ChoiceReader(tuple(offered)).read(json.dumps({"answer": picked.id}))

    assert found.ids == (picked.id,)
