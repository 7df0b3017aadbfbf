"""The page about evals files: its example is valid and its tables are complete."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

from steelyard.contracts.schemas import load_schema
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.validate import ValidateOptions, validate
from strategies.evals_files import opened

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "contracts" / "evals_json.md").read_text(encoding="utf-8")
SCHEMA = cast(Any, load_schema("evals_json"))


def test_the_example_of_the_page_is_valid() -> None:
    (example,) = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    reading = opened(example.encode())
    (row,) = reading.rows()

    assert (reading.findings, row.findings) == ((), ())
    assert len(reading.case(row).evaluators) == 5


def test_every_field_stands_in_a_table_of_the_page() -> None:
    levels = (SCHEMA, SCHEMA["$defs"]["eval"], SCHEMA["$defs"]["markdown_structure"])
    names = {name for level in levels for name in level["properties"]} - {"$schema"}
    rows = "\n".join(line for line in PAGE.splitlines() if line.startswith("|"))

    assert [name for name in sorted(names) if f"`{name}`" not in rows] == []


def test_the_example_files_are_valid_in_strict_mode() -> None:
    folder = ROOT / "examples" / "evals_json"
    report = validate(DiskWorkspace(folder), [str(folder)], ValidateOptions(strict=True))

    assert [(file.contract, file.accepted, file.findings) for file in report.files] == [
        ("evals_json", 2, ())
    ]
