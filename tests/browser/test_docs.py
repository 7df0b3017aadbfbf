"""The API's page in a browser: filter, fold, copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from servers.browsing import check_looks

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_operations_are_filtered_while_one_types(page: Page) -> None:
    page.goto("/docs")
    page.get_by_label("Filter operations").press_sequentially("revoke")
    shown = page.locator("[data-docs-op]:visible")
    assert shown.count() == 1
    assert page.url.endswith("/docs?q=revoke")
    assert page.get_by_text("1 shown").is_visible()
    page.reload()
    assert shown.count() == 1
    shown.locator("summary").click()
    assert page.get_by_text("curl -X DELETE").is_visible()


@pytest.mark.trials
def test_a_link_to_a_shape_opens_it_and_an_example_is_copied(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/docs#create_key")
    operation = page.locator("#create_key")
    assert operation.get_attribute("open") is not None
    operation.get_by_role("button", name="Copy", exact=True).click()
    page.get_by_text("Copied", exact=True).wait_for()
    assert "curl -X POST" in page.evaluate("navigator.clipboard.readText()")
    operation.get_by_role("link", name="NewKey", exact=True).click()
    page.wait_for_function("() => document.getElementById('shape-NewKey').open")
    assert page.get_by_role("table", name="Fields of NewKey").is_visible()


@pytest.mark.trials
def test_the_page_is_accessible_in_every_look(
    page: Page, check_accessible: Callable[[Page], None], take_picture: Callable[..., Any]
) -> None:
    page.goto("/docs?q=keys")
    page.locator("summary").first.click()
    page.locator("#create_key summary").click()
    for look in check_looks(page, check_accessible):
        take_picture(page, f"docs-{look}")
