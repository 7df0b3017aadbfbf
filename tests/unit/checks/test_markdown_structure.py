"""`markdown_structure`."""

from __future__ import annotations

import pytest

from steelyard.checks.markdown_structure import MarkdownStructure
from steelyard.errors import SettingError
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from strategies.traces import said

PAGE = """\
## Setting up

Install it.
Then run it.

### With Docker

```sh
# a comment, no heading
TODO
```
"""


@pytest.mark.parametrize(
    ("check", "passed"),
    [
        (MarkdownStructure(min_headings=2), True),
        (MarkdownStructure(min_headings=3), False),
        (MarkdownStructure(min_headings=0), True),
        (MarkdownStructure(max_heading_level=3), True),
        (MarkdownStructure(max_heading_level=2), False),
        (MarkdownStructure(no_h1=True), True),
        (MarkdownStructure(required_sections=("docker",)), True),
        (MarkdownStructure(required_sections=("SETTING", "with")), True),
        (MarkdownStructure(required_sections=("comment",)), False),
        (MarkdownStructure(forbidden_patterns=("todo",)), True),
        (MarkdownStructure(forbidden_patterns=("TODO",)), False),
        (MarkdownStructure(min_code_blocks=1), True),
        (MarkdownStructure(min_code_blocks=2), False),
        (MarkdownStructure(min_paragraphs=2), True),
        (MarkdownStructure(min_paragraphs=3), False),
    ],
)
def test_each_demand_is_met_or_not(check: MarkdownStructure, passed: bool) -> None:
    outcome = check.check(said(PAGE), Case(id="a"))

    assert (outcome.passed, outcome.score) == (passed, float(passed))


@pytest.mark.parametrize(("response", "passed"), [("# A\n## B", False), ("```\n# A\n```", True)])
def test_a_heading_of_the_first_level_can_be_forbidden(response: str, passed: bool) -> None:
    assert MarkdownStructure(no_h1=True).check(said(response), Case(id="a")).passed is passed


def test_without_headings_none_is_too_deep() -> None:
    assert MarkdownStructure(max_heading_level=1).check(said("text"), Case(id="a")).passed


def test_the_score_is_the_share_of_demands_that_are_met() -> None:
    check = MarkdownStructure(
        min_headings=1, no_h1=True, required_sections=("docker", "podman"), min_code_blocks=3
    )
    outcome = check.check(said(PAGE), Case(id="a"))

    assert (outcome.passed, outcome.score) == (False, 0.6)
    assert outcome.reason == "has 1 code block(s), fewer than 3; has no heading with 'podman'"


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        (MarkdownStructure(min_headings=1, no_h1=True), "meets all of 2 demand(s)"),
        (MarkdownStructure(max_heading_level=2), "has a heading of level 3, below 2"),
        (MarkdownStructure(min_headings=9), "has 2 heading(s), fewer than 9"),
        (MarkdownStructure(min_paragraphs=9), "has 2 paragraph(s), fewer than 9"),
        (MarkdownStructure(forbidden_patterns=("TODO",)), "contains 'TODO'"),
    ],
)
def test_the_reason_says_what_was_found(check: MarkdownStructure, reason: str) -> None:
    assert check.check(said(PAGE), Case(id="a")).reason == reason


def test_the_reason_names_a_first_level() -> None:
    outcome = MarkdownStructure(no_h1=True).check(said("# A"), Case(id="a"))

    assert outcome.reason == "has a heading of level 1"


def test_the_reason_stays_short() -> None:
    check = MarkdownStructure(required_sections=tuple("abcdefghij"))

    assert check.check(said("text"), Case(id="a")).reason.count(";") == 4


@pytest.mark.parametrize("check", [MarkdownStructure(), MarkdownStructure(no_h1=False)])
def test_without_a_demand_it_is_skipped(check: MarkdownStructure) -> None:
    """CR-08"""
    outcome = check.check(said(PAGE), Case(id="a"))

    assert (outcome.status, outcome.reason) == ("skipped", "the check demands nothing")


@pytest.mark.parametrize("name", ["required_sections", "forbidden_patterns"])
def test_an_empty_text_is_refused(name: str) -> None:
    """CR-10"""
    settings: JsonObject = {name: ["a", ""]}
    with pytest.raises(SettingError, match="must not be empty") as caught:
        MarkdownStructure(**{key: tuple(value) for key, value in settings.items()})  # type: ignore[arg-type]

    assert caught.value.name == name
