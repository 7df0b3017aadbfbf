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
from steelyard.model.published import Published, dataset_name, version_order
from steelyard.ports import Workspace
from steelyard.reports.registry import ListedVersion, Shown
from steelyard.usecases.datasets.excerpts import with_lines
from steelyard.usecases.datasets.open_dataset import no_such_file, open_dataset
from steelyard.usecases.datasets.published_datasets import Staged, entry_of, find_dataset
from steelyard.usecases.registry.look_up import suites_of
from steelyard.usecases.registry.registry import RegistryPorts

_MOST_FINDINGS = 1000


class DatasetVersion(NamedTuple):
    name: str
    contract: str
    reading: DatasetReading
    published: Published | None
    is_saved: bool
    path: Path
    workspace: Workspace
    """Where it is read at that path."""


def list_datasets(ports: RegistryPorts) -> list[ListedVersion]:
    """Every version of every dataset that is published or saved in the store."""
    held = ports.registry.all("dataset")
    names = {one.reference for one in held}
    stored = [one for one in ports.saved.all("dataset") if one.reference not in names]
    listed = [_listed(one, is_saved=False) for one in held]
    listed += [_listed(entry_of(one), is_saved=True) for one in stored]
    return sorted(listed, key=lambda one: (one.id, version_order(one.version)))


def show_dataset(ports: RegistryPorts, name: str) -> Shown:
    """The header of a dataset and its number of records."""
    found = opened_version(ports, name)
    rows, findings = list[bool](), [*found.reading.findings]
    for row in found.reading.rows():
        rows.append(row.is_accepted)
        findings.extend(row.findings[: _MOST_FINDINGS - len(findings)])
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
    if held:
        listed = _listed(held, is_saved=found.is_saved)
    else:
        listed = ListedVersion(
            id=dataset.id,
            version=dataset.version,
            status="not published",
            source=name,
            sha256=ports.digest(Path(name)),
            contract=found.contract,
        )
    return Shown(
        reference=held.reference if held else name,
        contract=found.contract,
        listed=listed,
        content={key: value for key, value in content.items() if value not in ("", None, {})},
        used_by=tuple(suites_of(ports, "dataset", held.reference)) if held else (),
        versions=tuple(one.version for one in list_datasets(ports) if one.id == listed.id),
        findings=with_lines(found.workspace, found.path, findings[:_MOST_FINDINGS]),
    )


def _listed(one: Published, *, is_saved: bool) -> ListedVersion:
    is_published = not is_saved
    return ListedVersion(
        id=one.id,
        version=one.version,
        status="not published" if is_saved and one.status == "published" else one.status,
        source=one.source,
        sha256=one.sha256,
        published_at=one.published_at if is_published else None,
        contract=one.contract,
        origin="registry" if is_published else "store",
    )


def compare_datasets(ports: RegistryPorts, a: str, b: str) -> Diff:
    """Records that were added, removed or changed, by id; rejected ones are left out.

    A changed or removed record breaks the comparison of scores; an added one does not,
    because runs are compared over their common records.
    """
    old, new = opened_version(ports, a), opened_version(ports, b)
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


def _headers(old: DatasetVersion, new: DatasetVersion) -> Iterator[FieldDifference]:
    """Differences between the headers."""
    before, after = (one.reading.dataset(()) for one in (old, new))
    for name in ("id", "contract", "version", "description"):
        was, now = getattr(before, name), getattr(after, name)
        if was != now:
            yield FieldDifference(kind="changed", path=name, old=was, new=now)
    was, now = dict(before.metadata), dict(after.metadata)
    if was != now:
        yield FieldDifference(kind="changed", path="metadata", old=was, new=now)


def opened_version(ports: RegistryPorts, name: str) -> DatasetVersion:
    path, workspace, held, is_saved = Path(name), ports.workspace, None, False
    if dataset_name(name) and not ports.workspace.is_file(path):
        found = find_dataset(ports.registry, ports.saved, ports.root, name)
        path, workspace, held = found.path, Staged(workspace, found.files), found.published
        is_saved = found.is_saved
    if not workspace.is_file(path):
        raise no_such_file(path)
    opened = open_dataset(workspace, path, catalog=ports.catalog, contracts=ports.contracts)
    if opened.reading is None or opened.contract is None:
        raise InvalidError(f"{name}: {opened.refusal}")
    return DatasetVersion(name, opened.contract, opened.reading, held, is_saved, path, workspace)


def _hashes(reading: DatasetReading) -> dict[str, str]:
    return {name: record_sha256(value) for name, value in _values(reading, None)}


def _values(reading: DatasetReading, wanted: set[str] | None) -> Iterator[tuple[str, JsonValue]]:
    """The accepted records by id, as they are hashed: all, or only the wanted ones."""
    for row in reading.rows():
        if row.record_id and row.is_accepted and (wanted is None or row.record_id in wanted):
            yield row.record_id, reading.hashed(row, reading.case(row))
