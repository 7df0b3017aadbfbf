"""A rubric's own name, and the checks that it only states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from fakes.programs import ScriptedPrograms
from steelyard.checks.catalog import BUILT_IN
from steelyard.checks.command import Command
from steelyard.checks.equals import Equals
from steelyard.checks.function import function_check
from steelyard.checks.is_json import IsJson
from steelyard.engine.grading.composite import composite
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.reference import Reference
from steelyard.model.rubric import Rubric, RubricCheck, StatedCheck
from steelyard.model.trace import Trace


def test_a_rubric_is_named_by_its_pinned_reference() -> None:
    rubric = Rubric(id="basic", version="1.2.0", checks=())

    assert Reference.parse(rubric.name) == Reference(kind="rubric", id="basic", version="1.2.0")


def test_a_stated_check_cannot_be_carried_out_on_its_own() -> None:
    stated = StatedCheck(kind="llm_judge", settings={"judge_prompt_ref": "judge/a@1.0"})
    outcome = stated.check(Trace(), Case(id="a"))

    assert outcome == Outcome.unscored("nothing here carries out llm_judge")


def test_a_rubric_lists_what_is_only_stated() -> None:
    stated = StatedCheck(kind="cost", settings={"max_usd": 1})
    checks = (RubricCheck(id="a", check=Equals()), RubricCheck(id="b", check=stated))

    assert Rubric(id="basic", version="1.2.0", checks=checks).stated == {"b": stated}


def of(*checks: Any) -> Rubric:
    entries = tuple(RubricCheck(id=str(place), check=one) for place, one in enumerate(checks))
    return Rubric(id="basic", version="1.2.0", checks=entries)


def test_the_classes_of_plain_checks_are_the_form_of_a_rubric() -> None:
    assert of(Equals(value="a"), IsJson()).form == (Equals, IsJson)
    assert of(Equals(value="b"), IsJson()).form == (Equals, IsJson)


class _Plugin:
    """What a kind of another distribution has to have, in a class that is open to more."""

    kind: ClassVar[str] = "mine"

    def check(self, trace: Trace, case: Case) -> Outcome:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class _Varies:
    """A kind whose revision is a setting."""

    revision: int
    kind: ClassVar[str] = "varies"


@dataclass(frozen=True, slots=True)
class _Computes:
    """A kind that looks at its settings to say whether it costs."""

    dear: bool
    kind: ClassVar[str] = "computes"

    @property
    def needs_cost(self) -> bool:
        return self.dear


def _says_yes(trace: Trace, case: Case) -> bool:
    raise NotImplementedError


@pytest.mark.parametrize(
    "check",
    [
        Command(script="grade.py", programs=ScriptedPrograms()),
        StatedCheck(kind="cost"),
        composite(of(Equals())),
        function_check(_says_yes),
        _Plugin(),
        _Varies(2),
        _Computes(dear=True),
    ],
)
def test_a_check_of_which_its_class_does_not_tell_everything_leaves_no_form(check: Any) -> None:
    assert of(Equals(), check).form is None


@pytest.mark.parametrize("kind", BUILT_IN)
def test_only_programs_among_the_built_in_kinds_have_needs_of_their_own(kind: type[Any]) -> None:
    check: Any = object.__new__(kind)

    assert (of(check).form is None) is bool(getattr(kind, "runs_commands", False))


def test_rubrics_are_known_again_whatever_else_their_files_say() -> None:
    checks = tuple(RubricCheck(id="a", check=Equals(), extra={"note": [mark]}) for mark in "xy")
    one, same, other = (
        Rubric(id="basic", version="1.2.0", checks=(check,), extra={"notes": {}})
        for check in (checks[0], checks[0], checks[1])
    )

    assert len({one, same}) == 1
    assert len({one, other}) == 2
