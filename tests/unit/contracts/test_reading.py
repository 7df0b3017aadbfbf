"""What all readers share: rows and their places."""

from __future__ import annotations

import pytest

from steelyard.contracts.reading import Row, RowPlace
from steelyard.formats.lines import Lines
from steelyard.formats.problem import Problem
from steelyard.model.finding import Finding, error, warning

PROBLEM = Problem(code="invalid_field_type", message="{} must be a string", path=("input", 0))


@pytest.mark.parametrize(
    ("findings", "accepted"),
    [
        ((), True),
        ((warning("unknown_field", "odd"),), True),
        ((warning("unknown_field", "odd"), error("invalid_json", "no")), False),
    ],
)
def test_a_row_is_accepted_unless_it_has_an_error(
    findings: tuple[Finding, ...], accepted: bool
) -> None:
    assert Row(0, 1, "a", {}, findings).is_accepted is accepted


def test_a_finding_of_a_record_has_the_path_in_the_file() -> None:
    finding = RowPlace(4, "q", ("records", 4)).finding(PROBLEM)

    assert finding == Finding(
        severity="error",
        code="invalid_field_type",
        message="input[0] must be a string",
        path="records[4].input[0]",
        index=4,
        record_id="q",
    )


def test_a_finding_of_a_row_says_its_line() -> None:
    finding = RowPlace(4, None, line=7, has_line_prefix=True).finding(PROBLEM)

    assert (finding.line, finding.path) == (7, "input[0]")
    assert finding.message == "Line 7: input[0] must be a string"


def test_a_finding_has_the_line_of_its_field_where_lines_are_known() -> None:
    lines = Lines(10, {"input": Lines(12, {0: Lines(13)})})

    assert RowPlace(4, None, line=10, lines=lines).finding(PROBLEM).line == 13
