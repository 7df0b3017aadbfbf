"""`steelyard schema`, started as a user starts it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from steelyard.contracts.schemas import PUBLISHED, schema_bytes

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]


def test_without_a_name_the_schemas_are_listed(steelyard: Steelyard, tmp_path: Path) -> None:
    done = steelyard("schema", cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    listed = [line.split()[0] for line in done.stdout.partition("\n\n")[0].splitlines()]
    assert listed == [*PUBLISHED]
    assert "# yaml-language-server: $schema=" in done.stdout


@pytest.mark.parametrize("name", ["eval_cases", "trace.schema.json", "rubric", "dataset"])
def test_a_name_prints_that_schema_as_it_is_published(
    steelyard: Steelyard, tmp_path: Path, name: str
) -> None:
    done = steelyard("schema", name, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.encode() == schema_bytes(name.removesuffix(".schema.json"))


@pytest.mark.parametrize(
    ("name", "output", "written"),
    [
        ("trace", "here/my.json", "here/my.json"),
        ("trace", ".", "trace.schema.json"),
        ("trace.schema.json", ".", "trace.schema.json"),
    ],
)
def test_a_schema_is_written_to_a_file_or_into_a_folder(
    steelyard: Steelyard, tmp_path: Path, name: str, output: str, written: str
) -> None:
    done = steelyard("schema", name, "-o", output, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, f"wrote {written}\n")
    assert (tmp_path / written).read_bytes() == schema_bytes("trace")


def test_without_a_name_all_schemas_are_written(steelyard: Steelyard, tmp_path: Path) -> None:
    done = steelyard("schema", "--output", "schemas", cwd=tmp_path)

    assert done.returncode == 0
    files = sorted((tmp_path / "schemas").iterdir())
    assert {path.name for path in files} == {f"{name}.schema.json" for name in PUBLISHED}
    assert all(json.loads(path.read_bytes())["$id"].endswith(path.name) for path in files)


def test_an_unknown_name_is_wrong_usage(steelyard: Steelyard, tmp_path: Path) -> None:
    done = steelyard("schema", "nonsense", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("steelyard: unknown schema 'nonsense'; known schemas: ")


def test_a_place_that_cannot_be_written_is_wrong_usage(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    done = steelyard("schema", "-o", "file", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("steelyard: cannot write file/")
