"""Datasets in the browser: pasted or uploaded with findings, browsed, compared and published."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from servers.browser_pages import NARROW, new_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HEAD = {"dataset_id": "desk", "dataset_version": "1", "schema_version": "1.0"}


def _document(*prompts: str, version: str = "1", **more: object) -> str:
    records = [
        {"record_id": f"r{number}", "input": {"prompt": prompt}, **more}
        for number, prompt in enumerate(prompts)
    ]
    return json.dumps({**HEAD, "dataset_version": version, "records": records}, indent=1)


def _paste(page: Page, text: str, *, strict: bool = False) -> None:
    page.goto("/datasets")
    page.get_by_label("Dataset", exact=True).fill(text)
    if strict:
        page.get_by_label("Strict validation").check()
    page.get_by_role("button", name="Save dataset").click()


def test_a_pasted_dataset_is_saved_browsed_and_published(
    browser: Browser,
    changing_site: str,
    check_accessible: Callable[[Page], None],
    take_picture: Callable[..., Path],
) -> None:
    """Its page shows the cases; a published version has its time."""
    with new_page(browser, changing_site) as page:
        _paste(page, _document("Is it open?", "<img src=x onerror=alert(1)>"))
        assert "/datasets/desk%401?saved=true" in page.url
        assert "<img src=x onerror=alert(1)>" in page.inner_text("table")
        page.get_by_role("button", name="Publish").click()
        assert "published" in page.inner_text("h1")
        check_accessible(page)
        take_picture(page, "dataset")


@pytest.mark.trials
def test_what_is_wrong_is_shown_and_nothing_is_lost(
    browser: Browser, changing_site: str, take_picture: Callable[..., Path]
) -> None:
    """In strict mode a misspelt field keeps the dataset from being saved; the text stays."""
    text = _document("Is it open?", expecteed=1)
    with new_page(browser, changing_site) as page:
        _paste(page, text, strict=True)
        assert "Nothing is saved" in page.inner_text("#new")
        assert "expecteed" in page.inner_text(".findings")
        assert "Line 11" in page.inner_text(".findings")
        assert page.get_by_label("Dataset", exact=True).input_value() == text
        take_picture(page, "dataset-findings")
        _paste(page, "{")
        assert "Nothing is saved" in page.inner_text("#new")


@pytest.mark.trials
def test_a_dataset_is_checked_while_it_is_typed(
    browser: Browser,
    changing_site: str,
    check_accessible: Callable[[Page], None],
    take_picture: Callable[..., Path],
) -> None:
    """Findings come with their lines, a hint mends the text, and the button says what it does."""
    text = _document("Is it open?", expecteed=1, version="7")
    with new_page(browser, changing_site) as page:
        page.goto("/datasets")
        page.get_by_label("Dataset", exact=True).fill(f"```json\n{text}\n```")
        page.get_by_text("The dataset stands in a code fence.").wait_for()
        page.get_by_role("button", name="Use the mended text").click()
        page.get_by_role("link", name="Line 11").wait_for()
        assert page.get_by_label("Dataset", exact=True).input_value().strip() == text
        page.get_by_text("0 of 1 records can be evaluated").or_(
            page.get_by_text("No record can be read")
        ).wait_for()
        check_accessible(page)
        take_picture(page, "dataset-live")
        page.get_by_label("Dataset", exact=True).fill(_document("Is it open?", version="7"))
        page.get_by_text("It is saved as dataset/desk@7").wait_for()
        page.get_by_role("button", name="Save dataset").click()
        page.wait_for_url("**/datasets/desk%407?saved=true*")


@pytest.mark.trials
def test_what_was_typed_is_back_after_leaving_the_page(
    browser: Browser, changing_site: str
) -> None:
    """Until it is saved or discarded, in this tab alone."""
    with new_page(browser, changing_site) as page:
        page.goto("/datasets")
        page.get_by_label("Dataset", exact=True).fill("questions:")
        page.get_by_label("Version").fill("2")
        page.get_by_role("link", name="Runs", exact=True).click()
        page.go_back()
        page.get_by_text("What you typed here before is back").wait_for()
        assert page.get_by_label("Dataset", exact=True).input_value() == "questions:"
        assert page.get_by_label("Version").input_value() == "2"
        page.get_by_role("button", name="Discard it").click()
        assert page.get_by_label("Dataset", exact=True).input_value() == ""
        page.reload()
        assert page.get_by_label("Dataset", exact=True).input_value() == ""
        page.get_by_label("Dataset", exact=True).fill(_document("Is it open?", version="8"))
        page.get_by_text("It is saved as dataset/desk@8").wait_for()
        page.get_by_role("button", name="Save dataset").click()
        page.wait_for_url("**/datasets/desk%408?saved=true*")
        page.goto("/datasets")
        assert page.get_by_label("Dataset", exact=True).input_value() == ""


@pytest.mark.trials
def test_a_draft_is_edited_and_replaced(browser: Browser, changing_site: str) -> None:
    """The page says whose place it takes before it does."""
    with new_page(browser, changing_site) as page:
        _paste(page, _document("Is it open?", version="6"))
        page.get_by_role("link", name="Edit").click()
        editor = page.get_by_label("Dataset", exact=True)
        assert "Is it open?" in editor.input_value()
        editor.fill(_document("Is it open?", "And now?", version="6"))
        page.get_by_role("button", name="Replace the draft").click()
        page.wait_for_url("**/datasets/desk%406?saved=true*")
        assert "And now?" in page.inner_text("table")


@pytest.mark.trials
def test_versions_are_compared(browser: Browser, changing_site: str) -> None:
    """What changed between two versions, and whether it can move scores."""
    with new_page(browser, changing_site) as page:
        _paste(page, _document("Is it open?"))
        _paste(page, _document("Is it closed?", version="2"))
        page.get_by_role("link", name="compare").click()
        assert "Is it closed?" in page.inner_text("section:has(#h-diff)")
        assert "can move scores" in page.inner_text("section:has(#h-diff)").lower()


@pytest.mark.trials
def test_a_chosen_file_is_shown_and_a_large_one_is_sent(
    browser: Browser, changing_site: str, tmp_path: Path
) -> None:
    """Both ways end on the page of the dataset."""
    small, large = tmp_path / "small.json", tmp_path / "large.json"
    small.write_text(_document("Is it open?"), encoding="utf-8")
    large.write_text(_document(*["Is it open? " * 100] * 1200, version="9"), encoding="utf-8")
    with new_page(browser, changing_site) as page:
        page.goto("/datasets")
        page.set_input_files("input[type=file]", small)
        assert page.get_by_label("File name").input_value() == "small.json"
        page.get_by_role("button", name="Save dataset").click()
        assert "/datasets/desk%401" in page.url
        page.goto("/datasets")
        page.set_input_files("input[type=file]", large)
        page.wait_for_url("**/datasets/desk%409?saved=true")
        assert "1 to 50 of 1,200" in page.inner_text("main")


@pytest.mark.trials
def test_files_of_the_project_are_browsed(page: Page) -> None:
    """By page and by text; the address keeps both."""
    page.goto("/datasets")
    page.get_by_role("link", name="datasets/helpdesk.jsonl").click()
    page.get_by_label("Search in ids").fill("camera")
    page.get_by_role("button", name="Search").click()
    assert "q=camera" in page.url
    assert "privacy-camera" in page.inner_text("main table")
    page.reload()
    assert page.get_by_label("Search in ids").input_value() == "camera"
    page.go_back()
    assert "that contain" not in page.inner_text("main")


@pytest.mark.trials
def test_datasets_on_a_small_screen(
    browser: Browser, site: str, check_accessible: Callable[[Page], None]
) -> None:
    """List and cases fit 390 pixels, in the dark as well."""
    with new_page(browser, site, viewport=NARROW, color_scheme="dark") as page:
        for path in ("/datasets", "/datasets/file?path=datasets/helpdesk.jsonl"):
            page.goto(path)
            assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
            check_accessible(page)
