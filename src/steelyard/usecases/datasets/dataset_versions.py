"""Show published datasets or dataset files, and compare them record by record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from steelyard.contracts.differences import record_differences
from steelyard.contracts.reading import DatasetReading
from steelyard.errors import InvalidError
from steelyard.formats.json_hash import record_sha256
from steelyard.model.difference import Diff, FieldDifference
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.published import Published, dataset_name
from steelyard.reports.registry import ListedVersion, Shown
from steelyard.usecases.datasets.open_dataset import no_such_file, open_dataset
from steelyard.usecases.datasets.published_datasets import Staged, find_dataset
from steelyard.usecases.registry.look_up import suites_of
from steelyard.usecases.registry.registry import RegistryPorts


class _Version(NamedTuple):
    name: str
    contract: str
    reading: DatasetReading
    published: Published | None


def show_dataset(ports: RegistryPorts, name: str) -> Shown:
    """The header of a dataset and its number of records."""
    found = _open(ports, name)
    rows = [row.is_accepted for row in found.reading.rows()]
    dataset = found.reading.dataset(())
    content: JsonObject = {
        "dataset_id": dataset.id,
        "dataset_version": found.published.version if found.published else dataset.version,
        "description": dataset.description,
        "records": len(rows),
        "accepted": sum(rows),
        "metadata": dict(dataset.metadata),
    }
    held = found.published
    return Shown(
        reference=held.reference if held else name,
        contract=found.contract,
        listed=ListedVersion(
            id=dataset.id,
            version=held.version if held else dataset.version,
            status=held.status if held else "not published",
            source=held.source if held else name,
            sha256=held.sha256 if held else ports.digest(Path(name)),
            published_at=held.published_at if held else None,
        ),
        content={key: value for key, value in content.items() if value not in ("", None, {})},
        used_by=tuple(suites_of(ports, "dataset", held.reference)) if held else (),
    )


def compare_datasets(ports: RegistryPorts, a: str, b: str) -> Diff:
    """Records that were added, removed or changed, by id; rejected ones are left out.

    A changed or removed record breaks the comparison of scores; an added one does not,
    because runs are compared over their common records.
    """
    old, new = _open(ports, a), _open(ports, b)
    before, after = _hashes(old.reading), _hashes(new.reading)
    changed = {name for name in before if name in after and before[name] != after[name]}
    was = dict(_values(old.reading, changed))
    found: list[FieldDifference] = list(_headers(old, new))
    for name, value in _values(new.reading, changed):
        found.extend(record_differences(was[name], value, f"records.{name}"))
    gone = (name for name in before if name not in after)
    found.extend(
        FieldDifference(kind="removed", path=f"records.{name}", old=name, is_breaking=True)
        for name in gone
    )
    fresh = (name for name in after if name not in before)
    found.extend(FieldDifference(kind="added", path=f"records.{name}", new=name) for name in fresh)
    return Diff(old=a, new=b, differences=tuple(found))


def _headers(old: _Version, new: _Version) -> Iterator[FieldDifference]:
    """Differences between the headers."""
    before, after = (one.reading.dataset(()) for one in (old, new))
    for name in ("id", "contract", "version", "description"):
        was, now = getattr(before, name), getattr(after, name)
        if was != now:
            yield FieldDifference(kind="changed", path=name, old=was, new=now)
    was, now = dict(before.metadata), dict(after.metadata)
    if was != now:
        yield FieldDifference(kind="changed", path="metadata", old=was, new=now)


def _open(ports: RegistryPorts, name: str) -> _Version:
    path, workspace, held = Path(name), ports.workspace, None
    if dataset_name(name) and not ports.workspace.is_file(path):
        found = find_dataset(ports.registry, ports.root, name)
        path, workspace, held = found.path, Staged(workspace, found.files), found.published
    if not workspace.is_file(path):
        raise no_such_file(path)
    opened = open_dataset(workspace, path, catalog=ports.catalog, contracts=ports.contracts)
    if opened.reading is None or opened.contract is None:
        raise InvalidError(f"{name}: {opened.refusal}")
    return _Version(name, opened.contract, opened.reading, held)


def _hashes(reading: DatasetReading) -> dict[str, str]:
    return {name: record_sha256(value) for name, value in _values(reading, None)}


def _values(reading: DatasetReading, wanted: set[str] | None) -> Iterator[tuple[str, JsonValue]]:
    """The accepted records by id, as they are hashed: all, or only the wanted ones."""
    for row in reading.rows():
        if row.record_id and row.is_accepted and (wanted is None or row.record_id in wanted):
            yield row.record_id, reading.hashed(row, reading.case(row))
