"""`steelyard completion`: what the scripts offer, without starting Python."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from real_parts import require_program

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
SETTINGS = """\
targets:
  # the one in production
  live: {provider: echo}
  "$(touch taken)": {provider: echo}
  agent:
    provider: echo
    price: {input: 1}
judges: {default: {target: live}}
suites:
    release: {target: live}
"""
OFFERED: dict[tuple[str, ...], list[str]] = {
    ("r",): [
        *("run", "resume", "retry", "regrade", "runs", "report", "restore", "rubric", "review"),
    ],
    ("rubric", ""): ["publish", "list", "show", "diff"],
    ("rubric", "sh"): ["show"],
    ("run", "--format", ""): ["text", "json", "junit", "markdown", "html"],
    ("run", "d.yaml", "--target", ""): ["live", "agent", "echo"],
    ("run", "d.yaml", "--target", "a"): ["agent"],
    ("run", "--suite", ""): ["release"],
    ("run", "--watch"): ["--watch"],
    ("run", "--max"): ["--max-concurrency"],
    ("run", ""): [],
    ("judge", "validate", "--des"): ["--design"],
    ("show", ""): ["latest", "latest~1", "run_01B", "run_01A"],
    ("run", "--from-run", "run_01B"): ["run_01B"],
    ("completion", ""): ["bash", "zsh", "fish"],
    ("nothing", "--he"): [],
}


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory, steelyard: Steelyard) -> Path:
    folder = tmp_path_factory.mktemp("shells")
    for shell in ("bash", "zsh", "fish"):
        done = steelyard("completion", shell, cwd=folder)
        assert done.returncode == 0, done.stderr
        (folder / f"steelyard.{shell}").write_text(done.stdout, encoding="utf-8")
    return folder / "steelyard.bash"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in a project with two runs."""
    root = tmp_path_factory.mktemp("project")
    (root / "steelyard.yaml").write_text(SETTINGS)
    for name in ("run_01A", "run_01B", "$(touch taken)"):
        (root / ".steelyard" / "runs" / name).mkdir(parents=True)
    (root / "datasets").mkdir()
    return root / "datasets"


@pytest.mark.parametrize("words", OFFERED)
def test_bash_offers_commands_options_choices_and_names_of_the_project(
    words: tuple[str, ...], script: Path, folder: Path
) -> None:
    typed = shlex.join(("steelyard", *words))
    asked = (
        f"source {shlex.quote(str(script))}; COMP_WORDS=({typed}); COMP_CWORD={len(words)}; "
        '_steelyard; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", asked],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stdout.split() == OFFERED[words]
    assert done.stderr == ""
    assert not list(folder.parent.rglob("taken"))


def test_the_scripts_of_all_shells_hold_the_same_program(script: Path) -> None:
    bash = script.read_text(encoding="utf-8")
    zsh = script.with_suffix(".zsh").read_text(encoding="utf-8")
    fish = script.with_suffix(".fish").read_text(encoding="utf-8")
    (program,) = shlex.split(bash.partition("=")[2].partition("\n_steelyard()")[0])
    unquoted = fish.partition("candidates '")[2].partition("'\nfunction")[0]

    assert shlex.quote(program) in zsh
    assert unquoted.replace("\\'", "'").replace("\\\\", "\\") == program


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_a_script_can_be_read_by_its_shell(shell: str, script: Path) -> None:
    require_program(shell, shell)
    done = subprocess.run(
        [shell, "-n", str(script.with_suffix(f".{shell}"))], capture_output=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, b"")
