"""What every page must hold in a browser: light and dark, wide and narrow, by keyboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 390, "height": 844}
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": WIDE},
    "dark": {"viewport": WIDE, "color_scheme": "dark"},
    "narrow": {"viewport": NARROW, "color_scheme": "light"},
    "narrow-dark": {"viewport": NARROW, "color_scheme": "dark"},
}


def check_looks(page: Page, check_accessible: Callable[[Page], None]) -> Iterator[str]:
    """Each look of an open page by its name, once axe finds nothing and nothing sticks out."""
    for name, look in LOOKS.items():
        page.set_viewport_size(look["viewport"])
        page.emulate_media(color_scheme=look.get("color_scheme", "light"), reduced_motion="reduce")
        check_accessible(page)
        width: int = page.evaluate("document.documentElement.scrollWidth")
        assert width <= look["viewport"]["width"], f"{name} is {width} px wide"
        yield name


def tab_to(page: Page, name: str, most: int = 80) -> None:
    """Press Tab until the element with this text or label has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        said: str = page.evaluate(
            "[document.activeElement.innerText, document.activeElement.getAttribute('aria-label')]"
            ".filter(Boolean).join(' ')"
        )
        if name in said:
            return
    raise AssertionError(f"'{name}' is not reached by {most} presses of Tab")
