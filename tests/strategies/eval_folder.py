"""A folder of eval files to write, load and validate in a test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.case import Case
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.load_eval_cases import load_eval_cases
from steelyard.usecases.datasets.validate import ValidateOptions, ValidationReport, validate


def row(**changes: JsonValue) -> JsonObject:
    """A good row of eval cases with some fields changed or added."""
    return {
        "id": "case-1",
        "expected_outcome": "Goal",
        "input_messages": [{"role": "user", "content": "Query"}],
        **changes,
    }


def without(name: str, **changes: JsonValue) -> JsonObject:
    """A row that lacks one field of a good one."""
    return {key: value for key, value in row(**changes).items() if key != name}


def jsonl(*rows: JsonValue) -> str:
    """Rows as lines."""
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in rows)


@dataclass(frozen=True)
class EvalFolder:
    """Files beneath one root, which is the project unless a project file lies above."""

    root: Path

    def write(self, name: str, content: str | bytes | JsonObject | Sequence[JsonObject]) -> Path:
        """Write a text, bytes, a YAML document, or rows of JSONL."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict):
            content = write_yaml(content)
        elif not isinstance(content, str | bytes):
            content = jsonl(*content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def load(self, name: str) -> tuple[Case, ...]:
        """The good cases of a file."""
        return load_eval_cases(DiskWorkspace(self.root), self.root / name)

    def case(self, fields: JsonObject, name: str = "data.jsonl") -> Case:
        """The one case of a JSONL file with this row."""
        self.write(name, [fields])
        (case,) = self.load(name)
        return case

    def report(self, *names: str, strict: bool = False, verbose: bool = False) -> ValidationReport:
        """What validation says of files."""
        options = ValidateOptions(strict=strict, verbose=verbose)
        paths = [str(self.root / name) for name in names]
        return validate(DiskWorkspace(self.root), paths, options)

    def findings(self, name: str, *, strict: bool = False) -> list[Finding]:
        """Everything found in a file and its sidecar."""
        files = self.report(name, strict=strict).files
        return [finding for file in files for finding in file.findings]

    def row_findings(self, fields: JsonValue) -> list[tuple[str, str]]:
        """Code and path of everything found in one JSONL row."""
        self.write("data.jsonl", jsonl(fields))
        return [(found.code, found.path) for found in self.findings("data.jsonl")]
