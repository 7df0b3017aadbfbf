"""A user's project on disk: its root, its settings and the files its datasets show."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import msgspec

from steelyard.errors import ConfigError, NotFoundError, ParseError
from steelyard.formats.image_bytes import MAX_IMAGE, too_large
from steelyard.formats.office_text import is_office, office_text
from steelyard.formats.pdf_text import is_pdf, pdf_text
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.ports import FileFault, FoundFile
from steelyard.project_file import PROJECT_FILE, parse_settings, with_environment
from steelyard.settings import Settings
from steelyard.store.globs import is_pattern, matches

MAX_SHOWN_FILE = 10 * 1024 * 1024
MAX_CASES_FILE = 64 * 1024 * 1024
MAX_KEPT = 32 * 1024 * 1024
"""How many characters of files are remembered at once."""
_ENTRY = 500
_AGENTV = ".agentv"


class ProjectFolder(FrozenStruct, frozen=True):
    """A root folder and what its project file says."""

    root: Path
    settings: Settings

    def files_of(self, eval_file: Path, reads: dict[Path, Path] | None = None) -> ProjectFiles:
        """The files that one eval file may show."""
        patterns = (*self.settings.guideline_patterns, *self._agentv_patterns(eval_file))
        return ProjectFiles(eval_file.parent, self.root, self.settings, patterns, reads=reads)

    def _agentv_patterns(self, eval_file: Path) -> tuple[str, ...]:
        """The guideline patterns of the nearest `.agentv/config.yaml`."""
        for folder in _upwards(eval_file.parent, self.root):
            config = folder / _AGENTV / "config.yaml"
            if config.is_file():
                return _guideline_patterns(config)
        return ()


def project_at(root: Path) -> ProjectFolder:
    """The project of a folder that is known to be its root."""
    if not root.is_dir():
        wrong = "is a file, not a folder" if root.exists() else "no such folder"
        raise NotFoundError(f"{root}: {wrong}")
    root = root.resolve()
    path = root / PROJECT_FILE
    settings = parse_settings(path.read_bytes(), str(path)) if path.is_file() else Settings()
    return ProjectFolder(root, with_environment(settings, os.environ))


def kept_project(root: Path) -> ProjectFolder:
    """A project whose settings are resolved: what the environment says now does not count."""
    return ProjectFolder(root, parse_settings((root / PROJECT_FILE).read_bytes()))


def find_project(file: Path, current: Path) -> ProjectFolder:
    """The project that a file belongs to; the environment counts more than its settings."""
    found = _find(file, current)
    return replace(found, settings=with_environment(found.settings, os.environ))


def _find(file: Path, current: Path) -> ProjectFolder:
    file, current = file.resolve(), current.resolve()
    folder = file if file.is_dir() else file.parent
    for start in (folder, current):
        for candidate in (start, *start.parents):
            if (candidate / PROJECT_FILE).is_file():
                path = candidate / PROJECT_FILE
                return ProjectFolder(candidate, parse_settings(path.read_bytes(), str(path)))
    for candidate in (folder, *folder.parents):
        if (candidate / _AGENTV).is_dir():
            return ProjectFolder(candidate, Settings())
    return ProjectFolder(current if folder.is_relative_to(current) else folder, Settings())


class ProjectFiles:
    """Finds files for one eval file, beneath the project root or an allowed folder."""

    def __init__(
        self,
        base: Path,
        root: Path,
        settings: Settings,
        patterns: tuple[str, ...],
        *,
        reads: dict[Path, Path] | None = None,
    ) -> None:
        self._base = base.resolve()
        self._root = root.resolve()
        self._allowed = tuple((root / folder).resolve() for folder in settings.allow.folders)
        self._allow = settings.allow
        self._patterns = patterns
        self._reads = reads
        self._known: dict[str, FoundFile | FileFault] = {}
        self._kept = 0

    def read(self, reference: str) -> FoundFile | FileFault:
        """The text of a file, or why there is none; a file that many cases show is read once."""
        found = self._known.get(reference)
        if found is None:
            found = self._find(reference)
            self._keep(reference, found)
        return found

    def image(self, reference: str) -> bytes | FileFault:
        """The bytes of an image; none is remembered, because few are shown twice."""
        found = self._place(reference)
        if isinstance(found, FileFault):
            return found
        try:
            if found.stat().st_size > MAX_IMAGE:
                return FileFault("record_too_large", f"{found.name} is larger than {too_large()}")
            return found.read_bytes()
        except OSError as error:
            return FileFault("missing_file", f"cannot read {found.name}: {error.strerror}")

    def cases(self, reference: str) -> tuple[FoundFile, ...] | FileFault:
        """The files of cases that a path, a pattern or a folder names; sorted, each whole."""
        fault = _missing(reference)
        for pattern in self._candidates(reference):
            named = _named(pattern)
            faults = [self._refusal(path, reference) for path in named]
            found = [path for path, wrong in zip(named, faults, strict=True) if not wrong]
            if found:
                for path in found:
                    self._note(path, path, reference)
                return self._loaded(found)
            fault = next(filter(None, faults), fault)
        return fault

    def variable(self, name: str) -> str | FileFault:
        """What a variable that the project lists holds."""
        if name not in self._allow.env:
            return FileFault(
                "forbidden_variable",
                f"the variable {name} is not listed in allow.env",
                f"list it in steelyard.yaml if datasets may show it: allow: {{env: [{name}]}}",
            )
        value = os.environ.get(name)
        if value is None:
            return FileFault("forbidden_variable", f"the variable {name} is not set")
        return value

    def _loaded(self, paths: list[Path]) -> tuple[FoundFile, ...] | FileFault:
        loaded: list[FoundFile] = []
        for path in paths:
            one = self._load(path, MAX_CASES_FILE)
            if isinstance(one, FileFault):
                return one
            loaded.append(one)
        return tuple(loaded)

    def _keep(self, reference: str, found: FoundFile | FileFault) -> None:
        """Remember a file, in bounded memory however many files a dataset shows."""
        size = _ENTRY + (len(found.text) if isinstance(found, FoundFile) else 0)
        if self._kept + size > MAX_KEPT:
            self._known.clear()
            self._kept = 0
        self._known[reference] = found
        self._kept += size

    def _find(self, reference: str) -> FoundFile | FileFault:
        found = self._place(reference)
        return found if isinstance(found, FileFault) else self._load(found)

    def _place(self, reference: str) -> Path | FileFault:
        """Where the file is that a reference means."""
        fault = _missing(reference)
        for candidate in self._candidates(reference):
            try:
                path = candidate.resolve()
                if not path.is_file():
                    continue
            except (OSError, RuntimeError, ValueError):  # a loop of links, a name with a NUL, …
                continue
            refusal = self._refusal(path, reference)
            if refusal is None:
                self._note(candidate, path, reference)
                return path
            fault = refusal
        return fault

    def _note(self, candidate: Path, path: Path, reference: str) -> None:
        """A file is read: by the place where the same reference finds it in a copy."""
        if self._reads is not None:
            is_absolute = candidate == Path(reference)
            place = self._root / reference.lstrip("/\\") if is_absolute else candidate
            self._reads[Path(os.path.normpath(place))] = path

    def _candidates(self, reference: str) -> list[Path]:
        relative = reference.lstrip("/\\")
        folders = _upwards(self._base, self._root)
        tried = [folder / relative for folder in folders]
        return [Path(reference), *tried] if reference.startswith("/") else tried

    def _refusal(self, path: Path, reference: str) -> FileFault | None:
        """Why a file that is there is not shown; None where it is."""
        allowed = [folder for folder in self._allowed if path.is_relative_to(folder)]
        if not allowed and not path.is_relative_to(self._root):
            return _outside(reference)
        # An eval file that lies in a dot folder itself may show what lies there with it.
        shared = Path(os.path.commonpath((self._base, path)))
        if self._allow.dot_files or not all(_is_hidden(path, one) for one in (shared, *allowed)):
            return None
        return _hidden(reference)

    def _load(self, path: Path, limit: int = MAX_SHOWN_FILE) -> FoundFile | FileFault:
        try:
            if path.stat().st_size > limit:
                size = f"{limit // 1024 // 1024} MB"
                return FileFault("record_too_large", f"{path.name} is larger than {size}")
            text = _text(path)
        except UnicodeDecodeError:
            return FileFault("invalid_encoding", f"{path.name} is not UTF-8 text")
        except ParseError as wrong:
            return FileFault(wrong.code, f"{path.name}: {wrong}")
        except OSError as error:
            return FileFault("missing_file", f"cannot read {path.name}: {error.strerror}")
        return FoundFile(str(path), text, self._is_guideline(path))

    def _is_guideline(self, path: Path) -> bool:
        inside = path.is_relative_to(self._root)
        relative = (path.relative_to(self._root) if inside else path).as_posix()
        return any(matches(pattern, relative) for pattern in self._patterns)


def _named(pattern: Path) -> list[Path]:
    """The files that a path or a pattern names; those of a folder are its cases, one each."""
    try:
        if pattern.is_file():
            return [pattern.resolve()]
        if pattern.is_dir():
            found = [next(iter(sorted(one.glob("case.y*ml"))), None) for one in pattern.iterdir()]
            return sorted(path.resolve() for path in found if path)
        root = Path(pattern.anchor)
        relative = str(pattern.relative_to(root))
        globbed = root.glob(relative) if is_pattern(relative) else ()
        return sorted(path.resolve() for path in globbed if path.is_file())
    except (OSError, RuntimeError, ValueError):
        return []


def _outside(reference: str) -> FileFault:
    return FileFault(
        "file_outside_root",
        f"{reference} lies outside the project",
        "list its folder under 'allow.folders' in steelyard.yaml",
    )


def _is_hidden(path: Path, folder: Path) -> bool:
    """Whether a file, or a folder on the way to it, is one that listings leave out."""
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _hidden(reference: str) -> FileFault:
    return FileFault(
        "hidden_file",
        f"{reference} is a dot file, or lies in a dot folder; such files often hold secrets",
        "set 'allow.dot_files' to true in steelyard.yaml if datasets may show them",
    )


def _missing(reference: str) -> FileFault:
    return FileFault("missing_file", f"no such file: {reference}")


def _text(path: Path) -> str:
    data = path.read_bytes()
    if path.suffix.lower() == ".pdf" or is_pdf(data):
        return pdf_text(data)
    if is_office(path.name):
        return office_text(data)
    return data.decode("utf-8-sig").replace("\r\n", "\n")


def _upwards(folder: Path, root: Path) -> list[Path]:
    """The folder and its parents up to the root; the folder alone when it lies elsewhere."""
    if not folder.is_relative_to(root):
        return [folder]
    return [folder, *(parent for parent in folder.parents if parent.is_relative_to(root))]


def _guideline_patterns(config: Path) -> tuple[str, ...]:
    try:
        value = parse_yaml(config.read_bytes()).value
    except ParseError as wrong:
        raise ConfigError(f"{config}:{wrong.line}: {wrong}") from None
    patterns = value.get("guideline_patterns", ()) if isinstance(value, dict) else ()
    try:
        return msgspec.convert(patterns, tuple[str, ...])
    except msgspec.ValidationError:
        message = f"{config}: guideline_patterns must be an array of strings"
        raise ConfigError(message) from None
