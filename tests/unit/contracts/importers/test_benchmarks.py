"""What all benchmark importers promise: valid rows, ids that stay, and no surprise for any row."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from io import BytesIO
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import benchmark_rows as made_up
from steelyard.contracts.importers.apexv1 import import_apexv1
from steelyard.contracts.importers.includebase import import_includebase
from steelyard.contracts.importers.lar_echr import import_lar_echr
from steelyard.contracts.importers.lexam import import_lexam
from steelyard.contracts.importers.prbench import import_prbench
from steelyard.contracts.legal_eval.reader import LegalEvalJsonl
from steelyard.errors import ParseError
from steelyard.model.json_value import JsonObject
from strategies.eval_cases import json_values

Importer = Callable[[JsonObject], list[JsonObject]]
PERTURBED: JsonObject = {
    "id": "p",
    "question": "Which?",
    "4_choices": ["a", "b", "c", "d"],
    "4_gold": 0,
    "8_choices": ["a", "b", "c", "d", "e", "f", "g", "h"],
    "8_choices_gold": 7,
}
SOURCES: dict[str, tuple[Importer, list[JsonObject]]] = {
    "prbench": (import_prbench, [made_up.prbench("t1"), made_up.prbench("t2")]),
    "apexv1": (import_apexv1, [made_up.apexv1(1), made_up.apexv1("2")]),
    "lexam": (import_lexam, [made_up.lexam_open(), made_up.lexam_mcq(), PERTURBED]),
    "includebase": (import_includebase, [made_up.includebase(), made_up.includebase("Who?")]),
    "lar_echr": (import_lar_echr, [made_up.lar_echr("1_1"), made_up.lar_echr("1_2")]),
}


def rows_of(importer: Importer, records: list[JsonObject]) -> list[JsonObject]:
    return [row for record in records for row in importer(record)]


@pytest.mark.parametrize("name", SOURCES)
def test_every_row_is_valid_and_names_its_policy(name: str) -> None:
    importer, records = SOURCES[name]
    rows = rows_of(importer, records)
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    read = list(LegalEvalJsonl(partial(BytesIO, data), name).rows())
    findings = [f for row in read for f in row.findings if f.code != "missing_file"]

    assert len(read) == len(rows) > 1
    assert findings == []
    assert all(row["dataset"] == name for row in rows)
    assert all(isinstance(row["metadata"], dict) and row["metadata"]["policy_id"] for row in rows)


@pytest.mark.parametrize("name", SOURCES)
def test_ids_do_not_depend_on_order_or_on_the_order_of_columns(name: str) -> None:
    importer, records = SOURCES[name]
    ids = {str(row["id"]) for row in rows_of(importer, records)}
    turned = [dict(reversed(record.items())) for record in records]
    Random(1).shuffle(turned)

    assert {str(row["id"]) for row in rows_of(importer, turned)} == ids
    assert all(name.startswith(f"{name.split(':')[0]}:") for name in ids)


@pytest.mark.parametrize("name", SOURCES)
def test_columns_are_found_whatever_their_case(name: str) -> None:
    importer, records = SOURCES[name]
    shouted = [{key.upper(): value for key, value in record.items()} for record in records]
    fields = ("id", "task_type", "prompt", "messages", "choices", "correct_choice_ids", "context")

    for plain, loud in zip(rows_of(importer, records), rows_of(importer, shouted), strict=True):
        assert {f: plain.get(f) for f in fields if f != "id"} == {
            f: loud.get(f) for f in fields if f != "id"
        }


@pytest.mark.parametrize("name", SOURCES)
def test_what_a_table_holds_as_text_reads_the_same(name: str) -> None:
    importer, records = SOURCES[name]
    cells: list[JsonObject] = [
        {
            key: "" if value is None else value if isinstance(value, str) else json.dumps(value)
            for key, value in record.items()
        }
        for record in records
    ]

    for plain, texts in zip(rows_of(importer, records), rows_of(importer, cells), strict=True):
        left_out = {"metadata"}
        assert {k: v for k, v in plain.items() if k not in left_out} == {
            k: v for k, v in texts.items() if k not in left_out
        }


@pytest.mark.parametrize("name", SOURCES)
@given(data=st.data())
def test_any_row_is_imported_or_refused(name: str, data: st.DataObject) -> None:
    importer, records = SOURCES[name]
    record = dict(data.draw(st.sampled_from(records)))
    column = data.draw(st.sampled_from(sorted(record)))
    record[column] = data.draw(json_values)

    rows: list[JsonObject] = []
    with suppress(ParseError):
        rows = importer(record)

    assert all(row["schema_version"] == "legal_eval_v1" for row in rows)


@pytest.mark.parametrize("name", SOURCES)
def test_an_empty_row_is_refused_by_the_name_of_a_column(name: str) -> None:
    with pytest.raises(ParseError, match=r"column '.+' must hold"):
        SOURCES[name][0]({})
