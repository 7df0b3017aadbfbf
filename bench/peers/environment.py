"""Installs a tool into an environment of its own, once; a later run finds it there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from bench.peers.tool import FOLDER, CannotRunError

_VERSION = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"


def python_environment(name: str, *packages: str) -> Path:
    """The programs of a virtual environment that holds these packages."""
    folder = FOLDER / name
    programs = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    if not (folder / "installed").exists():
        _install(folder, "venv", sys.executable, "-m", "venv", "--clear", folder / "env")
        _install(folder, "pip", programs / "python", "-m", "pip", "install", *packages)
        (folder / "installed").touch()
    return programs


def python_version(programs: Path, package: str) -> str:
    """The version of a package in such an environment."""
    words = [str(programs / "python"), "-c", _VERSION, package]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def node_environment(name: str, *packages: str) -> Path:
    """The programs of a folder of npm packages."""
    npm = shutil.which("npm")
    if npm is None:
        raise CannotRunError("npm is not on this machine")
    folder = FOLDER / name
    if not (folder / "installed").exists():
        shutil.rmtree(folder / "node_modules", ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        _install(folder, "npm", npm, "install", "--no-audit", "--no-fund", *packages)
        (folder / "installed").touch()
    return folder / "node_modules" / ".bin"


def node_version(programs: Path, package: str) -> str:
    """The version of a package in such a folder."""
    about = programs.parent / package / "package.json"
    return str(json.loads(about.read_text(encoding="utf-8"))["version"])


def _install(folder: Path, installer: str, *words: str | Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "install.log"
    with log.open("a", encoding="utf-8") as stream:
        code = subprocess.run(
            [str(word) for word in words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            check=False,
        ).returncode
    # The log may name hosts and paths of this machine; the reason goes into a public page.
    if code:
        raise CannotRunError(f"{installer} could not install it (exit code {code})")
