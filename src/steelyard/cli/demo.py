"""`steelyard demo`: the example project, copied to a folder and put to work."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import nullcontext, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.terminal import show

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_HELPDESK = "datasets/helpdesk.jsonl"
_RUBRIC = "rubric/helpdesk@1.0"
_WIDTH = 96


def command(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="Where it goes; steelyard-demo when left out."),
    ] = None,
    _no_serve: Annotated[
        bool,
        typer.Option("--no-serve", help="End after the report; this version always does."),
    ] = False,
) -> None:
    """Copy the example project and put it through its paces, offline."""
    from steelyard.demo.story import copy_project

    project = copy_project(folder or Path("steelyard-demo"))
    show(f"The example project is in {project}: a public library's help desk, and two assistants")
    show("whose answers were recorded, A (cautious) and B (chatty). Nothing here needs a network.")
    os.chdir(project)
    show(f"\n$ cd {project}")
    _validate()
    a, b = _run_and_look()
    a, b = _compare(a, b)
    _review(a, b)
    _correct(a, b)
    _seal(b)
    _share(project, b)


def _validate() -> None:
    _chapter("1. Validate: one file has a misspelt field; it is found before anything runs.")
    _show("validate", "datasets", "rubrics", "judges")
    _show("validate", "--strict", "datasets/opening-day.yaml")


def _run_and_look() -> Sequence[str]:
    """The runs of A and B over the help desk's questions."""
    _chapter("2. Run A and B: one call is retried after a 503, one times out for good.")
    _show("run", _HELPDESK, "--target", "assistant_a", "--target", "assistant_b")
    a, b = _newest(2)
    _chapter("3. Look: fees are among the lowest for both; whatever did not pass says why.")
    _show("show", b, since="not passed:")
    _show("show", b, "fees-blocked-card")
    show("\nOther contracts, the same command: choices are read off an answer, and a judge is put")
    show("questions about whole conversations and about each of their turns.")
    _show("run", "--suite", "quiz")
    _show("run", "--suite", "conversations")
    return a, b


def _compare(a: str, b: str) -> Sequence[str]:
    """The runs in which a judge grades the same answers."""
    _chapter("4. Compare: a judge grades the same answers; no assistant is asked again.")
    _show("regrade", a, "--rubric", _RUBRIC)
    _show("regrade", b, "--rubric", _RUBRIC, most=6)
    a, b = _newest(2)
    _show("compare", a, b, most=17)
    return a, b


def _review(a: str, b: str) -> None:
    _chapter("5. Review: three people have read a third of the answers, and not the judge.")
    _show("review", "import", "labels/assistant_a.jsonl", "--run", a)
    _show("review", "import", "labels/assistant_b.jsonl", "--run", b)
    _show("review", "agreement", b)


def _correct(a: str, b: str) -> None:
    _chapter("6. Correct: the judge against these people, and the rates without its mistakes.")
    runs = ("--run", a, "--run", b)
    _show("judge", "validate", "judge/helpful@1.0", *runs, "--split", "all", "--design", "random")
    _show("compare", a, b, most=8)


def _seal(run: str) -> None:
    from steelyard.demo.story import tampered_copy
    from steelyard.results_wiring import run_folder

    _chapter("7. Seal: the artifacts hold; one changed byte is found.")
    _show("verify", run)
    copy = tampered_copy(run_folder(run), Path("tampered"))
    show(f"\nA copy of the run in {copy}, with one byte changed:")
    _show("verify", str(copy))


def _share(project: Path, run: str) -> None:
    _chapter("8. Share: one file that needs no server and no network.")
    _show("report", run, "-o", "report.html")
    page = project / "report.html"
    show(f"\nOpen {page} in a browser. {project / 'README.md'} says what lies where and how to")
    show("go on; change the files and run the commands again.")


def _newest(count: int) -> Sequence[str]:
    """The ids of the last runs, in the order in which they were made."""
    from steelyard.wiring import project, run_store

    return [run.run_id for run in run_store(project().root).list(count)][::-1]


def _chapter(text: str) -> None:
    show("\n" + typer.style(text, bold=True, underline=True))


def _show(*arguments: str, since: str = "", most: int | None = None) -> None:
    """Run a command of ours as a user would, and show it; an exit code is part of the story.

    Of what it prints all is shown, or only so many lines, from the first that begins so.
    """
    from click import get_current_context

    command_line = get_current_context().obj
    show("\n" + typer.style(_typed(arguments), bold=True))
    held = _Held(is_terminal=sys.stdout.isatty()) if since or most else None
    with redirect_stdout(held) if held else nullcontext():
        code = command_line(arguments[0])(list(arguments), standalone_mode=False)
    for line in _part(held.getvalue().splitlines(), since, most) if held else ():
        show(line)
    if code:
        show(f"(exit code {code})")


def _part(lines: list[str], since: str, most: int | None) -> Iterator[str]:
    """Some of the lines, and how many are not shown before and behind them."""
    first = next((place for place, line in enumerate(lines) if line.startswith(since)), 0)
    shown = lines[first:][:most]
    if first:
        yield f"… ({first} lines as above)"
    yield from shown
    if left := len(lines) - first - len(shown):
        yield f"  … ({left} more lines)"


class _Held(StringIO):
    """What a command prints, as it would print it to this terminal."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


def _typed(arguments: Sequence[str]) -> str:
    """A command as it is typed, over several lines where it is long; options keep their values."""
    lines = ["$ steelyard"]
    for words in _together(arguments):
        said = shlex.join(words)
        if len(lines[-1]) + len(said) > _WIDTH:
            lines[-1] += " \\"
            lines.append("     ")
        lines[-1] += f" {said}"
    return "\n".join(lines)


def _together(arguments: Sequence[str]) -> list[list[str]]:
    words: list[list[str]] = []
    for argument in arguments:
        if words and words[-1][0].startswith("-") and len(words[-1]) == 1:
            words[-1].append(argument)
        else:
            words.append([argument])
    return words
