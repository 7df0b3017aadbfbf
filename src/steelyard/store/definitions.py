"""Rubric and judge files of a project."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.checks.catalog import Catalog
from steelyard.contracts.definitions import MAX_DEFINITION, read_definition_file
from steelyard.model.definition import Content, Definition, reference_to
from steelyard.model.finding import Finding, error
from steelyard.model.published import Published
from steelyard.model.reference import ReferenceKind
from steelyard.model.saved import SavedDefinition
from steelyard.store.registry import FileRegistry

if TYPE_CHECKING:  # the database is not loaded where a project has none
    from steelyard.store.saved_definitions import SavedDefinitionStore

ENDINGS = (".yaml", ".yml", ".json")
_BUILT_IN = (
    *("accuracy.yaml", "reference.yaml", "criterion.yaml", "criteria.yaml"),
    *("questionnaire.yaml", "rubric_items.yaml", "pairwise.yaml"),
    *("prbench_criterion.yaml", "apex_criterion.yaml", "lexam_reference.yaml"),
)


class DefinitionFolder:
    """The files of `rubrics/` and `judges/`, each read once, what is saved in the store, the
    judges that come along, and what was published."""

    def __init__(
        self,
        root: Path,
        catalog: Catalog,
        registry: FileRegistry | None = None,
        saved: SavedDefinitionStore | None = None,
    ) -> None:
        self._root = root
        self._catalog = catalog
        self._registry = registry
        self._saved = saved
        self._known: dict[ReferenceKind, tuple[Definition, ...]] = {}
        self._published: dict[ReferenceKind, tuple[Definition, ...]] = {}

    def all(self, kind: ReferenceKind) -> tuple[Definition, ...]:
        """Every file of that kind in the project, the broken ones too, and what is saved."""
        if kind not in self._known:
            own = tuple(self._read(path, f"{kind}s") for path in self._files(f"{kind}s"))
            along = () if kind == "rubric" else self._built_in((*own, *self.published(kind)))
            self._known[kind] = (*own, *self._stored(kind, own), *along)
        return self._known[kind]

    def published(self, kind: ReferenceKind) -> tuple[Definition, ...]:
        """Every version of that kind that the registry holds."""
        if kind not in self._published:
            held = self._registry.all(kind) if self._registry else ()
            self._published[kind] = tuple(self._read_published(one) for one in held)
        return self._published[kind]

    def at(self, name: str) -> Definition | None:
        """The file at a path, seen from the current folder or else from the project's root."""
        for path in (Path(name), self._root / name):
            if path.is_file():
                return self._read(path, path.resolve().parent.name)
        return None

    def _files(self, folder: str) -> list[Path]:
        try:
            entries = list((self._root / folder).iterdir())
        except OSError:  # no such folder, or none that may be looked into
            return []
        return sorted(path for path in entries if path.suffix.lower() in ENDINGS)

    def _read(self, path: Path, folder: str) -> Definition:
        content, findings = self._content(path, folder)
        full = path.resolve()
        root = self._root.resolve()
        shown = full.relative_to(root).as_posix() if full.is_relative_to(root) else str(path)
        return Definition(path=str(full), shown=shown, content=content, findings=tuple(findings))

    def _content(self, path: Path, folder: str) -> tuple[Content | None, list[Finding]]:
        try:
            with path.open("rb") as stream:
                data = stream.read(MAX_DEFINITION + 1)
        except OSError as wrong:
            reason = wrong.strerror or type(wrong).__name__
            return None, [error("unreadable_file", f"cannot read: {reason}")]
        return read_definition_file(data, path.suffix.lower(), folder, self._catalog)

    def _stored(self, kind: ReferenceKind, own: Sequence[Definition]) -> Iterator[Definition]:
        """What is saved in the store, but for versions that a file of the project has."""
        taken = {str(reference_to(one.content)) for one in own if one.content}
        for one in self._saved.all(kind) if self._saved else ():
            if one.reference not in taken:
                assert self._saved
                yield self._read_saved(one, self._saved.content(one))

    def _read_saved(self, saved: SavedDefinition, data: bytes) -> Definition:
        folder = f"{saved.kind}s"
        content, findings = read_definition_file(data, saved.extension, folder, self._catalog)
        return Definition(
            path=saved.source,
            shown=saved.source,
            content=content,
            findings=tuple(findings),
            is_archived=saved.archived_at is not None,
            data=data,
        )

    def _read_published(self, published: Published) -> Definition:
        assert self._registry
        place = self._registry.place(published.sha256)
        content, findings = self._published_content(published, place)
        pin = f"@{published.version}" if published.version else ""
        return Definition(
            path=str(place),
            shown=f"registry/{published.kind}/{published.id}{pin}.json",
            content=content,
            findings=tuple(findings),
            is_published=True,
            is_archived=published.status == "archived",
        )

    def _published_content(
        self, published: Published, place: Path
    ) -> tuple[Content | None, list[Finding]]:
        try:
            data = place.read_bytes()
        except OSError as wrong:
            return None, [error("unreadable_file", f"cannot read {place}: {wrong.strerror}")]
        if hashlib.sha256(data).hexdigest() != published.sha256:
            return None, [error("unreadable_file", f"{place} is not what was published")]
        whole = json.dumps({**json.loads(data), **published.beside}).encode()
        return read_definition_file(whole, ".json", f"{published.kind}s", self._catalog)

    def _built_in(self, own: tuple[Definition, ...]) -> Iterator[Definition]:
        """The judges that come along, except where the project has its own of that id."""
        taken = {reference_to(one.content).id for one in own if one.content}
        taken |= {one.stem for one in own}
        return (made for made in _built_in_judges() if made.stem not in taken)


@cache
def _built_in_judges() -> tuple[Definition, ...]:
    return tuple(_built_in_judge(name) for name in _BUILT_IN)


def _built_in_judge(name: str) -> Definition:
    data = files("steelyard.contracts.judge").joinpath("built_in", name).read_bytes()
    content, findings = read_definition_file(data, ".yaml", "judges", Catalog())
    shown = f"built in/{name}"
    return Definition(path=shown, shown=shown, content=content, findings=tuple(findings))
