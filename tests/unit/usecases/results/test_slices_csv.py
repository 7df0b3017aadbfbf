"""The slices of a run as CSV."""

from __future__ import annotations

import csv
import io

from steelyard.model.statistics.interval import Interval
from steelyard.results.metrics import CheckMetrics, Slice
from steelyard.usecases.results.slices_csv import export_slices

RATE = Interval(0.5, 0.1, 0.9, "wilson", 4)


def part(value: str | None, **checks: Interval) -> Slice:
    return Slice(
        slice="tags",
        value=value,
        total_records=5,
        valid_records=5,
        evaluated_records=4,
        failed_records=1,
        skipped_records=0,
        pass_count=2,
        fail_count=2,
        unscored_count=0,
        pass_rate=RATE,
        score=RATE,
        checks={
            name: CheckMetrics(kind="k", pass_rate=rate, mean_score=None, skipped=0, unscored=0)
            for name, rate in checks.items()
        },
        attempts=5,
    )


def rows(*lines: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(lines))))


def test_each_rate_has_its_interval_and_n_in_columns_of_their_own() -> None:
    found = rows(*export_slices([part("a", c=RATE)], ["c"], {("tags", "a"): RATE}))

    assert found == [
        {
            "slice": "tags",
            "value": "a",
            "records": "5",
            "no_score": "1",
            "passed": "2",
            "pass_rate": "0.5",
            "pass_rate_low": "0.1",
            "pass_rate_high": "0.9",
            "check:c": "0.5",
            "check:c_low": "0.1",
            "check:c_high": "0.9",
            "people": "0.5",
            "people_low": "0.1",
            "people_high": "0.9",
            "pass_rate_n": "4",
            "check:c_n": "4",
            "people_n": "4",
            "adjusted_p": "",
        }
    ]


def test_rows_have_all_columns_whatever_is_missing() -> None:
    """A check that graded nothing has n 0; records without a value are no slice."""
    lines = list(export_slices([part("=x"), part(None)], ["c"], {}))

    assert len({len(next(csv.reader([line]))) for line in lines}) == 1
    (found,) = rows(*lines)
    assert found["value"] == "'=x"
    assert (found["check:c"], found["check:c_n"]) == ("", "0")
    assert "people" not in found
