"""The example package adds a provider: built, put on the path, found by its entry point."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from checker import check_run

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "target_plugin"
PAGE = (ROOT / "docs" / "write-a-target.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.+?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
FILES = {
    "python": EXAMPLE / "src" / "steelyard_nearest" / "__init__.py",
    "toml": EXAMPLE / "pyproject.toml",
    "yaml": EXAMPLE / "try" / "steelyard.yaml",
}


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the package is installed."""
    folder = tmp_path_factory.mktemp("plugin")
    source = shutil.copytree(EXAMPLE, folder / "source")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=source, check=True, capture_output=True, timeout=120)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return {"PYTHONPATH": str(folder / "site")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The example's own project."""
    return shutil.copytree(EXAMPLE / "try", tmp_path / "try")


def test_a_provider_of_a_package_answers(
    steelyard: Steelyard, env: dict[str, str], project: Path
) -> None:
    words = ("run", "desk.yaml", "--target", "baseline", "--format", "json")
    done = steelyard(*words, cwd=project, env=env)
    run: dict[str, Any] = json.loads(done.stdout)
    folder = Path(run["artifacts"])
    manifest = json.loads((folder / "run_manifest.json").read_bytes())
    rows, failures = (
        [json.loads(line) for line in (folder / name).read_bytes().splitlines()]
        for name in ("predictions.jsonl", "failures.jsonl")
    )

    check_run(folder)
    assert (done.returncode, run["metrics"]["pass_count"]) == (4, 2)
    assert [row["label"] for row in failures] == ["no_response"]
    assert rows[0]["trace"]["messages"][0]["tool_calls"][0]["tool"] == "look_up"
    assert manifest["targets"] == {
        "baseline": {"provider": "nearest", "known": 2, "at_least": 0.3}
    }


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (
            "{provider: nearest, path: known.json, settings: {at_least: 2}}",
            "targets.baseline: settings.at_least must be a number from 0 to 1, not 2",
        ),
        (
            "{provider: nearst, path: known.json}",
            "unknown provider 'nearst' (did you mean 'nearest'?); known: echo, recorded, ",
        ),
    ],
)
def test_what_is_wrong_with_its_entry_is_told_with_exit_code_2(
    steelyard: Steelyard, env: dict[str, str], project: Path, entry: str, said: str
) -> None:
    (project / "steelyard.yaml").write_text(f"targets: {{baseline: {entry}}}", encoding="utf-8")
    done = steelyard("run", "desk.yaml", "--target", "baseline", cwd=project, env=env)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_without_the_package_its_provider_is_unknown(steelyard: Steelyard, project: Path) -> None:
    done = steelyard("run", "desk.yaml", "--target", "baseline", cwd=project)

    assert done.returncode == 2
    assert "targets.baseline: unknown provider 'nearest'; known: echo, recorded" in done.stderr


@pytest.mark.parametrize(("kind", "code"), BLOCKS)
def test_the_page_shows_the_code_of_the_example(kind: str, code: str) -> None:
    assert code in FILES[kind].read_text(encoding="utf-8")
