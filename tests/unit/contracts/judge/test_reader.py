"""Judges: what is read, and what is wrong with them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from steelyard.contracts.judge.reader import moment, read_judge
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.finding import Finding
from steelyard.model.judge import Judge, Validation

PAGE = Path(__file__).parents[4] / "docs" / "contracts" / "judge.md"
JUDGE = 'id: tone\nversion: "1.2"\ntemplate: "{{ output }}"\n'


def read(text: str) -> tuple[Judge | None, list[Finding]]:
    return read_judge(parse_yaml(text.encode()))


def sound(text: str) -> Judge:
    judge, findings = read(text)
    assert judge
    assert findings == []
    return judge


def test_the_example_of_the_documentation_is_read() -> None:
    """JD-01"""
    example = re.findall("```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    judge = sound(example)

    assert judge.name == "judge/answers_the_question@1.1.0"
    assert (judge.score_type, judge.level_names) == ("levels", ("no", "partly", "yes"))
    assert judge.validation == Validation(
        tpr=0.93,
        tnr=0.87,
        validated_against="labels/helpdesk-2026-01.jsonl",
        validated_at="2026-01-15",
        sample_size=240,
        extra={"counts": {"tp": 112, "fn": 8, "tn": 104, "fp": 16}},
    )
    assert judge.applicable_to == ("helpdesk",)


def test_what_is_left_out_has_its_default() -> None:
    """JD-01, JD-03"""
    assert sound(JUDGE) == Judge(id="tone", version="1.2.0", template="{{ output }}")


def test_further_fields_are_kept() -> None:
    """JD-04"""
    judge = sound(JUDGE + "owner: we\nvalidation: {fingerprint: abc}\n")

    assert judge.extra == {"owner": "we"}
    assert judge.validation == Validation(extra={"fingerprint": "abc"})


def test_a_scope_of_nothing_is_not_the_same_as_no_scope() -> None:
    """JD-09"""
    assert sound(JUDGE).applicable_to is None
    assert sound(JUDGE + "applicable_to: []\n").applicable_to == ()


def test_an_integer_may_be_written_with_a_point() -> None:
    size = sound(JUDGE + "validation: {sample_size: 200.0}\n").validation

    assert size == Validation(sample_size=200)
    assert size
    assert isinstance(size.sample_size, int)


def test_the_hash_of_the_file_is_kept() -> None:
    judge, _ = read_judge(parse_yaml(JUDGE.encode()), "0" * 64)

    assert judge
    assert judge.sha256 == "0" * 64


@pytest.mark.parametrize(
    ("score_type", "names", "codes"),
    [
        ("binary", None, []),
        ("continuous", None, []),
        ("continuous", "[a, b]", [("unknown_field", "level_names")]),
        ("binary", "[a, b]", [("unknown_field", "level_names")]),
        ("levels", "[a, b]", []),
        ("levels", None, [("missing_required_field", "level_names")]),
        ("levels", "[a]", [("value_out_of_range", "level_names")]),
        ("levels", "[a, a]", [("value_out_of_range", "level_names")]),
        ("levels", "[a, ' ']", [("value_out_of_range", "level_names[1]")]),
        ("stars", None, [("invalid_enum_value", "score_type")]),
        ("[levels]", "[a, b]", [("invalid_enum_value", "score_type")]),
    ],
)
def test_levels_need_names(
    score_type: str, names: str | None, codes: list[tuple[str, str]]
) -> None:
    """JD-03"""
    text = f"{JUDGE}score_type: {score_type}\n" + (f"level_names: {names}\n" if names else "")
    _, findings = read(text)

    assert [(finding.code, finding.path) for finding in findings] == codes


@pytest.mark.parametrize(
    ("written", "time"),
    [
        ("2026-01-15", datetime(2026, 1, 15, tzinfo=UTC)),
        ("2026-01-15T10:05", datetime(2026, 1, 15, 10, 5, tzinfo=UTC)),
        ("2026-01-15 10:05:12", datetime(2026, 1, 15, 10, 5, 12, tzinfo=UTC)),
        ("2026-01-15T10:05:12Z", datetime(2026, 1, 15, 10, 5, 12, tzinfo=UTC)),
        (
            "2026-01-15T10:05:12.5+02:00",
            datetime(2026, 1, 15, 10, 5, 12, 500000, timezone(timedelta(hours=2))),
        ),
    ],
)
def test_a_validation_names_a_day_or_a_moment(written: str, time: datetime) -> None:
    """JD-08"""
    judge = sound(f"{JUDGE}validation: {{validated_at: '{written}'}}\n")

    assert judge.validation == Validation(validated_at=written)
    assert moment(written) == time


@pytest.mark.parametrize(
    "written", ["2026-02-30", "2026-13-01", "2026-01-15T25:00", "15.01.2026", "2026", "soon", ""]
)
def test_another_text_is_no_time(written: str) -> None:
    """JD-08"""
    judge, (finding,) = read(f"{JUDGE}validation: {{validated_at: '{written}'}}\n")

    assert judge is None
    assert (finding.code, finding.path) == ("value_out_of_range", "validation.validated_at")
    assert finding.hint == (
        "write a day, such as 2026-01-15, or a time, such as 2026-01-15T10:05:12Z"
    )


@pytest.mark.parametrize(
    ("field", "value", "is_right"),
    [
        ("tpr", "0", True),
        ("tpr", "1", True),
        ("tpr", "1.01", False),
        ("tnr", "-0.01", False),
        ("sample_size", "0", True),
        ("sample_size", "-1", False),
        ("sample_size", "1.5", False),
    ],
)
def test_a_rate_lies_between_0_and_1(field: str, value: str, is_right: bool) -> None:
    """JD-08"""
    judge, findings = read(f"{JUDGE}validation: {{{field}: {value}}}\n")

    assert (judge is not None) is is_right
    assert [finding.path for finding in findings] == ([] if is_right else [f"validation.{field}"])
