"""The files that a program consists of, as far as they can be seen from outside.

They tell one version of a program from the next: a score depends on what a program does, and its
command line stays the same when somebody edits it.
"""

from __future__ import annotations

import ast
import hashlib
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

Hashes: TypeAlias = dict[str, str]
"""The sha256 of each file, by its path from the project's root or the folder that holds it."""
_OPTION = "="
_PYTHON = ".py"


def program_files(words: Iterable[str], folder: Path, within: Sequence[Path]) -> Hashes:
    """The files that a command line names and, of Python files, those that they import.

    `within` are the folders whose files count, the project's root first: what lies outside, such
    as an interpreter, belongs to the machine.
    """
    named = (path for word in _words(words) for path in _candidates(word, folder))
    return _hashes(_with_imports(named, within), within)


def module_files(name: str, root: Path) -> Hashes:
    """The file of an imported module, and those of its folder and the project that it imports."""
    origin = getattr(sys.modules.get(name), "__file__", None)
    if not isinstance(origin, str):  # of a session, or built in
        return {}
    path = Path(origin).resolve()
    within = (root.resolve(), path.parent)
    return _hashes(_with_imports((path,), within), within)


def files_sha256(files: Hashes) -> str | None:
    """One hash of all of them, wherever the project lies; None where there is no file."""
    if not files:
        return None
    listing = "\n".join(f"{name} {sha256}" for name, sha256 in sorted(files.items()))
    return hashlib.sha256(listing.encode("utf-8", "surrogatepass")).hexdigest()


def _words(words: Iterable[str]) -> Iterator[str]:
    """The words of a command line, and those of a shell's within it."""
    for word in words:
        yield word
        if any(map(str.isspace, word)):
            try:
                yield from shlex.split(word)
            except ValueError:
                yield from word.split()


def _candidates(word: str, folder: Path) -> Iterator[Path]:
    """Where a word may lead: a path, the value of an option, or a module after `-m`."""
    for text in {word, word.partition(_OPTION)[2]}:
        if text and "\0" not in text:
            yield folder / text
            yield from _module_places(text, folder)


def _module_places(name: str, folder: Path) -> Iterator[Path]:
    parts = name.split(".")
    if not all(map(str.isidentifier, parts)):
        return
    place = folder.joinpath(*parts)
    yield place.with_name(f"{place.name}{_PYTHON}")
    yield place / "__main__.py"
    yield place / "__init__.py"


def _with_imports(start: Iterable[Path], within: Sequence[Path]) -> list[Path]:
    """The files among these, and what the Python files import, each once."""
    found: dict[Path, None] = {}
    waiting = list(start)
    while waiting:
        path = _file(waiting.pop(), within)
        if path is None or path in found:
            continue
        found[path] = None
        if path.suffix == _PYTHON:
            waiting += _imported(path, within)
    return list(found)


def _file(path: Path, within: Sequence[Path]) -> Path | None:
    try:
        real = path.resolve()
        is_one = real.is_file() and os.access(real, os.R_OK)
    except (OSError, RuntimeError):  # a name that is too long, or links in a circle
        return None
    return real if is_one and any(real.is_relative_to(folder) for folder in within) else None


def _imported(path: Path, within: Sequence[Path]) -> Iterator[Path]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                yield from _places(one.name, (path.parent, *within))
        elif isinstance(node, ast.ImportFrom):
            yield from _from(node, path, within)


def _from(node: ast.ImportFrom, path: Path, within: Sequence[Path]) -> Iterator[Path]:
    bases = (path.parent, *within)
    if node.level:
        bases = (path.parents[min(node.level, len(path.parents)) - 1],)
    for one in node.names:
        yield from _places(".".join(filter(None, (node.module, one.name))), bases)


def _places(name: str, bases: Iterable[Path]) -> Iterator[Path]:
    """Where the modules of a dotted name may be, the packages above it included."""
    parts = [part for part in name.split(".") if part.isidentifier()]
    for base in bases:
        for length in range(1, len(parts) + 1):
            yield from _module_places(".".join(parts[:length]), base)


def _hashes(paths: Iterable[Path], within: Sequence[Path]) -> Hashes:
    found: Hashes = {}
    for path in paths:
        folder = next(one for one in within if path.is_relative_to(one))
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        found[path.relative_to(folder).as_posix()] = sha256
    return dict(sorted(found.items()))
