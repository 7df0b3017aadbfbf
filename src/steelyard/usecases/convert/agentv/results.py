"""Results and baselines of agentv as recorded responses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path, PurePosixPath

from steelyard.contracts.importers.agentv_results import import_agentv_result, is_result
from steelyard.contracts.importers.source_row import Import
from steelyard.errors import NotFoundError
from steelyard.formats.json_fields import fields
from steelyard.formats.json_text import compact
from steelyard.formats.records import Record, jsonl_records
from steelyard.model.conversion import Change, Refusal
from steelyard.model.json_value import JsonValue
from steelyard.ports import Workspace
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.source import PlacedImports, RecordedRows, imports_of

_BASELINE = Change(
    "candidate_name",
    "the candidates of a baseline are called TARGET-baseline, to be compared with newer results",
    is_lost=False,
)
_REPEATED = Change(
    "repeat",
    "another answer of the same target to the same case is a repeat, in the order of the files",
    is_lost=False,
)
_SAME = Refusal("skipped", "the same row again")


def agentv_responses(ports: ConvertPorts, options: ConvertOptions) -> RecordedRows:
    """The answers in a file of results, or in those of a folder."""
    files = _files(ports.workspace, options.source)
    changes = [_BASELINE] if any(map(_is_baseline, files)) else []
    if len(files) > 1:
        changes.append(_REPEATED)
    return RecordedRows(_repeated(_rows(ports.workspace, files)), tuple(changes))


def _repeated(rows: PlacedImports) -> PlacedImports:
    """The same rows, with the number of each further answer of a target to a case."""
    answers: Counter[tuple[JsonValue, JsonValue]] = Counter()
    for place, found in rows:
        if isinstance(found, Refusal):
            yield place, found
            continue
        key = (found.row["record_id"], found.row["candidate_name"])
        repeat = answers[key]
        answers[key] += 1
        yield place, found._replace(row={**found.row, "repeat": repeat}) if repeat else found


def _rows(workspace: Workspace, files: list[Path]) -> PlacedImports:
    seen: set[bytes] = set()
    for path in files:
        run = _RunFiles(workspace, path)
        suffix = "-baseline" if _is_baseline(path) else ""

        def make(record: Record, run: _RunFiles = run, suffix: str = suffix) -> list[Import]:
            row = fields(record.value)
            mark = sha256(suffix.encode() + compact(row)).digest()
            if mark in seen:
                return [_SAME]
            seen.add(mark)
            return [import_agentv_result(row, suffix, run.text)]

        within = f"{path.name} " if len(files) > 1 else ""
        with workspace.open(path) as stream:
            for place, found in imports_of(jsonl_records(stream), make):
                yield f"{within}{place}", found


class _RunFiles:
    """The files that the lines of an index name: answers and questions of single tests."""

    def __init__(self, workspace: Workspace, index: Path) -> None:
        self._workspace = workspace
        folder = index.parent
        self._folder = folder.parent if folder.name == ".internal" else folder

    def text(self, name: str) -> str | None:
        """The text of a file within the run."""
        place = PurePosixPath(name)
        if not name or place.is_absolute() or ".." in place.parts:
            return None
        path = self._folder / place
        if not self._workspace.is_file(path):
            return None
        with self._workspace.open(path) as stream:
            return stream.read().decode("utf-8", "replace")


def _files(workspace: Workspace, source: Path) -> list[Path]:
    if workspace.is_file(source):
        return [source]
    found = [entry.path for entry in workspace.expand([str(source)])]
    lines = [path for path in found if path.suffix.lower() == ".jsonl" and _has(workspace, path)]
    if not lines:
        raise NotFoundError(
            f"no results of agentv in {source}; they are JSONL, with 'eval_id' or 'test_id', "
            "'score' and 'target' on each line"
        )
    return sorted(lines)


def _has(workspace: Workspace, path: Path) -> bool:
    """Whether a file of a folder, which also holds transcripts, is one of results."""
    return any(record.value and is_result(record.value) for record in _first(workspace, path))


def _first(workspace: Workspace, path: Path) -> Iterator[Record]:
    with workspace.open(path) as stream:
        yield from (record for record, _ in zip(jsonl_records(stream), range(1), strict=False))


def _is_baseline(path: Path) -> bool:
    return path.name.endswith(".baseline.jsonl")
