"""Rubric and judge files of a project."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from steelyard.checks.catalog import Catalog
from steelyard.contracts.definitions import MAX_DEFINITION, read_definition_file
from steelyard.model.definition import Content, Definition, reference_to
from steelyard.model.finding import Finding, error
from steelyard.model.reference import ReferenceKind

ENDINGS = (".yaml", ".yml", ".json")
_BUILT_IN = ("accuracy.yaml",)


class DefinitionFolder:
    """The files of `rubrics/` and `judges/`, each read once, and the judges that come along."""

    def __init__(self, root: Path, catalog: Catalog) -> None:
        self._root = root
        self._catalog = catalog
        self._known: dict[ReferenceKind, tuple[Definition, ...]] = {}

    def all(self, kind: ReferenceKind) -> tuple[Definition, ...]:
        """Every file of that kind in the project, the broken ones too."""
        if kind not in self._known:
            own = tuple(self._read(path, f"{kind}s") for path in self._files(f"{kind}s"))
            self._known[kind] = own if kind == "rubric" else (*own, *self._built_in(own))
        return self._known[kind]

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

    def _built_in(self, own: tuple[Definition, ...]) -> Iterator[Definition]:
        """The judges that come along, except where the project has its own of that id."""
        taken = {reference_to(one.content).id for one in own if one.content}
        taken |= {one.stem for one in own}
        for name in _BUILT_IN:
            data = files("steelyard.contracts.judge").joinpath("built_in", name).read_bytes()
            content, findings = read_definition_file(data, ".yaml", "judges", self._catalog)
            shown = f"built in/{name}"
            made = Definition(path=shown, shown=shown, content=content, findings=tuple(findings))
            if made.stem not in taken:
                yield made
