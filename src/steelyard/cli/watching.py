"""`run --watch`: run again, in a process of its own, when a file that the run reads changes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NoReturn, TypeAlias, cast

import typer

from steelyard.cli.opening import opened
from steelyard.cli.running import stoppable
from steelyard.cli.terminal import painter, show_report
from steelyard.errors import SteelyardError

if TYPE_CHECKING:
    from steelyard.execution.prepared import Prepared
    from steelyard.model.json_value import JsonObject
    from steelyard.usecases.runs.ports import RunPorts

OPTION = "--watch"
REPORT = "--watch-report"
"""The option of the process that runs: where it says what it reads."""
_DEFINITIONS = ("rubrics", "judges")
_POLL_S = 0.25
_SHOWN = 3

State: TypeAlias = tuple[int, int, int] | None
"""Time, size and identity of a file; None where there is none."""
Snapshot: TypeAlias = dict[str, State]


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What was typed, as far as it names files."""

    words: Sequence[str]
    """The command line without `--watch`."""
    near: Path | None
    """The dataset by which the project is found."""
    named: Sequence[Path]

    @property
    def root(self) -> Path:
        """The folder of the project, also while its file is broken."""
        from steelyard.project_file import PROJECT_FILE

        start = (self.near or Path()).absolute()
        folders = (start, *start.parents)
        return next((one for one in folders if (one / PROJECT_FILE).is_file()), Path().absolute())


def watch_run(watched: Watched, *, is_compared: bool) -> NoReturn:
    """Run now and after every change, until Ctrl-C, which is exit 130."""
    with stoppable(()), TemporaryDirectory(prefix="steelyard-") as folder:
        before: Sequence[str] = ()
        files: Iterable[str] = ()
        while True:
            seen = _snapshot((*_known(watched), *files))
            report = _run_once(watched.words, Path(folder) / "report.json")
            read = cast("Mapping[str, State]", report.get("files", {}))
            seen = {**{name: state and _state(state) for name, state in read.items()}, **seen}
            files = tuple(read) or tuple(files)
            runs = cast("Sequence[str]", report.get("runs", ()))
            if is_compared and len(runs) == len(before):
                _compare(watched.near, before, runs)
            before = runs or before
            changed = _wait_for_change(watched, seen)
            more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
            typer.echo(f"\n{', '.join(changed[:_SHOWN])}{more} changed; running again", err=True)


def report_inputs(
    ports: RunPorts, prepared: Sequence[Prepared], reads: Iterable[Path]
) -> Snapshot:
    """The state of every file that the runs read."""
    paths = {*reads, *(path for one in prepared for path in _inputs(ports, one))}
    return _snapshot(str(path.absolute()) for path in paths)


def write_report(path: Path, files: Snapshot, runs: Sequence[str] = ()) -> None:
    """Tell the watching process what is read, and the finished runs."""
    path.write_text(json.dumps({"files": files, "runs": list(runs)}), encoding="utf-8")


def _inputs(ports: RunPorts, prepared: Prepared) -> Iterator[Path]:
    """The dataset, files of targets, and the code of programs and functions."""
    from steelyard.targets.processes.program_files import program_files

    yield from prepared.paths
    specs = {**prepared.specs, **prepared.judge_specs}
    for name, spec in specs.items():
        yield from spec.files
        entry = ports.settings.targets.get(name.partition("+")[0])
        if entry is None:
            continue
        words = entry.extra.get("command", ())
        root = ports.root.resolve()
        code = program_files(map(str, words if isinstance(words, list) else ()), root, (root,))
        module = entry.text("callable").partition(":")[0]
        yield from (ports.root / file for file in {**code, **ports.sources(module)})


def _run_once(words: Sequence[str], place: Path) -> JsonObject:
    """One run in a process group of its own, so that Ctrl-C reaches it once, through us."""
    place.unlink(missing_ok=True)
    command = (sys.executable, "-P", "-m", "steelyard", *words, REPORT, str(place))
    with subprocess.Popen(  # noqa: S603 - ourselves
        command, stdin=subprocess.DEVNULL, process_group=0
    ) as process:
        try:
            process.wait()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGTERM if os.name == "nt" else signal.SIGINT)
            process.wait()
            raise
    try:
        return json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _wait_for_change(watched: Watched, seen: Snapshot) -> list[str]:
    """Wait until a file differs, and then until nothing changes for a moment."""
    typer.echo(f"\nwatching {len(seen)} file(s); Ctrl-C ends", err=True)
    while True:
        now = _snapshot({*_known(watched), *seen})
        changed = [name for name in now if now[name] != seen.get(name)]
        if changed:
            time.sleep(_POLL_S)
            if _snapshot(now) == now:
                return sorted(map(_shown, changed))
        time.sleep(_POLL_S)


def _shown(name: str) -> str:
    path = Path(name)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _known(watched: Watched) -> Iterator[str]:
    """Files that count whatever the last run read: it may have failed before it read them."""
    from steelyard.project_file import PROJECT_FILE

    for path in watched.named:
        yield from _files(path.absolute())
    root = watched.root
    yield str(root / PROJECT_FILE)
    for name in _DEFINITIONS:
        yield from _files(root / name) if (root / name).is_dir() else ()


def _files(path: Path) -> Iterator[str]:
    """A path, or what is in the folder; hidden files are those of editors."""
    if not path.is_dir():
        yield str(path)
        return
    for file in sorted(path.rglob("*")):
        if not file.name.startswith(".") and file.is_file():
            yield str(file)


def _snapshot(names: Iterable[str]) -> Snapshot:
    return {name: _stat(name) for name in names}


def _stat(name: str) -> State:
    try:
        found = Path(name).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _state(written: Sequence[int]) -> State:
    time_ns, size, identity = written
    return time_ns, size, identity


def _compare(near: Path | None, before: Sequence[str], now: Sequence[str]) -> None:
    """Show how each run compares with the one of the same place before."""
    from steelyard.reports.comparison.short_comparison import short_lines
    from steelyard.usecases.correction.judge_knowledge import judge_knowledge
    from steelyard.usecases.results.compare import compare_with_first

    try:
        project = opened(near)
        known = judge_knowledge(project.validations.all, project.clock.now())
        for pair in zip(before, now, strict=True):
            found = compare_with_first(project.run_folders(pair), known)
            show_report(("", "since the run before:", *short_lines(found, painter())))
    except SteelyardError as error:
        typer.echo(f"steelyard: the run before cannot be compared: {error}", err=True)
