"""What pages take in a real Chromium at 50,000 records: `python -m bench.web_pages`.

First paint, a filter and a sort are navigations to the addresses that the page itself links to;
the bytes are all that a first visit is sent.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import httpx
from bench.child import STEELYARD
from bench.http_service import serving
from bench.page import machine, write_section
from playwright.sync_api import Browser, Page, sync_playwright

from steelyard.web.review.reviewer import COOKIE

RECORDS = 50_000
TIMES = 5
_FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
_CHECKS, _GROUPS = 8, 40
_TAGS = ("loans", "fees", "rooms", "privacy", "access")
_QUESTIONS = {
    "name": "Desk",
    "version": "desk-v1",
    "status": "published",
    "questions": [
        {"key": "right", "label": "Is it right?", "type": "yes_no", "required": True},
        {"key": "level", "label": "How good is it?", "type": "score", "scale": "1-5"},
    ],
}
_PAINT = """() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"""
_BYTES = """() => { const sent = {page: 0, styles: 0, scripts: 0, other: 0};
  for (const one of [...performance.getEntriesByType('navigation'),
                     ...performance.getEntriesByType('resource')]) {
    const path = new URL(one.name).pathname;
    const kind = one.entryType === 'navigation' ? 'page' : path.endsWith('.css') ? 'styles'
      : path.endsWith('.js') ? 'scripts' : 'other';
    sent[kind] += one.transferSize;
  }
  return sent; }"""


class Row(NamedTuple):
    """One row of the table."""

    what: str
    measured: str
    goal: str


def main() -> None:
    """Measure, and write the table into the page."""
    with tempfile.TemporaryDirectory(prefix="bench-web-") as name:
        root = Path(name) / "project"
        run_id, other = _make_project(root)
        with serving(root) as server, _chromium() as browser:
            rows = list(_rows(browser, server.url, run_id, other))
    lines = [
        f"Measured by `python -m bench.web_pages`: {machine()}, Chromium; medians of {TIMES}.",
        "",
        "| what | measured | goal |",
        "|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    write_section("web", "\n".join(lines))


def _rows(browser: Browser, url: str, run_id: str, other: str) -> Generator[Row]:
    run = f"{url}/runs/{run_id}"
    first = _measured(browser, lambda page: _open(page, run))
    yield _row("run page, first paint", first, "≤ 0.5 s")
    yield from _sizes(browser, run)
    for what, query in (
        ("a filter: those that did not pass", "?passed=false"),
        ("a filter: a tag", "?tag=fees"),
        ("a filter: a text that one record has", "?q=number+49321"),
        ("a sort: by score", "?sort=-score"),
    ):
        found = _measured(browser, lambda page, query=query: _open(page, run + query))
        yield _row(what, found, "≤ 0.3 s")
    panel = _measured(browser, lambda page: _panel(page, run))
    yield _row("a row opens beside the table", panel, "–")
    record = _measured(browser, lambda page: _open(page, f"{run}/records/49321"))
    yield _row("record page, first paint", record, "–")
    compared = f"{url}/compare?a={other}&b={run_id}"
    yield _row(
        "compare page of two such runs, first paint",
        _measured(browser, lambda page: _open(page, compared)),
        "–",
    )
    queue = _make_queue(url, run_id)
    yield _row(
        f"annotation page of a queue of {RECORDS:,} items, first paint",
        _measured(browser, lambda page: _annotate(page, url, queue)),
        "≤ 1 s",
    )
    yield _row(
        "runs list, first paint", _measured(browser, lambda page: _open(page, f"{url}/runs")), "–"
    )


def _sizes(browser: Browser, address: str) -> Generator[Row]:
    """What a first visit is sent, whole and in parts, and what the page is when it is unpacked."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(address, wait_until="networkidle")
    sent: dict[str, float] = page.evaluate(_BYTES)
    context.close()
    whole, html = sum(sent.values()), len(httpx.get(address).content)
    parts = ", ".join(f"{name} {size / 1000:.0f}" for name, size in sent.items())
    row = Row(
        f"run page with {_CHECKS} checks and {len(_TAGS) + _GROUPS} slices, all that a first "
        "visit is sent",
        f"**{whole / 1000:.0f} kB** ({parts}; the page unpacked {html / 1000:.0f})",
        "≤ 150 kB",
    )
    print(row, flush=True)
    yield row


def _row(what: str, seconds: float, goal: str) -> Row:
    row = Row(what, f"**{seconds:.2f} s**", goal)
    print(row, flush=True)
    return row


def _measured(browser: Browser, act: Callable[[Page], float], times: int = TIMES) -> float:
    """The median over visits, each in a session of its own."""
    found: list[float] = []
    for _ in range(times):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        try:
            found.append(act(context.new_page()))
        finally:
            context.close()
    return median(found)


def _open(page: Page, address: str) -> float:
    page.goto(address, wait_until="load")
    while not (painted := page.evaluate(_PAINT)):  # the page's policy forbids `wait_for_function`
        page.wait_for_timeout(20)
    return painted / 1000


def _annotate(page: Page, url: str, queue: str) -> float:
    page.context.add_cookies([{"name": COOKIE, "value": "ann", "url": url}])
    return _open(page, f"{url}/review/{queue}")


def _make_queue(url: str, run_id: str) -> str:
    """A queue of all answers of a run."""
    body = {"name": "All", "run_id": run_id, "rubric": "rubric/desk-v1", "fill": {"size": RECORDS}}
    made = httpx.post(f"{url}/v1/queues", json=body, timeout=120).raise_for_status()
    return made.json()["queue_id"]


def _panel(page: Page, address: str) -> float:
    page.goto(address, wait_until="load")
    begin = page.evaluate("performance.now()")
    page.locator("tr[data-row] .row-link").first.click()
    page.locator(".side h3").first.wait_for()
    return (page.evaluate("performance.now()") - begin) / 1000


def _make_project(root: Path) -> tuple[str, str]:
    """Two finished runs of 50,000 recorded answers."""
    (root / "datasets").mkdir(parents=True)
    targets: dict[str, Any] = {}
    for name in ("a", "b"):
        path = root / f"{name}.jsonl"
        with path.open("w", encoding="utf-8") as stream:
            stream.writelines(
                json.dumps(_answer(number, name)) + "\n" for number in range(RECORDS)
            )
        targets[name] = {"provider": "recorded", "path": f"{name}.jsonl", "candidate": name}
    settings = {"targets": targets, "slices": ["tags"]}
    (root / "steelyard.yaml").write_text(json.dumps(settings), encoding="utf-8")
    with (root / "datasets" / "many.jsonl").open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(_case(number)) + "\n" for number in range(RECORDS))
    (root / "rubrics").mkdir()
    (root / "rubrics" / "desk-v1.json").write_text(json.dumps(_QUESTIONS), encoding="utf-8")
    return _run(root, "b"), _run(root, "a")


def _run(root: Path, target: str) -> str:
    words = ("run", "datasets/many.jsonl", "--target", target, "--format", "json")
    done = subprocess.run(
        (*STEELYARD, *words), cwd=root, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)["run_id"]


def _case(number: int) -> dict[str, Any]:
    question = f"Question number {number}: " + "may I bring it back a day late? " * 4
    words = ("yes", "You pay", "nothing", "first", "answer", "The", "day", "is")[:_CHECKS]
    says = [{"type": "contains", "name": f"says_{word}", "value": word} for word in words]
    tags = [_TAGS[number % len(_TAGS)], f"group-{number % _GROUPS}"]
    return {
        "id": f"case-{number}",
        "expected_outcome": "Says yes.",
        "input": question,
        "evaluators": says,
        "tags": tags,
    }


def _answer(number: int, name: str) -> dict[str, Any]:
    says = "no" if number % (11 if name == "a" else 7) == 0 else "yes"
    text = f"The answer is {says}. " + "You pay nothing on the first day. " * 6
    return {"record_id": f"case-{number}", "candidate_name": name, "response_text": text}


@contextmanager
def _chromium() -> Generator[Browser]:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=list(_FLAGS))
        yield browser
        browser.close()


if __name__ == "__main__":
    main()
