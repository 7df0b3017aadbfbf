"""`python3 dev.py docs`: every page, every link, and nothing from another place."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
MAKE = ROOT / "docs" / "site" / "make.py"
LOADING = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
PAGES = {path.relative_to(ROOT / "docs").with_suffix("") for path in ROOT.glob("docs/**/*.md")}


class Seen(HTMLParser):
    """What a page links to, what it loads, and what may be linked to on it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one element."""
        given = {name: value or "" for name, value in attrs}
        if tag == "a":
            self.links.append(given["href"])
        if tag in LOADING:
            self.loads.append(given.get(LOADING[tag], ""))
        self.ids.add(given.get("id", ""))


def make(folder: Path, maker: Path = MAKE) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-P", str(maker), str(folder)]
    return subprocess.run(words, capture_output=True, encoding="utf-8", check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = make(folder)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.fixture(scope="module")
def seen(site: Path) -> dict[Path, Seen]:
    return {path: Seen(path) for path in site.rglob("*.html")}


def test_every_page_is_made_and_stands_in_the_navigation_of_each(
    site: Path, seen: dict[Path, Seen]
) -> None:
    pages = {site / f"{page}.html" for page in PAGES if "images" not in page.parts}

    assert pages <= set(seen)
    for path, one in seen.items():
        linked = {(path.parent / link.partition("#")[0]).resolve() for link in one.links}
        assert pages - linked - {path} == set()


def test_every_link_leads_to_a_file_of_the_site_and_to_its_heading(seen: dict[Path, Seen]) -> None:
    broken = [
        (path.name, link)
        for path, one in seen.items()
        for link in one.links
        if not urlsplit(link).scheme and not _leads(path, link, seen)
    ]

    assert broken == []


def _leads(path: Path, link: str, seen: dict[Path, Seen]) -> bool:
    place, _, anchor = unquote(link).partition("#")
    target = (path.parent / place).resolve() if place else path
    return target.is_file() and (not anchor or anchor in seen[target].ids)


def test_nothing_is_loaded_from_another_place(site: Path, seen: dict[Path, Seen]) -> None:
    for path, one in seen.items():
        for name in one.loads:
            assert name == "data:," or (path.parent / name).is_file(), (path, name)
    for name in ("site.css", "search.js"):
        assert "//" not in re.sub(
            r"^\s*//.*$", "", (site / name).read_text("utf-8"), flags=re.MULTILINE
        )


def test_every_section_can_be_searched(site: Path) -> None:
    text = (site / "search-index.js").read_text(encoding="utf-8")
    rows = json.loads(text.removeprefix("var SECTIONS = ").removesuffix(";\n"))
    headings = {(row[0], row[2]) for row in rows}

    assert ("troubleshooting.html", "no target given; pass … NAME or define 'default'") in headings
    assert ("cli.html", "steelyard compare") in headings
    assert len(rows) > 500


def test_a_link_that_leads_nowhere_is_an_error_that_names_it(tmp_path: Path) -> None:
    shutil.copytree(MAKE.parent, tmp_path / "docs" / "site")
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        (tmp_path / name).write_text("# Page\n", encoding="utf-8")
    text = "# Index\n\n[a](b.md), [c](#d), [e](../CHANGELOG.md#page)\n"
    (tmp_path / "docs" / "index.md").write_text(text, encoding="utf-8")
    done = make(tmp_path / "site", tmp_path / "docs" / "site" / "make.py")

    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "docs/index.md: no file for b.md",
        "docs/index.md: no heading for #d",
    ]


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    done = make(tmp_path)

    assert done.returncode == 2
    assert "holds other files" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
