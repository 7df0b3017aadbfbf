"""The site in a real Chromium: the demo's project, served; pages that must not complain."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from fakes.annotated_desk import write_desk
from real_parts import lack
from servers.browser_pages import PATIENCE_MS, new_page
from servers.service import running
from steelyard.project import open_project

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PICTURES = "PAGE_PICTURES"
"""Where pictures of pages are written, if that is set: docs/images for those of the guide."""


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    """One Chromium for the tests of a module.

    Playwright's event loop runs in the main thread as long as it lives, and tests of other
    modules need one of their own.
    """
    program = next((found for name in CHROMIUM if (found := shutil.which(name))), None)
    if program is None:
        lack("needs Chromium on the PATH: the system's package chromium")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=program, args=list(_FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def demo_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project of the demo with its runs; not to be changed."""
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-P", "-m", "steelyard", "demo", "library", "--no-serve"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "library"


@pytest.fixture(scope="session")
def desk_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose answers people annotate; not to be changed."""
    return write_desk(tmp_path_factory.mktemp("desk"))


@pytest.fixture(scope="session")
def site(demo_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The address of a server of the demo's project; its pages are only read.

    It has a copy of its own: whoever copies a database that this process has open closes its files
    again, and with them go the locks that SQLite holds on them.
    """
    copy = shutil.copytree(demo_project, tmp_path_factory.mktemp("site") / "library")
    with open_project(copy) as project, running(project) as url:
        yield url


@pytest.fixture
def changing_site(demo_project: Path, tmp_path: Path) -> Generator[str]:
    """The address of a server of a copy of that project, which a test may change."""
    shutil.copytree(demo_project, tmp_path / "library")
    with open_project(tmp_path / "library") as project, running(project) as url:
        yield url


@pytest.fixture
def page(browser: Browser, site: str) -> Generator[Page]:
    """A wide, light page of the demo's site."""
    with new_page(browser, site) as opened:
        yield opened


@pytest.fixture
def check_accessible() -> Callable[[Page], None]:
    """Fails where axe finds something wrong with a page."""
    script = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")

    def check(page: Page) -> None:
        page.evaluate(script)
        found: dict[str, Any] = page.evaluate("axe.run({resultTypes: ['violations']})")
        wrong = [
            (rule["id"], rule["help"], [node["html"] for node in rule["nodes"]])
            for rule in found["violations"]
        ]
        assert wrong == []

    return check


@pytest.fixture
def take_picture(tmp_path: Path) -> Callable[..., Path]:
    """Writes a picture of a page, whole."""
    folder = Path(os.environ.get(PICTURES) or tmp_path)

    def take(page: Page, name: str, *, is_whole: bool = True) -> Path:
        path = folder / f"{name}.png"
        if is_whole:
            page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=path, full_page=is_whole, animations="disabled")
        assert path.stat().st_size > 5_000
        return path

    return take
