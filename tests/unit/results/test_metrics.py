"""The metrics of a run, written and read again, also those of other versions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from fakes.contracts import SCHEMAS
from fakes.manifests import manifest_row
from fakes.metrics import metrics
from steelyard.engine.metrics.run_metrics import metrics_of
from steelyard.errors import UnreadableFileError
from steelyard.reports.run.run_text import run_lines
from steelyard.results.metrics import (
    Cache,
    Metrics,
    Missing,
    Slice,
    kept_metrics,
    read_metrics,
    read_slices,
    slices_json,
)
from steelyard.usecases.results.read_run import read_run
from strategies.run_facts import checked, facts

ESTIMATE = {"value": 0.5, "low": 0.1, "high": 0.9, "method": "wilson", "n": 2}
OLDEST: dict[str, Any] = {
    "total_records": 3,
    "valid_records": 3,
    "evaluated_records": 2,
    "failed_records": 1,
    "skipped_records": 0,
    "pass_count": 1,
    "fail_count": 1,
    "unscored_count": 0,
    "pass_rate": ESTIMATE,
    "score": ESTIMATE,
    "checks": {
        "right": {
            "kind": "equals",
            "pass_rate": ESTIMATE,
            "mean_score": 0.5,
            "skipped": 0,
            "unscored": 0,
        }
    },
    "attempts": 3,
}
"""What the published schema requires and no more."""


def encoded(row: object) -> bytes:
    return json.dumps(row).encode()


def test_what_is_written_is_read_again() -> None:
    given = [
        facts(
            place,
            passed=place % 3 == 0,
            repeat=repeat,
            latency_ms=10.0,
            cluster=f"talk {place // 2}",
            slices=(("tags", "ab"[place % 2]), ("level", None)),
            checks=(checked("right", passed=place % 3 == 0),),
        )
        for place in range(12)
        for repeat in range(2)
    ]
    whole, slices = metrics_of(given)

    assert read_metrics(encoded(whole.json())) == kept_metrics(whole.json()) == whole
    assert read_slices(encoded(slices_json(slices))) == slices


def test_json_is_what_a_reader_of_json_gets() -> None:
    found = metrics([True, False, None]).json()

    assert json.loads(encoded(found)) == found
    assert found["missing"] == {"missing": 1, "valid": 3, "uneven_slices": []}


def test_a_slice_begins_with_what_it_is_a_slice_of() -> None:
    _, slices = metrics_of([facts(0, passed=True, slices=(("tags", "a"),))])
    rows: Any = slices_json(slices)["slices"]

    assert list(rows[0])[:3] == ["slice", "value", "total_records"]


def test_fields_that_only_some_runs_have_are_left_out() -> None:
    found = metrics([True]).json()

    assert not {"unread_records", "omitted_blocks", "documents_not_shown", "copied", "new"} & set(
        found
    )
    assert found["corrected_pass_rate"] is None


def test_the_published_schemas_have_the_same_fields() -> None:
    slices: Any = SCHEMAS.published("metrics_by_slice")["$defs"]
    whole: Any = SCHEMAS.published("metrics_summary")

    for kind, schema in ((Metrics, whole), (Slice, slices["slice"])):
        fields = structs.fields(kind)
        assert set(schema["properties"]) == {field.name for field in fields}
        assert set(schema["required"]) == {field.name for field in fields if field.required}


def test_a_run_of_an_earlier_version_lacks_newer_fields() -> None:
    found = read_metrics(encoded(OLDEST))

    assert (found.invalid_records, found.cache, found.missing) == (0, Cache(), Missing())
    assert (found.latency_ms.p50, found.tokens.n, found.cost_usd.total) == (None, 0, None)
    assert (found.repeats, found.corrected_pass_rate) == (None, None)


def test_a_run_of_a_later_version_has_fields_that_are_not_known() -> None:
    estimate = {**ESTIMATE, "sigma": 2}
    later = {**OLDEST, "pass_rate": estimate, "carbon": {"grams": 3}}

    assert read_metrics(encoded(later)) == read_metrics(encoded(OLDEST))


def test_a_run_of_an_earlier_version_can_be_shown(tmp_path: Path) -> None:
    lines = list(run_lines(read_run(written(tmp_path, encoded(OLDEST)))))

    assert "  pass rate  50.0 % [10.0, 90.0]  1 of 2 evaluated (95 % interval)" in lines
    assert "  records    3 = 2 evaluated + 1 failed + 0 skipped" in lines


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"{}",
        b"\xff",
        encoded({**OLDEST, "total_records": "3"}),
        encoded({**OLDEST, "total_records": None}),
        encoded({**OLDEST, "pass_rate": 0.5}),
        encoded({**OLDEST, "checks": []}),
    ],
)
def test_damaged_metrics_are_told_with_the_remedy(tmp_path: Path, damaged: bytes) -> None:
    folder = written(tmp_path, damaged)

    with pytest.raises(
        UnreadableFileError, match=r"metrics_summary\.json is damaged; `steelyard verify` says how"
    ):
        read_run(folder)


@pytest.mark.parametrize("damaged", [b"null", b"[]", b"{}", b'{"slices": {}}', b'{"slices": [1]}'])
def test_damaged_slices_are_told_too(tmp_path: Path, damaged: bytes) -> None:
    folder = written(tmp_path, encoded(OLDEST), damaged)

    with pytest.raises(UnreadableFileError, match=r"metrics_by_slice\.json is damaged"):
        read_run(folder)


def written(folder: Path, summary: bytes, slices: bytes = b'{"slices": []}') -> Path:
    """The folder of a run with these metrics."""
    (folder / "run_manifest.json").write_bytes(encoded(manifest_row()))
    (folder / "metrics_summary.json").write_bytes(summary)
    (folder / "metrics_by_slice.json").write_bytes(slices)
    (folder / "failures.jsonl").touch()
    return folder
