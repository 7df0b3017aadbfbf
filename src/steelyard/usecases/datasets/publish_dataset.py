"""Publish a version of a dataset in the registry."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from steelyard.errors import InvalidError, argument
from steelyard.model.audit import Caller
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.model.published import (
    DATASET_ID,
    DATASET_VERSION,
    Published,
    StoredFile,
    dataset_name,
    unportable_name,
)
from steelyard.reports.publication import Publication
from steelyard.usecases.datasets.open_dataset import Opened, no_such_file, open_dataset
from steelyard.usecases.datasets.project_paths import project_path
from steelyard.usecases.datasets.published_datasets import (
    PublishedDataset,
    Staged,
    find_dataset,
)
from steelyard.usecases.datasets.validate import ValidateOptions, validate
from steelyard.usecases.registry.publish import logged, unchanged
from steelyard.usecases.registry.registry import RegistryPorts

_SHOWN = 20


class _Sources(NamedTuple):
    """The files of a dataset, the dataset itself first."""

    paths: tuple[Path, ...]
    digests: tuple[str, ...]

    @property
    def sha256(self) -> str:
        """The hash of all files."""
        if len(self.digests) == 1:
            return self.digests[0]
        return hashlib.sha256("\n".join(self.digests).encode()).hexdigest()


def publish_dataset(
    ports: RegistryPorts, name: str, version: str | None = None, *, caller: Caller | None = None
) -> Publication:
    """Publish a dataset with its sidecar, byte by byte; publishing it again changes nothing.

    If the contract has no version, one must be given.
    """
    return _published(ports.called_by(caller), name, version)


def _published(ports: RegistryPorts, name: str, version: str | None) -> Publication:
    path, read = Path(name), None
    if dataset_name(name) and not ports.workspace.is_file(path):
        found = find_dataset(ports.registry, ports.saved, ports.root, name)
        if not found.is_saved:
            return Publication(reference=name, outcome="unchanged", published=found.published)
        ports, path = _staged(ports, found), found.path
        version, read = found.published.version, found.published.sha256
    opened = _opened(ports, path)
    assert opened.reading
    dataset = opened.reading.dataset(())
    reference = f"dataset/{_id(dataset)}@{_version(dataset, path, version)}"
    refusals = (*_name_faults(ports, dataset.id), *_refusals(ports, path, name))
    if refusals:
        return Publication(reference=reference, outcome="refused", refusals=refusals)
    sources = _sources(ports, opened)
    proposed = _proposed(ports, reference, opened, sources)
    if read is None:
        return logged(ports, _added(ports, proposed, sources))
    with unchanged(ports, proposed, read) as held:
        return logged(held, _added(held, proposed, sources))


def _added(ports: RegistryPorts, proposed: Published, sources: _Sources) -> Publication:
    """Publish a version, unless there is one with other content."""
    reference = proposed.reference
    standing = next(
        (one for one in ports.registry.all("dataset") if one.reference == reference), None
    )
    if standing is None:
        contents: dict[str, Callable[[], BinaryIO]] = {
            digest: partial(ports.workspace.open, place)
            for digest, place in zip(sources.digests, sources.paths, strict=True)
        }
        stored = ports.registry.add(proposed, contents)
        if stored.sha256 == proposed.sha256:
            return Publication(reference=reference, outcome="published", published=stored)
        standing = stored
    if standing.sha256 == proposed.sha256:
        return Publication(reference=reference, outcome="unchanged", published=standing)
    why = (
        f"{reference} is published with other content (sha256 {standing.sha256[:12]}); "
        "a change needs a new version"
    )
    return Publication(reference=reference, outcome="refused", published=standing, refusals=(why,))


def _staged(ports: RegistryPorts, found: PublishedDataset) -> RegistryPorts:
    """The ports that see a saved dataset at its path."""

    def digest(path: Path) -> str:
        return ports.digest(found.files.get(path, path))

    return replace(ports, workspace=Staged(ports.workspace, found.files), digest=digest)


def _opened(ports: RegistryPorts, path: Path) -> Opened:
    if not ports.workspace.is_file(path):
        raise no_such_file(path)
    opened = open_dataset(ports.workspace, path, catalog=ports.catalog, contracts=ports.contracts)
    if opened.reading is None:
        raise InvalidError(f"{path}: {opened.refusal}")
    return opened


def _id(dataset: Dataset) -> str:
    if not DATASET_ID.fullmatch(dataset.id):
        raise InvalidError(
            f"the dataset's id '{dataset.id}' cannot stand in a reference; write letters, digits, "
            "_, - and dots, a letter or digit first"
        )
    return dataset.id


def _version(dataset: Dataset, path: Path, given: str | None) -> str:
    if dataset.version and given and dataset.version != given:
        raise InvalidError(f"{path} says that it is version {dataset.version}, not {given}")
    version = dataset.version or given
    if not version:
        raise InvalidError(
            f"{path} says no version, as {dataset.contract} has none; give {argument('version')}"
        )
    if not DATASET_VERSION.fullmatch(version):
        raise InvalidError(
            f"'{version}' cannot stand in a reference; write letters, digits, _, -, + and dots, "
            "a letter or digit first"
        )
    return version


def _name_faults(ports: RegistryPorts, name: str) -> Iterator[str]:
    taken = [one.id for one in ports.registry.all("dataset")]
    if fault := unportable_name(name, taken):
        yield f"{fault}; take another id"


def _refusals(ports: RegistryPorts, path: Path, shown: str) -> Iterator[str]:
    """The first errors of a strict validation of a dataset, which people know as `shown`."""
    options = ValidateOptions(kind="dataset", strict=True)
    report = validate(
        *(ports.workspace, [str(path)], options, ports.catalog),
        references=lambda _path: ports.references,
        contracts=ports.contracts,
    )
    wrong = [
        _finding_line(shown if file.path == str(path) else file.path, finding)
        for file in report.files
        for finding in file.findings
        if finding.is_error
    ]
    yield from wrong[:_SHOWN]
    if len(wrong) > _SHOWN:
        yield f"and {len(wrong) - _SHOWN:,} more; a strict validation of {shown} lists all"
    if not wrong and not sum(file.accepted for file in report.files):
        yield f"{shown} holds no record"


def _finding_line(path: str, finding: Finding) -> str:
    line = f":{finding.line}" if finding.line else ""
    hint = f" ({finding.hint})" if finding.hint else ""
    message = finding.message.removeprefix(f"Line {finding.line}: ")
    return f"{path}{line}: {finding.where}{message}{hint}"


def _sources(ports: RegistryPorts, opened: Opened) -> _Sources:
    paths = [opened.path]
    if opened.sidecar and opened.sidecar.is_found:
        paths.append(opened.sidecar.path)
    return _Sources(tuple(paths), tuple(ports.digest(path) for path in paths))


def _proposed(
    ports: RegistryPorts, reference: str, opened: Opened, sources: _Sources
) -> Published:
    name = dataset_name(reference)
    assert name
    assert opened.contract
    return Published(
        kind="dataset",
        id=name[0],
        version=name[1],
        contract=opened.contract,
        sha256=sources.sha256,
        published_at=ports.clock.stamp(),
        source=project_path(ports.root, opened.path).as_posix(),
        files=tuple(
            StoredFile(path.name, digest, ports.workspace.size(path))
            for path, digest in zip(sources.paths, sources.digests, strict=True)
        ),
    )
