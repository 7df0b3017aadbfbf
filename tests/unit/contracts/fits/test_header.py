"""What a dataset says about itself, in each contract."""

from __future__ import annotations

import pytest

from fakes.contracts import CONTRACTS
from steelyard.contracts.fits import header as headers
from steelyard.model.conversion import Change
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject

FULL = Dataset(
    id="my set",
    contract="eval_cases",
    version="1.2",
    description="What it is",
    metadata={"owner": "me"},
    extra={"license": "x", "evaluators": [], "execution": {}},
)


def fit_header(dataset: Dataset, to: str, stem: str) -> tuple[Dataset, list[Change]]:
    return headers.fit_header(dataset, CONTRACTS[dataset.contract], CONTRACTS[to], stem)


@pytest.mark.parametrize(
    ("to", "header", "gone"),
    [
        (
            "legal_eval",
            Dataset(id="my set", contract="legal_eval"),
            ["dataset license", "dataset version", "dataset description", "dataset metadata"],
        ),
        (
            "dataset_document",
            Dataset(
                id="my_set",
                contract="dataset_document",
                version="1.2",
                metadata={"owner": "me", "description": "What it is"},
            ),
            ["dataset license"],
        ),
        (
            "question_set",
            Dataset(
                id="out",
                contract="question_set",
                version="1.2",
                description="What it is",
                metadata={"owner": "me", "dataset": "my set"},
            ),
            ["dataset license"],
        ),
        (
            "evals_json",
            Dataset(
                id="my set",
                contract="evals_json",
                extra={
                    "version": "1.2",
                    "description": "What it is",
                    "metadata": {"owner": "me"},
                },
            ),
            ["dataset license"],
        ),
    ],
)
def test_a_header_keeps_what_the_contract_has(to: str, header: Dataset, gone: list[str]) -> None:
    made, changes = fit_header(FULL, to, "out")

    assert made == header
    assert [change.field for change in changes if change.is_lost] == gone


def test_an_evals_file_gives_back_what_it_kept_under_names_of_its_own() -> None:
    extra: JsonObject = {"version": "1", "description": 7, "metadata": {"a": 1}}
    made, changes = fit_header(
        Dataset(id="d", contract="evals_json", extra=extra), "eval_cases", "d"
    )

    assert made == Dataset(id="d", contract="eval_cases", version="1", metadata={"a": 1})
    assert [change.field for change in changes] == ["dataset description"]


def test_the_word_for_no_version_is_no_version() -> None:
    made, changes = fit_header(
        Dataset(id="d", contract="dataset_document", version="unversioned"), "legal_eval", "d"
    )

    assert (made.version, changes) == (None, [])


@pytest.mark.parametrize(
    ("name", "written"),
    [("ok.1-a_b", "ok.1-a_b"), ("ä b", "_b"), ("", "dataset"), ("x" * 129, "x" * 128)],
)
def test_the_id_of_a_document_has_only_letters_that_the_contract_allows(
    name: str, written: str
) -> None:
    made, changes = fit_header(Dataset(id=name, contract="eval_cases"), "dataset_document", "d")

    assert made.id == written
    assert bool(changes) is (name != written)


@pytest.mark.parametrize("metadata", [{"a": "x" * 17000}, {"a": {"b": {"c": {"d": {"e": {}}}}}}])
def test_metadata_of_a_document_beyond_its_limits_is_lost(metadata: JsonObject) -> None:
    dataset = Dataset(id="d", contract="eval_cases", metadata=metadata)
    made, changes = fit_header(dataset, "dataset_document", "d")

    assert made.metadata == {}
    assert [change.field for change in changes] == ["dataset metadata"]
