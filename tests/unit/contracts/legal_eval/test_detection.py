"""Which files are taken for legal_eval."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from fakes.contracts import CONTRACTS
from steelyard.contracts.legal_eval.policies import built_in_policies
from steelyard.contracts.legal_eval.reader import read_legal_eval
from steelyard.model.json_value import JsonObject
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.open_dataset import open_dataset
from steelyard.usecases.datasets.validate import ValidateOptions, validate
from strategies.legal_eval import jsonl, row, without


def contract(path: Path, data: bytes, kind: str | None = None) -> str | None:
    path.write_bytes(data)
    return open_dataset(DiskWorkspace(path.parent), path, kind).contract


@pytest.mark.parametrize(
    ("first", "found"),
    [
        (row(), "legal_eval"),
        (without("task_type"), "legal_eval"),
        (without("schema_version"), "legal_eval"),
        ({"taskType": "mcq"}, "legal_eval"),
        ({"schema_verison": "legal_eval_v1"}, "legal_eval"),
        ({"id": "a", "prompt": "?"}, "eval_cases"),
    ],
    ids=str,
)
def test_a_file_is_told_by_its_first_row(tmp_path: Path, first: JsonObject, found: str) -> None:
    """LE-09"""
    path = tmp_path / "data.jsonl"

    assert contract(path, jsonl(first, row())) == found
    assert contract(path, b"not json\n" + jsonl(first)) == found


@pytest.mark.parametrize("name", ["data.jsonl", "data.json", "data.yaml"])
def test_kind_settles_it(tmp_path: Path, name: str) -> None:
    """LE-09"""
    assert contract(tmp_path / name, b'{"id": "a"}\n', "legal_eval") == "legal_eval"


@pytest.mark.parametrize("kind", [None, "dataset", "legal_eval"])
def test_a_misspelt_key_that_tells_the_contract_is_reported(
    tmp_path: Path, kind: str | None
) -> None:
    """LE-09, LE-15"""
    path = tmp_path / "data.jsonl"
    path.write_bytes(jsonl({**without("task_type"), "task_tipe": "mcq"}))
    (report,) = validate(DiskWorkspace(tmp_path), [str(path)], ValidateOptions(kind=kind)).files

    assert [(found.code, found.path, found.hint) for found in report.findings] == [
        ("unknown_field", "task_tipe", "did you mean 'task_type'?"),
        ("missing_required_field", "task_type", None),
    ]


def test_one_bad_line_rejects_one_row(tmp_path: Path) -> None:
    """LE-02"""
    path = tmp_path / "data.jsonl"
    path.write_bytes(jsonl(row()) + b"oops\n" + jsonl(row(id="b")))
    (report,) = validate(DiskWorkspace(tmp_path), [str(path)], ValidateOptions()).files

    assert (report.total, report.accepted, report.rejected) == (3, 2, 1)


def test_a_yaml_file_beside_it_is_no_sidecar(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_bytes(jsonl(row()))
    (tmp_path / "data.yaml").write_text("description: x\n", encoding="utf-8")
    report = validate(DiskWorkspace(tmp_path), [str(tmp_path)], ValidateOptions())

    assert [Path(file.path).name for file in report.files] == ["data.jsonl"]
    assert [Path(name).name for name in report.skipped] == ["data.yaml"]


def test_the_policies_of_plug_ins_are_known(tmp_path: Path) -> None:
    """LE-34"""
    user = ["{{context}}", "{{attachments}}", "{{prompt}}", "{{choices}}"]
    policies = built_in_policies().with_plugins([{"id": "o", "description": "d", "user": user}])
    path = tmp_path / "data.jsonl"
    path.write_bytes(jsonl(row(metadata={"policy_id": "o"})))
    reader = partial(read_legal_eval, policies=policies)
    known, unknown = (
        open_dataset(DiskWorkspace(tmp_path), path, contracts=given).reading
        for given in (CONTRACTS.read_by("legal_eval", reader), CONTRACTS)
    )

    assert known
    assert unknown
    assert [len(one.findings) for one in known.rows()] == [0]
    assert [len(one.findings) for one in unknown.rows()] == [1]
