"""The switcher's list: pages, runs and definitions by a part of their name."""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path

import pytest

from fakes.demo_project import shared_demo
from servers.accounts import add_users, key_of
from servers.site import Site, site_of
from steelyard.model.access import Role
from steelyard.project import open_project


@pytest.fixture(scope="module")
def demo() -> Generator[Site]:
    with open_project(shared_demo()) as project, site_of(project) as site:
        yield site


def found(site: Site, asked: str) -> list[tuple[str, str]]:
    """Kinds and addresses."""
    page = site.open("/goto", params={"q": asked}).text
    links = re.findall(r'<li><a href="([^"]*)"><span>[^<]*</span><small>(\w+)', page)
    return [(kind, href) for href, kind in links]


@pytest.mark.parametrize(
    ("asked", "place"),
    [
        ("audit", ("page", "/settings/audit")),
        ("new review", ("page", "/review/new")),
        ("compare", ("page", "/compare")),
        ("QUIZ", ("suite", "/suites/quiz")),
        ("questionnaire", ("judge", "/judges/questionnaire%401.0.0")),
        ("catalogue@", ("rubric", "/rubrics/catalogue%401.0.0")),
        ("assistant_a", ("target", "/targets?target=assistant_a")),
    ],
)
def test_things_are_found_by_a_part_of_their_name(
    demo: Site, asked: str, place: tuple[str, str]
) -> None:
    assert place in found(demo, asked)


def test_runs_are_found_by_dataset_target_and_id(demo: Site) -> None:
    runs = [href for kind, href in found(demo, "rules-quiz") if kind == "run"]

    assert len(runs) == 1
    assert ("run", runs[0]) in found(demo, runs[0].removeprefix("/runs/"))


def test_review_queues_are_found_by_name(demo: Site) -> None:
    (place,) = [href for kind, href in found(demo, "at the desk") if kind == "review"]

    assert "Conversations at the desk" in demo.text(f"{place}/progress")


def test_what_is_not_there_is_said(demo: Site) -> None:
    assert "Nothing here has “zzz” in its name" in demo.text("/goto?q=zzz")
    assert len(found(demo, "")) == 20


@pytest.mark.parametrize(("role", "sees"), [("viewer", False), ("editor", False), ("admin", True)])
def test_only_an_admin_is_shown_targets_and_settings(
    tmp_path: Path, role: Role, *, sees: bool
) -> None:
    (tmp_path / "steelyard.yaml").write_text("targets: {live: {provider: echo}}", encoding="utf-8")
    with open_project(tmp_path) as project, site_of(project, has_login=True) as site:
        add_users(project)
        key = key_of(project, role)
        targets, settings = (
            site.client.get(f"/goto?q={name}", headers=key).text for name in ("live", "settings")
        )

    assert ("/targets?target=live" in targets) is sees
    assert ('<li><a href="/settings"' in settings) is sees
