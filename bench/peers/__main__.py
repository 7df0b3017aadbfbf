"""Steelyard, a bare loop and other tools at the same work: `python -m bench.peers`."""

from __future__ import annotations

import argparse
import compileall
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from bench.child import ROOT
from bench.engine import endpoint
from bench.page import PAGE, machine
from bench.peers import bare_loop, deepeval, inspect_ai, lm_eval, promptfoo, steelyard
from bench.peers.measurement import Measurements
from bench.peers.table import Report
from bench.peers.tool import BASE, FOLDER, CannotRunError, Tool
from bench.peers.trial import Extent, Trial

BEGIN, END = "<!-- bench peers: begin -->", "<!-- bench peers: end -->"
KEPT = FOLDER / "measurements.json"
TOOLS: Mapping[str, Tool] = {
    BASE: bare_loop.TOOL,
    "steelyard": steelyard.TOOL,
    "steelyard_2": steelyard.TWO_WORKERS,
    "lm_eval": lm_eval.TOOL,
    "deepeval": deepeval.TOOL,
    "promptfoo": promptfoo.TOOL,
    "inspect_ai": inspect_ai.TOOL,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Install, measure, print the tables and put them between their marks on the page."""
    options = _parser().parse_args(arguments)
    with alone(FOLDER):
        _measure(options)


def _measure(options: argparse.Namespace) -> None:
    compileall.compile_dir(str(ROOT / "src"), quiet=1)
    if options.fresh:
        KEPT.unlink(missing_ok=True)
    chosen = {name: tool for name, tool in TOOLS.items() if _wanted(name, options.only)}
    extent = Extent(few=options.few, many=options.many, turns=options.turns)
    versions, absent = installed(chosen)
    kept = Measurements(KEPT)
    Trial(
        tools={name: tool for name, tool in chosen.items() if name in versions},
        versions=versions,
        endpoint=endpoint,
        kept=kept,
        folder=FOLDER,
        say=lambda line: print(line, flush=True),
    ).run(extent)
    text = Report(
        tools=chosen,
        versions=versions,
        absent=absent,
        kept=kept,
        extent=extent,
        machine=machine(),
    ).text()
    print(text)
    if not (options.only or options.no_page):
        write_section(PAGE, text)


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


def write_section(page: Path, text: str) -> None:
    """Put the text between its marks; a page without them stays as it is."""
    before, mark, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    if mark:
        after = rest.partition(END)[2]
        page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    extent = Extent()
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("--few", type=int, default=extent.few, help="samples of the smaller run")
    parser.add_argument("--many", type=int, default=extent.many, help="samples of the larger run")
    parser.add_argument("--turns", type=int, default=extent.turns, help="runs of a tool at most")
    parser.add_argument(
        "--only",
        action="append",
        choices=list(TOOLS),
        help="measure this tool and the bare loop, and leave the page alone",
    )
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before")
    parser.add_argument("--no-page", action="store_true", help="only print the tables")
    return parser


def _wanted(name: str, only: Sequence[str] | None) -> bool:
    return not only or name == BASE or name in only


if __name__ == "__main__":
    main()
