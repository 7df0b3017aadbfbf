"""Makes a static site with search from the pages of docs/, to be opened from a folder.

python3 dev.py docs [FOLDER]

docs/index.md is the table of contents: its sections and links are the navigation. A link that
leads nowhere is an error. Nothing is fetched, and no page loads anything from another place.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
HERE = DOCS / "site"
CONTENTS = DOCS / "index.md"
OF_THE_REPOSITORY = ("CONTRIBUTING.md", "CHANGELOG.md")
INDEX, BEGINNING = "search-index.js", "var SECTIONS = "
"""A script, since a page from a folder may read no other file."""
MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
COMMENT = re.compile(r"^<!--.*?-->$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Section:
    """The text beneath one heading, as it is searched."""

    heading: str
    anchor: str
    level: int
    text: str


@dataclass(frozen=True)
class Page:
    """A page of Markdown."""

    source: Path
    text: str = field(repr=False)

    @cached_property
    def tokens(self) -> Sequence[Token]:
        """The page in Markdown's own parts, with an anchor on every heading."""
        tokens = MARKDOWN.parse(COMMENT.sub("", self.text))
        taken: dict[str, int] = {}
        for opening, inline in pairwise(tokens):
            if opening.type == "heading_open":
                anchor = _anchor(inline.content)
                taken[anchor] = taken.get(anchor, -1) + 1
                opening.attrSet("id", f"{anchor}-{taken[anchor]}" if taken[anchor] else anchor)
        return tokens

    @cached_property
    def sections(self) -> Sequence[Section]:
        """One for each heading."""
        found: list[Section] = []
        words: list[str] = []
        for place, token in enumerate(self.tokens):
            if token.type == "heading_open":
                words = []
                heading = _plain(self.tokens[place + 1])
                found.append(Section(heading, str(token.attrs["id"]), int(token.tag[1]), ""))
            elif found and token.type in {"inline", "fence", "code_block"}:
                if self.tokens[place - 1].type != "heading_open":
                    words.append(_plain(token))
                last = found[-1]
                found[-1] = Section(last.heading, last.anchor, last.level, " ".join(words))
        return found

    @property
    def title(self) -> str:
        """Its first heading."""
        return self.sections[0].heading

    @property
    def address(self) -> str:
        """Where its file lies in the site."""
        return _address(self.source.with_suffix(".html"))


@dataclass(frozen=True)
class Group:
    """A section of the navigation."""

    title: str
    pages: Sequence[Page]


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _plain(token: Token) -> str:
    """What a reader sees of a part."""
    if token.children is None:
        return token.content
    return "".join(
        " " if child.type.endswith("break") else child.content for child in token.children
    )


def _address(path: Path) -> str:
    """Pages of docs/ lie at the top, everything else beneath `repository`."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    return (Path("repository") / path.relative_to(ROOT)).as_posix()


def _from(page: Page, address: str) -> str:
    """An address as a page names it."""
    return os.path.relpath(address, Path(page.address).parent).replace(os.sep, "/")


def read_pages() -> dict[Path, Page]:
    """Every page by its path; a folder with pages gets a list of them."""
    paths = [*sorted(DOCS.rglob("*.md")), *(ROOT / name for name in OF_THE_REPOSITORY)]
    pages = {path: Page(path, path.read_text(encoding="utf-8")) for path in paths}
    pages = {path: page for path, page in pages.items() if "images" not in path.parts}
    for folder in sorted({path.parent for path in pages} - {DOCS, ROOT}):
        listed = [page for path, page in pages.items() if path.parent == folder]
        lines = [f"- [{page.title}]({page.source.name})" for page in listed]
        text = "\n".join([f"# {folder.name.capitalize()}", "", *lines])
        pages[folder / "index.md"] = Page(folder / "index.md", text)
    return pages


def navigation(pages: dict[Path, Page]) -> list[Group]:
    """The table of contents; pages that it does not name come last."""
    title, groups = "", dict[str, list[Page]]()
    tokens = pages[CONTENTS].tokens
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            title = _plain(tokens[place + 1])
        for link in links(token):
            target = _target(pages[CONTENTS], str(link.attrs["href"]))
            page = pages.get(target)
            if page and not any(page in group for group in groups.values()):
                groups.setdefault(title, []).append(page)
    named = {page.source for group in groups.values() for page in group}
    lists = {path for path in pages if path.name == "index.md"}
    rest = [page for path, page in pages.items() if path not in named | lists]
    found = [Group(title, group) for title, group in groups.items()]
    return [*found, Group("More", rest)] if rest else found


def links(token: Token) -> Iterator[Token]:
    """The links and pictures of a part."""
    for child in token.children or ():
        if child.type in {"link_open", "image"}:
            yield child


def _target(page: Page, link: str) -> Path:
    """The file that a link means."""
    place = link.partition("#")[0]
    path = Path(os.path.normpath(page.source.parent / place)) if place else page.source
    return path / "index.md" if path.is_dir() else path


class Site:
    """The folder that is written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pages = read_pages()
        self._groups = navigation(self._pages)
        self.broken: list[str] = []
        loader = FileSystemLoader(HERE)
        environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
        self._template = environment.get_template("page.html")

    def write(self) -> int:
        """Write everything, and return the number of pages."""
        shown = [page for group in self._groups for page in group.pages]
        for page in self._pages.values():
            before, after = _beside(page, shown)
            content = self._content(page)
            self._save(
                page.address,
                self._template.render(
                    page=page,
                    content=content,
                    groups=self._groups,
                    before=before,
                    after=after,
                    href=partial(_from, page),
                ),
            )
        for name in ("site.css", "search.js"):
            shutil.copyfile(HERE / name, self._folder / name)
        rows = [
            [page.address, page.title, section.heading, section.anchor, section.text]
            for page in [self._pages[CONTENTS], *shown]
            for section in page.sections
        ]
        self._save(INDEX, f"{BEGINNING}{json.dumps(rows, ensure_ascii=False)};\n")
        return len(self._pages)

    def _content(self, page: Page) -> str:
        for token in page.tokens:
            for link in links(token):
                name = "src" if link.type == "image" else "href"
                link.attrs[name] = self._followed(page, str(link.attrs[name]))
        html = MARKDOWN.renderer.render(_headed(page.tokens), MARKDOWN.options, {})
        # What is wider than the page is moved with the arrow keys.
        html = html.replace("<pre>", '<pre tabindex="0">').replace("</table>", "</table></div>")
        return html.replace("<table>", '<div class="wide" tabindex="0"><table>')

    def _followed(self, page: Page, link: str) -> str:
        """A link as the site has it; the file it means is there then."""
        if re.match("[a-z]+:", link):
            return link
        target, anchor = _target(page, link), link.partition("#")[2]
        other = self._pages.get(target)
        if other:
            if anchor and anchor not in {section.anchor for section in other.sections}:
                self.broken.append(f"{page.source.relative_to(ROOT)}: no heading for {link}")
            return _from(page, other.address) + (f"#{anchor}" if anchor else "")
        if not target.is_file() or not target.is_relative_to(ROOT):
            self.broken.append(f"{page.source.relative_to(ROOT)}: no file for {link}")
            return link
        address = _address(target)
        (self._folder / address).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(target, self._folder / address)
        return _from(page, address)

    def _save(self, address: str, text: str) -> None:
        path = self._folder / address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _headed(tokens: Sequence[Token]) -> list[Token]:
    """Without heads of tables that are empty, which Markdown demands; cells of others as cells."""
    kept: list[Token] = []
    for place, token in enumerate(tokens):
        if token.type == "th_open" and not tokens[place + 1].content:
            token.tag = tokens[place + 2].tag = "td"
        kept.append(token)
        if token.type == "thead_close":
            start = max(at for at, one in enumerate(kept) if one.type == "thead_open")
            if not any(one.type == "inline" and one.content for one in kept[start:]):
                del kept[start:]
    return kept


def _beside(page: Page, shown: list[Page]) -> tuple[Page | None, Page | None]:
    """The pages before and after one."""
    if page not in shown:
        return None, None
    place = shown.index(page)
    ends = [None, *shown, None]
    return ends[place], ends[place + 2]


def _is_replaceable(folder: Path) -> bool:
    """Whether it is empty, or holds a site of ours."""
    index = folder / INDEX
    if index.is_file():
        return index.read_text(encoding="utf-8").startswith(BEGINNING)
    return folder.is_dir() and not any(folder.iterdir())


def main(words: list[str]) -> int:
    """Make the site in a folder, which is replaced."""
    folder = Path(words[0] if words else ROOT / "build" / "docs").resolve()
    if folder.exists() and not _is_replaceable(folder):
        print(f"{folder} holds other files; name a new folder", file=sys.stderr)
        return 2
    shutil.rmtree(folder, ignore_errors=True)
    site = Site(folder)
    count = site.write()
    for line in site.broken:
        print(line, file=sys.stderr)
    print(f"{count} pages: open {(folder / 'index.html').as_uri()}")
    return 1 if site.broken else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
