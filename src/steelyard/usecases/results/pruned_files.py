"""The pruned files of a run, from its folder."""

from __future__ import annotations

from pathlib import Path

from steelyard.results.pruned import PRUNED, PrunedFile, read_pruned


def pruned_files(folder: Path) -> dict[str, PrunedFile]:
    """The files of a run's folder that were pruned, by name."""
    folder = folder.resolve()
    return pruned_runs(folder.parent.parent).get(folder.name, {})


def pruned_runs(store: Path) -> dict[str, dict[str, PrunedFile]]:
    """The files that were pruned in a project, by run and name."""
    found: dict[str, dict[str, PrunedFile]] = {}
    path = store / PRUNED
    if not path.is_file():
        return found
    with path.open("rb") as stream:
        for file in read_pruned(stream):
            found.setdefault(file.run_id, {}).setdefault(file.name, file)
    return found


class PrunedNames:
    """The names of pruned files by run, read again when more were pruned."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._known: tuple[int, int] | None = None
        self._names: dict[str, list[str]] = {}

    def of(self, run_id: str) -> list[str]:
        """The files of a run that were pruned, in the order in which they went."""
        try:
            found = (self._store / PRUNED).stat()
        except OSError:
            return []
        now = (found.st_mtime_ns, found.st_size)
        if now != self._known:
            self._names = {one: list(files) for one, files in pruned_runs(self._store).items()}
            self._known = now
        return self._names.get(run_id, [])


def pruned_on(folder: Path, name: str) -> str | None:
    """The day on which a missing file was pruned."""
    if (folder / name).exists():
        return None
    file = pruned_files(folder).get(name)
    return file.day if file else None
