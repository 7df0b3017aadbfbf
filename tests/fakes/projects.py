"""A project on disk with a real store, whose targets say what a test wrote down."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from fakes.targets import ScriptedTarget
from steelyard.execution.ports import TargetSpec
from steelyard.execution.prepared import Prepared
from steelyard.execution.run_options import RunOptions
from steelyard.model.run import Result
from steelyard.project import open_project
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.runs.execute import FinishedRun, resume_run, start_run
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.prepare import prepare

SETTINGS = "retry: {backoff_s: [0, 0]}\n"
"""Retries without waiting, since the clock of these projects is the real one."""


def row(name: str, **more: object) -> dict[str, object]:
    """An eval case that passes when the answer is yes."""
    says_yes = [{"type": "equals", "value": "yes"}]
    return {"id": name, "expected_outcome": "Yes.", "input": "?", "evaluators": says_yes, **more}


def spec(target: ScriptedTarget, **more: Any) -> TargetSpec:
    """A target with what a plan must know of it."""
    known: dict[str, Any] = {"sampling": {}, **more}
    return TargetSpec(name=target.name, target=target, **known)


class Project:
    """A folder with a project file; opened as often as a test likes."""

    def __init__(self, root: Path, settings: str = SETTINGS) -> None:
        self.root = root
        self.write("steelyard.yaml", settings)
        self.seen: list[Result] = []
        self._opened: list[RunPorts] = []

    def write(self, name: str, text: str) -> Path:
        """A file of the project."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def cases(self, rows: Iterable[object], name: str = "d.jsonl") -> Path:
        """A dataset of eval cases, from the root on."""
        self.write(name, "".join(json.dumps(row) + "\n" for row in rows))
        return Path(name)

    def document(self, records: list[Any], name: str = "d.json", **more: object) -> Path:
        """A dataset document, from the root on."""
        head = {"dataset_id": "d", "dataset_version": "1", "schema_version": "1.0", **more}
        self.write(name, json.dumps({**head, "records": records}))
        return Path(name)

    def ports(self, *specs: ScriptedTarget | TargetSpec, **changes: Any) -> RunPorts:
        """What a process needs to run; without targets, those of the project file."""
        ports = open_project(self.root).run_ports()
        self._opened.append(ports)
        made = {
            entry.name: entry if isinstance(entry, TargetSpec) else spec(entry) for entry in specs
        }
        if made:
            ports = replace(ports, target=made.__getitem__, reading=_with(ports, made))
        return replace(ports, **changes)

    def prepare(self, ports: RunPorts, dataset: Path, **options: Any) -> Prepared:
        """A run that may start."""
        asked: dict[str, Any] = {"dataset": dataset, "target": "scripted", **options}
        return prepare(ports, RunOptions(**asked))

    def run(self, ports: RunPorts, dataset: Path, **options: Any) -> FinishedRun:
        """A run from its start to its end."""
        prepared = self.prepare(ports, dataset, **options)
        return asyncio.run(start_run(ports, prepared, lambda _: None, self.seen.append))

    def resume(self, ports: RunPorts, run: StoredRun | None = None) -> FinishedRun:
        """The rest of a run; of the latest, as it is now, unless it was read before."""
        found = run or ports.repository.find("latest")
        return asyncio.run(resume_run(ports, found, self.seen.append))

    def close(self) -> None:
        """Let go of the databases."""
        for ports in self._opened:
            ports.repository.close()


def _with(ports: RunPorts, made: dict[str, TargetSpec]) -> Callable[[Path], RunPorts]:
    """The ports of queued runs, with the same targets."""

    def reading(folder: Path) -> RunPorts:
        return replace(ports.reading(folder), target=made.__getitem__)

    return reading


def rows_of(run: FinishedRun, name: str = "predictions.jsonl") -> list[dict[str, Any]]:
    """The rows of an artifact."""
    text = (Path(run.folder) / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def json_of(run: FinishedRun, name: str = "run_manifest.json") -> dict[str, Any]:
    """A JSON artifact."""
    return json.loads((Path(run.folder) / name).read_bytes())
