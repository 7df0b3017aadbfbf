"""The keys of the annotation page in a real Chromium, all of them from one table."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from servers.review_site import ReviewSite, press, review_site, reviewer, submit, wait_saved
from steelyard.reports.review_keys import KEYS, Action

pytestmark = pytest.mark.trials
FOCUS = ".ask.focus"


@pytest.fixture
def desk(desk_project: Path, tmp_path: Path) -> Generator[ReviewSite]:
    with review_site(desk_project, tmp_path, rubric="every-v1") as site:
        yield site


@pytest.fixture
def quick(desk_project: Path, tmp_path: Path) -> Generator[ReviewSite]:
    with review_site(desk_project, tmp_path, size=24) as site:
        yield site


def marked(page: Page) -> str:
    """The field of the question that has the keys."""
    return page.locator(FOCUS).get_attribute("data-ask") or ""


def mark(page: Page, name: str) -> None:
    """Give a question the keys, as a click beside its options does."""
    page.locator(f'[data-ask="{name}"]').evaluate("ask => { ask.tabIndex = -1; ask.focus(); }")
    assert marked(page) == name


def _choose(page: Page, site: ReviewSite) -> None:
    press(page, "y")
    wait_saved(page)
    assert site.draft(1, "mara") == {"trace": {}, "turns": {"turn_1": {"turn_yes": 1}}}


def _clear(page: Page, site: ReviewSite) -> None:
    press(page, "y")
    wait_saved(page)
    page.reload()
    mark(page, "turn_1.turn_yes")
    press(page, "Backspace")
    wait_saved(page)
    assert site.draft(1, "mara") == {"trace": {}, "turns": {}}


def _previous_question(page: Page, site: ReviewSite) -> None:
    press(page, "ArrowUp")
    assert marked(page) == "trace.note"


def _next_question(page: Page, site: ReviewSite) -> None:
    press(page, "ArrowDown", "ArrowDown")
    assert marked(page) == "turn_1.turn_ten"


def _previous_turn(page: Page, site: ReviewSite) -> None:
    press(page, "]", "[")
    assert marked(page) == "turn_1.turn_yes"


def _next_turn(page: Page, site: ReviewSite) -> None:
    press(page, "]")
    assert marked(page) == "turn_2.turn_yes"


def _next_item(page: Page, site: ReviewSite) -> None:
    page.keyboard.press("ArrowRight")
    expect(page.locator(".rv-title")).to_contain_text("2 of 4")


def _previous_item(page: Page, site: ReviewSite) -> None:
    _next_item(page, site)
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".rv-title")).to_contain_text("1 of 4")


def _submit(page: Page, site: ReviewSite) -> None:
    submit(page)
    assert site.standing(1, "mara") == "submitted"


def _skip(page: Page, site: ReviewSite) -> None:
    page.keyboard.press("s")
    skip = page.get_by_role("dialog", name="Skip this item")
    expect(skip.locator("input:checked")).to_have_count(0)
    skip.get_by_role("button", name="Skip").click()
    expect(skip.get_by_text("Choose a reason, or write one.")).to_be_visible()
    page.get_by_label("Or in your own words").fill("too hard")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert site.standing(1, "mara") == "skipped"
    expect(page.locator(".items")).to_contain_text("skipped: too hard")


def _defer(page: Page, site: ReviewSite) -> None:
    with page.expect_navigation():
        page.keyboard.press("d")
    assert site.standing(1, "mara") == "deferred"


def _undo(page: Page, site: ReviewSite) -> None:
    press(page, "y", "3")
    wait_saved(page)
    press(page, "u")
    assert marked(page) == "turn_1.turn_level"
    press(page, "Control+z")
    assert marked(page) == "turn_1.turn_yes"
    expect(page.locator('[data-ask="turn_1.turn_yes"] input:checked')).to_have_count(0)
    wait_saved(page)
    assert site.draft(1, "mara") == {"trace": {}, "turns": {}}


def _comment(page: Page, site: ReviewSite) -> None:
    press(page, "c")
    page.keyboard.type("y 1 s")
    press(page, "Escape")
    wait_saved(page)
    draft = site.draft(1, "mara")
    assert draft == {"trace": {}, "turns": {"turn_1": {"turn_note": "y 1 s"}}}


def _leave_text(page: Page, site: ReviewSite) -> None:
    press(page, "c", "Escape")
    assert marked(page) == "turn_1.turn_note"
    press(page, "ArrowDown")
    assert marked(page) == "turn_2.turn_yes"


def _flag(page: Page, site: ReviewSite) -> None:
    press(page, "f")
    flag = page.get_by_role("dialog", name="Flag this item")
    expect(flag.locator("input:checked")).to_have_count(0)
    flag.get_by_role("radio").first.check()
    page.get_by_label("What is it?").fill("says nothing of late returns")
    page.get_by_role("button", name="Flag", exact=True).click()
    expect(page.locator("[data-toast]")).to_have_text("Flagged")
    (flag,) = site.ports.decisions.flags(site.queue_id)
    assert (flag.annotator, flag.kind, flag.text) == (
        "mara",
        "guideline_gap",
        "says nothing of late returns",
    )


def _guidelines(page: Page, site: ReviewSite) -> None:
    press(page, "g")
    expect(page.get_by_role("dialog", name="Guidelines")).to_contain_text("house rules")


def _help(page: Page, site: ReviewSite) -> None:
    press(page, "?")
    sheet = page.get_by_role("dialog", name="Keys")
    shown = [row.get_attribute("data-action") for row in sheet.locator("tbody tr").all()]
    assert shown == [one.action for one in KEYS]
    press(page, "y")
    assert site.draft(1, "mara") == {"trace": {}, "turns": {}}
    press(page, "Escape")
    expect(sheet).to_be_hidden()


CHECKS: dict[Action, Callable[[Page, ReviewSite], None]] = {
    "choose": _choose,
    "clear": _clear,
    "previous_question": _previous_question,
    "next_question": _next_question,
    "previous_turn": _previous_turn,
    "next_turn": _next_turn,
    "previous_item": _previous_item,
    "next_item": _next_item,
    "submit": _submit,
    "skip": _skip,
    "defer": _defer,
    "undo": _undo,
    "comment": _comment,
    "leave_text": _leave_text,
    "flag": _flag,
    "guidelines": _guidelines,
    "help": _help,
}


@pytest.mark.parametrize("action", dict.fromkeys(one.action for one in KEYS))
def test_every_key_of_the_table_does_what_it_says(
    browser: Browser, desk: ReviewSite, action: Action
) -> None:
    with reviewer(browser, desk, "mara") as page:
        page.goto(desk.page)
        assert marked(page) == "turn_1.turn_yes"

        CHECKS[action](page, desk)


TYPES: dict[str, tuple[tuple[str, ...], Any]] = {
    "yes": (("n",), 0),
    "level": (("0",), 0),
    "ten": (("0",), 10),
    "nought": (("-",), 10),
    "cent": (("8", "7"), 87),
    "kind": (("2",), "second"),
    "area": (("9",), "area i"),
    "group": (("3",), "high"),
    "steps": (("-",), 100),
    "tags": (("1", "2"), ["slow", "rude"]),
}
"""The keys that answer each type of question, and what is stored."""


@pytest.mark.parametrize(("scope", "prefix"), [("trace", ""), ("turn_2", "turn_")])
def test_every_type_of_question_is_answered_by_keys(
    browser: Browser, desk: ReviewSite, scope: str, prefix: str
) -> None:
    with reviewer(browser, desk, "mara") as page:
        page.goto(desk.page)
        for key, (pressed, _) in TYPES.items():
            mark(page, f"{scope}.{prefix}{key}")
            press(page, *pressed)
        press(page, "Escape")
        mark(page, f"{scope}.{prefix}note")
        press(page, "c")
        page.keyboard.type("hm")
        press(page, "Escape")
        wait_saved(page)
        stored = {f"{prefix}{key}": value for key, (_, value) in TYPES.items()}
        stored[f"{prefix}note"] = "hm"
        draft = desk.draft(1, "mara")
        assert draft
        found = draft["trace"] if scope == "trace" else draft["turns"]["turn_2"]  # type: ignore[index,call-overload]
        assert found == stored

        page.reload()
        for key, value in (("area", "area i"), ("cent", "87"), ("note", "hm")):
            expect(page.locator(f'[id="{scope}.{prefix}{key}"]')).to_have_value(value)
        tags = page.locator(f'[data-ask="{scope}.{prefix}tags"] input:checked')
        assert [one.get_attribute("value") for one in tags.all()] == ["slow", "rude"]


def test_every_type_of_question_is_answered_by_mouse(browser: Browser, desk: ReviewSite) -> None:
    with reviewer(browser, desk, "mara") as page:
        page.goto(desk.page)
        form = page.locator(".rv-asks")
        form.get_by_role("group", name="yes?").get_by_role("radio", name="Yes").click()
        form.get_by_role("group", name="level?").get_by_role("radio", name="4").click()
        form.get_by_label("cent?").fill("55")
        form.get_by_role("group", name="kind?").get_by_role("radio", name="First").click()
        form.get_by_label("area?").select_option("area b")
        form.get_by_role("group", name="group?").get_by_role("radio", name="Low").click()
        tags = form.get_by_role("group", name="tags?")
        tags.get_by_role("checkbox", name="Rude").click()
        tags.get_by_role("checkbox", name="None of these").click()
        expect(tags.get_by_role("checkbox", name="Rude")).not_to_be_checked()
        form.get_by_label("note?").fill("fine")
        form.get_by_label("cent?").focus()
        wait_saved(page)

        assert desk.draft(1, "mara") == {
            "trace": {
                "yes": 1,
                "level": 4,
                "cent": 55,
                "kind": "first",
                "area": "area b",
                "group": "low",
                "tags": [],
                "note": "fine",
            },
            "turns": {},
        }


def test_an_optional_answer_is_taken_back_by_mouse_and_by_its_key(
    browser: Browser, desk: ReviewSite
) -> None:
    with reviewer(browser, desk, "mara") as page:
        page.goto(desk.page)
        level = page.locator('[data-ask="trace.level"]')
        chosen = level.locator("input:checked")
        four = level.locator(".opt", has_text="4")
        clear = level.get_by_role("button", name="Clear")
        expect(clear).to_be_hidden()
        four.dblclick()
        expect(chosen).to_have_count(1)
        wait_saved(page)
        page.reload()
        for take_back in (
            lambda: level.locator(".opt", has_text="4").click(),
            clear.click,
            lambda: press(page, "4"),
        ):
            mark(page, "trace.level")
            expect(chosen).to_have_count(1)
            take_back()
            expect(chosen).to_have_count(0)
            expect(clear).to_be_hidden()
            mark(page, "trace.level")
            press(page, "4")
        wait_saved(page)
        page.locator(".keys").get_by_role("button", name="undo").click()
        expect(chosen).to_have_count(0)
        wait_saved(page)
        assert desk.draft(1, "mara") == {"trace": {}, "turns": {}}


def test_arrows_choose_among_options_that_tab_has_led_into(
    browser: Browser, desk: ReviewSite
) -> None:
    with reviewer(browser, desk, "mara") as page:
        page.goto(desk.page)
        mark(page, "trace.nought")
        press(page, "Tab", "Space", "ArrowRight", "ArrowDown")
        wait_saved(page)
        assert desk.draft(1, "mara") == {"trace": {"nought": 2}, "turns": {}}
        press(page, "Escape", "ArrowDown")
        assert marked(page) == "trace.cent"

        options = page.locator('[data-ask="trace.nought"]')
        options.get_by_role("radio", name="7").click()
        press(page, "ArrowUp")
        assert marked(page) == "trace.ten"
        expect(options.get_by_role("radio", name="7")).to_be_checked()


@pytest.mark.parametrize("width", [390, 1000, 1280, 1600])
def test_every_answer_of_a_long_scale_is_in_sight(
    browser: Browser, desk: ReviewSite, width: int
) -> None:
    with reviewer(browser, desk, "mara") as page:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(desk.page)
        for name in ("ten", "nought", "steps"):
            page.locator(f'[data-ask="trace.{name}"] .opt').last.click()
        outside = page.evaluate(
            """() => [...document.querySelectorAll(".opts.score .opt span")].filter(one => {
              const at = one.getBoundingClientRect();
              const around = one.closest(".ask").getBoundingClientRect();
              return one.scrollWidth > one.clientWidth || at.width < 30 || at.height > 44
                || at.left < around.left || at.right > around.right;
            }).map(one => `${one.closest(".ask").dataset.ask}: ${one.textContent}`)"""
        )

        assert outside == []
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_keys_rest_while_somebody_types_or_composes(browser: Browser, desk: ReviewSite) -> None:
    with reviewer(browser, desk, "mara") as page:
        page.goto(desk.page)
        mark(page, "trace.yes")
        composing = "new KeyboardEvent('keydown', {key: 'y', bubbles: true, isComposing: true})"
        page.evaluate(f"document.activeElement.dispatchEvent({composing})")
        page.get_by_label("Search items").focus()
        press(page, "y", "s", "d", "?")

        expect(page.locator(".rv-asks input:checked")).to_have_count(0)
        expect(page.locator("dialog[open]")).to_have_count(0)
        assert page.get_by_label("Search items").input_value() == "ysd?"
        assert desk.standing(1, "mara") == "open"


def test_twenty_items_take_one_key_a_question_and_one_to_submit(
    browser: Browser, quick: ReviewSite
) -> None:
    with reviewer(browser, quick, "mara") as page:
        pressed: list[str] = []

        def strike(key: str) -> None:
            pressed.append(key)
            page.keyboard.press(key)

        page.goto(quick.page)
        for _ in range(20):
            for key in ("y", "4", "2"):
                strike(key)
            with page.expect_navigation():
                strike("Control+Enter")

        own = quick.ports.progress.own(quick.queue_id, "mara")
        assert own.submitted == 20
        assert len(pressed) == 20 * (3 + 1)
        assert quick.draft(20, "mara") == {
            "trace": {"right": 1, "level": 4, "tone": "cold"},
            "turns": {},
        }


def test_twenty_items_with_questions_about_turns_take_no_more_keys(
    browser: Browser, desk_project: Path, tmp_path: Path
) -> None:
    """A key a question, for each turn and for the whole, and one to submit."""
    made = review_site(desk_project, tmp_path, rubric="turns-v1", size=20)
    with made as site, reviewer(browser, site, "mara") as page:
        pressed = 0
        asked = 0
        page.goto(site.page)
        for _ in range(20):
            asked += page.locator("[data-ask]").count()
            while page.locator("[data-ask][data-open-question]").count():
                page.keyboard.press("y")
                pressed += 1
            with page.expect_navigation():
                page.keyboard.press("Control+Enter")
                pressed += 1

        assert site.ports.progress.own(site.queue_id, "mara").submitted == 20
        assert asked == 20 * (2 + 1)
        assert pressed == asked + 20
        assert site.draft(20, "mara") == {
            "trace": {"right": 1},
            "turns": {"turn_1": {"fine": 1}, "turn_2": {"fine": 1}},
        }


@pytest.mark.parametrize(("rubric", "banners"), [("every-v1", 1), ("quick-v1", 0)])
def test_a_draft_of_a_rubric_carries_a_banner(
    browser: Browser, desk_project: Path, tmp_path: Path, rubric: str, banners: int
) -> None:
    made = review_site(desk_project, tmp_path, rubric=rubric, size=1)
    with made as site, reviewer(browser, site, "mara") as page:
        page.goto(site.page)
        expect(page.locator(".rv-form .note.warn")).to_have_count(banners)
        status = "draft" if banners else "published"
        expect(page.locator(".rv-rubric .tag")).to_have_text(status)
        if banners:
            banner = page.locator(".rv-form .note.warn")
            expect(banner).to_contain_text("draft and its wording may change")


def test_keys_pressed_while_an_answer_is_sent_go_to_the_next_item(
    browser: Browser, quick: ReviewSite
) -> None:
    with reviewer(browser, quick, "mara") as page:
        page.goto(quick.page)
        page.evaluate(
            """() => {
              const send = window.fetch;
              const pressed = (key, more) => document.body.dispatchEvent(
                new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
              window.fetch = (address, options) => {
                if (String(address.url ?? address).endsWith("/submit")) {
                  pressed("n");
                  for (const _ of [1, 2]) pressed("Enter", { ctrlKey: true });
                }
                return send(address, options);
              };
            }"""
        )
        press(page, "y")
        wait_saved(page)
        press(page, "Control+Enter")
        expect(page.locator("[data-review]")).to_have_attribute("data-item", quick.items[2])

        assert quick.draft(1, "mara") == {"trace": {"right": 1}, "turns": {}}
        assert quick.draft(2, "mara") == {"trace": {"right": 0}, "turns": {}}
        assert [quick.standing(number, "mara") for number in (1, 2, 3)] == [
            "submitted",
            "submitted",
            "open",
        ]


def test_seven_options_wrap_instead_of_breaking_their_words(
    browser: Browser, desk: ReviewSite
) -> None:
    with reviewer(browser, desk, "mara") as page:
        page.goto(desk.page)
        page.set_viewport_size({"width": 1400, "height": 900})
        options = page.locator('[data-ask="trace.kind"] .opts')
        options.evaluate(
            """opts => {
              const one = opts.querySelector(".opt");
              while (opts.querySelectorAll(".opt").length < 7) opts.append(one.cloneNode(true));
              for (const word of opts.querySelectorAll(".opt span")) word.append(" considerate");
            }"""
        )
        fits = options.evaluate(
            """opts => [...opts.querySelectorAll(".opt")].every(one =>
              one.getBoundingClientRect().right <= opts.getBoundingClientRect().right + 1 &&
              one.getBoundingClientRect().height < 80)"""
        )

        assert fits
