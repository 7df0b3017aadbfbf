"""A misspelt field name is named with the right suggestion, at any level of any schema.

For each published schema there are examples that together hold every field it knows. Each field
of each example is misspelt in several ways, the file goes through the ports that its users take,
and one of the findings must name the misspelling and what was meant.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path as FilePath
from typing import Any, NamedTuple, cast

import pytest

from fakes.contracts import SCHEMAS
from steelyard.checks.catalog import Catalog
from steelyard.contracts.labels.reader import RawLabel, read_labels
from steelyard.contracts.trace.reader import read_trace
from steelyard.errors import ConfigError
from steelyard.formats.names import near_miss
from steelyard.formats.schema_names import resolve
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.json_value import JsonObject, JsonValue, Path
from steelyard.model.question import Answers
from steelyard.project_file import parse_settings
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.validate import ValidateOptions, validate

pytestmark = pytest.mark.no_cover

CORPUS = FilePath(__file__).parents[1] / "corpus"
ELSEWHERE = {
    "question_set": "question_set/valid/every_field.yaml",
    "check_rubric": "check_rubric/valid/every_kind.yaml",
    "judge": "judge/valid/every_field.yaml",
}
SHOWN = "notes.md"
"""A file that examples show."""
CATALOG = Catalog()


class Example(NamedTuple):
    """A valid value of a schema, and the ending of the file that it stands in."""

    schema: str
    name: str
    ending: str
    value: JsonValue


class Spot(NamedTuple):
    """A known name in an example: where it stands, what else is known there, who defines it."""

    path: Path
    name: str
    known: frozenset[str]
    pointer: str


@cache
def examples(schema: str) -> tuple[Example, ...]:
    """The examples of a schema; each row of a JSONL file is one."""
    paths = sorted((CORPUS / "whole").glob(f"{schema}-*"))
    if schema in ELSEWHERE:
        paths.append(CORPUS / ELSEWHERE[schema])
    return tuple(
        Example(schema, f"{path.stem}-{index}", path.suffix, value)
        for path in paths
        for index, value in enumerate(_values(path))
    )


def _values(path: FilePath) -> list[JsonValue]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if path.suffix == ".json":
        return [json.loads(path.read_bytes())]
    return [parse_yaml(path.read_bytes()).value]


ALL = [example for schema in SCHEMAS.written for example in examples(schema)]


def renamed(value: JsonValue, path: Path, old: str, new: str) -> JsonValue:
    """The same value with one field under another name, at the same place in its object."""
    if path:
        first, rest = path[0], path[1:]
        if isinstance(value, list):
            return [
                renamed(item, rest, old, new) if index == first else item
                for index, item in enumerate(value)
            ]
        return {
            name: renamed(item, rest, old, new) if name == first else item
            for name, item in cast(JsonObject, value).items()
        }
    return {new if name == old else name: item for name, item in cast(JsonObject, value).items()}


def spots(example: Example) -> Iterator[Spot]:
    """Every known name of an example."""
    document = SCHEMAS.load(example.schema)
    return _spots(document, "#", document, example.value, ())


def misspelt(spot: Spot) -> Iterator[str]:
    """Ways of misspelling a name that no other known name is as near to."""
    name = spot.name
    middle = max(1, len(name) // 2)
    ways = {
        name[:middle] + name[middle + 1 :],  # a letter too few
        name[:middle] + name[middle : middle + 1] * 2 + name[middle + 1 :],  # one too many
        name[: middle - 1] + name[middle] + name[middle - 1] + name[middle + 1 :],  # two swapped
        name.upper(),
        name.replace("_", "-"),
        "".join(part.title() if part else "_" for part in name.split("_")),
    }
    for way in sorted(ways - spot.known - {""}):
        if near_miss(way, spot.known - {name}) is None or _is_nearest(way, spot):
            yield way


def _is_nearest(way: str, spot: Spot) -> bool:
    """Whether no other name could be meant: the nearest of all, whatever it is called."""
    return all(
        near_miss(way, known) == spot.name
        for other in spot.known - {spot.name}
        for known in [(spot.name, other), (other, spot.name)]
    )


def told(example: Example, value: JsonValue, folder: FilePath) -> list[tuple[str, str | None]]:
    """Path and hint of everything that the users of this schema would read."""
    if example.schema == "trace":
        return [(finding.path, finding.hint) for finding in read_trace(value)[1]]
    if example.schema == "labels":
        (row,) = read_labels([RawLabel(1, value)], lambda _, __: (Answers(), []))
        return [(finding.path, finding.hint) for finding in row.findings]
    if example.schema == "project":
        return _settings_told(value)
    path = folder / f"example{example.ending}"
    path.write_text(json.dumps(value, ensure_ascii=False) + "\n", encoding="utf-8")
    (report,) = validate(DiskWorkspace(folder), [str(path)], ValidateOptions(), CATALOG).files
    assert report.contract == example.schema, report
    return [(finding.path, finding.hint) for finding in report.findings]


def _settings_told(value: JsonValue) -> list[tuple[str, str | None]]:
    """The first thing wrong with a project file, which its reader says and stops at."""
    try:
        parse_settings(json.dumps(value).encode())
    except ConfigError as wrong:
        said, _, hint = str(wrong).partition(" (")
        return [(said.split()[1], hint.removesuffix(")") or None)]
    return []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> FilePath:
    made = tmp_path_factory.mktemp("typos")
    (made / SHOWN).write_bytes((CORPUS / "whole" / SHOWN).read_bytes())
    return made


@pytest.mark.parametrize("example", ALL, ids=lambda example: example.name)
def test_an_example_is_valid(example: Example, folder: FilePath) -> None:
    assert told(example, example.value, folder) == []


@pytest.mark.parametrize("most", [1, pytest.param(6, marks=pytest.mark.trials)])
@pytest.mark.parametrize("example", ALL, ids=lambda example: example.name)
def test_every_misspelt_field_is_named_with_the_right_suggestion(
    example: Example, most: int, folder: FilePath
) -> None:
    """One way of misspelling each field, or all of them."""
    missed: list[str] = []
    untried: list[str] = []
    # A field that several branches define is misspelt once.
    for spot in {(spot.path, spot.name): spot for spot in spots(example)}.values():
        ways = list(islice(misspelt(spot), most))
        untried += [] if ways else [f"{spot.path} {spot.name}"]
        for way in ways:
            value = renamed(example.value, spot.path, spot.name, way)
            found = told(example, value, folder)
            hint = f"did you mean '{spot.name}'?"
            if not any(path.endswith(way) and said == hint for path, said in found):
                missed.append(f"{way} for {spot.name} at {spot.path}: {found}")

    assert missed == []
    assert untried == []


@pytest.mark.parametrize("schema", SCHEMAS.written)
def test_the_examples_of_a_schema_hold_every_field_it_knows(schema: str) -> None:
    document = SCHEMAS.load(schema)
    used = {spot.pointer for example in examples(schema) for spot in spots(example)}

    assert sorted(set(_defined(document, "#")) - used) == []


CONDITIONS = {"if", "not", "anyOf"}


def _defined(node: Any, pointer: str) -> Iterator[str]:
    """The pointers of all fields that a schema defines and does not refuse."""
    if isinstance(node, list):
        for index, item in enumerate(cast(list[Any], node)):
            yield from _defined(item, f"{pointer}/{index}")
    if not isinstance(node, dict):
        return
    for key, item in cast(dict[str, Any], node).items():
        if key == "properties":
            for name, rule in item.items():
                if "x-instead" not in rule:
                    yield f"{pointer}/properties/{name}"
                yield from _defined(rule, f"{pointer}/properties/{name}")
        elif key not in CONDITIONS:
            yield from _defined(item, f"{pointer}/{key}")


def _spots(
    document: JsonObject, pointer: str, rule: Any, value: JsonValue, path: Path
) -> Iterator[Spot]:
    if "$ref" in rule:
        pointer = rule["$ref"]
        rule = resolve({"$ref": pointer}, document)
    if isinstance(value, list) and "items" in rule:
        for index, item in enumerate(value):
            place = (*path, index)
            yield from _spots(document, f"{pointer}/items", rule["items"], item, place)
    if not isinstance(value, dict):
        return
    groups = list(_fields(document, pointer, rule, value))
    known = frozenset(name for _, fields in groups for name in fields)
    for start, fields in groups:
        for name in sorted(value.keys() & fields.keys()):
            field = f"{start}/properties/{name}"
            yield Spot(path, name, known, field)
            yield from _spots(document, field, fields[name], value[name], (*path, name))
    others = rule.get("additionalProperties")
    for name, item in value.items() if isinstance(others, dict) else ():
        field = f"{pointer}/additionalProperties"
        yield from _spots(document, field, others, item, (*path, name))


def _fields(
    document: JsonObject, pointer: str, rule: Any, value: JsonObject
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The groups of fields that hold for a value: the rule's own and those of its branches."""
    if "$ref" in rule:
        pointer = rule["$ref"]
        rule = resolve({"$ref": pointer}, document)
    yield pointer, rule.get("properties", {})
    for index, branch in enumerate(rule.get("allOf", ())):
        place = f"{pointer}/allOf/{index}"
        if "if" not in branch:
            yield from _fields(document, place, branch, value)
        elif all(
            value.get(name) in demand.get("enum", [demand.get("const")])
            for name, demand in branch["if"]["properties"].items()
        ):
            yield from _fields(document, f"{place}/then", branch["then"], value)
