"""The documentation covers every command, setting, finding and rule, and its links lead."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import typer.main

from steelyard.cli.main import application
from steelyard.contracts.catalog import Contracts
from steelyard.formats.schema_names import resolve
from steelyard.model.finding import CODES
from steelyard.model.json_value import JsonObject
from steelyard.project_file import project_schema
from steelyard.usecases.convert.output_forms import FORMS
from steelyard.usecases.convert.sources import SOURCES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GROUP: Any = typer.main.get_command(application())


def commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """A command and all beneath it, by what a user types."""
    yield name, command
    for word, inner in getattr(command, "commands", {}).items():
        yield from commands(f"{name} {word}", inner)


COMMANDS: dict[str, Any] = dict(commands("steelyard", GROUP))
SETTINGS = project_schema()
KEYS = cast(dict[str, JsonObject], SETTINGS["properties"])
CONTRACT_PAGES = sorted(DOCS.glob("contracts/*.md"))
LINKED_PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
RULE = re.compile(r"^- \*\*([A-Z]+\d*)-(\d+)\*\*", re.MULTILINE)
WITH_COMMANDS = [
    *LINKED_PAGES,
    *sorted(ROOT.glob("examples/**/README.md")),
    ROOT / "src" / "steelyard" / "demo" / "project" / "README.md",
]
TYPED = re.compile(
    r"^(?: {4}|\$ )?(steelyard [^\n]+(?:\\\n[^\n]+)*)$|`(steelyard [^`\n]+)`", re.MULTILINE
)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def sections(page: Path) -> dict[str, str]:
    """The parts of a page by their headings, without back-ticks."""
    parts = re.split(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {
        title.replace("`", ""): text for title, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def names(rule: JsonObject, path: str = "") -> Iterator[str]:
    """Every setting beneath a rule of the project file, as a dotted name."""
    rule = resolve(rule, SETTINGS)
    others = rule.get("additionalProperties")
    if isinstance(others, dict):
        yield from names(others, path)
    for name, member in cast(dict[str, JsonObject], rule.get("properties", {})).items():
        yield f"{path}{name}"
        yield from names(member, f"{path}{name}.")


def rules(page: Path) -> dict[str, list[int]]:
    numbers: dict[str, list[int]] = defaultdict(list)
    for prefix, number in RULE.findall(page.read_text(encoding="utf-8")):
        numbers[prefix].append(int(number))
    return numbers


@pytest.mark.parametrize("command", COMMANDS)
def test_the_options_of_a_command_are_those_of_its_section(command: str) -> None:
    text = sections(DOCS / "cli.md")[command]
    written = {
        name
        for option in COMMANDS[command].params
        if not getattr(option, "hidden", False)
        for name in (*option.opts, *option.secondary_opts)
    }
    options = {name for name in written if name.startswith("-")}

    assert set(re.findall(r"`(--?[a-z-]+)`", text)) - {"-h", "--help"} == options


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_command_does_fits_into_its_line_of_the_list(command: str) -> None:
    """At 80 columns, beside the longest name."""
    assert not COMMANDS[command].get_short_help_str(64).endswith("...")


@pytest.mark.parametrize(
    ("option", "values"),
    [("--from", SOURCES), ("--to", [*Contracts().datasets, *FORMS])],
)
def test_the_section_of_convert_names_every_value(option: str, values: Collection[str]) -> None:
    text = sections(DOCS / "cli.md")["steelyard convert"]
    (line,) = re.findall(rf"^\| `{option}` \|.*$", text, re.MULTILINE)

    assert set(values) <= set(re.findall(r"`([\w-]+)`", line))


@pytest.mark.parametrize("key", KEYS)
def test_every_setting_stands_in_the_section_of_its_key(key: str) -> None:
    text = sections(DOCS / "project-file.md")[key]
    missing = [name for name in names(KEYS[key]) if f"| `{name}` |" not in text]

    assert missing == []


def test_every_code_of_a_finding_has_its_section() -> None:
    titles = [title for title in sections(DOCS / "findings.md") if re.fullmatch("[a-z_]+", title)]

    assert titles == list(CODES)


@pytest.mark.parametrize("page", CONTRACT_PAGES, ids=lambda page: page.stem)
def test_the_rules_of_a_contract_are_numbered_without_gaps(page: Path) -> None:
    numbered = rules(page)

    assert numbered
    for numbers in numbered.values():
        assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("page", CONTRACT_PAGES, ids=lambda page: page.stem)
def test_every_rule_of_a_contract_is_cited_by_a_test(page: Path) -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/*.py"))
    uncited = [
        f"{prefix}-{digits}"
        for prefix, digits in RULE.findall(page.read_text(encoding="utf-8"))
        if f"{prefix}-{digits}" not in tests
    ]

    assert uncited == []


@pytest.mark.parametrize("page", LINKED_PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    broken = [link for link in links if "://" not in link and not (page.parent / link).exists()]

    assert broken == []


def anchors(page: Path) -> set[str]:
    """What a link may name on a page: its headings, as GitHub writes them."""
    fence = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
    text = fence.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", LINKED_PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_heading_leads_to_one(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", page.read_text(encoding="utf-8"))
    broken = [
        f"{link}#{anchor}"
        for link, anchor in links
        if anchor not in anchors(page.parent / link if link else page)
    ]

    assert broken == []


def typed(page: Path) -> Iterator[str]:
    """The commands that a page shows, without `…` and what else stands for something."""
    for block, word in TYPED.findall(page.read_text(encoding="utf-8")):
        yield re.sub(r"[\[\]|…]", " ", block or word).replace("\\\n", " ")


def unknown_words(line: str) -> list[str]:
    """The command or the options of a line that there are not."""
    name, rest = "steelyard", shlex.split(line, comments=True)[1:]
    while rest and f"{name} {rest[0]}" in COMMANDS:
        name = f"{name} {rest.pop(0)}"
    if hasattr(COMMANDS[name], "commands") and rest and re.fullmatch("[a-z]+", rest[0]):
        return [f"{name} {rest[0]}"]
    known = {"-h", "--help"} | {option for one in COMMANDS[name].params for option in one.opts}
    return [word for word in rest if re.match("--?[a-z]", word) and word not in known]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_a_page_shows_can_be_typed(page: Path) -> None:
    wrong = {line: unknown for line in typed(page) if (unknown := unknown_words(line))}

    assert wrong == {}


def test_commands_are_found_and_misspelt_ones_told() -> None:
    shown = [line for page in WITH_COMMANDS for line in typed(page)]

    assert len(shown) > 150
    assert unknown_words("steelyard rnu x --target a") == ["steelyard rnu"]
    assert unknown_words("steelyard run x --targte a -o y") == ["--targte", "-o"]
    assert unknown_words("steelyard rubric publsh x") == ["steelyard rubric publsh"]
