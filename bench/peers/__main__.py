"""Steelyard, a bare loop and other tools at the same work: `python -m bench.peers`."""

from __future__ import annotations

import argparse
import compileall
import json
import os
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from fcntl import LOCK_EX, LOCK_NB, flock
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from bench.child import ROOT
from bench.engine import endpoint
from bench.page import PAGE, machine
from bench.peers import bare_loop, deepeval, inspect_ai, lm_eval, promptfoo, steelyard
from bench.peers.measurement import Measurements
from bench.peers.table import Report
from bench.peers.tool import BASE, FOLDER, CannotRunError, Tool
from bench.peers.trial import Extent, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One kind of work that all tools are given, and where its figures go."""

    name: str
    """Of its marks on the page and of its file of measurements."""
    words: str
    """The command that measures it."""
    tools: Mapping[str, Tool]
    extent: Extent
    note: str = ""


CHECKED = Comparison(
    name="peers",
    words="python -m bench.peers",
    tools={
        BASE: bare_loop.TOOL,
        "steelyard": steelyard.TOOL,
        "steelyard_2": steelyard.TWO_WORKERS,
        "lm_eval": lm_eval.TOOL,
        "deepeval": deepeval.TOOL,
        "promptfoo": promptfoo.TOOL,
        "inspect_ai": inspect_ai.TOOL,
    },
    extent=Extent(),
)
JUDGED = Comparison(
    name="judged peers",
    words="python -m bench.peers --judged",
    tools={
        BASE: bare_loop.JUDGED,
        "steelyard": steelyard.JUDGED,
        "steelyard_2": steelyard.JUDGED_TWO_WORKERS,
        "deepeval": deepeval.JUDGED,
        "promptfoo": promptfoo.JUDGED,
        "inspect_ai": inspect_ai.JUDGED,
    },
    extent=Extent(few=200, many=1_000, turns=5, cases=((0, 64),)),
    note=(
        "lm-eval is missing: it has no grading by a model that a task can name, so that each task "
        "that is judged brings a program of its own."
    ),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Install, measure, print the tables and put them between their marks on the page."""
    parser = _parser()
    options = parser.parse_args(arguments)
    comparison = JUDGED if options.judged else CHECKED
    if missing := [name for name in options.only or () if name not in comparison.tools]:
        parser.error(f"not part of `{comparison.words}`: {', '.join(missing)}")
    with alone(FOLDER):
        _measure(comparison, options)


def _measure(comparison: Comparison, options: argparse.Namespace) -> None:
    compileall.compile_dir(str(ROOT / "src"), quiet=1)
    path = FOLDER / f"{comparison.name.replace(' ', '-')}.json"
    if options.fresh:
        path.unlink(missing_ok=True)
    chosen = {name: tool for name, tool in comparison.tools.items() if _wanted(name, options.only)}
    versions, absent = installed(chosen)
    report = Report(
        tools=chosen,
        versions=versions,
        absent=absent,
        kept=Measurements(path),
        extent=_extent(comparison.extent, options),
        machine=f"{machine()}, a load of {os.getloadavg()[0]:.1f} before it began",
        command=comparison.words,
        note=comparison.note,
    )
    Trial(
        tools={name: tool for name, tool in chosen.items() if name in versions},
        versions=versions,
        endpoint=endpoint,
        counted=counted,
        kept=report.kept,
        folder=FOLDER,
        say=lambda line: print(line, flush=True),
    ).run(report.extent)
    text = report.text()
    print(text)
    if not (options.only or options.no_page):
        write_section(PAGE, comparison.name, text)


def counted(url: str) -> Counter[str]:
    """How often the endpoint has given each answer."""
    address = urlsplit(url)
    with closing(HTTPConnection(address.netloc)) as connection:
        connection.request("POST", f"{address.path}/counts/chat/completions", b"")
        return Counter(json.load(connection.getresponse()))


@contextmanager
def alone(folder: Path) -> Generator[None]:
    """Two trials at once would share their folders and the processor."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise SystemExit("another `python -m bench.peers` is under way") from None
        yield


def installed(tools: Mapping[str, Tool]) -> tuple[dict[str, str], dict[str, str]]:
    """The versions of the tools that can be run, and why the others cannot."""
    versions: dict[str, str] = {}
    absent: dict[str, str] = {}
    for name, tool in tools.items():
        try:
            versions[name] = tool.install()
        except CannotRunError as error:
            absent[name] = str(error)
        print(f"{tool.name}: {versions.get(name) or absent[name]}", flush=True)
    return versions, absent


def write_section(page: Path, name: str, text: str) -> None:
    """Put the text between its marks; a page without them stays as it is."""
    begin, end = (f"<!-- bench {name}: {what} -->" for what in ("begin", "end"))
    before, mark, rest = page.read_text(encoding="utf-8").partition(begin)
    if mark:
        after = rest.partition(end)[2]
        page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("--judged", action="store_true", help="compare runs that a model grades")
    parser.add_argument("--few", type=int, help="samples of the smaller run")
    parser.add_argument("--many", type=int, help="samples of the larger run")
    parser.add_argument("--turns", type=int, help="runs of a tool at most")
    parser.add_argument(
        "--only",
        action="append",
        choices=list(CHECKED.tools),
        help="measure this tool and the bare loop, and leave the page alone",
    )
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before")
    parser.add_argument("--no-page", action="store_true", help="only print the tables")
    return parser


def _extent(usual: Extent, options: argparse.Namespace) -> Extent:
    """What is measured, where the options do not say otherwise."""
    asked = {name: getattr(options, name) for name in ("few", "many", "turns")}
    return replace(usual, **{name: count for name, count in asked.items() if count is not None})


def _wanted(name: str, only: Sequence[str] | None) -> bool:
    return not only or name == BASE or name in only


if __name__ == "__main__":
    main()
