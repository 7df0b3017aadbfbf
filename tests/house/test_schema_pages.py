"""The page on editors covers every schema, what it shows works, and its pictures are there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from fakes.contracts import SCHEMAS
from steelyard.model.json_value import JsonObject, JsonValue

DOCS = Path(__file__).parents[2] / "docs"
IMAGES = DOCS / "images"
PAGE = (DOCS / "editor.md").read_text(encoding="utf-8")
NAMED = re.findall(r"\$schema\W+?([\w./]*\.schema\.json)(#[\w$/]+)?", PAGE)
LARGEST_PICTURE = 150_000


def blocks(language: str) -> list[str]:
    """The code blocks of the page in a language."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return [text for name, text in found if name == language]


def commands() -> list[str]:
    """Every whole command of the page, in blocks and in sentences."""
    inline = re.findall(r"`(steelyard schema [^`A-Z]+)`", PAGE)
    return sorted({*"".join(blocks("")).splitlines(), *inline})


def steelyard(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "steelyard", *command.split()[1:]]
    return subprocess.run(words, cwd=folder, capture_output=True, encoding="utf-8", check=False)


def parts(node: JsonValue) -> Iterator[JsonObject]:
    """Every object in a schema."""
    if isinstance(node, list):
        for item in node:
            yield from parts(item)
    elif isinstance(node, dict):
        yield node
        for part in node.values():
            yield from parts(part)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the page's example files, and the schemas where these look for them."""
    root = tmp_path_factory.mktemp("project")
    for name, text in (
        ("rubrics/answer_quality.yaml", blocks("yaml")[0]),
        ("datasets/help-desk.yaml", blocks("yaml")[1]),
        ("datasets/opening_hours.json", blocks("json")[0]),
    ):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    case = {"id": "a", "input": "Are you open?", "expected_outcome": "Says yes."}
    (root / "datasets/help-desk.jsonl").write_text(json.dumps(case), encoding="utf-8")
    (root / "steelyard.yaml").touch()
    steelyard("steelyard schema -o schemas", root)
    return root


@pytest.mark.parametrize("name", SCHEMAS.written)
def test_the_page_says_what_a_schema_is_for(name: str) -> None:
    assert re.search(rf"^\| \[`{name}`\]\(\S+\) \| \S", PAGE, re.MULTILINE)


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_page_works(command: str, tmp_path: Path) -> None:
    done = steelyard(command, tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert any((tmp_path / "schemas").iterdir())


def test_the_examples_are_valid_and_the_schemas_beside_them_do_no_harm(project: Path) -> None:
    done = steelyard("steelyard validate --strict .", project)

    assert (done.returncode, done.stderr) == (0, "")
    assert "4 of 4 file(s) valid, 0 error(s), 0 warning(s)" in done.stdout


@pytest.mark.parametrize(("path", "pointer"), NAMED)
def test_the_schema_that_an_example_names_is_there(path: str, pointer: str, project: Path) -> None:
    schema = json.loads((project / "rubrics" / path).read_bytes())
    for name in pointer.split("/")[1:]:
        schema = schema[name]

    assert schema["properties"]


def test_the_settings_give_every_schema_its_files(project: Path) -> None:
    settings = json.loads(blocks("json")[1])
    by_pattern = [row["url"] for row in settings["json.schemas"]]
    paths = [project / path for path in (*settings["yaml.schemas"], *by_pattern)]

    written = [f"{name}.schema.json" for name in SCHEMAS.written]
    assert sorted(path.name for path in paths) == sorted(written)
    assert all(path.is_file() for path in paths)


def test_every_picture_is_shown_and_small() -> None:
    pages = [page.read_text(encoding="utf-8") for page in IMAGES.parent.glob("*.md")]
    shown = {name for text in pages for name in re.findall(r"!\[.+?\]\(images/(.+?)\)", text)}

    assert shown == {path.name for path in IMAGES.glob("*.png")}
    for name in shown:
        assert (IMAGES / name).read_bytes().startswith(b"\x89PNG")
        assert (IMAGES / name).stat().st_size < LARGEST_PICTURE


def test_what_takes_the_pictures_is_pinned_and_names_no_registry() -> None:
    package = json.loads((IMAGES / "make" / "package.json").read_bytes())
    texts = [path.read_text(encoding="utf-8") for path in (IMAGES / "make").iterdir()]

    assert all(re.fullmatch(r"[\d.]+", version) for version in package["dependencies"].values())
    assert not any("registry" in text for text in texts)


@pytest.mark.parametrize("name", SCHEMAS.written)
def test_an_editor_says_of_a_refused_name_what_the_finding_says(name: str) -> None:
    said = [part["x-instead"] for part in parts(SCHEMAS.load(name)) if "x-instead" in part]
    refused = [part for part in parts(SCHEMAS.published(name)) if part.get("deprecated") is True]

    assert [part["description"] for part in refused if "description" in part] == said


@pytest.mark.parametrize("name", SCHEMAS.written)
def test_values_that_are_explained_are_all_explained(name: str) -> None:
    explained = [part for part in parts(SCHEMAS.load(name)) if "enumDescriptions" in part]

    for part in explained:
        assert len(cast(list[str], part["enumDescriptions"])) == len(cast(list[str], part["enum"]))
