"""`php_lint`."""

from __future__ import annotations

from typing import Literal

import pytest

from fakes.programs import ScriptedPrograms
from steelyard.checks.catalog import Catalog
from steelyard.checks.php_lint import PhpLint
from steelyard.checks.programs import NoPrograms, NotRun, ProgramCall, Ran
from steelyard.model.case import Case
from strategies.traces import said

CLASS = "```php\n<?php\nfinal class A {}\n```"
TWO = f"{CLASS}\nand\n```PHP\necho 1;\n```\nbut not\n```js\nlet a\n```"
FAULT = Ran(255, "\nParse error: syntax error in Standard input code on line 1\nErrors parsing\n")


def test_every_block_of_php_is_linted_with_ten_seconds_each() -> None:
    programs = ScriptedPrograms()
    outcome = PhpLint(programs=programs).check(said(TWO), Case(id="a"))

    assert (outcome.passed, outcome.score) == (True, 1.0)
    assert outcome.reason == "2 block(s) of PHP without a syntax error"
    assert programs.runs == [
        ProgramCall(("php", "-n", "-l"), "<?php\nfinal class A {}", 10.0),
        ProgramCall(("php", "-n", "-l"), "<?php echo 1;", 10.0),
    ]


@pytest.mark.parametrize(
    ("block", "linted"),
    [
        ("echo 1;", "<?php echo 1;"),
        ("<?PHP echo 1;", "<?PHP echo 1;"),
        ("<h1><?= $title ?></h1>", "<h1><?= $title ?></h1>"),
        ("<p>\n<?php echo 1;", "<p>\n<?php echo 1;"),
    ],
)
def test_a_block_without_a_tag_gets_one(block: str, linted: str) -> None:
    programs = ScriptedPrograms()
    PhpLint(programs=programs).check(said(f"```php\n{block}\n```"), Case(id="a"))

    assert [call.given for call in programs.runs] == [linted]


def test_the_score_is_the_share_of_blocks_without_an_error() -> None:
    programs = ScriptedPrograms([Ran(0, ""), FAULT])
    outcome = PhpLint(programs=programs).check(said(TWO), Case(id="a"))

    assert (outcome.passed, outcome.score) == (False, 0.5)
    assert outcome.reason == (
        "block 2: Parse error: syntax error in Standard input code on line 1 Errors parsing"
    )


def test_a_block_that_was_cut_off_is_linted_too() -> None:
    outcome = PhpLint(programs=ScriptedPrograms([FAULT])).check(
        said("```php\nclass A {"), Case(id="a")
    )

    assert outcome.passed is False


@pytest.mark.parametrize("response", ["", "No code.", "```\necho 1;\n```", "```phpt\nx\n```"])
def test_without_a_block_of_php_it_is_skipped(response: str) -> None:
    outcome = PhpLint(programs=ScriptedPrograms()).check(said(response), Case(id="a"))

    assert outcome.status == "skipped"
    assert outcome.reason == "the response has no fenced block marked php"


def test_without_php_it_is_skipped_and_not_passed() -> None:
    programs = ScriptedPrograms([NotRun("not_found", "php is not installed")])
    outcome = PhpLint(programs=programs).check(said(CLASS), Case(id="a"))

    assert (outcome.status, outcome.reason) == ("skipped", "php is not installed")
    assert outcome.is_unavailable


@pytest.mark.parametrize("why", ["timeout", "too_much"])
def test_when_the_time_is_over_it_is_unscored(why: Literal["timeout", "too_much"]) -> None:
    programs = ScriptedPrograms([Ran(0, ""), NotRun(why, "php took longer than 10 s")])
    outcome = PhpLint(programs=programs).check(said(TWO), Case(id="a"))

    assert (outcome.status, outcome.reason) == ("unscored", "php took longer than 10 s")
    assert (outcome.passed, outcome.score) == (None, None)


@pytest.mark.parametrize("check", [PhpLint(), Catalog().make("php_lint", {})])
def test_where_commands_are_not_allowed_it_is_skipped_and_names_the_setting(
    check: PhpLint,
) -> None:
    outcome = check.check(said(CLASS), Case(id="a"))

    assert outcome.status == "skipped"
    assert outcome.reason == (
        "running php is not allowed; allow.commands in steelyard.yaml permits it"
    )


def test_a_catalog_hands_its_programs_to_the_check() -> None:
    programs = ScriptedPrograms()
    check = Catalog(programs=programs).make("php_lint", {})

    assert check.check(said(CLASS), Case(id="a")).passed
    assert len(programs.runs) == 1


def test_programs_are_no_setting_and_no_part_of_what_a_check_is() -> None:
    assert Catalog().fragment("php_lint") == {"required": [], "properties": {}}
    assert PhpLint(programs=ScriptedPrograms()) == PhpLint(programs=NoPrograms())
    assert repr(PhpLint()) == "PhpLint()"
    assert PhpLint.runs_commands
