"""The files of a promptfoo project, and where in them something stands."""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import NamedTuple

from steelyard.contracts.importers.source_row import wrong
from steelyard.errors import ParseError
from steelyard.formats.json_text import parse_json
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.ports import FileFault, Files, FoundFile

SCHEME = "file://"
_PROGRAM = re.compile(r"\.(js|cjs|mjs|ts|cts|mts|tsx|py|rb|go|sh)(:[\w.]+)?$", re.IGNORECASE)
_IMAGES = {
    ".png": "png",
    ".jpg": "jpeg",
    ".jpeg": "jpeg",
    ".gif": "gif",
    ".webp": "webp",
}
_TABLES = {".csv": ",", ".tsv": "\t"}


class ConfigPlace(NamedTuple):
    """Where in a project something stands: the file, and the path in it."""

    file: str
    path: str = ""

    def at(self, *parts: str | int) -> ConfigPlace:
        """A place within this one."""
        path = self.path
        for part in parts:
            if isinstance(part, int):
                path += f"[{part}]"
            else:
                path += f".{part}" if path else part
        return ConfigPlace(self.file, path)

    def __str__(self) -> str:
        """Such as `promptfooconfig.yaml: tests[2].assert[0]`."""
        return f"{self.file}: {self.path}" if self.path else self.file

    def lost(self, why: object) -> Change:
        """What stands here did not come over."""
        return Change(str(self), str(why))

    def replaced(self, how: str) -> Change:
        """What stands here came over as something else."""
        return Change(str(self), how, is_lost=False)


class ConfigFiles:
    """Reads what a configuration names by `file://`, from its folder."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def text(self, reference: str) -> str:
        """The text of a file; raises ParseError where there is none."""
        path = reference.removeprefix(SCHEME)
        refuse_program(path)
        found = self._files.read(path)
        if isinstance(found, FileFault):
            raise wrong(_told(found))
        return found.text

    def value(self, reference: str) -> JsonValue:
        """What a YAML or JSON file holds, or the rows of a table or of JSONL."""
        return parsed(PurePosixPath(reference.removeprefix(SCHEME)), self.text(reference))

    def require(self, path: str) -> None:
        """Raise ParseError unless there is such a file; it is not run."""
        found = self._files.read(path)
        if isinstance(found, FileFault):
            raise wrong(_told(found))

    def all(self, reference: str) -> tuple[FoundFile, ...]:
        """The files that a path or a pattern names."""
        path = reference.removeprefix(SCHEME)
        refuse_program(path)
        if not any(mark in path for mark in "*?["):
            return (FoundFile(path, self.text(path)),)
        found = self._files.cases(path)
        if isinstance(found, FileFault):
            raise wrong(_told(found))
        return found

    def variable(self, reference: str) -> str:
        """The value of a variable that is kept in a file: its text, or an image as a data URL."""
        path = PurePosixPath(reference.removeprefix(SCHEME))
        kind = _IMAGES.get(path.suffix.lower())
        if kind is None:
            return self.text(reference).strip()
        found = self._files.image(str(path))
        if isinstance(found, FileFault):
            raise wrong(_told(found))
        return f"data:image/{kind};base64,{base64.b64encode(found).decode()}"

    def resolved(self, value: JsonValue) -> JsonValue:
        """A value, or what the file that it names holds."""
        is_file = isinstance(value, str) and value.startswith(SCHEME)
        return self.value(value) if isinstance(value, str) and is_file else value


def parsed(path: PurePosixPath, text: str) -> JsonValue:
    """A file's value by its extension: tables and JSONL are lists of rows."""
    kind = path.suffix.lower()
    data = text.encode("utf-8", "surrogatepass")
    try:
        if kind in _TABLES:
            return _table(text, _TABLES[kind])
        if kind == ".jsonl":
            return [parse_json(line.encode("utf-8", "surrogatepass")) for line in _filled(text)]
        if kind in {".yaml", ".yml"}:
            return parse_yaml(data).value
        if kind == ".json":
            return parse_json(data)
    except (ParseError, csv.Error) as error:
        line = f":{error.line}" if isinstance(error, ParseError) and error.line else ""
        raise wrong(f"{path}{line}: {error}") from None
    raise wrong(f"{path}: files with the extension '{kind}' are not read")


def _table(text: str, separator: str) -> list[JsonValue]:
    rows: list[JsonValue] = []
    for row in csv.DictReader(io.StringIO(text.removeprefix("\ufeff")), delimiter=separator):
        cells: JsonObject = {
            name.strip(): value for name, value in row.items() if isinstance(value, str) and name
        }
        rows.append(cells)
    return rows


def _filled(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def refuse_program(path: str) -> None:
    """Programs are never run by a conversion; raises ParseError for the path of one."""
    if _PROGRAM.search(path):
        raise wrong(f"a program makes it, and a conversion runs none: {path}")


def is_file(value: JsonValue) -> bool:
    """Whether a value names a file."""
    return isinstance(value, str) and value.startswith(SCHEME)


def objects(value: JsonValue) -> JsonObject:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: JsonValue) -> list[JsonValue]:
    """A list, a single value as a list of one, nothing for null."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _told(fault: FileFault) -> str:
    return f"{fault.message} ({fault.hint})" if fault.hint else fault.message


Render = Callable[[str], str]
