"""Rubrics and judges in a real Chromium: write, mend, preview, compare, try, and read."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from fakes.told_library import DRAFT, tell_more
from servers.browser_pages import NARROW, new_page
from servers.browsing import check_looks
from servers.service import running
from steelyard.project import open_project

HOSTILE = "</textarea><img src=x onerror=alert(1)><script>alert(2)</script>"
RUBRIC: dict[str, Any] = {
    "name": "Conversations",
    "version": "conversations-v9",
    "guidance": ["Be fair."],
    "questions": [
        {"key": "solved", "label": "Solved?", "type": "yes_no", "required": True},
        {"key": "how", "label": "How well?", "type": "score", "scale": {"min": 1, "max": 5}},
        {
            "key": "fault",
            "label": "Which fault?",
            "type": "single_select",
            "options": [{"value": f"v{n}", "label": f"Fault {n}"} for n in range(8)],
        },
        {
            "key": "turn",
            "label": "Is this turn right?",
            "type": "button_group",
            "scope": "turn",
            "options": [{"value": "good", "label": "Right"}, {"value": "bad", "label": "Wrong"}],
        },
        {
            "key": "tags",
            "label": "Tags",
            "type": "multi_select",
            "scope": "turn",
            "options": [{"value": "long", "label": "Too long"}],
        },
        {"key": "note", "label": "Note", "type": "comment"},
    ],
}
PAGES = (
    "/rubrics",
    "/rubrics/import",
    "/rubrics/desk-conversation-v1",
    "/rubrics/helpdesk%401.0.0?run=latest&to=catalogue%401.0.0",
    "/judges",
    "/judges/helpful%401.0.0?cell=fp",
    "/judges/accuracy%401.0.0",
)


@pytest.fixture
def own_page(browser: Browser, changing_site: str) -> Generator[Page]:
    with new_page(browser, changing_site) as page:
        yield page


def broken() -> str:
    made = json.loads(json.dumps(RUBRIC))
    made["questions"][1]["guidence"] = "5 = fully"
    made["questions"][3]["key"] = "Turn"
    return json.dumps(made, indent=2)


def line_of(text: str, part: str) -> int:
    return next(n for n, line in enumerate(text.split("\n"), 1) if part in line)


def test_findings_follow_what_is_typed_and_lead_to_their_lines(page: Page) -> None:
    page.goto("/rubrics/import")
    field = page.get_by_label("Rubric JSON")
    text = broken()
    line = line_of(text, '"Turn"')

    field.fill(text)
    link = page.get_by_role("link", name=f"Line {line}", exact=True)
    link.click()

    expect(page.locator(f"#L{line}")).to_have_class("err")
    expect(page.locator(f"#L{line_of(text, 'guidence')}")).to_have_class("warn")
    assert page.evaluate("document.activeElement.id") == "editor-text"
    chosen = "(a => a.value.slice(a.selectionStart, a.selectionEnd))(document.activeElement)"
    assert page.evaluate(chosen).strip() == '"key": "Turn",'
    field.fill(text.replace('"Turn"', '"turn"').replace("guidence", "guidance"))
    expect(page.get_by_text("No findings")).to_be_visible()
    expect(page.locator(".editor .err, .editor .warn")).to_have_count(0)


@pytest.mark.trials
def test_the_preview_has_every_type_and_follows(page: Page) -> None:
    page.goto("/rubrics/import")
    page.get_by_label("Rubric JSON").fill(json.dumps(RUBRIC, indent=2))
    preview = page.locator("#preview")

    expect(preview.get_by_role("radio", name="Yes")).to_have_count(1)
    expect(preview.get_by_role("group", name="How well?").get_by_role("radio")).to_have_count(5)
    expect(preview.get_by_label("Which fault?")).to_have_js_property("tagName", "SELECT")
    expect(preview.get_by_role("checkbox", name="Too long")).to_have_count(1)
    expect(preview.get_by_label("Note")).to_have_js_property("tagName", "TEXTAREA")
    expect(preview.get_by_text("Under each turn of the assistant")).to_be_visible()
    preview.get_by_role("radio", name="Yes").check()
    expect(preview.get_by_role("radio", name="Yes")).to_be_checked()


@pytest.mark.trials
def test_an_almost_right_text_is_mended_and_undo_brings_it_back(page: Page) -> None:
    page.goto("/rubrics/import")
    field = page.get_by_label("Rubric JSON")
    text = f"Here it is:\n```json\n{json.dumps(RUBRIC)[:-1]},}}\n```"
    field.fill(text)

    page.get_by_role("button", name="Use the mended text").click()

    expect(page.get_by_text("No findings")).to_be_visible()
    assert json.loads(field.input_value()) == RUBRIC
    field.press("Control+z")
    expect(field).to_have_value(text)


@pytest.mark.trials
def test_a_button_mends_what_one_word_mends(page: Page) -> None:
    page.goto("/rubrics/import")
    field = page.get_by_label("Rubric JSON")
    field.fill(broken())
    page.get_by_role("button", name="Change to turn").click()
    page.get_by_role("button", name="Rename to guidance").click()

    expect(page.get_by_text("No findings")).to_be_visible()
    assert json.loads(field.input_value())["questions"][1]["guidance"] == "5 = fully"


@pytest.mark.trials
def test_a_rubric_is_created_shown_published_and_archived(own_page: Page) -> None:
    page = own_page
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/rubrics")
    page.get_by_role("link", name="Import full Rubric from JSON").click()
    page.get_by_label("Rubric JSON").fill(json.dumps(RUBRIC))
    page.get_by_role("button", name="Create from JSON").click()

    expect(page).to_have_url(re.compile("/rubrics/conversations-v9$"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("Conversations")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_text("its content never changes again")).to_be_visible()
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_text("is archived: no new run can use it")).to_be_visible()
    page.goto("/rubrics?status=archived")
    expect(page.get_by_role("link", name="conversations-v9")).to_be_visible()


@pytest.mark.trials
def test_errors_keep_the_text_and_save_nothing(own_page: Page) -> None:
    page = own_page
    page.goto("/rubrics/import")
    text = broken()
    page.get_by_label("Rubric JSON").fill(text)
    page.get_by_role("button", name="Create from JSON").click()

    expect(page.get_by_text("Nothing is saved: 1 error has to be mended first.")).to_be_visible()
    expect(page.get_by_label("Rubric JSON")).to_have_value(text)
    page.goto("/rubrics")
    expect(page.get_by_role("link", name="conversations-v9")).to_have_count(0)


@pytest.mark.trials
def test_the_page_works_without_scripts(browser: Browser, changing_site: str) -> None:
    with new_page(browser, changing_site, java_script_enabled=False) as page:
        page.goto("/rubrics/import")
        page.get_by_label("Rubric JSON").fill(f"```json\n{json.dumps(RUBRIC)}\n```")
        page.get_by_role("button", name="Create from JSON").click()
        page.get_by_role("button", name="Use the mended text").click()
        assert json.loads(page.get_by_label("Rubric JSON").input_value()) == RUBRIC
        page.get_by_role("button", name="Create from JSON").click()
        assert page.url.endswith("/rubrics/conversations-v9")


@pytest.mark.trials
def test_the_instructions_are_copied(browser: Browser, site: str) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    with new_page(browser, site, permissions=permissions) as page:
        page.goto("/rubrics/import")
        page.get_by_role("button", name="Copy instructions").click()
        expect(page.get_by_text("Instructions copied")).to_be_visible()
        copied = page.evaluate("navigator.clipboard.readText()")
        page.get_by_text("Instructions for an assistant").click()
        assert copied == page.locator("#instructions").text_content()
        assert "multi_select" in copied


@pytest.mark.trials
def test_a_file_is_opened_into_the_editor(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(RUBRIC), encoding="utf-8")
    page.goto("/rubrics/import")
    page.locator("[data-editor-file]").set_input_files(path)

    expect(page.get_by_label("Rubric JSON")).to_have_value(path.read_text(encoding="utf-8"))
    expect(page.get_by_text("No findings")).to_be_visible()


@pytest.mark.trials
def test_what_a_stranger_wrote_runs_nowhere(page: Page) -> None:
    page.goto("/rubrics/import")
    made = {**RUBRIC, "name": HOSTILE, "version": HOSTILE, "guidance": [HOSTILE]}
    made["questions"] = [{"key": HOSTILE, "label": HOSTILE, "type": HOSTILE}]
    page.get_by_label("Rubric JSON").fill(json.dumps(made))

    expect(page.locator("#preview")).to_contain_text("onerror=alert(1)")
    assert page.locator("#main img, #main script").count() == 0
    page.get_by_role("button", name="Create from JSON").click()
    assert page.locator("#main img, #main script").count() == 0


@pytest.mark.trials
def test_a_trial_is_in_the_address_and_survives_reload_and_back(page: Page) -> None:
    page.goto("/rubrics/helpdesk%401.0.0")
    page.get_by_role("button", name="Try it").click()
    said = page.locator("[data-trial]")
    expect(said).to_contain_text("Nothing would change")
    expect(page.locator("[data-csv='trial-checks']")).to_contain_text("as judges said in the run")

    page.reload()
    expect(said).to_be_visible()
    page.get_by_label("Compare with").select_option("catalogue@1.0.0")
    page.get_by_role("button", name="Show differences").click()
    expect(page.locator("[data-csv='differences']")).to_be_visible()
    expect(said).to_be_visible()
    page.go_back()
    expect(page.locator("[data-csv='differences']")).to_have_count(0)
    expect(said).to_be_visible()


@pytest.mark.trials
def test_a_rubric_that_was_typed_is_back_after_leaving_the_page(page: Page) -> None:
    page.goto("/rubrics/import")
    page.locator("[data-editor-text]").fill('{"name": "mine"')
    page.get_by_role("link", name="Runs", exact=True).click()
    page.go_back()
    expect(page.locator("[data-draft-note]")).to_be_visible()
    expect(page.locator("[data-editor-text]")).to_have_value('{"name": "mine"')
    expect(page.locator("#editor-findings")).to_contain_text("error")
    page.get_by_role("button", name="Discard it").click()
    expect(page.locator("[data-editor-text]")).to_have_value("")


@pytest.fixture
def told_site(demo_project: Path, tmp_path: Path) -> Generator[str]:
    """The address of a server of the demo's project some months on."""
    root = shutil.copytree(demo_project, tmp_path / "library")
    runs = sorted(one.name for one in (root / ".steelyard" / "runs").iterdir())
    tell_more(root, runs[3])
    with open_project(root) as project, running(project) as url:
        yield url


@pytest.mark.trials
def test_a_draft_tells_which_verdicts_would_change(browser: Browser, told_site: str) -> None:
    """Each changed record is named with both verdicts, and leads to its page."""
    with new_page(browser, told_site) as page:
        page.goto(f"/rubrics/{DRAFT}")
        page.get_by_label("Traces of").select_option(index=0)
        page.get_by_role("button", name="Try it").click()
        said = page.locator("[data-trial]")
        expect(said).to_contain_text(re.compile(r"[1-9][0-9]* of 47 verdicts would change"))
        number = int(said.locator(".verdict-say").inner_text().split()[0])
        rows = page.locator("[data-csv='trial-records'] tbody tr")
        expect(rows).to_have_count(number)
        assert rows.first.locator(".v").all_inner_texts() == ["Pass", "Fail"]
        rows.first.get_by_role("link").click()
        page.wait_for_url("**/records/*")


@pytest.mark.trials
def test_a_judge_shows_how_its_rates_drift(
    browser: Browser, told_site: str, check_accessible: Callable[[Page], None]
) -> None:
    """The figure has both rates of each validation, and says them to a screen reader."""
    with new_page(browser, told_site) as page:
        page.goto("/judges/helpful%401.0.0")
        figure = page.locator("svg.rates")
        assert figure.locator(".tpr circle").count() == figure.locator(".tnr circle").count() == 3
        assert "2026-03-02: TPR 90.9 %" in str(figure.get_attribute("aria-label"))
        expect(page.locator("[data-csv='validations'] tbody tr")).to_have_count(3)
        for _ in check_looks(page, check_accessible):
            assert figure.is_visible()


@pytest.mark.trials
def test_a_trial_says_what_cannot_be_tried(page: Page) -> None:
    page.goto("/rubrics/helpdesk%401.0.0")
    page.get_by_label("Traces of").select_option(index=2)
    page.get_by_role("button", name="Try it").click()

    expect(page.locator("[data-trial]")).to_contain_text("cannot be tried")
    expect(page.locator("[data-trial]")).to_contain_text("it asks a judge")


def test_a_judge_shows_its_rates_and_the_items_behind_each_cell(page: Page) -> None:
    page.goto("/judges")
    page.get_by_role("link", name="helpful", exact=True).click()
    expect(page.get_by_text("It passes 23 of the 24 answers that people pass")).to_be_visible()
    matrix = page.locator("[data-csv='confusion']")

    for cell, count in (("tp", 23), ("fp", 6), ("fn", 1), ("tn", 2)):
        matrix.locator(f"a[href*='cell={cell}']").click()
        rows = page.locator("[data-csv='items'] tbody tr")
        expect(rows).to_have_count(count)
        assert "/records/" in str(rows.first.get_by_role("link").first.get_attribute("href"))


@pytest.mark.trials
def test_a_judge_shows_canaries_bias_history_and_its_template(page: Page) -> None:
    page.goto("/judges/helpful%401.0.0")

    expect(page.get_by_text("It passes 4 of 36 answers that it must fail.")).to_be_visible()
    expect(page.locator("[data-csv='canaries'] tbody tr").first).to_contain_text("Passes it")
    expect(page.locator("[data-csv='bias']")).to_contain_text("length of the response")
    expect(page.locator("[data-csv='history-1'] tbody tr")).to_have_count(2)
    expect(page.locator("#template")).to_contain_text("{{ output }}")
    expect(page.locator("[data-csv='validations'] tbody tr")).to_have_count(1)


@pytest.mark.trials
@pytest.mark.parametrize("address", PAGES)
@pytest.mark.parametrize("look", ["light", "dark", "narrow"])
def test_every_page_is_accessible_in_every_look(
    browser: Browser,
    site: str,
    check_accessible: Callable[[Page], None],
    address: str,
    look: str,
) -> None:
    options: dict[str, Any] = {
        "light": {},
        "dark": {"color_scheme": "dark"},
        "narrow": {"viewport": NARROW},
    }[look]
    with new_page(browser, site, **options) as page:
        page.goto(address)
        if address == "/rubrics/import":
            page.get_by_label("Rubric JSON").fill(broken())
            expect(page.get_by_text("1 error").first).to_be_visible()
        check_accessible(page)
        wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        assert page.evaluate(wide)


@pytest.mark.trials
def test_the_import_can_be_used_by_keyboard_alone(page: Page) -> None:
    page.goto("/rubrics/import")
    page.get_by_label("Rubric JSON").focus()
    page.keyboard.insert_text(broken())
    expect(page.get_by_role("link", name="Line").first).to_be_visible()
    page.keyboard.press("Tab")
    reached = "document.activeElement.getAttribute('data-line')"
    for _ in range(5):
        if page.evaluate(reached):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    assert page.evaluate("document.activeElement.id") == "editor-text"


@pytest.mark.trials
def test_pictures(page: Page, take_picture: Callable[..., Path]) -> None:
    page.goto("/rubrics/import")
    page.get_by_label("Rubric JSON").fill(broken())
    expect(page.get_by_text("1 error").first).to_be_visible()
    take_picture(page, "rubric-import")
    for address, name in (
        ("/rubrics", "rubrics"),
        ("/rubrics/desk-conversation-v1", "rubric"),
        ("/rubrics/helpdesk%401.0.0?run=latest", "rubric-trial"),
        ("/judges", "judges"),
        ("/judges/helpful%401.0.0", "judge"),
    ):
        page.goto(address)
        take_picture(page, name)
