from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.errors import ConfigError
from steelyard.ports import FileFault, FoundFile
from steelyard.settings import AllowSettings, Settings
from steelyard.store.project import MAX_SHOWN_FILE, ProjectFiles, ProjectFolder, find_project


def write(path: Path, content: str | bytes = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with an eval file in a folder of its own."""
    folder = tmp_path / "project"
    write(folder / "evals" / "deep" / "cases.yaml")
    return folder


def files(
    root: Path, *, allowed: tuple[str, ...] = (), patterns: tuple[str, ...] = ()
) -> ProjectFiles:
    settings = Settings(allow=AllowSettings(folders=allowed), guideline_patterns=patterns)
    return ProjectFolder(root, settings).files_of(root / "evals" / "deep" / "cases.yaml")


def found(files: ProjectFiles, reference: str) -> FoundFile:
    file = files.read(reference)
    assert isinstance(file, FoundFile)
    return file


def fault(files: ProjectFiles, reference: str) -> FileFault:
    file = files.read(reference)
    assert isinstance(file, FileFault)
    return file


# --- the root


def test_the_root_is_the_nearest_project_file_above_the_file(tmp_path: Path) -> None:
    write(tmp_path / "steelyard.yaml")
    write(tmp_path / "a" / "steelyard.yaml")
    file = write(tmp_path / "a" / "b" / "c" / "cases.yaml")

    assert find_project(file, tmp_path).root == tmp_path / "a"


def test_a_project_file_beside_the_file_counts(tmp_path: Path) -> None:
    write(tmp_path / "steelyard.yaml")
    file = write(tmp_path / "cases.yaml")

    assert find_project(file, tmp_path / "elsewhere").root == tmp_path


def test_then_the_nearest_project_file_above_the_current_folder(tmp_path: Path) -> None:
    file = write(tmp_path / "data" / "cases.yaml")
    write(tmp_path / "data" / ".agentv" / "config.yaml")
    write(tmp_path / "project" / "steelyard.yaml")
    current = tmp_path / "project" / "sub"
    current.mkdir()

    assert find_project(file, current).root == tmp_path / "project"


def test_a_project_file_above_the_file_wins_over_one_above_the_current_folder(
    tmp_path: Path,
) -> None:
    file = write(tmp_path / "one" / "cases.yaml")
    write(tmp_path / "one" / "steelyard.yaml", "cluster: metadata.one")
    write(tmp_path / "two" / "steelyard.yaml", "cluster: metadata.two")

    assert find_project(file, tmp_path / "two").settings == Settings(cluster="metadata.one")


def test_then_the_nearest_folder_with_agentv_above_the_file(tmp_path: Path) -> None:
    (tmp_path / ".agentv").mkdir()
    (tmp_path / "a" / ".agentv").mkdir(parents=True)
    file = write(tmp_path / "a" / "b" / "cases.yaml")

    assert find_project(file, tmp_path).root == tmp_path / "a"


def test_a_file_called_agentv_is_not_such_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "a" / ".agentv")
    file = write(tmp_path / "a" / "b" / "cases.yaml")

    assert find_project(file, tmp_path).root == tmp_path


def test_then_the_current_folder_when_the_file_lies_beneath_it(tmp_path: Path) -> None:
    file = write(tmp_path / "a" / "b" / "cases.yaml")

    assert find_project(file, tmp_path / "a").root == tmp_path / "a"


def test_else_the_folder_of_the_file(tmp_path: Path) -> None:
    file = write(tmp_path / "a" / "b" / "cases.yaml")
    current = tmp_path / "c"
    current.mkdir()

    assert find_project(file, current).root == tmp_path / "a" / "b"


def test_a_folder_is_its_own_start(tmp_path: Path) -> None:
    write(tmp_path / "a" / "steelyard.yaml")

    assert find_project(tmp_path / "a", tmp_path).root == tmp_path / "a"


def test_a_relative_path_is_meant_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a" / "cases.yaml")
    monkeypatch.chdir(tmp_path)

    assert find_project(Path("a/cases.yaml"), Path()).root == tmp_path


def test_a_project_has_the_settings_of_its_file(tmp_path: Path) -> None:
    write(tmp_path / "steelyard.yaml", "guideline_patterns: ['*.md']\nallow: {folders: [../x]}")

    settings = find_project(tmp_path, tmp_path).settings

    assert (settings.guideline_patterns, settings.allow.folders) == (("*.md",), ("../x",))


def test_a_wrong_project_file_is_named_with_its_path(tmp_path: Path) -> None:
    path = write(tmp_path / "steelyard.yaml", "store: x\ncolour: blue")

    with pytest.raises(ConfigError) as caught:
        find_project(tmp_path, tmp_path)

    assert str(caught.value) == f"{path}:2: colour is not a field of steelyard.yaml"


# --- where a reference is looked for


def test_a_reference_is_looked_for_beside_the_eval_file_first(root: Path) -> None:
    for folder in (root, root / "evals", root / "evals" / "deep"):
        write(folder / "rules.md", folder.name)

    file = found(files(root), "rules.md")

    assert file == FoundFile(str(root / "evals" / "deep" / "rules.md"), "deep")


@pytest.mark.parametrize("place", ["evals/rules.md", "rules.md"])
def test_then_in_each_folder_up_to_the_root(root: Path, place: str) -> None:
    path = write(root / place, "text")

    assert found(files(root), "rules.md").path == str(path)


def test_a_path_from_the_root_is_found(root: Path) -> None:
    write(root / "docs" / "a b" / "rules.md", "text")

    assert found(files(root), "docs/a b/rules.md").text == "text"


def test_a_leading_slash_may_mean_the_root(root: Path) -> None:
    write(root / "docs" / "rules.md", "text")

    assert found(files(root), "/docs/rules.md").text == "text"


def test_an_absolute_path_inside_the_root_is_found(root: Path) -> None:
    path = write(root / "docs" / "rules.md", "text")

    assert found(files(root), str(path)).text == "text"


def test_dots_that_stay_inside_the_root_are_followed(root: Path) -> None:
    path = write(root / "rules.md", "text")

    assert found(files(root), "../../rules.md").path == str(path)


def test_an_eval_file_outside_the_root_is_looked_beside_only(tmp_path: Path) -> None:
    write(tmp_path / "data" / "rules.md")
    write(tmp_path / "notes.md")
    project = ProjectFolder(tmp_path / "project", Settings(allow=AllowSettings(folders=("..",))))

    files = project.files_of(tmp_path / "data" / "cases.yaml")

    assert found(files, "rules.md").path == str(tmp_path / "data" / "rules.md")
    assert fault(files, "notes.md").code == "missing_file"


def test_a_link_to_a_file_inside_the_root_is_followed(root: Path) -> None:
    write(root / "docs" / "rules.md", "text")
    (root / "evals" / "deep" / "link.md").symlink_to(root / "docs" / "rules.md")

    assert found(files(root), "link.md").path == str(root / "docs" / "rules.md")


# --- what may not be shown


@pytest.mark.parametrize(
    "reference",
    ["../../../secret.txt", "deep/../../../../secret.txt", "../../../project/../secret.txt"],
)
def test_dots_that_leave_the_root_are_refused(root: Path, reference: str) -> None:
    write(root.parent / "secret.txt", "secret")
    (root / "evals" / "deep" / "deep").mkdir()

    assert fault(files(root), reference) == FileFault(
        "file_outside_root",
        f"{reference} lies outside the project",
        "list its folder under 'allow.folders' in steelyard.yaml",
    )


def test_an_absolute_path_outside_the_root_is_refused(root: Path) -> None:
    secret = write(root.parent / "secret.txt", "secret")

    assert fault(files(root), str(secret)).code == "file_outside_root"


def test_a_folder_whose_name_begins_like_the_root_lies_outside(root: Path) -> None:
    secret = write(root.parent / "project-two" / "secret.txt", "secret")

    assert fault(files(root), str(secret)).code == "file_outside_root"


@pytest.mark.parametrize("link", ["link.txt", "folder/secret.txt"])
def test_a_link_that_leaves_the_root_is_refused(root: Path, link: str) -> None:
    secret = write(root.parent / "elsewhere" / "secret.txt", "secret")
    (root / "link.txt").symlink_to(secret)
    (root / "folder").symlink_to(secret.parent)

    assert fault(files(root), link).code == "file_outside_root"


def test_a_file_inside_wins_over_one_outside(root: Path) -> None:
    secret = write(root.parent / "secret.txt", "secret")
    (root / "evals" / "deep" / "rules.md").symlink_to(secret)
    write(root / "rules.md", "text")

    assert found(files(root), "rules.md").text == "text"


@pytest.mark.parametrize("allowed", ["../shared", "{parent}/shared", "../shared/"])
def test_a_folder_that_is_allowed_may_be_shown(root: Path, allowed: str) -> None:
    path = write(root.parent / "shared" / "sub" / "rules.md", "text")
    folder = allowed.format(parent=root.parent)

    assert found(files(root, allowed=(folder,)), str(path)).text == "text"


def test_a_link_into_an_allowed_folder_may_be_shown(root: Path) -> None:
    path = write(root.parent / "shared" / "rules.md", "text")
    (root / "rules.md").symlink_to(path)

    assert found(files(root, allowed=("../shared",)), "rules.md").text == "text"


def test_allowing_one_folder_does_not_allow_its_sibling(root: Path) -> None:
    path = write(root.parent / "secret" / "rules.md", "text")

    assert fault(files(root, allowed=("../shared",)), str(path)).code == "file_outside_root"


# --- what cannot be read


@pytest.mark.parametrize(
    "reference",
    ["missing.md", "", ".", "/", "deep", "a\0b", "x" * 5000, "\ud800", "cases.yaml/x", "~/x"],
)
def test_a_reference_to_no_file_is_missing(root: Path, reference: str) -> None:
    write(root / "evals" / "cases.yaml")

    assert fault(files(root), reference) == FileFault("missing_file", f"no such file: {reference}")


def test_a_loop_of_links_is_missing(root: Path) -> None:
    (root / "loop").symlink_to(root / "pool")
    (root / "pool").symlink_to(root / "loop")

    assert fault(files(root), "loop").code == "missing_file"


def test_a_pipe_is_no_file(root: Path) -> None:
    os.mkfifo(root / "pipe")

    assert fault(files(root), "pipe").code == "missing_file"


def test_a_file_that_is_not_utf8_is_refused(root: Path) -> None:
    write(root / "latin.md", b"caf\xe9")

    assert fault(files(root), "latin.md") == FileFault(
        "invalid_encoding", "latin.md is not UTF-8 text"
    )


@pytest.mark.parametrize(
    ("size", "is_shown"), [(MAX_SHOWN_FILE, True), (MAX_SHOWN_FILE + 1, False)]
)
def test_a_file_that_is_too_large_is_refused(root: Path, size: int, is_shown: bool) -> None:
    with write(root / "large.md").open("wb") as file:
        file.truncate(size)

    shown = files(root).read("large.md")

    assert isinstance(shown, FoundFile) is is_shown
    assert is_shown or shown == FileFault("record_too_large", "large.md is larger than 10 MB")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that cannot be read")
def test_a_file_that_cannot_be_read_says_why() -> None:
    process = Path("/proc/self")
    files = ProjectFolder(process, Settings()).files_of(process.resolve() / "cases.yaml")

    assert fault(files, "mem") == FileFault("missing_file", "cannot read mem: Input/output error")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"one\r\ntwo\r\n", "one\ntwo\n"),
        (b"one\rtwo", "one\rtwo"),
        (b"\xef\xbb\xbfone", "one"),
        (b"one\xef\xbb\xbf", "one\ufeff"),
        ("grüße 😀".encode(), "grüße 😀"),
        (b"", ""),
    ],
)
def test_a_text_loses_its_byte_order_mark_and_its_carriage_returns(
    root: Path, content: bytes, text: str
) -> None:
    write(root / "rules.md", content)

    assert found(files(root), "rules.md").text == text


def test_a_file_is_read_once(root: Path) -> None:
    path = write(root / "rules.md", "before")
    reader = files(root)
    first = reader.read("rules.md")

    path.write_text("after", encoding="utf-8")

    assert reader.read("rules.md") is first


# --- guidelines


@pytest.mark.parametrize(
    ("pattern", "is_guideline"),
    [
        ("*.instructions.md", True),
        ("docs/*.md", True),
        ("docs/**", True),
        ("**/*.md", True),
        ("evals/**", False),
        ("*.txt", False),
        ("other/*.md", False),
    ],
)
def test_a_file_that_matches_a_pattern_of_the_settings_is_a_guideline(
    root: Path, pattern: str, is_guideline: bool
) -> None:
    write(root / "docs" / "py.instructions.md")

    shown = found(files(root, patterns=("nothing", pattern)), "docs/py.instructions.md")

    assert shown.is_guideline is is_guideline


@pytest.mark.parametrize(("pattern", "is_guideline"), [("*.md", True), ("shared/*.md", False)])
def test_a_file_of_an_allowed_folder_is_a_guideline_by_its_name(
    root: Path, pattern: str, is_guideline: bool
) -> None:
    path = write(root.parent / "shared" / "rules.md")

    shown = found(files(root, allowed=("../shared",), patterns=(pattern,)), str(path))

    assert shown.is_guideline is is_guideline


@pytest.mark.parametrize("place", ["", "evals", "evals/deep"])
def test_the_patterns_of_agentv_hold_too(root: Path, place: str) -> None:
    write(root / place / ".agentv" / "config.yaml", "guideline_patterns: ['*.rules']\nother: 1")
    write(root / "a.rules")
    write(root / "b.md")

    reader = files(root, patterns=("*.md",))

    assert found(reader, "a.rules").is_guideline
    assert found(reader, "b.md").is_guideline


def test_the_nearest_agentv_counts(root: Path) -> None:
    write(root / ".agentv" / "config.yaml", "guideline_patterns: ['*.far']")
    write(root / "evals" / ".agentv" / "config.yaml", "guideline_patterns: ['*.near']")
    write(root / "a.far")
    write(root / "b.near")

    reader = files(root)

    assert not found(reader, "a.far").is_guideline
    assert found(reader, "b.near").is_guideline


def test_an_agentv_above_the_root_does_not_count(root: Path) -> None:
    write(root.parent / ".agentv" / "config.yaml", "guideline_patterns: ['*.md']")
    write(root / "a.md")

    assert not found(files(root), "a.md").is_guideline


@pytest.mark.parametrize("content", ["", "other: 1", "- a list", "guideline_patterns: []"])
def test_an_agentv_without_patterns_has_none(root: Path, content: str) -> None:
    write(root / ".agentv" / "config.yaml", content)
    write(root / "a.md")

    assert not found(files(root), "a.md").is_guideline


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: 1\na: 2", ":2: duplicate key 'a'"),
        ("guideline_patterns: '*.md'", ": guideline_patterns must be an array of strings"),
        ("guideline_patterns: [1]", ": guideline_patterns must be an array of strings"),
        ("guideline_patterns:", ": guideline_patterns must be an array of strings"),
    ],
)
def test_a_wrong_agentv_is_refused(root: Path, content: str, message: str) -> None:
    config = write(root / ".agentv" / "config.yaml", content)

    with pytest.raises(ConfigError) as caught:
        files(root)

    assert str(caught.value) == f"{config}{message}"


@pytest.mark.parametrize("text", [None, "slices: [tags]\n"])
def test_the_environment_counts_more_than_the_project_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    if text:
        (tmp_path / "steelyard.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("STEELYARD_SLICES", "[task_type]")

    assert find_project(tmp_path, tmp_path).settings.slices == ("task_type",)


# --- dot files


@pytest.mark.parametrize("name", [".env", ".git/config", "evals/deep/.env.local", "evals/.a/b.md"])
def test_a_dot_file_is_not_shown(root: Path, name: str) -> None:
    write(root / name, "secret")
    refused = fault(files(root), name.removeprefix("evals/deep/"))

    assert (refused.code, "allow.dot_files" in str(refused.hint)) == ("hidden_file", True)


def test_a_link_to_a_dot_file_is_not_shown(root: Path) -> None:
    (root / "notes.md").symlink_to(write(root / ".env", "secret"))

    assert fault(files(root), "notes.md").code == "hidden_file"


def test_a_dot_file_is_shown_where_the_project_allows_it(root: Path) -> None:
    write(root / ".env", "shown")
    allowing = ProjectFolder(root, Settings(allow=AllowSettings(dot_files=True)))

    assert found(allowing.files_of(root / "evals" / "cases.yaml"), ".env").text == "shown"


def test_an_eval_file_in_a_dot_folder_shows_what_lies_there_with_it(root: Path) -> None:
    write(root / ".claude" / "skill" / "notes.md", "shown")
    write(root / ".claude" / "skill" / ".env", "secret")
    inside = ProjectFolder(root, Settings()).files_of(
        root / ".claude" / "skill" / "evals" / "a.json"
    )

    assert found(inside, "notes.md").text == "shown"
    assert fault(inside, ".env").code == "hidden_file"


def test_a_dot_folder_that_is_allowed_by_name_is_shown(root: Path) -> None:
    write(root.parent / ".handbook" / "rules.md", "shown")
    write(root.parent / ".handbook" / ".env", "secret")
    reader = files(root, allowed=("../.handbook",))

    assert found(reader, str(root.parent / ".handbook" / "rules.md")).text == "shown"
    assert fault(reader, str(root.parent / ".handbook" / ".env")).code == "hidden_file"


def test_files_of_cases_are_not_hidden_ones(root: Path) -> None:
    seen = write(root / "evals" / "deep" / "a.yaml", "- {}")
    write(root / "evals" / "deep" / ".b.yaml", "- {}")
    reader = files(root)
    shown, hidden = reader.cases("*a.yaml"), reader.cases(".b.yaml")
    everything = reader.cases("*.yaml")

    assert [one.path for one in shown if isinstance(one, FoundFile)] == [str(seen)]
    assert isinstance(hidden, FileFault)
    assert hidden.code == "hidden_file"
    assert not [one for one in everything if isinstance(one, FoundFile) and ".b" in one.path]
