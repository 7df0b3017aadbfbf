"""The list of runs: filters, pages, states without a rate, and trends."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import NamedTuple

import pytest

from fakes.demo_project import shared_demo
from fakes.served_runs import ServedRuns, make_runs
from servers.site import Site, site_of
from steelyard.project import open_project


class Served(NamedTuple):
    """A site with runs in every condition."""

    site: Site
    runs: ServedRuns

    def listed(self, address: str) -> list[str]:
        """The runs of a page, in order."""
        return ids(self.site.open(address).text)


def ids(page: str) -> list[str]:
    return re.findall(r'<tr id="(run_\w+)"', page)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    runs = make_runs(tmp_path_factory.mktemp("runs"))
    with open_project(runs.root) as project, site_of(project) as site:
        yield Served(site, runs)


@pytest.fixture(scope="module")
def demo() -> Generator[Site]:
    with open_project(shared_demo()) as project, site_of(project) as site:
        yield site


def test_runs_are_listed_newest_first_with_their_state(served: Served) -> None:
    runs, said = served.runs, served.site.text("/runs")

    expected = [runs.stopped, runs.repeated, runs.done, runs.without_records, runs.gone]
    assert served.listed("/runs") == expected
    assert "Stopped, can be resumed" in said
    assert "1 of 4 rows, no rate yet" in said
    assert "pruned" in said


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("status=completed_with_failures", 4),
        ("status=cancelled", 0),
        ("q=D", 5),
        ("q=nothing", 0),
        ("dataset=d&target=scripted", 5),
        ("dataset=other", 0),
        ("group=group_1", 0),
    ],
)
def test_filters_are_those_of_the_address(served: Served, query: str, found: int) -> None:
    page = served.site.open(f"/runs?{query}")

    assert len(ids(page.text)) == found
    assert ("No run matches these filters" in page.text) is (found == 0)


def test_pages_follow_each_other_and_keep_the_filters(served: Served) -> None:
    address, seen = "/runs?q=d&limit=2", list[str]()
    while address:
        page = served.site.open(address.replace("&amp;", "&")).text
        seen += ids(page)
        older = re.search(r'href="([^"]*)" rel="next"', page)
        address = older[1] if older else ""
        assert not address or "q=d" in address

    assert seen == served.listed("/runs")


def test_a_wrong_address_is_an_error_that_says_so(served: Served) -> None:
    for query in ("status=odd", "cursor=x", "limit=0", "suite=none", "state=failed", "page=999"):
        page = served.site.open(f"/runs?{query}")
        assert page.status_code in {400, 404}
        assert "note bad" in page.text


def test_only_runs_with_results_can_be_chosen_for_a_comparison(served: Served) -> None:
    page, runs = served.site.open("/runs").text, served.runs

    chosen = re.findall(r'name="a" value="(run_\w+)"', page)
    assert chosen == [runs.repeated, runs.done, runs.without_records]
    assert re.search(r'<form action="/compare" method="get">', page)


def test_the_rows_alone_are_a_small_part_of_the_page(served: Served) -> None:
    whole, part = (served.site.open(f"/runs{query}").text for query in ("", "?part=rows"))

    assert ids(part) == ids(whole)
    assert "<header" not in part
    assert "data-active" not in part  # nothing is at work


def test_the_trend_of_a_dataset_and_target_names_what_changed(demo: Site) -> None:
    page = demo.open("/runs?dataset=library-helpdesk&target=assistant_b").text

    assert "library-helpdesk × assistant_b, 2 runs" in page
    assert "rubric, judge changed" in page
    assert "rubric/implicit@1.0.0 → rubric/helpdesk@1.0.0" in page
    figure = page.partition('class="chart trend"')[2].partition("</section>")[0]
    assert figure.count("<circle") == 3  # two raw rates and a corrected one
    assert 'class="line"' not in figure


def test_a_suite_is_shown_by_its_dataset_and_target(demo: Site) -> None:
    page, unused = (demo.open(f"/runs?suite={name}").text for name in ("judged", "catalogue"))

    assert len(ids(page)) == 2
    assert "2 runs, oldest first" in page
    assert "No run of the suite catalogue is known" in unused
    assert "steelyard run --suite catalogue" in unused
