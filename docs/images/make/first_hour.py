"""Takes the pictures of docs/first-hour.md: a journey in a terminal, and a cell of a notebook.

    .venv/bin/python docs/images/make/first_hour.py

What is shown is real: files, commands and cells are those of the page, the answers come from the
endpoint of its test. Chromium (`CHROMIUM` names it where it is not /usr/bin/chromium) draws them.
"""

from __future__ import annotations

import html
import io
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from playwright.sync_api import sync_playwright  # noqa: E402 - the product's tests are needed

from journeys.hotel_model import ENVIRON, answer  # noqa: E402
from journeys.journey_page import Journey, journeys  # noqa: E402
from pseudo_terminal import COLUMNS, in_terminal, last_state  # noqa: E402
from servers.in_thread import in_thread  # noqa: E402
from servers.openai_server import serving  # noqa: E402

IMAGES = ROOT / "docs" / "images"
CELLS = ROOT / "tests" / "journeys" / "notebook_cells.py"
STEELYARD = ROOT / ".venv" / "bin" / "steelyard"
TERMINAL = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 16px 20px; background: #1b1d21; width: max-content }
pre { margin: 0; font: 11px/1.4 "DejaVu Sans Mono"; color: #d6d8dc }
</style><pre>%s</pre>"""
NOTEBOOK = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 18px; width: 900px; font: 14px "DejaVu Sans"; background: #fff }
.in { display: flex; gap: 12px; margin-bottom: 12px; color: #307fc1 }
.in { font: 13px "DejaVu Sans Mono" }
.in pre { flex: 1; margin: 0; padding: 8px 10px; background: #f5f5f5; border: 1px solid #e0e0e0 }
.in pre { color: #222; font: 13px/1.4 "DejaVu Sans Mono" }
.out { margin-left: 44px }
</style>%s<div class="out">%s</div>"""


def main() -> None:
    """Take both pictures."""
    found = journeys()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        pages = {
            "terminal": terminal(found["two-prompts-and-a-table"], Path(folder) / "hotel"),
            "notebook": notebook(found["a-notebook-then-a-test"], Path(folder) / "capitals"),
        }
        program = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        with play.chromium.launch(executable_path=program, args=["--no-sandbox"]) as chromium:
            for name, text in pages.items():
                page = chromium.new_page()
                page.set_content(text)
                page.locator("body").screenshot(path=IMAGES / f"{name}.png")


def terminal(journey: Journey, folder: Path) -> str:
    """The screen after the commands."""
    folder.mkdir()
    for name, text in journey.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    shown: list[str] = []
    with in_thread(serving(answer)) as url:
        environ = {**os.environ, **ENVIRON, "MODEL_URL": url}
        for line in journey.commands[1:]:
            words = [str(STEELYARD), *shlex.split(line)[1:]]
            text = last_state(in_terminal(words, folder, environ))
            shown += (f"\x1b[1m$ {line}\x1b[0m", text.replace(f"{folder}/", ""))
    return TERMINAL % _coloured("\n".join(shown))


def _coloured(text: str) -> str:
    console = Console(
        file=io.StringIO(), record=True, width=COLUMNS, force_terminal=True, color_system="256"
    )
    for line in text.splitlines():
        console.print(Text.from_ansi(line), soft_wrap=False)
    return console.export_html(inline_styles=True, code_format="{code}")


def notebook(journey: Journey, folder: Path) -> str:
    """The cells and what the last one shows."""
    folder.mkdir()
    file = folder / "cells.json"
    file.write_text(json.dumps(journey.cells), encoding="utf-8")
    shown = subprocess.run(
        [sys.executable, str(CELLS), str(file)],
        cwd=folder,
        check=True,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ).stdout
    cells = "".join(
        f'<div class="in">[{number}]:<pre>{html.escape(cell.strip())}</pre></div>'
        for number, cell in enumerate(journey.cells, 1)
    )
    return NOTEBOOK % (cells, shown.replace(f"{folder.parent}/", ""))


if __name__ == "__main__":
    main()
