"""Reading a dataset of any contract into memory."""

from __future__ import annotations

from pathlib import Path

import pytest

import steelyard
from steelyard.errors import NotFoundError, UnreadableFileError
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.read_dataset import read_dataset

HEADER = '"dataset_id": "d", "dataset_version": "1", "schema_version": "1.0"'
ROW = '{"id": "a", "expected_outcome": "Says so.", "input": "?"}\n'


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def disk(tmp_path: Path) -> DiskWorkspace:
    """The test's own folder."""
    return DiskWorkspace(tmp_path)


def test_the_good_records_are_cases_and_the_bad_ones_findings(
    disk: DiskWorkspace, tmp_path: Path
) -> None:
    records = '[{"record_id": "a", "input": {"prompt": "?"}}, {"record_id": "b", "input": 7}]'
    path = write(tmp_path / "a.json", "{" + HEADER + f', "records": {records}' + "}")
    dataset, findings = read_dataset(disk, path)

    assert (dataset.id, dataset.version, dataset.contract) == ("d", "1", "dataset_document")
    assert [case.id for case in dataset.cases] == ["a"]
    assert [(finding.record_id, finding.code) for finding in findings] == [
        ("b", "invalid_field_type")
    ]


def test_rows_take_the_name_and_the_findings_of_their_sidecar(
    disk: DiskWorkspace, tmp_path: Path
) -> None:
    write(tmp_path / "a.yaml", "dataset: help\ndescripton: a typo\n")
    dataset, findings = read_dataset(disk, write(tmp_path / "a.jsonl", ROW))

    assert (dataset.id, len(dataset.cases)) == ("help", 1)
    assert [finding.code for finding in findings] == ["unknown_field"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", ROW + "{\n"),
        ("a.json", '{"records": [{"record_id": "a", "input": {"prompt": "?"}}]}'),
        ("a.json", '{"dataset_id": 7, "records": [{"record_id": "a", "input": {"prompt": "?"}}]}'),
        ("a.yaml", "dataset: 7\nevalcases:\n- {id: a, expected_outcome: x, input: '?'}\n"),
    ],
)
def test_a_file_that_is_wrong_as_a_whole_has_no_cases(
    disk: DiskWorkspace, tmp_path: Path, name: str, text: str
) -> None:
    dataset, findings = read_dataset(disk, write(tmp_path / name, text))

    assert dataset.cases == ()
    assert any(finding.is_error for finding in findings)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "{", "invalid JSON: the text ends too early"),
        ("a.csv", "", "'.csv' files are not read"),
        ("a.yaml", "template: '?'", "this is a judge file and no dataset"),
        (
            "a.yaml",
            'id: a\nversion: "1.0"\ntemplate: "?"\n',
            "this is a judge file and no dataset",
        ),
    ],
)
def test_a_file_that_is_no_dataset_is_an_error(
    disk: DiskWorkspace, tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = write(tmp_path / name, text)
    with pytest.raises(UnreadableFileError) as raised:
        read_dataset(disk, path)

    assert str(raised.value).startswith(f"{path}: {message}")


def test_a_file_that_is_not_there_is_an_error(disk: DiskWorkspace, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no such file: "):
        read_dataset(disk, tmp_path / "gone.json")


def test_the_package_offers_it(tmp_path: Path) -> None:
    dataset, findings = steelyard.read_dataset(write(tmp_path / "a.jsonl", ROW))

    assert (dataset.id, list(findings)) == ("a", [])
