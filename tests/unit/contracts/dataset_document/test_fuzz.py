"""Whatever the bytes are, reading ends with findings and never with an exception."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.model.finding import CODES, RECORD_CODES
from steelyard.reports.findings import findings_json
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.validate import FileReport, ValidateOptions, validate
from strategies.dataset_documents import DOCUMENTS, opened, raw_document, written
from strategies.effort import examples

TOKENS = (
    *(b"", b" ", b"null", b"true", b"0", b"-", b"1e999", b"NaN", b"9" * 4400, b"{}", b"[]"),
    *(b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"\\u", b"\\ud800", b"\\udc00", b"\\u0000"),
    *(b"\x00", b"\x1f", b"\x7f", b"\n", b"\t", b"\xc2\x85", b"\xff", b"\xed\xa0\x80", b"\xef\xbb"),
    *(b"e\xcc\x81", b"\xef\xbb\xbf", b'"records"', b'"record_id"', b'"input"', b'"prompt"'),
    *(b'"metadata"', b'"tags"', b'"dataset_id"', b"[" * 300, b"]" * 300, b"[" * 1500, b"//"),
)


def replaced_by(token: bytes) -> Callable[[bytes], bytes]:
    return lambda _: token


CHANGES: list[Callable[[bytes], bytes]] = [
    lambda part: part + part,
    lambda part: part[::-1],
    *map(replaced_by, TOKENS),
]
ACCIDENTS = st.lists(
    st.tuples(st.integers(0, 2_000), st.integers(0, 12), st.sampled_from(CHANGES)),
    min_size=1,
    max_size=5,
)


@st.composite
def mutants(draw: st.DrawFn) -> bytes:
    """A good document with a few parts doubled, turned round, deleted or replaced."""
    data = written(draw(DOCUMENTS))
    for place, length, change in draw(ACCIDENTS):
        start = place % (len(data) + 1)
        part = data[start : start + length]
        data = data[:start] + change(part) + data[start + length :]
    return data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("accidents")


def read(data: bytes) -> FileReport:
    """Read all that a document holds, and count it."""
    reading = opened(data)
    total = accepted = 0
    findings = list(reading.findings)
    for row in reading.rows():
        total += 1
        accepted += row.is_accepted
        findings.extend(row.findings)
        errors = {finding.code for finding in row.findings if finding.is_error}
        assert errors <= set(RECORD_CODES)
        if row.is_accepted:
            reading.case(row)
    reading.dataset(())
    return FileReport(
        path="data.json",
        contract="dataset_document",
        total=total,
        accepted=0 if reading.is_spoiled else accepted,
        findings=tuple(findings),
    )


def check(report: FileReport) -> None:
    assert report.total == report.accepted + report.rejected
    assert 0 <= report.accepted <= report.total
    assert {finding.code for finding in report.findings} <= set(CODES)
    assert json.loads(findings_json((report,)).encode("utf-8"))


@settings(max_examples=examples(300))
@given(mutants())
def test_a_document_with_accidents_is_read_to_its_end(data: bytes) -> None:
    """DD-49 and DD-52."""
    check(read(data))


@settings(max_examples=examples(300))
@given(st.binary(max_size=200) | st.text(max_size=80).map(str.encode))
def test_random_bytes_are_read_to_their_end(data: bytes) -> None:
    """DD-52."""
    check(read(data))
    check(read(raw_document(data)))


@settings(max_examples=examples(300))
@given(data=mutants() | st.binary(max_size=60))
def test_a_file_with_accidents_is_validated_to_its_end(folder: Path, data: bytes) -> None:
    """DD-52."""
    path = folder / "data.json"
    path.write_bytes(data)
    (report,) = validate(DiskWorkspace(folder), [str(path)], ValidateOptions()).files

    check(report)
