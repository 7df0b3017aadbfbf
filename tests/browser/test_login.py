"""Log in and out in a browser, which keeps the session's cookie as a real one does."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from servers.accounts import PASSWORD, add_users
from servers.browser_pages import new_page
from servers.browsing import check_looks
from servers.nginx import free_port, nginx_before
from servers.service import running
from steelyard.project import Project, open_project

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture
def guarded(tmp_path: Path) -> Generator[Project]:
    """A project with a user a role."""
    with open_project(tmp_path) as project:
        add_users(project)
        yield project


def log_in(page: Page, name: str) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


# Chromium takes Secure cookies over http from loopback addresses, by name and by number.
@pytest.mark.parametrize(
    "host", ["localhost", pytest.param("127.0.0.1", marks=pytest.mark.trials)]
)
def test_a_session_lasts_from_login_to_logout(
    browser: Browser, guarded: Project, host: str
) -> None:
    with running(guarded, has_login=True) as url:
        own = f"http://{host}:{url.rpartition(':')[2]}"
        with new_page(browser, own) as page:
            page.goto("/runs?q=a")
            assert page.url == f"{own}/login?next=/runs%3Fq%3Da"
            log_in(page, "viewer")
            assert page.url == f"{own}/runs?q=a"
            page.reload()
            page.get_by_role("link", name="viewer").click()
            page.get_by_role("button", name="Log out").click()
            assert page.url == f"{own}/login"
            page.goto("/runs")
            assert "/login?next" in page.url


@pytest.mark.trials
def test_what_a_role_may_not_open_is_not_offered(browser: Browser, guarded: Project) -> None:
    with running(guarded, has_login=True) as url, new_page(browser, url) as page:
        for role, links in (("viewer", 5), ("annotator", 1), ("admin", 8)):
            page.goto("/login")
            log_in(page, role)
            shown = page.get_by_role("navigation", name="Main").get_by_role("link")
            assert shown.count() == links
        assert page.get_by_role("link", name="Settings").is_visible()


@pytest.mark.trials
def test_behind_a_proxy_with_tls_a_public_address_is_enough(
    browser: Browser, guarded: Project, tmp_path: Path
) -> None:
    port = free_port()
    public = f"https://localhost:{port}"
    settings: dict[str, Any] = {
        "has_login": True,
        "public_url": public,
        "trusted_proxies": ("127.0.0.1",),
    }
    with (
        running(guarded, **settings) as url,
        nginx_before(url, tmp_path / "nginx", port=port, has_tls=True),
        new_page(browser, public, ignore_https_errors=True) as page,
    ):
        page.goto("/")
        log_in(page, "admin")
        assert page.url == f"{public}/"
        page.goto("/settings/keys")
        page.get_by_label("Name").fill("ci")
        page.get_by_role("button", name="Create key").click()
        assert page.get_by_label("The new key").input_value().startswith("steelyard_")


@pytest.mark.trials
def test_the_pages_are_accessible_in_every_look(
    browser: Browser,
    guarded: Project,
    check_accessible: Callable[[Page], None],
    take_picture: Callable[..., Any],
) -> None:
    with running(guarded, has_login=True) as url, new_page(browser, url) as page:
        page.goto("/login")
        for look in check_looks(page, check_accessible):
            take_picture(page, f"login-{look}")
        log_in(page, "editor")
        for name, path in (("logout", "/logout"), ("password", "/settings/password")):
            page.goto(path)
            for look in check_looks(page, check_accessible):
                take_picture(page, f"{name}-{look}")
        page.goto("/login")
        log_in(page, "annotator")
        for look in check_looks(page, check_accessible):
            take_picture(page, f"home-annotator-{look}")


@pytest.mark.trials
def test_a_wrong_password_is_told_where_one_looks(browser: Browser, guarded: Project) -> None:
    with running(guarded, has_login=True) as url:
        context = browser.new_context(base_url=url)
        page = context.new_page()  # the console notes a status of 401, so it is not watched
        page.goto("/login?next=/docs")
        page.get_by_label("Name").fill("viewer")
        page.get_by_label("Password").fill("wrong password")
        page.keyboard.press("Enter")
        assert "The name or the password is wrong" in page.get_by_role("alert").inner_text()
        focused: str = page.evaluate("document.activeElement.id")
        assert focused == "password"
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/docs")
        context.close()
