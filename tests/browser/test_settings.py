"""Users, keys and the audit log in a browser."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from servers.accounts import PASSWORD
from servers.browser_pages import new_page
from servers.browsing import check_looks
from servers.service import running
from steelyard.project import open_project
from steelyard.usecases.access.users import add_user

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture
def admin(browser: Browser, tmp_path: Path) -> Generator[Page]:
    """A page of an admin who is logged in."""
    with open_project(tmp_path) as project:
        add_user(project.access_ports(), "root", "admin", PASSWORD)
        with running(project, has_login=True) as url, new_page(browser, url) as page:
            page.goto("/login?next=/settings")
            page.get_by_label("Name").fill("root")
            page.get_by_label("Password").fill(PASSWORD)
            page.keyboard.press("Enter")
            page.wait_for_url(f"{url}/settings")
            yield page


def add(page: Page, name: str) -> None:
    page.goto("/settings")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Role", exact=True).select_option("editor")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Add user").click()


def test_a_user_is_added_changed_and_removed(admin: Page) -> None:
    add(admin, "ada@example.org")
    admin.get_by_role("link", name="ada@example.org").click()
    admin.get_by_role("combobox", name="Role").select_option("viewer")
    admin.get_by_role("button", name="Change role").click()
    assert admin.get_by_role("combobox", name="Role").input_value() == "viewer"
    admin.get_by_label("New password").fill("another password")
    admin.get_by_role("button", name="Reset password").click()
    admin.get_by_label("Type the name to confirm").fill("ada@example.org")
    admin.get_by_role("button", name="Remove user").click()
    assert admin.url.endswith("/settings")
    assert not admin.get_by_role("link", name="ada@example.org").count()


@pytest.mark.trials
def test_a_key_is_copied_and_revoked(admin: Page) -> None:
    admin.context.grant_permissions(["clipboard-read", "clipboard-write"])
    admin.goto("/settings/keys")
    admin.get_by_label("Name").fill("ci")
    admin.get_by_label("runs:read").check()
    admin.get_by_role("button", name="Create key").click()
    secret = admin.get_by_label("The new key").input_value()
    admin.get_by_role("button", name="Copy key").click()
    admin.get_by_text("Key copied").wait_for()
    assert admin.evaluate("navigator.clipboard.readText()") == secret
    admin.goto("/settings/keys")
    assert secret not in admin.content()
    admin.get_by_role("button", name="Revoke ci").click()
    assert admin.get_by_text("Revoked").is_visible()
    assert not admin.get_by_role("button", name="Revoke ci").count()


@pytest.mark.trials
def test_the_audit_log_is_filtered_by_its_links_and_downloaded(admin: Page) -> None:
    add(admin, "ada")
    admin.goto("/settings/audit")
    admin.get_by_role("link", name="add user").first.click()
    assert "verb=add_user" in admin.url
    rows = admin.get_by_role("table", name="Audit log").locator("tbody tr")
    assert rows.count() == 2
    admin.reload()
    assert rows.count() == 2
    with admin.expect_download() as download:
        admin.get_by_role("link", name="CSV", exact=True).click()
    assert len(Path(download.value.path()).read_text(encoding="utf-8").splitlines()) == 3
    admin.go_back()
    assert rows.count() == 3


@pytest.mark.trials
def test_hostile_names_are_text(admin: Page) -> None:
    name = "<img src=x onerror=document.title='taken'>"
    admin.goto("/settings/keys")
    admin.get_by_label("Name").fill(name)
    admin.get_by_role("button", name="Create key").click()
    assert admin.get_by_role("heading", name=name).is_visible()
    for path in ("/settings/keys", "/settings/audit", "/goto?q=%3Cimg"):
        admin.goto(path)
        assert admin.title() != "taken"
        assert not admin.locator("main img").count()


@pytest.mark.trials
def test_the_pages_are_accessible_in_every_look(
    admin: Page, check_accessible: Callable[[Page], None], take_picture: Callable[..., Any]
) -> None:
    add(admin, "ada")
    admin.goto("/settings/keys")
    admin.get_by_label("Name").fill("ci")
    admin.get_by_role("button", name="Create key").click()
    for look in check_looks(admin, check_accessible):
        take_picture(admin, f"settings-key-{look}")
    for name in ("", "/users/ada", "/audit"):
        admin.goto(f"/settings{name}")
        for look in check_looks(admin, check_accessible):
            take_picture(admin, f"settings{name.replace('/', '-')}-{look}")
