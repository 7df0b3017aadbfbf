"""The pictures of the guide: `PAGE_PICTURES=docs/images` writes them anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from servers.browser_pages import new_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

IMAGES = Path(__file__).parents[2] / "docs" / "images"
GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"
SIZE: Any = {"width": 1140, "height": 640}
PAGES = {
    "home": "/",
    "runs": "/runs?dataset=library-helpdesk&target=assistant_b",
    "run": "/runs/{judged}?only=look",
    "record": "/runs/{talked}/records/2",
    "compare": "/compare?a={other}&b={judged}",
    "group": "/groups/{group}",
    "judge": "/judges/helpful%401.0.0",
    "rubrics": "/rubrics",
    "rubric": "/rubrics/desk-conversation-v1",
    "trial": "/rubrics/helpdesk%401.0.0?run={judged}",
    "import": "/rubrics/import",
    "datasets": "/datasets",
    "suites": "/suites/new",
    "targets": "/targets",
    "settings": "/settings",
    "docs": "/docs",
}
"""The pages by the names of their pictures."""


@pytest.fixture(scope="session")
def ids(site: str) -> dict[str, str]:
    """The runs of the demo that the guide shows."""
    runs = httpx.get(f"{site}/v1/runs", params={"limit": 100}).json()["data"]

    def found(dataset: str, target: str, *, is_regraded: bool) -> str:
        return next(
            run["run_id"]
            for run in runs
            if (run["dataset_id"], run["target"]) == (dataset, target)
            and (run["derived_from"] is not None) == is_regraded
        )

    return {
        "judged": found("library-helpdesk", "assistant_b", is_regraded=True),
        "other": found("library-helpdesk", "assistant_a", is_regraded=True),
        "talked": found("conversations", "assistant_b", is_regraded=False),
        "group": next(
            run["group_id"]
            for run in runs
            if run["group_id"] and run["dataset_id"] == "library-helpdesk"
        ),
    }


@pytest.mark.trials
@pytest.mark.parametrize("name", PAGES)
def test_the_guide_has_a_picture_of_the_page(
    browser: Browser, site: str, ids: dict[str, str], take_picture: Callable[..., Path], name: str
) -> None:
    with new_page(browser, site, viewport=SIZE) as page:
        page.goto(PAGES[name].format(**ids))
        taken = take_picture(page, f"guide-{name}", is_whole=False)

    assert taken.stat().st_size < 150_000
    assert (IMAGES / taken.name).exists()


def test_every_picture_of_the_guide_exists_and_every_picture_is_shown() -> None:
    shown = set(re.findall(r"\(images/(guide-[a-z-]+\.png)\)", GUIDE.read_text(encoding="utf-8")))

    assert shown == {f"guide-{name}.png" for name in PAGES}
    assert shown <= {path.name for path in IMAGES.iterdir()}
