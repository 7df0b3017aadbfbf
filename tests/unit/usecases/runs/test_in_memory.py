"""A dataset in memory is read like the file that it came from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.contracts import CONTRACTS
from fakes.five_contracts import write_five
from fakes.projects import Project, row
from steelyard.formats.json_hash import record_sha256
from steelyard.model.dataset import Dataset
from steelyard.project import open_project
from steelyard.usecases.datasets.open_dataset import open_dataset
from steelyard.usecases.datasets.read_dataset import read_dataset
from steelyard.usecases.runs.in_memory import DatasetInMemory

RECORDS = [
    {
        "record_id": "a",
        "input": {"prompt": "é?", "more": [1]},
        "reference": {"answer": "yes", "page": 7},
        "tags": ["x"],
        "expected": {"max_latency_ms": 5},
        "metadata": {"topic": "t"},
    },
    {"record_id": "b", "input": {"prompt": "?"}},
]


FIVE = {
    "legal": "datasets/legal.jsonl",
    "questions": "datasets/questions.yaml",
    "evals": "datasets/caching.evals.json",
}


@pytest.fixture(params=["document", "cases", *FIVE])
def path(request: pytest.FixtureRequest, project: Project) -> Path:
    """A dataset of each contract."""
    if request.param in FIVE:
        write_five(project.root)
        return project.root / FIVE[request.param]
    if request.param == "document":
        return project.root / project.document(RECORDS, metadata={"owner": "us"})
    project.write("notes.md", "Be brief.")
    shown = [{"role": "user", "content": [{"type": "file", "value": "notes.md"}]}]
    return project.root / project.cases([row("a", input=shown), row("b", tags=["x"])])


def in_memory(dataset: Dataset) -> DatasetInMemory:
    return DatasetInMemory(dataset, CONTRACTS[dataset.contract])


def test_records_have_the_hashes_of_their_file(path: Path) -> None:
    dataset, _ = read_dataset(open_project().workspace, path)
    memory = in_memory(dataset)
    reading = open_dataset(open_project().workspace, path).reading
    assert reading is not None
    held = [record_sha256(memory.hashed(row, memory.case(row))) for row in memory.rows()]
    in_file = [record_sha256(reading.hashed(row, reading.case(row))) for row in reading.rows()]

    assert held == in_file


def test_cases_and_dataset_are_those_that_were_given(path: Path) -> None:
    dataset, _ = read_dataset(open_project().workspace, path)
    memory = in_memory(dataset)

    assert tuple(memory.case(row) for row in memory.rows()) == dataset.cases
    assert memory.dataset(dataset.cases) == dataset
    assert memory.dataset(()).cases == ()
    assert (memory.contract, memory.findings, memory.is_spoiled) == (dataset.contract, (), False)


def test_rows_are_written_as_their_contract_writes_them(path: Path) -> None:
    dataset, _ = read_dataset(open_project().workspace, path)
    values = [row.value for row in in_memory(dataset).rows()]

    assert json.loads(json.dumps(values)) == values
    if dataset.contract == "dataset_document":
        assert values == RECORDS


def test_the_digest_tells_datasets_apart(path: Path) -> None:
    dataset, _ = read_dataset(open_project().workspace, path)
    memory = in_memory(dataset)

    assert memory.digest() == in_memory(dataset).digest()
    assert memory.digest() != in_memory(memory.dataset(dataset.cases[:1])).digest()
