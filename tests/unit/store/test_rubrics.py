"""Which file a reference to a rubric leads to."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from steelyard.checks.catalog import Catalog
from steelyard.checks.must_contain_any import MustContainAny
from steelyard.errors import NotFoundError, UnreadableFileError, UsageError
from steelyard.store.rubrics import RubricFolder

RUBRIC = """\
id: {id}
version: "{version}"
checks: [{{id: right, kind: equals}}]
scoring: {{combine: all_pass}}
"""
BROKEN = "id: basic\nversion: 3.0.0\nchecks: []\nscoring: {combine: all_pass}\n"


class Project:
    """A folder with rubrics to write and load."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "rubrics"
        self.folder.mkdir(parents=True)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def hold(self, *versions: str) -> None:
        """One file for each version of `basic`."""
        for version in versions:
            self.write(f"basic@{version}.yaml", RUBRIC.format(id="basic", version=version))

    def load(self, name: str) -> str:
        return RubricFolder(self.root, Catalog()).load(name).name

    def refusal(self, name: str, kind: type[UsageError] = UsageError) -> str:
        with pytest.raises(kind) as caught:
            self.load(name)
        return str(caught.value)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("rubric/basic@1.2", "rubric/basic@1.2.0"),
        ("rubric/basic@1.2.0", "rubric/basic@1.2.0"),
        ("basic@1.2", "rubric/basic@1.2.0"),
        ("rubric/basic@1.10.0", "rubric/basic@1.10.0"),
        ("rubric/basic@2.0.0-rc.1", "rubric/basic@2.0.0-rc.1"),
        ("rubric/basic", "rubric/basic@1.10.0"),
        ("basic", "rubric/basic@1.10.0"),
    ],
)
def test_a_reference_leads_to_its_version_or_else_to_the_highest_release(
    project: Project, name: str, found: str
) -> None:
    """CR-19, CR-20, CR-24"""
    project.hold("1.2", "1.10.0", "1.9.9", "2.0.0-rc.1")

    assert project.load(name) == found


@pytest.mark.parametrize("ending", ["yaml", "yml", "json", "YAML"])
def test_a_rubric_may_stand_in_a_file_of_its_id_alone(project: Project, ending: str) -> None:
    """CR-19"""
    project.write(f"basic.{ending}", RUBRIC.format(id="basic", version="1.0.0"))
    project.write(f"basic_two.{ending}", RUBRIC.format(id="basic_two", version="2.0.0"))
    project.write("basic.txt", "not a rubric")

    assert project.load("rubric/basic@1.0") == "rubric/basic@1.0.0"


def test_a_missing_pin_is_a_warning(project: Project, caplog: pytest.LogCaptureFixture) -> None:
    """CR-20"""
    project.hold("1.0.0", "1.1.0")
    project.load("rubric/basic")

    assert caplog.messages == ["rubric/basic is not pinned; rubric/basic@1.1.0 is used"]


def test_a_pinned_reference_warns_of_nothing(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    project.hold("1.0.0")
    project.load("rubric/basic@1.0.0")

    assert caplog.messages == []


def test_a_pre_release_alone_is_not_used_without_a_pin(project: Project) -> None:
    """CR-20"""
    project.hold("2.0.0-rc.1")

    assert project.refusal("basic", NotFoundError) == (
        f"cannot resolve rubric/basic in {project.folder}: rubric/basic@2.0.0-rc.1"
    )


def test_a_version_that_is_missing_is_refused_with_those_there_are(project: Project) -> None:
    """CR-21"""
    project.hold("1.0.0", "1.1.0")

    assert project.refusal("rubric/basic@1.2", NotFoundError) == (
        f"cannot resolve rubric/basic@1.2 in {project.folder}: "
        "rubric/basic@1.0.0, rubric/basic@1.1.0"
    )


def test_an_id_that_is_missing_is_refused(project: Project) -> None:
    """CR-21"""
    assert project.refusal("rubric/other@1.0", NotFoundError).endswith(": no file of that id")


def test_a_project_without_rubrics_has_none(tmp_path: Path) -> None:
    """CR-21"""
    with pytest.raises(NotFoundError, match="no file of that id"):
        RubricFolder(tmp_path, Catalog()).load("basic")


@pytest.mark.parametrize("name", ["judge/accuracy@1.0", "rubric/", "a/b", "rubric/basic@", ""])
def test_what_is_no_reference_to_a_rubric_is_refused(project: Project, name: str) -> None:
    assert project.refusal(name) == (f"'{name}' is no rubric; write rubric/id@version or a path")


@pytest.mark.parametrize("name", ["rubric/basic@1.0", "rubric/basic"])
def test_two_files_of_one_version_are_a_conflict(project: Project, name: str) -> None:
    """CR-22"""
    project.hold("1.0.0")
    project.write("basic.yaml", RUBRIC.format(id="basic", version="1.0"))

    assert project.refusal(name) == (
        "version conflict: rubric/basic@1.0.0 stands in "
        f"{project.folder / 'basic.yaml'} and {project.folder / 'basic@1.0.0.yaml'}"
    )


def test_a_conflict_of_another_version_is_no_hindrance(project: Project) -> None:
    """CR-22"""
    project.hold("1.0.0", "2.0.0")
    project.write("basic.yaml", RUBRIC.format(id="basic", version="1.0"))

    assert project.load("basic") == "rubric/basic@2.0.0"


def test_a_broken_file_does_not_stop_who_names_another_version(project: Project) -> None:
    """CR-23"""
    project.hold("1.0.0")
    project.write("basic@3.0.0.yaml", BROKEN)
    project.write("unrelated.yaml", "{")

    assert project.load("rubric/basic@1.0") == "rubric/basic@1.0.0"


@pytest.mark.parametrize("name", ["rubric/basic", "rubric/basic@3.0.0"])
def test_a_broken_file_stops_who_names_it_or_no_version(project: Project, name: str) -> None:
    """CR-23"""
    project.hold("1.0.0")
    path = project.write("basic@3.0.0.yaml", BROKEN)

    assert project.refusal(name) == f"{path}:3: checks must have at least 1 item(s)"


def test_a_file_that_holds_another_rubric_is_not_taken_for_its_name(project: Project) -> None:
    """CR-19"""
    path = project.write("basic.yaml", RUBRIC.format(id="other", version="1.0.0"))

    assert project.refusal("rubric/basic@1.0") == f"{path} holds rubric/other@1.0.0, not basic"


def test_a_path_is_seen_from_the_current_folder(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CR-24"""
    project.write("basic.yaml", RUBRIC.format(id="anything", version="1.0.0"))
    monkeypatch.chdir(project.folder)

    assert project.load("basic.yaml") == "rubric/anything@1.0.0"


def test_a_path_is_seen_from_the_root_of_the_project_too(project: Project) -> None:
    """CR-24"""
    project.hold("1.0.0")

    assert project.load("rubrics/basic@1.0.0.yaml") == "rubric/basic@1.0.0"


def test_a_path_to_nothing_is_refused(project: Project) -> None:
    """CR-24"""
    assert project.refusal("rubrics/gone.yaml", NotFoundError) == (
        "no such rubric file: rubrics/gone.yaml"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id: a\nid: b\n", ":2: duplicate key 'id'"),
        ("id: [a\n", ":1: did not find expected ',' or ']'"),
        (RUBRIC.format(id="basic", version="one"), ":2: version must match"),
    ],
)
def test_a_broken_file_is_refused_with_file_and_line(
    project: Project, text: str, said: str
) -> None:
    """CR-07"""
    path = project.write("basic.yaml", text)

    assert project.refusal(str(path)).startswith(f"{path}{said}")


def test_a_hint_is_part_of_the_refusal(project: Project) -> None:
    path = project.write("basic.yaml", RUBRIC.format(id="basic", version="one"))

    assert project.refusal(str(path)).endswith(
        '(write two or three numbers in quotes, such as "1.2.0")'
    )


def test_a_file_that_cannot_be_read_is_refused(project: Project) -> None:
    path = project.folder / "basic.yaml"
    path.mkdir()

    assert project.refusal("basic", UnreadableFileError) == f"cannot read {path}: Is a directory"


def test_a_file_that_is_no_text_is_refused(project: Project) -> None:
    path = project.folder / "basic.yaml"
    path.write_bytes(b"id: caf\xe9\n")

    assert project.refusal("basic", UnreadableFileError).startswith(f"{path}")


def test_a_misspelt_field_is_a_warning(project: Project, caplog: pytest.LogCaptureFixture) -> None:
    """CR-06"""
    text = RUBRIC.format(id="basic", version="1.0.0").replace("kind", "kind: equals, negat")
    path = project.write("basic.yaml", text.replace("negat: equals", "negat: true"))
    project.load(str(path))

    assert caplog.messages == [f"{path}:3: unknown field 'negat' (did you mean 'negate'?)"]


def test_the_hash_of_the_file_is_kept(project: Project) -> None:
    path = project.write("basic.yaml", RUBRIC.format(id="basic", version="1.0.0"))
    rubric = RubricFolder(project.root, Catalog()).load(str(path))

    assert rubric.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_json_may_write_a_character_as_a_pair_of_escapes(project: Project) -> None:
    """CR-25"""
    text = (
        '{"id": "thumbs", "version": "1.0.0", "scoring": {"combine": "any_pass"}, "checks": '
        r'[{"id": "a", "kind": "must_contain_any", "phrases": '
        r'["\ud83d\udc4d", "C:\\ud83d\\udc4d", "\u00e9"]}]}'
    )
    path = project.write("thumbs.json", text)
    rubric = RubricFolder(project.root, Catalog()).load(str(path))

    assert rubric.checks[0].check == MustContainAny(phrases=("👍", r"C:\ud83d\udc4d", "é"))
