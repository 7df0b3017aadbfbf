"""`module:name` leads to a callable, or to a message that says what is wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.errors import ConfigError
from steelyard.targets.callables import load_callable

AGENT = """
from agent_words import WORD

SILENT = None

def answer(prompt):
    return f"{WORD}: {prompt}"

class Desk:
    @staticmethod
    def answer(prompt):
        return f"desk: {prompt}"
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with a module of its own, forgotten afterwards."""
    (tmp_path / "steelyard_agent.py").write_text(AGENT, encoding="utf-8")
    (tmp_path / "agent_words.py").write_text("WORD = 'agent'\n", encoding="utf-8")
    (tmp_path / "broken_agent.py").write_text("def answer(:\n", encoding="utf-8")
    (tmp_path / "raising_agent.py").write_text("1 / 0\n", encoding="utf-8")
    (tmp_path / "ending_agent.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


@pytest.mark.parametrize(
    ("path", "said"),
    [("steelyard_agent:answer", "agent: hi"), ("steelyard_agent:Desk.answer", "desk: hi")],
)
def test_finds_a_module_of_the_project(root: Path, path: str, said: str) -> None:
    assert load_callable(path, root)("hi") == said


def test_finds_an_installed_module(root: Path) -> None:
    assert load_callable("textwrap:dedent", root)("  hi") == "hi"


def test_an_installed_module_comes_before_one_of_the_project(root: Path) -> None:
    (root / "colorsys.py").write_text("raise SystemExit", encoding="utf-8")
    sys.modules.pop("colorsys", None)

    assert load_callable("colorsys:rgb_to_hsv", root)(0, 0, 0) == (0.0, 0.0, 0)


def test_the_project_is_put_on_the_path_once(root: Path) -> None:
    for _ in range(2):
        load_callable("steelyard_agent:answer", root)

    assert sys.path.count(str(root)) == 1


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("no_such_module:answer", "No module named 'no_such_module'"),
        ("steelyard_agent:no_such", "has no attribute 'no_such'"),
        ("steelyard_agent", "write module:function"),
        ("", "write module:function"),
        (":answer", "write module:function"),
        (".relative:answer", "write module:function"),
        ("broken_agent:answer", "SyntaxError"),
        ("raising_agent:answer", "ZeroDivisionError: division by zero"),
        ("ending_agent:answer", "SystemExit: 0"),
        ("steelyard_agent:SILENT", "cannot be called"),
    ],
)
def test_what_cannot_be_loaded_is_told(root: Path, path: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_callable(path, root)

    assert f"'{path}'" in str(caught.value)
    assert said in str(caught.value)


def test_a_module_of_another_project_is_not_taken_for_one_of_this(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "steelyard_agent.py").write_text(AGENT, encoding="utf-8")
    load_callable("steelyard_agent:answer", root)

    with pytest.raises(ConfigError, match="another project; rename the module in"):
        load_callable("steelyard_agent:answer", other)


def test_a_package_installed_in_the_folder_of_another_project_is_found(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    installed = root / ".venv" / "lib" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "shared_agent.py").write_text("def answer(prompt):\n    return prompt\n")
    sys.path.append(str(installed))
    load_callable("steelyard_agent:answer", root)

    assert load_callable("shared_agent:answer", tmp_path_factory.mktemp("other"))("hi") == "hi"
