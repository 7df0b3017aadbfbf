"""Which files of this machine a run needs on another one, and where they lie there."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec import UNSET

from steelyard.errors import InvalidError
from steelyard.project_file import PROJECT_FILE, variables
from steelyard.results.stored_run import StoredRun, require_plan
from steelyard.store.private_files import STEELYARD_FOLDER

_LEFT_OUT = {"__pycache__", "node_modules"}
_AGENTV = Path(".agentv", "config.yaml")
_SECRETS = ".env"
_ALLOWED = "STEELYARD_ALLOW_FOLDERS"
_OF_THIS_MACHINE = {"store", "artifacts", "engine", "oidc", "retention"}
"""Settings that only the process which holds a run needs."""


class ShownFiles(NamedTuple):
    """What a run reads beside the files of the project that are not hidden."""

    reads: Mapping[Path, Path] = {}
    """The files that datasets show, by the places where their references find them."""
    folders: Collection[str] = ()
    """Folders outside the project from which they may."""


class ShippedFiles(NamedTuple):
    """Files by their places, and the folder beneath which all places lie."""

    root: Path
    above: Path
    places: Mapping[Path, Path]

    @property
    def inner(self) -> str:
        """Where the project is beneath that folder."""
        return str(self.root.relative_to(self.above))


def files_to_send(
    root: Path, run: StoredRun, shown: ShownFiles, files: Collection[Path] = ()
) -> ShippedFiles:
    """The files that a run may read: those of the project that are not hidden, and what is named.

    A run that keeps copies of what it reads needs them alone, with the project file.
    """
    data = root / STEELYARD_FOLDER
    kept = _beneath(data / "inputs" / run.run_id)
    wanted = [root / PROJECT_FILE, *kept] if kept else [*_files(root)]
    wanted += [*_beneath(data / "registry"), *_beneath(data / "validations")]
    for path in _named(root, run):
        wanted += _beneath(path) if path.is_dir() else sorted(path.parent.glob(f"{path.stem}*"))
    wanted += [*files, *_programs(root, run, shown.folders)]
    places = {path: path for path in wanted}
    places |= {
        Path(os.path.normpath(root / place)): source for place, source in shown.reads.items()
    }
    places = {place: source for place, source in places.items() if source.is_file()}
    for place in places:
        _require_no_secrets(place)
    above = os.path.commonpath([root, *(place.parent for place in places)])
    return ShippedFiles(root, Path(above), places)


def variables_to_send(root: Path, folders: Collection[str]) -> dict[str, str]:
    """Settings of this process's environment, and where folders outside the project lie."""
    sent = {
        name: os.environ[name]
        for name, path in variables().items()
        if path[0] not in _OF_THIS_MACHINE and name in os.environ
    }
    if folders:
        real = [(root / folder).resolve() for folder in folders]
        # By a path from the project; a whole path leads to a copy within it.
        there = [text for one in real for text in (os.path.relpath(one, root), str(one)[1:])]
        sent[_ALLOWED] = json.dumps(there)
    return sent


def _files(root: Path) -> Iterator[Path]:
    """The files of a project without hidden ones, environments and what can be made again."""
    for folder, names, files in os.walk(root):
        here = Path(folder)
        names[:] = sorted(
            name
            for name in names
            if not name.startswith(".")
            and name not in _LEFT_OUT
            and not (here / name / "pyvenv.cfg").exists()
        )
        yield here / _AGENTV  # which says what is a guideline
        yield from (here / name for name in sorted(files) if not name.startswith("."))


def _beneath(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _named(root: Path, run: StoredRun) -> Iterator[Path]:
    """What the options of a run name, wherever in the project it is."""
    options = require_plan(run).options
    derived = options.derived.folders if options.derived else ()
    for name in (options.dataset, options.responses, *derived):
        path = (root / name).resolve() if name else root
        if not path.exists() or path == root:
            continue
        if not path.is_relative_to(root.resolve()):
            raise InvalidError(
                f"{name} lies outside the project {root}, whose files are sent to the workers of "
                "Ray; move it there"
            )
        yield root / path.relative_to(root.resolve())


def _programs(root: Path, run: StoredRun, folders: Collection[str]) -> Iterator[Path]:
    """The files of programs that grade, in hidden folders or outside the project, too."""
    within = (root, *((root / folder).resolve() for folder in folders))
    programs = require_plan(run).programs
    for name in () if programs is UNSET else programs:
        yield from (folder / name for folder in within if (folder / name).is_file())


def _require_no_secrets(place: Path) -> None:
    if place.name == _SECRETS or place.name.startswith(f"{_SECRETS}."):
        raise InvalidError(
            f"the run reads {place}; files of this name hold secrets, and none is sent to the "
            "workers of Ray: rename it, or run without Ray"
        )
