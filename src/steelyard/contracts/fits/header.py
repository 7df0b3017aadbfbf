"""What a file says beside its cases, as another contract can hold it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, NamedTuple, cast

from steelyard.contracts.contract import Contract
from steelyard.contracts.dataset_document.rules import MAX_METADATA, MAX_METADATA_DEPTH
from steelyard.formats.encoding import flaws
from steelyard.formats.json_text import compact, depth
from steelyard.model.conversion import Change
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject, JsonValue

_NOT_IN_ID = re.compile(r"[^A-Za-z0-9_.-]+")
_ID_LENGTH = 128
_VERSION_LENGTH = 64
UNVERSIONED = "unversioned"
"""What the writer of contract 2 says where there is no version."""


class HeaderWay(NamedTuple):
    """From which contract to which, and what becomes of the fields on the way."""

    dataset: Dataset
    """What the source says."""
    source: Contract | None
    """None where an importer made the dataset."""
    to: Contract
    stem: str
    changes: list[Change]


def fit_header(
    dataset: Dataset, source: Contract | None, to: Contract, stem: str
) -> tuple[Dataset, list[Change]]:
    """A dataset without its cases, with the fields that the contract has.

    `stem` is the name of the file that is written: some contracts take the id from there.
    """
    if source and source.has_open_header:
        dataset = _with_open_fields(dataset)
    if dataset.version == UNVERSIONED:
        dataset = replace(dataset, version=None)
    header = replace(dataset, contract=to.name, cases=(), extra={})
    restated = source.restated if source else frozenset[str]()
    changes = [_lost(name, to) for name in dataset.extra if name not in restated]
    if to.header_fitter:
        way = HeaderWay(dataset, source, to, stem, changes)
        header = to.part("header_fitter")(header, way)
    return header, changes


def no_header(header: Dataset, way: HeaderWay) -> Dataset:
    """Rows alone: what the file says about itself is lost."""
    way.changes.extend(_lost(name, way.to) for name in _described(way.dataset))
    return replace(header, version=None, description="", metadata={})


def open_header(header: Dataset, way: HeaderWay) -> Dataset:
    """What the file says about itself stands under names that the contract has no rules for."""
    plain = replace(header, version=None, description="", metadata={})
    return replace(plain, extra=_described(way.dataset))


def named_by_file(header: Dataset, way: HeaderWay) -> Dataset:
    """A question set is called after its file; what it was called before is kept."""
    is_named = way.source is not None and way.source.names_dataset
    if is_named and header.id != way.stem and "dataset" not in header.metadata:
        way.changes.append(Change("dataset id", "kept in metadata", is_lost=False))
        header = replace(header, metadata={**header.metadata, "dataset": header.id})
    return replace(header, id=way.stem)


def _described(dataset: Dataset) -> JsonObject:
    """What a dataset says about itself."""
    given: JsonObject = {
        "version": dataset.version,
        "description": dataset.description,
        "metadata": dict(dataset.metadata),
    }
    return {name: value for name, value in given.items() if value}


def _with_open_fields(dataset: Dataset) -> Dataset:
    """What an evals file may say about itself under names that it has no rules for."""
    extra = dict(dataset.extra)
    found = {
        name: extra.pop(name)
        for name, kind in (("version", str), ("description", str), ("metadata", dict))
        if isinstance(extra.get(name), kind)
    }
    return replace(dataset, **cast(Any, found), extra=extra)


def document_header(header: Dataset, way: HeaderWay) -> Dataset:
    """The header of a document, whose texts and sizes have limits."""
    changes = way.changes
    name = _NOT_IN_ID.sub("_", header.id)[:_ID_LENGTH] or "dataset"
    if name != header.id:
        changes.append(Change("dataset id", f"{header.id!r} is written {name!r}", is_lost=False))
    version = header.version
    if version is not None and (len(version) > _VERSION_LENGTH or _is_odd(version)):
        changes.append(Change("dataset version", "too long, or not a text that it may hold"))
        version = None
    metadata: JsonObject = dict(header.metadata)
    if header.description and "description" not in metadata:
        metadata["description"] = header.description
        changes.append(Change("dataset description", "kept in metadata", is_lost=False))
    for key in [key for key, value in metadata.items() if _is_odd({key: value})]:
        changes.append(Change(f"dataset metadata.{key}", "it has control characters"))
        del metadata[key]
    if depth(metadata) > MAX_METADATA_DEPTH or len(compact(metadata)) > MAX_METADATA:
        changes.append(Change("dataset metadata", "too large or too deep for dataset_document"))
        metadata = {}
    return replace(header, id=name, version=version, description="", metadata=metadata)


def _is_odd(value: JsonValue) -> bool:
    """Whether a text holds what contract 2 allows in none."""
    return any(flaw != "not_nfc" for _, flaw in flaws(value))


def _lost(name: str, to: Contract) -> Change:
    return Change(f"dataset {name}", f"{to.name} has no place for it")
