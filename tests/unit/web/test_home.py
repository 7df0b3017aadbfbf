"""The home page: what ran, what needs attention, what to do next."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.demo_project import shared_demo
from fakes.runs import stored_run
from fakes.served_runs import make_runs
from servers.review_service import make_review_run
from servers.site import Site, site_of
from steelyard.project import open_project


@pytest.fixture(scope="module")
def demo() -> Generator[Site]:
    """The demo's project; not to be changed."""
    with open_project(shared_demo()) as project, site_of(project) as site:
        yield site


def test_an_empty_project_is_told_how_to_begin(tmp_path: Path) -> None:
    with open_project(tmp_path) as project, site_of(project) as site:
        said = site.text("/")

    assert "nothing has run yet" in said
    for step in ("1. Bring cases", "2. Name a target", "3. Run it", "steelyard demo"):
        assert step in said


def test_runs_are_listed_with_rate_interval_and_n(demo: Site) -> None:
    said = demo.text("/")

    assert "library-helpdesk × assistant_b" in said
    assert "95.7 % 85.2 – 98.9" in said
    # The corrected rate leads, although the judge was validated after the run.
    assert said.index("73.9 %") < said.index("95.7 %")


def test_what_needs_attention_links_to_what_helps(demo: Site) -> None:
    page = demo.open("/").text

    assert "has 1 record without a score" in page
    assert "judge/questionnaire@1.0.0 has never been validated." in page
    assert 'href="/judges/questionnaire%401.0.0"' in page
    assert '<button class="btn" name="action" value="retry">Retry failed</button>' in page


def test_a_jury_is_named_once_and_has_no_command_of_a_single_judge(tmp_path: Path) -> None:
    make_review_run(tmp_path, "rubric/jury@1.0.0")
    with open_project(tmp_path) as project, site_of(project) as site:
        page = site.open("/").text

    assert "judge/accuracy@1.0.0 has never been validated." in page
    assert "judge/accuracy@1.0.0, judge/accuracy@1.0.0" not in page
    assert "steelyard judge validate" not in page
    assert page.count("Judge and its labels") == 1


def test_next_steps_answer_compare_and_run_what_is_idle(demo: Site) -> None:
    page = demo.open("/").text

    assert "Compare the newest two" in page
    assert 'href="/compare?a=run_' in page
    assert "Answer 8 items of Conversations at the desk" in page
    assert "/review/new?run=run_" not in page  # that queue is of the run
    assert "Run the suite catalogue" in page


def test_a_stopped_run_can_be_resumed_and_a_pruned_one_is_no_trouble(tmp_path: Path) -> None:
    runs = make_runs(tmp_path)
    with open_project(runs.root) as project, site_of(project) as site:
        said, page = site.text("/"), site.open("/").text

    assert f'action="/runs/{runs.stopped}"' in page
    assert 'name="action" value="resume"' in page
    assert f'action="/runs/{runs.gone}"' not in page
    assert "pruned" in said


def test_names_are_shown_as_text(tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(1)>"
    with open_project(tmp_path) as project, site_of(project) as site:
        project.store.create(replace(stored_run(name), dataset=name, target=name, group_id=name))
        for address in ("/", "/runs", "/goto?q=img", f"/runs?q={name}"):
            page = site.open(address).text
            assert "<img" not in page
            assert "&lt;img src=x" in page
