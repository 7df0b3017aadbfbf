"""Rubric files of a project."""

from __future__ import annotations

import hashlib
import logging
import re
from pathlib import Path
from typing import NamedTuple, cast

from steelyard.checks.catalog import Catalog
from steelyard.contracts.check_rubric.reader import exact_version, read_check_rubric
from steelyard.errors import NotFoundError, ParseError, UnreadableFileError, UsageError
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.finding import Finding
from steelyard.model.reference import Reference
from steelyard.model.rubric import Rubric

_ENDINGS = (".yaml", ".yml", ".json")
# A pair of escapes for one character, or another escape: JSON has pairs, YAML has not.
_ESCAPE = re.compile(rb"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\.")
_log = logging.getLogger("steelyard")


class _Found(NamedTuple):
    path: Path
    rubric: Rubric
    warnings: list[Finding]


class RubricFolder:
    """Finds rubrics by reference (`rubric/basic@1.2`), by bare id, or by path."""

    def __init__(self, root: Path, catalog: Catalog) -> None:
        self._root = root
        self._folder = root / "rubrics"
        self._catalog = catalog

    def load(self, name: str) -> Rubric:
        """The rubric that a name stands for; one that cannot be used is a UsageError.

        What does not stop a run, a misspelt field or a missing pin, is a warning on the
        `steelyard` logger.
        """
        if Path(name).suffix.lower() in _ENDINGS:
            found = self._at_path(name)
        else:
            reference = Reference.parse(name if "/" in name else f"rubric/{name}")
            if reference is None or reference.kind != "rubric":
                raise UsageError(f"'{name}' is no rubric; write rubric/id@version or a path")
            found = self._pinned(reference) if reference.version else self._newest(reference)
        for finding in found.warnings:
            _log.warning("%s", _said(found.path, finding))
        return found.rubric

    def _at_path(self, name: str) -> _Found:
        """A file, seen from the current folder or else from the project's root."""
        for path in (Path(name), self._root / name):
            if path.is_file():
                return self._read(path)
        raise NotFoundError(f"no such rubric file: {name}")

    def _pinned(self, reference: Reference) -> _Found:
        """The one file of that version; a broken file of another version is no hindrance."""
        wanted = exact_version(cast(str, reference.version))
        found, broken = self._candidates(reference)
        fitting = [one for one in found if one.rubric.version == wanted]
        if broken and not fitting:
            raise broken[0]
        return self._only(reference, fitting, found)

    def _newest(self, reference: Reference) -> _Found:
        """The highest release; none while a file is broken, because it may be the newest."""
        found, broken = self._candidates(reference)
        if broken:
            raise broken[0]
        numbers = [_numbers(one.rubric.version) for one in found]
        highest = max(filter(None, numbers), default=None)
        newest = [one for one, those in zip(found, numbers, strict=True) if those == highest]
        chosen = self._only(reference, newest if highest else [], found)
        _log.warning("%s is not pinned; %s is used", reference, chosen.rubric.name)
        return chosen

    def _only(self, reference: Reference, fitting: list[_Found], found: list[_Found]) -> _Found:
        if not fitting:
            have = ", ".join(one.rubric.name for one in found) or "no file of that id"
            raise NotFoundError(f"cannot resolve {reference} in {self._folder}: {have}")
        if len(fitting) > 1:
            places = " and ".join(str(one.path) for one in fitting)
            raise UsageError(f"version conflict: {fitting[0].rubric.name} stands in {places}")
        return fitting[0]

    def _candidates(self, reference: Reference) -> tuple[list[_Found], list[UsageError]]:
        """The rubrics of an id, and what is wrong with further files of that name."""
        found: list[_Found] = []
        broken: list[UsageError] = []
        for file in self._files(reference.id):
            try:
                one = self._read(file)
            except UsageError as wrong:
                broken.append(wrong)
                continue
            if one.rubric.id == reference.id:
                found.append(one)
            else:
                broken.append(UsageError(f"{file} holds {one.rubric.name}, not {reference.id}"))
        return found, broken

    def _files(self, name: str) -> list[Path]:
        if not self._folder.is_dir():
            return []
        return sorted(
            file
            for file in self._folder.iterdir()
            if file.suffix.lower() in _ENDINGS and file.stem.split("@")[0] == name
        )

    def _read(self, path: Path) -> _Found:
        try:
            data = path.read_bytes()
            is_json = path.suffix.lower() == ".json"
            content = parse_yaml(_ESCAPE.sub(_joined, data) if is_json else data)
        except OSError as wrong:
            raise UnreadableFileError(f"cannot read {path}: {wrong.strerror}") from None
        except ParseError as wrong:
            place = path if wrong.line is None else f"{path}:{wrong.line}"
            raise UnreadableFileError(f"{place}: {wrong}") from None
        digest = hashlib.sha256(data).hexdigest()
        rubric, findings = read_check_rubric(content, self._catalog, digest)
        if rubric is None:
            raise UsageError(_said(path, next(one for one in findings if one.is_error)))
        return _Found(path, rubric, findings)


def _said(path: Path, finding: Finding) -> str:
    hint = f" ({finding.hint})" if finding.hint else ""
    return f"{path}:{finding.line}: {finding.message}{hint}"


def _joined(escape: re.Match[bytes]) -> bytes:
    """The character that a pair of escapes stands for."""
    pair = escape[1]
    if pair is None:
        return escape[0]
    return bytes.fromhex((pair[2:6] + pair[8:12]).decode("ascii")).decode("utf-16-be").encode()


def _numbers(version: str) -> tuple[int, ...] | None:
    """The numbers of a release, to compare; None for a pre-release."""
    main = version.partition("+")[0]
    return None if "-" in main else tuple(int(part) for part in main.split("."))
