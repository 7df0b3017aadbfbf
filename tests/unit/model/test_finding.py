from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.model.finding import CODES, RECORD_CODES, Finding, error, warning

NEAR_MISS = Finding(
    severity="warning",
    code="unknown_field",
    message="unknown field 'tag'",
    path="records[0].tag",
    line=3,
    index=0,
    record_id="r-1",
    hint="did you mean 'tags'?",
)


def test_strict_mode_makes_a_near_miss_an_error_and_changes_nothing_else() -> None:
    strict = NEAR_MISS.strict()

    assert strict.is_error
    assert replace(strict, severity="warning") == NEAR_MISS


@pytest.mark.parametrize(
    "finding",
    [
        replace(NEAR_MISS, hint=None),
        replace(NEAR_MISS, code="missing_sidecar"),
        replace(NEAR_MISS, severity="error"),
    ],
)
def test_strict_mode_leaves_other_findings_as_they_are(finding: Finding) -> None:
    assert finding.strict() == finding


@pytest.mark.parametrize("code", ["unpinned_reference", "stale_validation", "out_of_scope_judge"])
def test_strict_mode_takes_no_doubtful_reference(code: str) -> None:
    assert warning(code, "x").strict() == error(code, "x")


def test_only_an_error_is_an_error() -> None:
    assert error("invalid_json", "x").is_error
    assert not warning("unknown_field", "x").is_error


def test_a_finding_about_a_file_has_path_and_line() -> None:
    finding = warning("missing_sidecar", "no sidecar", path="a.yaml", line=2)

    assert finding == Finding(
        severity="warning", code="missing_sidecar", message="no sidecar", path="a.yaml", line=2
    )


def test_the_nine_codes_of_the_record_contract_come_first() -> None:
    assert len(RECORD_CODES) == 9
    assert CODES[:9] == RECORD_CODES


def test_no_code_is_listed_twice() -> None:
    assert len(set(CODES)) == len(CODES)
