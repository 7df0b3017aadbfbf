"""Check rubrics: what is read, and what is wrong with them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from steelyard.checks.catalog import BUILT_IN, Catalog
from steelyard.checks.equals import Equals
from steelyard.checks.latency import Latency
from steelyard.checks.must_contain_any import MustContainAny
from steelyard.checks.must_not_contain import MustNotContain
from steelyard.checks.regex import Regex
from steelyard.contracts.check_rubric.reader import read_check_rubric
from steelyard.contracts.check_rubric.schema import stated_kinds
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.case import Case
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject
from steelyard.model.outcome import Outcome
from steelyard.model.reference import exact_version
from steelyard.model.rubric import Rubric, RubricCheck, StatedCheck
from steelyard.model.trace import Trace

PAGE = Path(__file__).parents[4] / "docs" / "contracts" / "check_rubric.md"
FRAME = """\
id: basic
version: 1.0.0
checks:
  - id: a
    {check}
scoring: {{combine: all_pass}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shouting:
    """Pass when the response is in capitals: a kind from another package."""

    kind: ClassVar[str] = "shouting"

    letters: int = 1

    def check(self, trace: Trace, case: Case) -> Outcome:
        return Outcome.passing(case.id) if trace.response.isupper() else Outcome.failing(case.id)


def read(text: str, catalog: Catalog | None = None) -> tuple[Rubric | None, list[Finding]]:
    return read_check_rubric(parse_yaml(text.encode()), catalog or Catalog())


def sound(text: str) -> Rubric:
    rubric, findings = read(text)
    assert rubric
    assert findings == []
    return rubric


def only_check(text: str) -> RubricCheck:
    (check,) = sound(FRAME.format(check=text)).checks
    return check


def test_the_example_of_the_documentation_is_read() -> None:
    """CR-01"""
    example = re.findall("```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]

    assert sound(example) == Rubric(
        id="answer_quality",
        version="1.2.0",
        checks=(
            RubricCheck(id="names_the_answer", check=MustContainAny(), weight=2.0),
            RubricCheck(id="gives_a_year", check=Regex(pattern=r"\b[0-9]{4}\b")),
            RubricCheck(
                id="no_excuses",
                check=MustNotContain(phrases=("I'm sorry", "as a language model")),
                required=True,
            ),
            RubricCheck(id="in_time", check=Latency(max_ms=2000), weight=0.0, required=True),
        ),
        combine="weighted_avg",
        pass_threshold=0.6,
    )


def test_what_is_left_out_has_its_default() -> None:
    rubric = sound(FRAME.format(check="kind: equals"))

    assert rubric.pass_threshold == 0.7
    assert rubric.checks == (
        RubricCheck(id="a", check=Equals(), weight=1.0, required=False, negate=False),
    )


def test_a_check_can_be_required_negated_and_weighted() -> None:
    """CR-05"""
    check = only_check("kind: equals\n    weight: 0\n    required: true\n    negate: true")

    assert (check.weight, check.required, check.negate) == (0.0, True, True)


def test_the_hash_of_the_file_is_kept() -> None:
    content = parse_yaml(FRAME.format(check="kind: equals").encode())
    rubric, _ = read_check_rubric(content, Catalog(), "0" * 64)

    assert rubric
    assert rubric.sha256 == "0" * 64
    assert rubric.name == "rubric/basic@1.0.0"


@pytest.mark.parametrize(
    ("check", "path", "hint"),
    [
        ("kind: equals\n    max_ms: 7", "checks[0].max_ms", "'max_ms' is a setting of latency"),
        (
            "kind: regex\n    pattern: a\n    ticket: 7",
            "checks[0].ticket",
            "known here: id, kind, match, negate, pattern, required and weight",
        ),
    ],
)
def test_a_name_that_the_kind_does_not_own_is_reported(check: str, path: str, hint: str) -> None:
    """CR-06"""
    rubric, (found,) = read(FRAME.format(check=check))

    assert rubric
    assert (found.code, found.path, found.hint) == ("unknown_field", path, hint)
    assert (found.severity, found.strict().severity) == ("warning", "error")


def test_a_misspelt_field_is_a_warning_and_the_rubric_can_be_used() -> None:
    """CR-06"""
    rubric, findings = read(FRAME.format(check="kind: equals\n    ignoreCase: true"))

    assert rubric
    assert [(found.code, found.line, found.hint) for found in findings] == [
        ("unknown_field", 6, "did you mean 'ignore_case'?")
    ]
    assert [found.strict().severity for found in findings] == ["error"]


def test_a_rubric_with_an_error_is_not_used() -> None:
    """CR-07"""
    rubric, (finding,) = read(FRAME.format(check="kind: regex\n    pattern: (?=a)"))

    assert rubric is None
    assert (finding.severity, finding.path, finding.line) == ("error", "checks[0].pattern", 6)


STATED: dict[str, JsonObject] = {
    "llm_judge": {"judge_prompt_ref": "judge/accuracy@1.0"},
    "composite": {"rubric_ref": "rubric/basic@1.2"},
}


@pytest.mark.parametrize("kind", STATED)
def test_a_kind_that_needs_more_than_a_trace_keeps_its_settings_as_written(kind: str) -> None:
    """CR-11"""
    settings: JsonObject = {**STATED[kind], "x-further": [1]}
    text = json.dumps({"id": "a", "kind": kind, "weight": 2, **settings})
    rubric = sound(
        FRAME.replace("- id: a\n    {check}", f"- {text}").replace("{{", "{").replace("}}", "}")
    )

    assert rubric.checks == (
        RubricCheck(id="a", check=StatedCheck(kind=kind, settings=settings), weight=2.0),
    )
    assert list(rubric.stated) == ["a"]


def test_a_stated_kind_for_which_a_package_brings_a_class_is_made_of_it() -> None:
    """CR-12"""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Other(Shouting):
        kind: ClassVar[str] = "composite"

        depth: float

    rubric, findings = read(FRAME.format(check="kind: composite\n    depth: 1"), Catalog((Other,)))

    assert rubric
    assert rubric.checks[0].check == Other(depth=1)
    assert findings == []


def test_the_documentation_lists_the_kinds_that_are_in_no_catalog() -> None:
    """CR-11"""
    page = PAGE.read_text(encoding="utf-8")

    assert set(Catalog().kinds).isdisjoint(stated_kinds())
    assert [kind for kind in stated_kinds() if f"| `{kind}` |" not in page] == []


def test_the_eleven_kinds_of_the_contract_are_known() -> None:
    """CR-11"""
    eleven = {
        *("must_contain_any", "must_not_contain", "regex", "json_schema", "php_lint"),
        *("markdown_structure", "tool_usage", "format", "fact_match", "llm_judge", "composite"),
    }

    assert eleven <= {*Catalog().kinds, *stated_kinds()}
    assert sorted(STATED) == sorted(stated_kinds())


def test_further_fields_are_kept() -> None:
    """CR-06"""
    text = "owner: we\n" + FRAME.format(check="kind: equals\n    notes: [x]\n    x-max: 7")
    rubric = sound(text + "description: What for.\n")

    assert (rubric.description, rubric.extra) == ("What for.", {"owner": "we"})
    assert rubric.checks[0].extra == {"notes": ["x"], "x-max": 7}


def test_a_kind_of_another_package_is_read_like_any_other() -> None:
    """CR-12"""
    text = FRAME.format(check="kind: shouting\n    letters: 3")
    rubric, findings = read(text, Catalog((*BUILT_IN, Shouting)))

    assert rubric
    assert rubric.checks[0].check == Shouting(letters=3)
    assert findings == []


@pytest.mark.parametrize(
    ("version", "exact"),
    [
        ("1.2", "1.2.0"),
        ("1.2.3", "1.2.3"),
        ("0.0", "0.0.0"),
        ("1.2-rc.1", "1.2.0-rc.1"),
        ("1.2.3-rc.1", "1.2.3-rc.1"),
        ("1.2+build.7", "1.2.0+build.7"),
        ("1.2.3-a.b+c-d", "1.2.3-a.b+c-d"),
        ("10.20", "10.20.0"),
    ],
)
def test_a_version_of_two_numbers_means_exactly_the_one_with_zero(
    version: str, exact: str
) -> None:
    """CR-03, CR-19"""
    assert exact_version(version) == exact
    assert sound(FRAME.replace("1.0.0", f'"{version}"').format(check="kind: equals")).version == (
        exact
    )


@pytest.mark.parametrize("version", ["1", "v1.0", "1.2.3.4", "01.2", "1.02.0", "1.2-", "1.2 ", ""])
def test_another_text_is_no_version(version: str) -> None:
    """CR-03"""
    _, (finding,) = read(FRAME.replace("1.0.0", f'"{version}"').format(check="kind: equals"))

    assert (finding.code, finding.path) == ("value_out_of_range", "version")
    assert finding.hint == 'write two or three numbers in quotes, such as "1.2.0"'
