from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import NotFoundError, RequestError
from steelyard.ports import FoundFile, FoundPath
from steelyard.store.workspace import DiskWorkspace

TREE = [
    "b.yaml",
    "a.json",
    "notes.txt",
    "steelyard.yaml",
    ".hidden.yaml",
    ".git/config.yaml",
    ".git/objects/x.yaml",
    "evals/z.jsonl",
    "evals/deep/c.yaml",
    "evals/.steelyard/run.yaml",
    "evals/deep/steelyard.yaml",
    "odd/[a].yaml",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files of all kinds, entered."""
    for name in TREE:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*patterns: str) -> list[str]:
    return [str(found.path) for found in DiskWorkspace(Path.cwd()).expand(patterns)]


# --- files and folders


@pytest.mark.parametrize(
    "name",
    ["b.yaml", "notes.txt", ".hidden.yaml", "steelyard.yaml", "odd/[a].yaml", ".git/config.yaml"],
)
@pytest.mark.usefixtures("folder")
def test_a_named_file_is_found_whatever_it_is(name: str) -> None:
    assert DiskWorkspace(Path()).expand([name]) == [FoundPath(Path(name), is_named=True)]


def test_an_absolute_path_stays_absolute(folder: Path) -> None:
    assert names(str(folder / "b.yaml")) == [str(folder / "b.yaml")]


@pytest.mark.usefixtures("folder")
def test_a_folder_is_walked_in_order_without_dot_folders_and_project_files() -> None:
    assert names(".") == [
        "a.json",
        "b.yaml",
        "notes.txt",
        "evals/z.jsonl",
        "evals/deep/c.yaml",
        "odd/[a].yaml",
    ]


@pytest.mark.usefixtures("folder")
def test_a_file_met_on_the_way_is_not_named() -> None:
    found = DiskWorkspace(Path()).expand(["evals"])

    assert [entry.is_named for entry in found] == [False, False]


@pytest.mark.usefixtures("folder")
def test_a_dot_folder_that_is_named_is_walked() -> None:
    assert names(".git") == [".git/config.yaml", ".git/objects/x.yaml"]


def test_a_link_to_a_folder_is_not_walked(folder: Path) -> None:
    (folder / "evals" / "again").symlink_to(folder)

    assert names("evals") == ["evals/z.jsonl", "evals/deep/c.yaml"]


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    assert names(str(tmp_path)) == []


@pytest.mark.parametrize("pattern", ["missing.yaml", "evals/missing", "b.yaml/c", "a\0b"])
@pytest.mark.usefixtures("folder")
def test_a_path_that_leads_nowhere_is_refused(pattern: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        names(pattern)

    assert str(caught.value) == f"no such file or folder: {pattern}"


def test_a_path_too_long_to_look_for_is_refused() -> None:
    with pytest.raises(NotFoundError, match=r"File name too long$"):
        names("x" * 5000)


# --- globs


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.yaml", ["b.yaml"]),
        ("?.*", ["a.json", "b.yaml"]),
        ("[ab].*", ["a.json", "b.yaml"]),
        ("**/*.yaml", ["b.yaml", "evals/deep/c.yaml", "odd/[a].yaml"]),
        ("evals/*", ["evals/deep/c.yaml", "evals/z.jsonl"]),
        ("e*", ["evals/z.jsonl", "evals/deep/c.yaml"]),
        (
            "*",
            [
                "a.json",
                "b.yaml",
                "evals/z.jsonl",
                "evals/deep/c.yaml",
                "notes.txt",
                "odd/[a].yaml",
            ],
        ),
        ("./*.json", ["a.json"]),
        ("evals/../*.json", ["evals/../a.json"]),
        (".git/*", [".git/config.yaml", ".git/objects/x.yaml"]),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_glob_stands_for_what_it_matches(pattern: str, expected: list[str]) -> None:
    assert names(pattern) == expected


@pytest.mark.usefixtures("folder")
def test_what_a_glob_matches_is_not_named() -> None:
    assert DiskWorkspace(Path()).expand(["b.*"]) == [FoundPath(Path("b.yaml"), is_named=False)]


def test_a_glob_may_be_absolute(folder: Path) -> None:
    assert names(f"{folder}/*.json") == [str(folder / "a.json")]


def test_a_glob_may_begin_in_a_dot_folder(folder: Path) -> None:
    assert names(f"{folder}/.git/*.yaml") == [str(folder / ".git" / "config.yaml")]


@pytest.mark.parametrize("pattern", ["*.csv", "nowhere/*.yaml", ".h[i]dden.yaml", "**/.s*/*"])
@pytest.mark.usefixtures("folder")
def test_a_glob_that_matches_nothing_visible_is_refused(pattern: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        names(pattern)

    assert str(caught.value) == f"nothing matches {pattern}"


@pytest.mark.usefixtures("folder")
def test_a_glob_of_only_the_project_file_holds_nothing() -> None:
    assert names("steelyard.y*") == []


def test_stars_that_make_no_pattern_are_refused() -> None:
    # Python 3.13 reads them as one star, which matches nothing here.
    with pytest.raises(RequestError):
        names("evals/a**b.yaml")


# --- several patterns


@pytest.mark.usefixtures("folder")
def test_each_file_comes_once_in_the_order_of_the_patterns() -> None:
    assert names("evals", "b.yaml", "evals/z.jsonl", "./b.yaml", "*.json") == [
        "evals/z.jsonl",
        "evals/deep/c.yaml",
        "b.yaml",
        "a.json",
    ]


@pytest.mark.parametrize("patterns", [["evals/z.jsonl", "evals"], ["evals", "evals/z.jsonl"]])
@pytest.mark.usefixtures("folder")
def test_a_file_that_is_named_and_met_counts_as_named(patterns: list[str]) -> None:
    found = DiskWorkspace(Path()).expand(patterns)

    assert [(entry.path.name, entry.is_named) for entry in found] == [
        ("z.jsonl", True),
        ("c.yaml", False),
    ]


# --- opening


def test_a_file_opens_as_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"\xef\xbb\xbf{}\r\n")
    workspace = DiskWorkspace(tmp_path)

    with workspace.open(path) as file:
        data = file.read()

    assert data == b"\xef\xbb\xbf{}\r\n"


def test_a_missing_file_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        DiskWorkspace(tmp_path).open(tmp_path / "missing")


def test_only_a_file_is_a_file(folder: Path) -> None:
    workspace = DiskWorkspace(folder)

    assert workspace.is_file(folder / "b.yaml")
    assert not workspace.is_file(folder / "evals")
    assert not workspace.is_file(folder / "missing")


# --- the files of an eval file


def test_the_files_of_an_eval_file_follow_its_project(tmp_path: Path) -> None:
    (tmp_path / "steelyard.yaml").write_text("guideline_patterns: ['*.md']", encoding="utf-8")
    (tmp_path / "rules.md").write_text("text", encoding="utf-8")
    (tmp_path / "evals").mkdir()

    files = DiskWorkspace(tmp_path).files_of(tmp_path / "evals" / "cases.yaml")

    assert files.read("rules.md") == FoundFile(str(tmp_path / "rules.md"), "text", True)


def test_the_project_file_is_read_once_for_a_folder(tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("text", encoding="utf-8")
    workspace = DiskWorkspace(tmp_path)
    workspace.files_of(tmp_path / "one.yaml")

    (tmp_path / "steelyard.yaml").write_text("colour: wrong", encoding="utf-8")

    assert isinstance(workspace.files_of(tmp_path / "two.yaml").read("rules.md"), FoundFile)


def test_the_current_folder_decides_where_no_project_file_does(tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("text", encoding="utf-8")
    (tmp_path / "evals").mkdir()
    file = tmp_path / "evals" / "cases.yaml"

    above = DiskWorkspace(tmp_path).files_of(file).read("rules.md")
    beside = DiskWorkspace(tmp_path / "evals").files_of(file).read("rules.md")

    assert isinstance(above, FoundFile)
    assert not isinstance(beside, FoundFile)
