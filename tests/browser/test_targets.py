"""Targets in the browser: listed without secrets, tried with one prompt, saved and deleted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from servers.browser_pages import new_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def test_one_prompt_is_tried(
    page: Page, check_accessible: Callable[[Page], None], take_picture: Callable[..., Path]
) -> None:
    """The answer stands below the form, with its latency and what is known of its cost."""
    page.goto("/targets")
    page.get_by_label("Target", exact=True).select_option("echo")
    page.get_by_label("Prompt", exact=True).fill("Is it <b>open</b>?")
    page.get_by_role("button", name="Ask").click()
    answer = page.get_by_role("status").filter(has_text="Answer of echo")
    assert "Is it <b>open</b>?" in answer.inner_text()
    assert "unknown: no token counts" in answer.inner_text()
    assert page.get_by_label("Prompt", exact=True).input_value() == "Is it <b>open</b>?"
    check_accessible(page)
    take_picture(page, "targets")


@pytest.mark.trials
def test_a_target_that_cannot_answer_says_why(page: Page) -> None:
    """A recorded target has no answer to a new question."""
    page.goto("/targets?target=assistant_a")
    page.get_by_label("Prompt", exact=True).fill("Never recorded")
    page.get_by_role("button", name="Ask").click()
    assert "nothing was asked" in page.inner_text("#try")


@pytest.mark.trials
def test_a_target_is_saved_and_deleted(browser: Browser, changing_site: str) -> None:
    """What only the project file may define is refused, with what was typed kept."""
    with new_page(browser, changing_site) as page:
        page.goto("/targets")
        page.get_by_text("New target").click()
        page.get_by_label("Name").fill("mirror")
        page.get_by_label("Provider").select_option("openai")
        page.get_by_label("Base URL").fill("http://127.0.0.1:9/v1")
        page.get_by_label("Model", exact=True).fill("m")
        page.get_by_role("button", name="Save target").click()
        assert "not a public address" in page.inner_text("main")
        assert page.get_by_label("Base URL").input_value() == "http://127.0.0.1:9/v1"
        page.get_by_label("Provider").select_option("echo")
        page.get_by_label("Base URL").fill("")
        page.get_by_label("Model", exact=True).fill("")
        page.get_by_role("button", name="Save target").click()
        assert "Saved target mirror" in page.inner_text("main")
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Delete").click()
        assert "mirror" not in page.inner_text("table")
