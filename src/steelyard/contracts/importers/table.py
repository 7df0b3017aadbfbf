"""Rows of a table as rows of eval cases, whatever file or frame they come from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from steelyard.contracts.contract import Contract
from steelyard.contracts.importers.cells import plain
from steelyard.contracts.importers.columns import ColumnMap
from steelyard.contracts.importers.openai_evals import ANSWERS, INPUTS
from steelyard.errors import InvalidError, argument
from steelyard.formats.names import near_miss
from steelyard.model.json_value import JsonObject

_INPUT = "input"
_EXPECTED = "expected"
_ASKED = (_INPUT, "input_messages")
_QUESTIONS = frozenset(_ASKED)
EXPECTED = frozenset(
    ("expected_output", "expected_outcome", "expected_messages", "evaluators", "rubrics")
)
"""The fields that say what is expected of an answer."""
_SHORT = 2
_NUMBERS = frozenset(("", "id", "no", "nr", "num", "number", "nummer", "index", "key", "row", "n"))
"""What columns are called that number the rows."""


class TableColumns(NamedTuple):
    """The columns that a user names; without a name, the column of that name."""

    input: str | None = None
    expected: str | None = None
    id: str | None = None

    @property
    def names(self) -> dict[str, str]:
        """The columns by the field that they fill."""
        return {name: column for name, column in self._asdict().items() if column is not None}


_UNNAMED = TableColumns()


def table_map(
    contract: Contract, dataset: str, columns: TableColumns, found: Collection[str]
) -> ColumnMap:
    """Which column fills which field; raises InvalidError where none says what to ask."""
    for name, column in columns.names.items():
        if column not in found:
            raise InvalidError(
                f"{argument(name)} names the column '{column}', which is not there; "
                f"{_listed(found)}"
            )
    if columns.input is None and not any(name in found for name in _ASKED):
        raise InvalidError(f"no column is called 'input'; {_listed(found)}; {_advice(found)}")
    made = ColumnMap.checked(contract, dataset, columns.names)
    return made if columns.input is None else _asked_as_it_stands(made)


def _asked_as_it_stands(made: ColumnMap) -> ColumnMap:
    """The map, with texts of a column that a user names never read as JSON."""
    readings = {**made.columns.fields, _INPUT: plain}
    return replace(made, columns=replace(made.columns, fields=readings))


def misspelt(columns: ColumnMap, found: Collection[str]) -> dict[str, str]:
    """The columns that fill no field, with the free field that each of them nearly names."""
    fields = (*columns.columns.short, *columns.columns.fields)
    filled = {columns.field(name) for name in found}
    free = [name for name in fields if columns.columns.short.get(name, name) not in filled]
    unused = [name for name in found if columns.field(name) is None]
    meant = {
        name: near_miss(name, [one for one in free if _is_like(name, one)]) for name in unused
    }
    return {name: field for name, field in meant.items() if field}


def _is_like(column: str, field: str) -> bool:
    """Too many columns of a table are one letter away from a name as short as `id`."""
    return len(field) > _SHORT or column.casefold() == field


def lacking(columns: ColumnMap, row: JsonObject, found: Collection[str]) -> str:
    """Which cells of a row are empty, so that nothing is asked or expected; "" for none."""
    if not _QUESTIONS & row.keys():
        return f"{_empty(columns, found, _QUESTIONS)}, so there is nothing to ask"
    if not {"criteria", *EXPECTED} & row.keys():
        return f"{_empty(columns, found, EXPECTED)}, so nothing says what is expected"
    return ""


def _empty(columns: ColumnMap, found: Collection[str], wanted: Collection[str]) -> str:
    names = [f"'{name}'" for name in found if columns.field(name) in wanted]
    listed = " and ".join(names)
    return f"columns {listed} are empty" if len(names) > 1 else f"column {listed} is empty"


def row_name(number: int) -> str:
    """The id of a row without one, by its number from 1."""
    return f"row-{number:04}"


def likely_columns(found: Collection[str]) -> TableColumns:
    """The columns that probably hold the question and the answer, by their names."""
    known = {name.casefold(): name for name in found}
    asked = next((known[name] for name in INPUTS if name in known), None)
    answers = (known[name] for name in ANSWERS if name in known and known[name] != asked)
    near = (name for name in found if near_miss(name, (_EXPECTED,)))
    return TableColumns(input=asked, expected=next(answers, None) or next(near, None))


def suggested_columns(found: Collection[str], given: TableColumns = _UNNAMED) -> dict[str, str]:
    """Which columns to name beside those given, as far as there are any left."""
    likely = likely_columns(found)._asdict()
    taken = {*given.names.values(), *likely.values()}
    left = [name for name in found if name.strip() and name not in taken]
    # A column of numbers is seldom the question.
    others = iter(sorted(left, key=lambda name: name.casefold().strip(" .#") in _NUMBERS))
    named = {name: given.names.get(name) or likely[name] for name in (_INPUT, _EXPECTED)}
    named = {name: column or next(others, None) for name, column in named.items()}
    return {name: column for name, column in named.items() if column and name not in given.names}


def _listed(found: Collection[str]) -> str:
    names = [f"'{name}'" for name in found]
    return f"the columns are {', '.join(names) or 'none'}"


def _advice(found: Collection[str]) -> str:
    likely = likely_columns(found)
    if likely.input is None:
        return f"name the one to ask with {argument(_INPUT)}"
    named = [f"{argument(name)}='{column}'" for name, column in likely.names.items()]
    return f"write {', '.join(named)} if these are the question and the answer"
