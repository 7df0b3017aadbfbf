"""Answers without a place to break, with invisible marks or with piled accents, in Chromium."""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import TYPE_CHECKING, NamedTuple

import pytest
from playwright.sync_api import expect

from servers.browser_pages import NARROW, WIDE, new_page
from servers.run_service import document, record
from servers.service import running
from steelyard import evaluate
from steelyard.project import open_project

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_SOON_MS = 20_000
"""Before, Chromium took more than a minute for the page with repeats."""
_ANSWERS = {
    "endless": "A" * 100_000,
    "piled": "Z" + "".join(map(chr, range(0x300, 0x370))) * 27 + " end",
    "hidden": "open \u202egpj.exe\u202c now\u200b!",
}


class Texts(NamedTuple):
    """The runs of a site."""

    url: str
    first: str
    second: str
    repeated: str


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Generator[Texts]:
    root = tmp_path_factory.mktemp("texts")
    (root / "steelyard.yaml").write_text("{}\n", encoding="utf-8")
    (root / "rubrics").mkdir()
    (root / "rubrics" / "ends.yaml").write_text(
        "id: ends\nversion: 1.0.0\nchecks:\n"
        "  - {id: ends, kind: must_contain_any, phrases: [yes]}\nscoring: {combine: all_pass}\n",
        encoding="utf-8",
    )
    rows = [record(name, name) for name in _ANSWERS]
    (root / "cases.json").write_text(json.dumps(document(rows)), encoding="utf-8")
    calls: list[str] = []

    def answer(prompt: str) -> str:
        calls.append(prompt)
        return _ANSWERS[prompt] + "B" * len(calls) + "yes" * (len(calls) <= len(rows))

    with open_project(root) as project:
        runs = [
            evaluate(
                "cases.json", target=answer, rubric="rubric/ends@1.0", project=project, repeat=many
            ).run_id
            for many in (1, 1, 3)
        ]
        with running(project) as url:
            yield Texts(url, *runs)


def width(page: Page) -> int:
    return page.evaluate("document.documentElement.scrollWidth")


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_an_endless_word_neither_stalls_nor_widens_a_page(
    browser: Browser, texts: Texts, viewport: dict[str, int]
) -> None:
    pages = (
        f"/runs/{texts.repeated}/records/0",
        f"/compare?a={texts.first}&b={texts.second}",
        f"/runs/{texts.first}/records/1",
    )
    with new_page(browser, texts.url, viewport=viewport) as page:
        for path in pages:
            page.goto(path, timeout=_SOON_MS)
            assert width(page) == viewport["width"]


def test_repeats_show_the_beginning_and_their_csv_has_no_breaks(
    browser: Browser, texts: Texts
) -> None:
    with new_page(browser, texts.url) as page:
        page.goto(f"/runs/{texts.repeated}/records/0", timeout=_SOON_MS)
        answer = page.locator(".repeat-answer").first
        expect(page.get_by_text("more characters").first).to_be_visible()
        assert answer.evaluate("one => one.textContent") == "A" * 20_000


def test_invisible_marks_are_seen_and_the_text_is_copied_as_it_is(
    browser: Browser, texts: Texts
) -> None:
    with new_page(browser, texts.url) as page:
        page.goto(f"/runs/{texts.first}/records/2")
        mark = page.locator(".turn.assistant .unseen").first
        shown = mark.evaluate("one => getComputedStyle(one, '::before').content")
        turn = page.locator(".turn.assistant .read").first

        assert shown in ('"RLO"', "attr(data-name)")
        assert turn.evaluate("one => one.textContent").strip().startswith(_ANSWERS["hidden"])
