"""The published schema, and the schema that plugged-in kinds get."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, cast

from steelyard.checks.catalog import Catalog
from steelyard.checks.equals import Equals
from steelyard.contracts.check_rubric.schema import check_rubric_schema, stated_kinds

PUBLISHED = files("steelyard.contracts.check_rubric").joinpath("check_rubric.schema.json")


def test_the_published_schema_is_that_of_the_built_in_kinds() -> None:
    text = json.dumps(check_rubric_schema(Catalog()), indent=2, ensure_ascii=False)

    assert PUBLISHED.read_text(encoding="utf-8") == text + "\n"


def test_the_schema_has_a_branch_for_each_kind_of_the_catalog() -> None:
    schema = cast(Any, check_rubric_schema(Catalog((Equals,))))
    check = schema["$defs"]["check"]

    assert check["properties"]["kind"]["enum"] == sorted(["equals", *stated_kinds()])
    assert len(check["allOf"]) == 1 + len(stated_kinds())


def test_every_setting_has_a_title_and_a_description() -> None:
    schema = cast(Any, check_rubric_schema(Catalog()))

    for branch in schema["$defs"]["check"]["allOf"]:
        for setting in branch["then"]["properties"].values():
            if "$ref" in setting:
                continue
            assert setting["title"]
            assert setting["description"]
