"""Suites in the browser: a form whose findings are warnings, or errors in strict mode."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

from servers.browser_pages import NARROW, new_page


def _fill(page: Page, name: str, *, strict: bool) -> None:
    page.goto("/suites/new")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Dataset", exact=True).fill("datasets/opening-day.yaml")
    page.get_by_label("Target").fill("assistant_a")
    page.get_by_label("Rubric").fill("rubric/none@1.0")
    if strict:
        page.get_by_label("Strict validation").check()
    page.get_by_role("button", name="Save").click()


def test_a_soft_suite_is_saved_with_warnings(
    browser: Browser, changing_site: str, check_accessible: Callable[[Page], None]
) -> None:
    """What is wrong with dataset and rubric is shown beside their fields; the suite is there."""
    with new_page(browser, changing_site) as page:
        page.goto("/suites/new")
        assert not page.get_by_label("Strict validation").is_checked()
        _fill(page, "soft", strict=False)
        assert page.url.endswith("/suites/soft?saved=true")
        assert "Saved, but a run of this suite cannot start" in page.inner_text("main")
        assert "Warning" in page.inner_text("#rubric-findings")
        assert "expecteed_facts" in page.inner_text("#dataset-findings")
        check_accessible(page)
        page.goto("/suites")
        assert page.get_by_role("link", name="soft").is_visible()


@pytest.mark.trials
def test_a_strict_suite_is_not_saved_and_keeps_what_was_typed(
    browser: Browser, changing_site: str, take_picture: Callable[..., Path]
) -> None:
    """The same findings are errors, nothing is saved, and nothing has to be typed again."""
    with new_page(browser, changing_site) as page:
        _fill(page, "hard", strict=True)
        assert "Nothing is saved" in page.inner_text("main")
        assert "Error" in page.inner_text("#rubric-findings")
        assert page.get_by_label("Name").input_value() == "hard"
        assert page.get_by_label("Rubric").input_value() == "rubric/none@1.0"
        assert page.get_by_label("Rubric").get_attribute("aria-invalid") == "true"
        assert page.get_by_label("Strict validation").is_checked()
        take_picture(page, "suite-strict")
        page.goto("/suites")
        assert page.get_by_role("link", name="hard").count() == 0


@pytest.mark.trials
def test_a_name_that_is_taken_is_refused(browser: Browser, changing_site: str) -> None:
    """A suite of the project file is read-only and keeps its name."""
    with new_page(browser, changing_site) as page:
        _fill(page, "quiz", strict=False)
        assert "take another name" in page.inner_text("main")
        page.goto("/suites/quiz")
        assert page.get_by_role("button", name="Save").count() == 0
        assert "read-only" in page.inner_text("main")


@pytest.mark.trials
def test_a_suite_is_changed_started_and_deleted(browser: Browser, changing_site: str) -> None:
    """Saving again changes it; a run of it leads to the page of that run."""
    with new_page(browser, changing_site) as page:
        page.goto("/suites/new")
        page.get_by_label("Name").fill("mine")
        page.get_by_label("Dataset", exact=True).fill("datasets/rules-quiz.jsonl")
        page.get_by_label("Target").fill("echo")
        page.get_by_role("button", name="Save").click()
        page.get_by_label("Least pass rate").fill("0.5")
        page.get_by_role("button", name="Save").click()
        assert page.get_by_label("Least pass rate").input_value() == "0.5"
        page.get_by_role("button", name="Start a run").click()
        assert "/runs/run_" in page.url
        page.goto("/suites/mine")
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Delete suite").click()
        assert page.url.endswith("/suites")
        assert page.get_by_role("link", name="mine").count() == 0


@pytest.mark.trials
def test_suites_on_a_small_screen(
    browser: Browser,
    site: str,
    check_accessible: Callable[[Page], None],
    take_picture: Callable[..., Path],
) -> None:
    """The list and the form fit 390 pixels, in the dark as well."""
    with new_page(browser, site, viewport=NARROW, color_scheme="dark") as page:
        for path in ("/suites", "/suites/new"):
            page.goto(path)
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= NARROW["width"]
            check_accessible(page)
        take_picture(page, "suite-narrow-dark")
