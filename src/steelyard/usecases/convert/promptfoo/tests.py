"""Tests of a configuration, wherever they are kept: inline, in files, tables or scenarios."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import PurePosixPath
from typing import NamedTuple

from steelyard.contracts.importers.source_row import wrong
from steelyard.errors import ParseError
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.usecases.convert.promptfoo.source import (
    SCHEME,
    ConfigFiles,
    ConfigPlace,
    is_file,
    listed,
    objects,
    parsed,
)
from steelyard.usecases.convert.promptfoo.table_tests import table_test

_TABLES = {".csv", ".tsv"}
_ELSEWHERE = ("huggingface://", "http://", "https://", "az://", "s3://")


class PromptfooTest(NamedTuple):
    """One test as it is written, with its place."""

    place: ConfigPlace
    row: JsonObject


def read_tests(
    config: JsonObject, file: str, source: ConfigFiles
) -> Iterator[PromptfooTest | Change]:
    """Every test of a configuration, and which of them cannot be read."""
    if config.get("tests") is not None:
        yield from _tests(config["tests"], ConfigPlace(file, "tests"), source)
    for index, scenario in enumerate(listed(config.get("scenarios"))):
        place = ConfigPlace(file, "scenarios").at(index)
        try:
            yield from _scenario(source.resolved(scenario), place, source)
        except ParseError as why:
            yield place.lost(why)


def _tests(
    value: JsonValue, place: ConfigPlace, source: ConfigFiles
) -> Iterator[PromptfooTest | Change]:
    """Tests in a list, or in what a path names."""
    if not isinstance(value, list):
        yield from _entry(value, place, source)
        return
    for index, entry in enumerate(value):
        yield from _entry(entry, place.at(index), source)


def _entry(
    value: JsonValue, place: ConfigPlace, source: ConfigFiles
) -> Iterator[PromptfooTest | Change]:
    try:
        if isinstance(value, str):
            yield from _of_path(value, source)
        elif not isinstance(value, dict):
            raise wrong("a test must be an object or a path")
        elif isinstance(value.get("path"), str) and "vars" not in value:
            yield from _of_path(str(value["path"]), source)
        else:
            yield PromptfooTest(place, value)
    except ParseError as why:
        yield place.lost(why)


def _of_path(reference: str, source: ConfigFiles) -> Iterator[PromptfooTest | Change]:
    if reference.startswith(_ELSEWHERE):
        raise wrong(f"a conversion fetches nothing; store the tests in a file: {reference}")
    for found in source.all(reference):
        path = PurePosixPath(found.path)
        value = parsed(path, found.text)
        if path.suffix.lower() in _TABLES:
            rows = [table_test(objects(row)) for row in listed(value)]
            yield from (
                PromptfooTest(ConfigPlace(path.name, f"row {number}"), row)
                for number, row in enumerate(rows, start=1)
            )
        else:
            yield from _nested(value, ConfigPlace(path.name), source)


def _nested(
    value: JsonValue, place: ConfigPlace, source: ConfigFiles
) -> Iterator[PromptfooTest | Change]:
    """The tests of a file; a list may name further files, as `$ref` and `file://` do."""
    if isinstance(value, dict) and isinstance(value.get("tests"), list):
        value = value["tests"]
    yield from _tests(value, place, source)


def _scenario(
    value: JsonValue, place: ConfigPlace, source: ConfigFiles
) -> Iterator[PromptfooTest | Change]:
    """Every test of a scenario with each of its configurations."""
    if not isinstance(value, dict):
        raise wrong("a scenario must be an object with 'config' and 'tests'")
    configs = [
        objects(one)
        for entry in listed(value.get("config"))
        for one in listed(_rows(entry, source))
    ]
    for test in _tests(value.get("tests"), place.at("tests"), source):
        if isinstance(test, Change):
            yield test
            continue
        for number, config in enumerate(configs or [{}]):
            merged = {**config, **test.row}
            merged["vars"] = {**objects(config.get("vars")), **objects(test.row.get("vars"))}
            merged["assert"] = [*listed(config.get("assert")), *listed(test.row.get("assert"))]
            yield PromptfooTest(
                test.place._replace(path=f"{test.place.path} × config[{number}]"), merged
            )


def _rows(entry: JsonValue, source: ConfigFiles) -> JsonValue:
    if not is_file(entry):
        return entry
    reference = str(entry).removeprefix(SCHEME)
    value = source.value(reference)
    is_table = PurePosixPath(reference).suffix.lower() in _TABLES
    return [table_test(objects(row)) for row in listed(value)] if is_table else value


def variables(stated: JsonValue, source: ConfigFiles) -> JsonObject:
    """The variables of a test, also where files hold them all."""
    if isinstance(stated, dict):
        return stated
    made: JsonObject = {}
    for entry in listed(stated):
        if not isinstance(entry, str):
            raise wrong("vars must be an object, or paths of files that hold one")
        for found in source.all(entry):
            made.update(objects(parsed(PurePosixPath(found.path), found.text)))
    return made


def combinations(values: JsonObject, source: ConfigFiles) -> Iterator[JsonObject]:
    """The values of the variables: a list of texts stands for one test with each of them."""
    choices = [
        _choices(value, source) if _is_choice(value) else [value] for value in values.values()
    ]
    for combination in product(*choices):
        yield dict(zip(values, combination, strict=True))


def _is_choice(value: JsonValue) -> bool:
    return isinstance(value[0] if isinstance(value, list) and value else value, list | str)


def _choices(value: JsonValue, source: ConfigFiles) -> list[JsonValue]:
    made: list[JsonValue] = []
    for item in listed(value):
        if not is_file(item):
            made.append(item)
        elif any(mark in str(item) for mark in "*?"):
            made.extend(found.text.strip() for found in source.all(str(item)))
        else:
            made.append(source.variable(str(item)))
    return made
