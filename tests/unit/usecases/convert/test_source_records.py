"""Sources on disk: one file, a folder of data files, a folder that `datasets` saved."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from fakes.conversions import Desk
from steelyard.errors import NotFoundError, RequestError, UnreadableFileError
from steelyard.store.frames import frame_records
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.convert.source_records import file_records, source_files

CSV = "id,input,expected\n{name},Why?,So.\n"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def splits(desk: Desk, split: str | None = None) -> list[tuple[str, str]]:
    files = source_files(DiskWorkspace(desk.folder), desk.folder, split)
    return [(str(file.path.relative_to(desk.folder)), file.split) for file in files]


def test_a_file_stands_for_itself(desk: Desk) -> None:
    path = desk.write("a.txt", "x")

    assert [file.path for file in source_files(DiskWorkspace(desk.folder), path, None)] == [path]


def test_the_split_of_a_file_is_told_by_its_shard_its_folder_or_its_name(desk: Desk) -> None:
    for name in (
        "data/train-00000-of-00002.parquet",
        "data/train-00001-of-00002.parquet",
        "data/test-00000-of-00001-0123456789abcdef.parquet",
        "dev.jsonl",
        "other/data.csv",
        "README.md",
        "dataset_infos.json",
        ".cache/x.jsonl",
    ):
        desk.write(name, "")

    assert splits(desk) == [
        ("dev.jsonl", "dev"),
        ("data/test-00000-of-00001-0123456789abcdef.parquet", "test"),
        ("data/train-00000-of-00002.parquet", "train"),
        ("data/train-00001-of-00002.parquet", "train"),
        ("other/data.csv", "other"),
    ]
    assert splits(desk, "dev") == [("dev.jsonl", "dev")]


def test_of_a_folder_that_datasets_saved_only_the_data_is_read(desk: Desk) -> None:
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}
    desk.write("dataset_dict.json", {"splits": ["train", "test"]})
    for split in ("train", "test"):
        desk.write(f"{split}/state.json", json.dumps(state))
        desk.write(f"{split}/dataset_info.json", "{}")
        desk.write(f"{split}/data-00000-of-00001.arrow", "")
        desk.write(f"{split}/cache-1234.arrow", "")

    assert splits(desk) == [
        ("test/data-00000-of-00001.arrow", "test"),
        ("train/data-00000-of-00001.arrow", "train"),
    ]


def test_a_single_dataset_that_datasets_saved_has_no_split(desk: Desk) -> None:
    desk.write("state.json", '{"_data_files": null}')
    desk.write("other/data-00000-of-00001.arrow", "")
    desk.write("data-00000-of-00001.arrow", "")

    assert splits(desk) == [("other/data-00000-of-00001.arrow", "other")]


def test_what_cannot_be_found_is_said(desk: Desk) -> None:
    with pytest.raises(NotFoundError, match="no data in"):
        splits(desk)

    desk.write("a.csv", "")
    with pytest.raises(RequestError, match="has no split 'x'; it has a"):
        splits(desk, "x")

    desk.write("b/state.json", "{")
    with pytest.raises(UnreadableFileError, match="not the JSON that `datasets` writes"):
        splits(desk)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"x": "1"}\n'),
        ("a.ndjson", '{"x": "1"}\n'),
        ("a.JSON", '[{"x": "1"}]'),
        ("a.csv", "x\n1\n"),
        ("a.tsv", "x\ty\n1\t\n"),
    ],
)
def test_a_file_is_read_by_its_extension(desk: Desk, name: str, content: str) -> None:
    path = desk.write(name, content)
    (record,) = file_records(DiskWorkspace(desk.folder), path, frame_records)

    assert record.value is not None
    assert record.value["x"] == "1"


@pytest.mark.parametrize(
    ("name", "content", "error", "told"),
    [
        ("a.txt", "", RequestError, "'.txt' files are not supported; supported: .jsonl"),
        ("a.json", "{}", UnreadableFileError, "a.json: the top level must be a list"),
        ("a.csv", "a,a\n", UnreadableFileError, "a.csv:1: two columns are called 'a'"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    desk: Desk, name: str, content: str, error: type[Exception], told: str
) -> None:
    path = desk.write(name, content)

    with pytest.raises(error, match=told):
        list(file_records(DiskWorkspace(desk.folder), path, frame_records))


def test_a_folder_of_tables_is_one_dataset_and_says_its_splits(desk: Desk) -> None:
    desk.write("hf/train.csv", CSV.format(name="a"))
    desk.write("hf/test.csv", CSV.format(name="b") + "short\n")
    made = desk.convert("hf", "question_set", "out.yaml", made_from="hf")
    cases = desk.read("out.yaml").cases

    assert [(case.id, case.metadata) for case in cases] == [
        ("b", {"split": "test"}),
        ("a", {"split": "train"}),
    ]
    assert made.unwritten[0].first == ("test.csv line 3",)


def test_one_split_of_a_folder_can_be_chosen(desk: Desk) -> None:
    desk.write("hf/train.csv", CSV.format(name="a"))
    desk.write("hf/test.csv", CSV.format(name="b"))
    desk.convert("hf", "question_set", "out.yaml", made_from="hf", split="test")

    assert [(case.id, case.metadata) for case in desk.read("out.yaml").cases] == [("b", {})]


def test_parquet_and_arrow_are_converted_like_any_table(desk: Desk) -> None:
    polars: Any = import_module("polars")
    frame = polars.DataFrame({"id": [1], "prompt": ["Q"], "choices": [["x", "y"]], "gold": ["B"]})
    (desk.folder / "hf").mkdir()
    frame.write_parquet(desk.folder / "a.parquet")
    frame.write_ipc_stream(desk.folder / "hf" / "data-00000-of-00001.arrow")
    names = {"correct_choice_ids": "gold"}
    desk.convert("a.parquet", "legal_eval", "a.jsonl", made_from="parquet", names=names)
    desk.convert("hf", "legal_eval", "b.jsonl", made_from="hf", names=names)
    (row,) = desk.rows("a.jsonl")

    assert row["correct_choice_ids"] == ["B"]
    assert desk.rows("b.jsonl") == [{**row, "dataset": "hf"}]
