"""The documentation covers every command, setting, finding and rule, and its links lead."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import typer.main

from steelyard.cli.main import application
from steelyard.formats.schema_names import resolve
from steelyard.model.finding import CODES
from steelyard.model.json_value import JsonObject
from steelyard.settings import project_schema

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
    written = {name for option in COMMANDS[command].params for name in option.opts}
    options = {name for name in written if name.startswith("-")}

    assert set(re.findall(r"`(--?[a-z-]+)`", text)) - {"-h", "--help"} == options


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
