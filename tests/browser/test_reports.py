"""The single files in a real Chromium: opened from disk, filtered, and without a request."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from servers.browser_pages import NARROW, WIDE, watched
from steelyard.reports.html.run_html import run_html
from strategies.run_views import prediction, run_view

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Check = Callable[["Page"], None]


@pytest.fixture(scope="module")
def folder(demo_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report and a comparison of the demo's runs."""
    folder = tmp_path_factory.mktemp("reports")
    for words in (
        ("report", "latest", "-o", str(folder / "report.html")),
        ("compare", "latest~1", "latest", "--format", "html", "-o", str(folder / "compare.html")),
    ):
        command = [sys.executable, "-P", "-m", "steelyard", *words]
        subprocess.run(command, cwd=demo_project, check=True, capture_output=True)
    return folder


@contextmanager
def opened(browser: Browser, path: Path, **options: object) -> Generator[Page]:
    """A file as a person opens it; it must not ask for anything."""
    settings: dict[str, object] = {"viewport": WIDE, **options}
    context = browser.new_context(**settings)  # pyright: ignore[reportArgumentType]
    try:
        with watched(context, path.as_uri()) as page:
            page.goto(path.as_uri())
            yield page
    finally:
        context.close()


def test_a_report_is_filtered_by_its_own_script(
    browser: Browser, folder: Path, check_accessible: Check
) -> None:
    """The policy allows that script alone, and it works."""
    with opened(browser, folder / "report.html") as page:
        check_accessible(page)
        records = page.locator("[data-record]:not([hidden])")
        assert records.count() == 48
        page.get_by_role("searchbox").fill("newsletter xyz")
        assert records.count() == 0
        page.get_by_role("searchbox").fill("NEWSLETTER désinscrire")
        assert records.count() == 1
        assert page.locator("[data-filter-said]").inner_text() == "1 of 48 records"
        records.first.locator("summary").first.click()
        assert records.first.locator(".turn.assistant").is_visible()


@pytest.mark.trials
def test_scripts_and_styles_of_others_are_blocked(
    browser: Browser, folder: Path, tmp_path: Path
) -> None:
    """What somebody puts into a copy of the file does not run."""
    html = (folder / "report.html").read_text(encoding="utf-8")
    spoiled = tmp_path / "spoiled.html"
    spoiled.write_text(
        html.replace("</main>", "<script>document.title = 'run'</script></main>"), encoding="utf-8"
    )
    context = browser.new_context()
    page = context.new_page()
    page.goto(spoiled.as_uri())
    assert page.title() != "run"
    context.close()


@pytest.mark.trials
def test_a_comparison_file_shows_regressions_open(
    browser: Browser, folder: Path, check_accessible: Check
) -> None:
    """The worst is read without a click; everything else is folded."""
    with opened(browser, folder / "compare.html") as page:
        check_accessible(page)
        assert page.locator("[data-record]").count() == 46
        assert page.locator("[data-record][open]").count() == 1
        assert page.locator("[data-record][open] ins").first.is_visible()
        page.get_by_role("searchbox").fill("privacy-camera")
        assert page.locator("[data-record]:not([hidden])").count() == 1
        assert page.locator("[data-records]:not([hidden])").count() == 1


@pytest.mark.trials
@pytest.mark.parametrize("name", ["report.html", "compare.html"])
@pytest.mark.parametrize("options", [{"color_scheme": "dark"}, {"viewport": NARROW}])
def test_files_are_accessible_dark_and_narrow(
    browser: Browser, folder: Path, check_accessible: Check, name: str, options: dict[str, object]
) -> None:
    """They look like the pages."""
    with opened(browser, folder / name, **options) as page:
        check_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth")


@pytest.mark.trials
def test_files_work_without_script(browser: Browser, folder: Path) -> None:
    """The filter box is not shown, and every record is."""
    with opened(browser, folder / "report.html", java_script_enabled=False) as page:
        assert not page.locator("[data-filter]").is_visible()
        assert page.locator("[data-record]").count() == 48


@pytest.mark.trials
def test_files_have_pictures(
    browser: Browser, folder: Path, take_picture: Callable[..., Path]
) -> None:
    """Looked at by people."""
    for name in ("report", "compare"):
        with opened(browser, folder / f"{name}.html") as page:
            take_picture(page, f"file-{name}", is_whole=False)


@pytest.mark.trials
def test_the_filter_finds_records_in_short_form(browser: Browser, tmp_path: Path) -> None:
    """They are listed some at a time; hostile texts stay texts, and nothing is left out."""
    hostile = '</template><img src=x onerror="document.title=1">'
    rows = [prediction(number, passed=False, reason=hostile) for number in range(1_350)]
    path = tmp_path / "many.html"
    path.write_text(run_html(run_view(), rows), encoding="utf-8")
    with opened(browser, path) as page:
        said, records = page.locator("[data-filter-said]"), page.locator("[data-record]")
        assert said.inner_text() == "1,350 records"
        assert records.count() == 1_000
        page.get_by_role("button", name="Show 100 of 350 more").click()
        assert records.count() == 1_100
        page.get_by_role("searchbox").fill("q1349 fail")
        assert said.inner_text() == "1 of 1,350 records"
        found = page.locator("[data-record]:not([hidden])")
        found.locator("summary").click()
        assert hostile in found.inner_text()
        assert page.locator("img").count() == 0
        page.get_by_role("searchbox").fill("nothing like it")
        assert said.inner_text() == "0 of 1,350 records"
