"""`steelyard demo`: copy the example project to a folder and run it."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import nullcontext, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.opening import opened
from steelyard.cli.terminal import show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_HELPDESK = "datasets/helpdesk.jsonl"
_RUBRIC = "rubric/helpdesk@1.0"
_WIDTH = 96


def command(
    context: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="Destination folder; default steelyard-demo."),
    ] = None,
    serve: Annotated[
        bool | None,
        typer.Option("--serve/--no-serve", help="Serve the pages at the end; on a terminal."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port of the pages; default 8765 or a free one."),
    ] = None,
) -> None:
    """Copy the example project, run it offline, and serve its pages."""
    from steelyard.demo.story import copy_project

    project = copy_project(folder or Path("steelyard-demo"))
    show(f"The example project is in {project}: a public library's help desk, and two assistants")
    show("whose answers were recorded, A (cautious) and B (chatty). Nothing here needs a network.")
    shell = _Shell(context.obj)
    os.chdir(project)
    show(f"\n$ cd {project}")
    _validate(shell)
    a, b, conversations = _run_and_look(shell)
    a, b = _compare(shell, a, b)
    _review(shell, a, b, conversations)
    _correct(shell, a, b)
    _seal(shell, b)
    _share(shell, project, b)
    if sys.stdout.isatty() if serve is None else serve:
        _serve(port, a, b)
    else:
        show(f"\nThe pages of this story: cd {project} && steelyard serve")


class _Shell:
    """Runs commands as a user would, and shows them with their exit codes."""

    def __init__(self, command_line: Callable[[str], Callable[..., int | None]]) -> None:
        self._command_line = command_line

    def show(self, *arguments: str, since: str = "", most: int | None = None) -> None:
        """Run a command and show its output, or at most `most` lines of it, starting with
        the first line that begins with `since`."""
        show("\n" + typer.style(_typed(arguments), bold=True))
        held = _Held(is_terminal=sys.stdout.isatty()) if since or most else None
        with redirect_stdout(held) if held else nullcontext():
            code = self._command_line(arguments[0])(list(arguments), standalone_mode=False)
        for line in _part(held.getvalue().splitlines(), since, most) if held else ():
            show(line)
        if code:
            show(f"(exit code {code})")


def _validate(shell: _Shell) -> None:
    _chapter("1. Validate: one file has a misspelt field; it is found before anything runs.")
    shell.show("validate", "datasets", "rubrics", "judges")
    shell.show("validate", "--strict", "datasets/opening-day.yaml")


def _run_and_look(shell: _Shell) -> Sequence[str]:
    """Run A and B on the help desk's questions, and B in conversations."""
    _chapter("2. Run A and B: one call is retried after a 503, one times out for good.")
    shell.show("run", _HELPDESK, "--target", "assistant_a", "--target", "assistant_b")
    a, b = _newest(2)
    _chapter("3. Inspect: fees score among the lowest for both; every failure has a reason.")
    shell.show("show", b, since="not passed:")
    shell.show("show", b, "fees-blocked-card")
    show(
        "\nOther contracts, the same command: multiple choice, and a judge that answers questions"
    )
    show("about whole conversations and about each of their turns.")
    shell.show("run", "--suite", "quiz")
    shell.show("run", "--suite", "conversations")
    return a, b, *_newest(1)


def _compare(shell: _Shell, a: str, b: str) -> Sequence[str]:
    """Regrade the same answers with a judge."""
    _chapter("4. Compare: a judge grades the same answers; no assistant is asked again.")
    shell.show("regrade", a, "--rubric", _RUBRIC)
    shell.show("regrade", b, "--rubric", _RUBRIC, most=6)
    a, b = _newest(2)
    shell.show("compare", a, b, most=17)
    return a, b


def _review(shell: _Shell, a: str, b: str, conversations: str) -> None:
    from steelyard.demo.story import make_queue

    _chapter("5. Review: three people labelled a third of the answers, blind to the judge.")
    shell.show("review", "import", "labels/assistant_a.jsonl", "--run", a)
    shell.show("review", "import", "labels/assistant_b.jsonl", "--run", b)
    shell.show("review", "agreement", b)
    with opened() as project:
        items = make_queue(project.queue_ports(), conversations)
    show(
        f"\nA queue with {items} conversations waits for you on the page /review: steelyard serve."
    )
    show("Answer three by keyboard, before you open the run of these conversations: its agreement")
    show("page compares you with the judge at once, but only answers that are given blind.")


def _correct(shell: _Shell, a: str, b: str) -> None:
    _chapter("6. Correct: validate the judge with these labels, and correct the pass rates.")
    runs = ("--run", a, "--run", b)
    shell.show(
        "judge", "validate", "judge/helpful@1.0", *runs, "--split", "all", "--design", "random"
    )
    shell.show("compare", a, b, most=8)


def _seal(shell: _Shell, run: str) -> None:
    from steelyard.demo.story import tampered_copy

    _chapter("7. Verify: the artifacts are intact; a single changed byte is detected.")
    shell.show("verify", run)
    copy = tampered_copy(opened().run_folder(run), Path("tampered"))
    show(f"\nA copy of the run in {copy}, with one byte changed:")
    shell.show("verify", str(copy))


def _share(shell: _Shell, project: Path, run: str) -> None:
    _chapter("8. Share: one self-contained HTML file.")
    shell.show("report", run, "-o", "report.html")
    page = project / "report.html"
    show(f"\nOpen {page} in a browser. {project / 'README.md'} describes the files and the next")
    show("steps; change the files and run the commands again.")


def _serve(port: int | None, a: str, b: str) -> None:
    """Serve the pages until Ctrl-C, which is how the demo ends."""
    from steelyard.api.serving import ServerSettings
    from steelyard.run_execution import executing
    from steelyard.server import is_free, serve

    _chapter("9. Look: the same story as pages.")
    wanted = ServerSettings().port
    chosen = port if port is not None else wanted if is_free(wanted) else 0
    settings = ServerSettings(port=chosen)
    with opened() as project:
        try:
            serve(
                project,
                settings,
                lambda url: _show_pages(url, a, b),
                lambda: executing(project, settings),
            )
        except KeyboardInterrupt:
            show("\nStopped. To serve the pages again: steelyard serve")


def _show_pages(url: str, a: str, b: str) -> None:
    show(f"\n  {url}/compare?a={a}&b={b}")
    show("             no difference detectable, although the judge alone calls B better")
    show(f"  {url}/runs/{b}")
    show("             why: the judge passes most of what people fail")
    show(f"  {url}/review")
    show("             conversations that wait for your answers; begin here to answer blind")
    show(f"  {url}/")
    show("             everything else\n\nCtrl-C stops.")
    sys.stdout.flush()


def _newest(count: int) -> Sequence[str]:
    """The ids of the last runs, oldest first."""

    with opened() as project:
        return [run.run_id for run in project.store.list(count)][::-1]


def _chapter(text: str) -> None:
    show("\n" + typer.style(text, bold=True, underline=True))


def _part(lines: list[str], since: str, most: int | None) -> Iterator[str]:
    """Some of the lines, with the number of lines left out before and after."""
    first = next((place for place, line in enumerate(lines) if line.startswith(since)), 0)
    shown = lines[first:][:most]
    if first:
        yield f"… ({first} lines as above)"
    yield from shown
    if left := len(lines) - first - len(shown):
        yield f"  … ({left} more lines)"


class _Held(StringIO):
    """Captures the output of a command, formatted as for this terminal."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


def _typed(arguments: Sequence[str]) -> str:
    """A command as typed; long ones wrap without separating an option from its value."""
    lines = ["$ steelyard"]
    for words in _together(arguments):
        word = shlex.join(words)
        if len(lines[-1]) + len(word) > _WIDTH:
            lines[-1] += " \\"
            lines.append("     ")
        lines[-1] += f" {word}"
    return "\n".join(lines)


def _together(arguments: Sequence[str]) -> list[list[str]]:
    words: list[list[str]] = []
    for argument in arguments:
        if words and words[-1][0].startswith("-") and len(words[-1]) == 1:
            words[-1].append(argument)
        else:
            words.append([argument])
    return words
