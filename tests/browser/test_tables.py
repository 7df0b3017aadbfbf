"""Every table as CSV in a real Chromium: each value in a column of its own, none a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

Tables = Callable[["Page", str], dict[str, list[list[str]]]]
_GLUED = r"[\d.]+ %.*|\d{1,3}(,\d{3})+|[\d.]+ – [\d.]+"
"""A rate in per cent, a number with separators, an interval in one cell."""
_OF_PAGE = """async () => {
  const app = document.querySelector("script[src*='app.js']").src;
  const { csvFor } = await import(app.replace("app.js", "tables.js"));
  const tables = [...document.querySelectorAll("table[data-csv]")];
  return Promise.all(tables.map(async (one) => [one.dataset.csv, await csvFor(one)]));
}"""


@pytest.fixture
def tables() -> Tables:
    """The tables of a page by their names, as rows of their CSV."""

    def read(page: Page, address: str) -> dict[str, list[list[str]]]:
        answer = page.goto(address)
        assert answer, address
        assert answer.ok, address
        found: list[tuple[str, str]] = page.evaluate(_OF_PAGE)
        return {name: list(csv.reader(io.StringIO(text))) for name, text in found}

    return read


def runs_of(site: str, **query: str) -> list[dict[str, Any]]:
    return httpx.get(f"{site}/v1/runs", params=query).json()["data"]


def columns(rows: list[list[str]], *names: str) -> list[tuple[str, ...]]:
    """Some columns of a table."""
    places = [rows[0].index(name) for name in names]
    return [tuple(row[place] for place in places) for row in rows[1:]]


def addresses(site: str) -> list[str]:
    """Every kind of page with a table, over every run of the demo."""
    runs = [one["run_id"] for one in runs_of(site)]
    helpdesk = runs_of(site, q="helpdesk")
    group = next(one["group_id"] for one in helpdesk if one["group_id"])
    a, b = (one["run_id"] for one in helpdesk[:2])
    listed = [f"/runs/{run}" for run in runs] + [f"/runs/{run}/slices" for run in runs]
    records = [f"/runs/{run}/records/0" for run in runs] + [f"/runs/{a}/records/12"]
    judges, rubrics = (
        [
            f"/{kind}/{quote(one['ref'].rpartition('/')[2], safe='')}"
            for one in httpx.get(f"{site}/v1/{kind}").json()["data"]
            if one["origin"] != "built in"
        ]
        for kind in ("judges", "rubrics")
    )
    plain = "/ /runs /compare /datasets /judges /rubrics /suites /targets /docs /settings"
    return [
        *plain.split(),
        *listed,
        *records,
        *judges,
        *rubrics,
        f"/groups/{group}?show=all",
        f"/compare?a={a}&b={b}",
        f"/runs?dataset={helpdesk[0]['dataset_id']}&target={helpdesk[0]['target']}",
        "/datasets/file?path=datasets/helpdesk.jsonl",
        "/settings/audit",
    ]


@pytest.mark.trials
def test_columns_of_every_table_line_up_with_their_headings(
    page: Page, tables: Tables, site: str
) -> None:
    """No heading stands twice, no row is shorter or longer, and no number has separators.

    Nor has any page an id twice: a label would belong to the first of the two.
    """
    named = set[str]()
    for address in addresses(site):
        found = tables(page, address)
        ids: list[str] = page.eval_on_selector_all("[id]", "all => all.map((one) => one.id)")
        assert [one for one in set(ids) if ids.count(one) > 1] == [], address
        for name, rows in found.items():
            named.add(name)
            assert {len(row) for row in rows} == {len(rows[0])}, (address, name, rows)
            assert len(set(rows[0])) == len(rows[0]), (address, name, rows[0])
            glued = [cell for row in rows for cell in row if re.fullmatch(_GLUED, cell)]
            assert not glued, (address, name, glued)
    assert named >= {"runs", "slices", "confusion", "validations", "judges", "cases", "trend"}


def test_runs_have_their_rates_with_intervals(page: Page, tables: Tables, site: str) -> None:
    """The numbers are those of the API: shares from 0 to 1."""
    rows = tables(page, "/runs")["runs"]
    found = columns(rows, "Run", "Raw pass rate", "Raw pass rate, low", "Raw pass rate, high", "n")
    for run in runs_of(site):
        rate = run["summary"]["pass_rate"]
        values = next(row[1:] for row in found if row[0] == run["run_id"])
        assert [float(one) for one in values] == [
            rate[key] for key in ("value", "low", "high", "n")
        ]


@pytest.mark.trials
def test_slices_are_those_of_the_server_small_ones_too(page: Page, site: str) -> None:
    """What is downloaded is not only what the page has room for."""
    run = next(one for one in runs_of(site, q="assistant_b") if one["derived_from"])["run_id"]
    page.goto(f"/runs/{run}")
    section = page.locator("section", has=page.locator("#h-slices"))
    with page.expect_download() as download:
        section.get_by_label("CSV of Pass rates by slice").click()
        section.get_by_role("button", name="Download CSV").click()
    text = download.value.path().read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 47
    fees = next(row for row in rows if row["value"] == "fees")
    assert (fees["pass_rate"], fees["pass_rate_n"], fees["no_score"]) == ("1.0", "9", "1")
    assert float(fees["check:panel_low"]) == pytest.approx(0.172, abs=0.001)
    assert fees["people_n"] == "4"


@pytest.mark.trials
def test_groups_keep_id_question_verdict_and_answer_apart(
    page: Page, tables: Tables, site: str
) -> None:
    group = next(one["group_id"] for one in runs_of(site, q="helpdesk") if one["group_id"])
    rows = tables(page, f"/groups/{group}?show=all")["group"]
    assert rows[0][:2] == ["Record", "Question"]
    verdicts = [name for name in rows[0] if name.endswith(", verdict")]
    assert verdicts
    assert {cell for row in columns(rows, *verdicts) for cell in row} <= {
        "Pass",
        "Fail",
        "Timeout",
    }


@pytest.mark.trials
def test_text_that_begins_like_a_formula_is_marked_as_in_exports(page: Page, site: str) -> None:
    """Signs in full width and after blanks count, too; numbers stay numbers."""
    page.goto("/runs")
    page.evaluate(
        """(texts) => {
          const table = document.createElement("table");
          table.dataset.csv = "made";
          const row = table.insertRow();
          for (const text of texts) row.insertCell().dataset.values = JSON.stringify([text]);
          document.querySelector("main").append(table);
        }""",
        [
            "=1",
            "＝1+1",
            "＠SUM(1)",
            "－1",
            " =1+1",
            "\u200b+1",
            "\u2212x",
            "\tx",
            "plain",
            -5,
            "a-b",
        ],
    )
    found: dict[str, str] = dict(page.evaluate(_OF_PAGE))
    assert next(csv.reader(io.StringIO(found["made"]))) == [
        *("'=1", "'＝1+1", "'＠SUM(1)", "'－1", "' =1+1", "'\u200b+1", "'\u2212x", "'\tx"),
        *("plain", "-5", "a-b"),
    ]
