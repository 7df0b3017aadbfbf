"""Which files a program consists of, as far as its command line and its imports tell."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from steelyard.targets.processes.program_files import files_sha256, module_files, program_files


def write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root.resolve()


@pytest.mark.parametrize(
    ("words", "files"),
    [
        (("python", "a.py"), ["a.py"]),
        (("python", "-m", "pack.tool"), ["pack/tool.py"]),
        (("sh", "-c", "python a.py | python pack/tool.py"), ["a.py", "pack/tool.py"]),
        (("sh", "-c", "python 'a.py"), []),
        (("judge", "--rules=a.py"), ["a.py"]),
        (("python", "b.py"), ["b.py", "pack/tool.py"]),
        (("python", "c.py"), ["c.py", "pack/other.py", "pack/tool.py"]),
        (("python", "broken.py"), ["broken.py"]),
        (("python", "../outside.py", "/bin/sh", "pack", "no.py", "", "x" * 5000, "\0"), []),
    ],
)
def test_named_and_imported_files_of_the_project_count(
    tmp_path: Path, words: tuple[str, ...], files: list[str]
) -> None:
    write(tmp_path, outside_py="")
    root = write(
        tmp_path / "project",
        a_py="import json",
        b_py="def f():\n    import pack.tool, os",
        c_py="from pack import other",
        broken_py="import (",
        pack__tool_py="",
        pack__other_py="from . import tool\nfrom .tool import x",
    )

    assert list(program_files(words, root, (root,))) == files


def test_another_content_is_another_hash_wherever_the_project_lies(tmp_path: Path) -> None:
    roots = [write(tmp_path / name, a_py=text) for name, text in zip("xyz", "112", strict=True)]
    hashes = [files_sha256(program_files(("a.py",), root, (root,))) for root in roots]

    assert hashes[0] == hashes[1] != hashes[2]
    assert files_sha256({}) is None


def test_modules_bring_what_they_import_from_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path, graders_py="import helper_of_graders", helper_of_graders_py="")
    module = type(sys)("graders_here")
    module.__file__ = str(root / "graders.py")
    monkeypatch.setitem(sys.modules, "graders_here", module)

    assert list(module_files("graders_here", tmp_path / "elsewhere")) == [
        "graders.py",
        "helper_of_graders.py",
    ]
    assert module_files("sys", tmp_path) == {}
    assert module_files("never_imported", tmp_path) == {}
