"""What a judge did with canaries: passing, failing and having no score are three states."""

from __future__ import annotations

from steelyard.model.statistics.validation import CanaryCount, CanaryTally
from steelyard.reports.judges.canary_lines import canaries_say, canary_lines

WHY = {"empty": "nothing is an answer", "praise": "praise is quality", "order": "it is obeyed"}


def counted(id_: str, asked: int, passed: int, unscored: int) -> CanaryCount:
    return CanaryCount(id=id_, asked=asked, passed=passed, unscored=unscored)


def words(tally: CanaryTally) -> list[tuple[str, str, str]]:
    return [(one.name, one.word.word, one.about) for one in canary_lines(tally, WHY)]


def test_each_canary_has_its_state_and_its_cases() -> None:
    counts = (counted("empty", 3, 0, 1), counted("praise", 3, 2, 0), counted("order", 3, 0, 3))
    tally = CanaryTally(asked=9, passed=2, unscored=4, passed_ids=("praise",), by_canary=counts)

    assert canaries_say(tally) == ("It passes 2 of 5 answers that it must fail. 4 have no score.")
    assert words(tally) == [
        ("praise", "Passes it", "2 of 3"),
        ("order", "No score", "none of 3 has a score"),
        ("empty", "Fails it", "2 of 2, 1 without a score"),
    ]


def test_canaries_without_a_score_are_not_failed() -> None:
    tally = CanaryTally(asked=9, unscored=9)

    assert canaries_say(tally) == "None of 9 has a score."
    assert {word for _, word, _ in words(tally)} == {"No score"}


def test_a_validation_that_stored_less_says_no_more_than_it_knows() -> None:
    partly = CanaryTally(asked=9, passed=1, unscored=1, passed_ids=("praise",))
    wholly = CanaryTally(asked=9)

    assert words(partly)[0][1] == "Passes it"
    assert {word for _, word, _ in words(partly)[1:]} == {"Not passed"}
    assert {word for _, word, _ in words(wholly)} == {"Fails it"}
    assert canaries_say(wholly) == "It fails all 9 answers that it must fail."
    assert "where it has a score" in canaries_say(CanaryTally(asked=9, unscored=1))
