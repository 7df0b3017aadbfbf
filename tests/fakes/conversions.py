"""Conversions in a folder of a test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fakes.contracts import CONTRACTS
from steelyard.model.conversion import Conversion
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.store.drafts import FileDraft, ScratchDraft
from steelyard.store.frames import frame_records
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.convert.convert import ConvertOptions, ConvertPorts, convert
from steelyard.usecases.datasets.read_dataset import read_dataset


class Desk:
    """A folder with files to convert."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shown: list[bytes] = []

    def write(self, name: str, content: str | bytes | JsonValue) -> Path:
        """A file: bytes, text, or a value as JSON."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content)
            path.write_text(text, encoding="utf-8")
        return path

    def write_rows(self, name: str, *rows: JsonValue) -> Path:
        """A JSONL file."""
        return self.write(name, "".join(json.dumps(row) + "\n" for row in rows))

    def convert(self, source: str, to: str, output: str | None, **options: Any) -> Conversion:
        """Convert a file of the folder."""
        force = bool(options.get("force"))
        ports = ConvertPorts(
            contracts=CONTRACTS,
            workspace=DiskWorkspace(self.folder),
            frames=frame_records,
            draft=lambda path: FileDraft(path, force=force),
            replacing=lambda path: FileDraft(path, force=True),
            scratch=ScratchDraft,
            show=self.shown.append,
        )
        place = None if output is None else self.folder / output
        asked = ConvertOptions(source=self.folder / source, to=to, output=place, **options)
        return convert(ports, asked)

    def rows(self, name: str) -> list[JsonObject]:
        """The rows of a JSONL file."""
        text = (self.folder / name).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def read(self, name: str) -> Any:
        """A dataset of the folder; it must be right."""
        dataset, findings = read_dataset(DiskWorkspace(self.folder), self.folder / name)
        assert [finding for finding in findings if finding.is_error] == []
        return dataset

    @property
    def files(self) -> list[str]:
        """The names of all files."""
        found = (path for path in self.folder.rglob("*") if path.is_file())
        return sorted(str(path.relative_to(self.folder)) for path in found)
