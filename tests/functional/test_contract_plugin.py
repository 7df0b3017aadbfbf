"""The example package of docs/write-a-contract.md, installed: its contract is one of ours."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]
PAGE = Path(__file__).parents[2] / "docs" / "write-a-contract.md"
NAMES = ("__init__.py", "cards.py", "flashcards.schema.json")
CARDS = {"cards": [{"id": "a", "front": "2 + 2?", "back": "4"}]}


def install(folder: Path, point: str = "flashcards:CONTRACT") -> dict[str, str]:
    """The package of the page; what makes the command find it."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:python|json)\n(.*?)```", text, re.DOTALL)
    points = f"[steelyard.contracts]\nflashcards = {point}\n"
    about = "Name: flashcards\nVersion: 1.0\n"
    files = {f"flashcards/{name}": text for name, text in zip(NAMES, blocks, strict=True)}
    files |= {"f-1.0.dist-info/METADATA": about, "f-1.0.dist-info/entry_points.txt": points}
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return {"PYTHONPATH": str(folder)}


@pytest.fixture
def plugged(steelyard: Command, tmp_path: Path) -> Command:
    """The command where the package is installed, in a folder with a file of its contract."""
    env = install(tmp_path / "installed")
    work = tmp_path / "work"
    work.mkdir()
    settings = "judges: {default: {target: echo}}\n"
    (work / "steelyard.yaml").write_text(settings, encoding="utf-8")
    (work / "sums.json").write_text(json.dumps(CARDS), encoding="utf-8")
    return lambda *words: steelyard(*words, cwd=work, env=env)


def test_a_file_is_validated_with_the_schema_of_the_package(
    plugged: Command, tmp_path: Path
) -> None:
    wrong = {"cards": [*CARDS["cards"], {"id": "b", "front": 7}]}
    (tmp_path / "work" / "wrong.json").write_text(json.dumps(wrong), encoding="utf-8")
    (tmp_path / "work" / "t.txt").write_text("?", encoding="utf-8")
    valid, invalid = plugged("validate", "sums.json"), plugged("validate", "wrong.json")

    assert (valid.returncode, invalid.returncode) == (0, 1)
    assert "flashcards  1 record(s): 1 accepted" in valid.stdout
    assert "cards[1]: missing back" in invalid.stdout
    assert "flash cards (.json or .yaml with 'cards')" in plugged("validate", "t.txt").stdout


def test_two_records_of_a_file_cannot_have_one_id(plugged: Command, tmp_path: Path) -> None:
    twice = {"cards": [*CARDS["cards"], {"id": "a", "front": "2 + 3?", "back": "5"}]}
    (tmp_path / "work" / "twice.json").write_text(json.dumps(twice), encoding="utf-8")
    checked = plugged("validate", "twice.json")
    run = plugged("run", "twice.json", "--target", "echo", "--format", "json")

    assert (checked.returncode, run.returncode) == (1, 4), run.stderr
    assert "id 'a' is used by an earlier record [duplicate_record_id]" in checked.stdout
    assert json.loads(run.stdout)["metrics"]["invalid_records"] == 1


def test_a_file_is_run_and_its_answers_are_graded(plugged: Command) -> None:
    done = plugged("run", "sums.json", "--target", "echo", "--format", "json")
    assert done.stdout, done.stderr
    folder = Path(json.loads(done.stdout)["artifacts"])
    manifest = json.loads((folder / "run_manifest.json").read_text(encoding="utf-8"))

    assert (manifest["contract"], manifest["schema_version"]) == ("flashcards", "flashcards")
    assert manifest["dataset_id"] == "sums"


def test_a_file_is_converted_to_another_contract_and_back(
    plugged: Command, tmp_path: Path
) -> None:
    there = plugged("convert", "sums.json", "--to", "question_set", "-o", "q.yaml")
    back = plugged("convert", "q.yaml", "--to", "flashcards", "-o", "again.json")

    assert (there.returncode, back.returncode) == (0, 0), there.stderr + back.stderr
    again = tmp_path / "work" / "again.json"
    assert json.loads(again.read_text(encoding="utf-8")) == CARDS


def test_its_schema_is_published(plugged: Command) -> None:
    schema = json.loads(plugged("schema", "flashcards").stdout)
    family = json.loads(plugged("schema", "dataset").stdout)

    assert schema["title"] == "Flash cards"
    assert "flashcards" in family["$defs"]


@pytest.mark.parametrize(
    ("point", "told"),
    [
        ("flashcards:GONE", "the contract 'flashcards' cannot be loaded: AttributeError"),
        ("nothing:CONTRACT", "the contract 'flashcards' cannot be loaded: ModuleNotFoundError"),
        ("json:loads", "the contract 'flashcards' must be a Contract of datasets with a reader"),
    ],
)
def test_a_package_that_brings_no_contract_is_named(
    steelyard: Command, tmp_path: Path, point: str, told: str
) -> None:
    env = install(tmp_path / "installed", point)
    (tmp_path / "sums.json").write_text(json.dumps(CARDS), encoding="utf-8")
    done = steelyard("validate", "sums.json", cwd=tmp_path, env=env)

    assert done.returncode == 2
    assert told in done.stderr


def test_a_part_that_is_not_there_is_named(steelyard: Command, tmp_path: Path) -> None:
    env = install(tmp_path / "installed")
    (tmp_path / "installed" / "flashcards" / "cards.py").unlink()
    (tmp_path / "sums.json").write_text(json.dumps(CARDS), encoding="utf-8")
    done = steelyard("validate", "sums.json", cwd=tmp_path, env=env)

    assert done.returncode == 2
    assert "the contract 'flashcards' has no reader at 'flashcards.cards:CardsReading'" in (
        done.stderr
    )
