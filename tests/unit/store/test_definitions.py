"""Which files of a project hold rubrics and judges."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from fakes.definitions import JUDGE, RUBRIC, DefinitionProject
from fakes.registry import RegistryProject
from steelyard.checks.must_contain_any import MustContainAny
from steelyard.contracts.definitions import MAX_DEFINITION
from steelyard.model.definition import Definition, reference_to
from steelyard.model.judge import Judge
from steelyard.model.question import QuestionRubric
from steelyard.model.reference import ReferenceKind
from steelyard.model.rubric import Rubric

BUILT_IN = [
    f"judge/{name}@1.0.0"
    for name in (
        *("accuracy", "reference", "criterion", "criteria", "questionnaire", "rubric_items"),
        "pairwise",
        *("prbench_criterion", "apex_criterion", "lexam_reference"),
    )
]


@pytest.fixture
def project(tmp_path: Path) -> DefinitionProject:
    return DefinitionProject(tmp_path / "project")


def names(project: DefinitionProject, kind: ReferenceKind = "rubric") -> list[str]:
    found = project.folder.all(kind)
    return [str(reference_to(one.content)) for one in found if one.content]


CANONICAL = (
    b'{"checks":[{"id":"right","kind":"equals"}],"id":"basic","scoring":{"combine":"all_pass"},'
    b'"version":"1.0.0"}'
)


def only(project: DefinitionProject) -> Definition:
    (found,) = project.folder.all("rubric")
    return found


@pytest.mark.parametrize("ending", ["yaml", "yml", "json", "YAML"])
def test_rubrics_stand_in_files_of_these_endings(project: DefinitionProject, ending: str) -> None:
    """CR-19"""
    text = '{"id": "a", "version": "1.0", "checks": [{"id": "a", "kind": "equals"}], '
    project.write(f"rubrics/a.{ending}", text + '"scoring": {"combine": "min"}}')
    project.write("rubrics/b.txt", "no rubric")
    project.write("rubrics/deeper/c.yaml", RUBRIC.format(id="c", version="1.0.0"))

    assert names(project) == ["rubric/a@1.0.0"]


def test_rubrics_of_both_sorts_stand_side_by_side(project: DefinitionProject) -> None:
    """CR-19"""
    project.rubric("basic@1.0.0")
    project.questions("agent-quality-v2")

    assert [type(one.content) for one in project.folder.all("rubric")] == [QuestionRubric, Rubric]


def test_judges_stand_in_a_folder_of_their_own(project: DefinitionProject) -> None:
    """JD-12"""
    project.judge("tone@1.0.0")
    project.write("rubrics/tone.yaml", JUDGE.format(id="tone", version="2.0.0"))

    assert names(project, "judge") == ["judge/tone@1.0.0", *BUILT_IN]
    assert names(project) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("judges/accuracy@2.0.0.yaml", JUDGE.format(id="accuracy", version="2.0.0")),
        ("judges/mine.yaml", JUDGE.format(id="accuracy", version="2.0.0")),
        ("judges/accuracy.yaml", "{"),
    ],
)
def test_a_judge_of_the_project_takes_the_place_of_one_that_comes_along(
    project: DefinitionProject, name: str, text: str
) -> None:
    """JD-12"""
    project.write(name, text)
    found = project.folder.all("judge")

    assert [one.shown for one in found if not one.shown.startswith("built in/")] == [name]
    assert "built in/accuracy.yaml" not in [one.shown for one in found]
    assert len(found) == len(BUILT_IN)


def test_the_built_in_judges_are_sound(project: DefinitionProject) -> None:
    """JD-12"""
    found = project.folder.all("judge")

    assert names(project, "judge") == BUILT_IN
    for one in found:
        assert isinstance(one.content, Judge)
        assert one.stem == one.content.id
        assert (one.shown, one.findings) == (f"built in/{one.stem}.yaml", ())


def test_a_project_without_folders_has_no_rubrics(tmp_path: Path) -> None:
    assert DefinitionProject(tmp_path).folder.all("rubric") == ()


def test_a_file_knows_its_place_and_its_hash(project: DefinitionProject) -> None:
    path = project.rubric("basic@1.0.0")
    found = only(project)

    assert (found.path, found.shown) == (str(path.resolve()), "rubrics/basic@1.0.0.yaml")
    assert isinstance(found.content, Rubric)
    assert found.content.sha256 == hashlib.sha256(CANONICAL).hexdigest()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"id: a\nid: b\n", ("invalid_yaml", 2)),
        (b"id: caf\xe9\n", ("invalid_encoding", 1)),
        (b"- 1\n", ("invalid_field_type", 1)),
        (b"#" * (MAX_DEFINITION + 1), ("payload_too_large", None)),
    ],
)
def test_a_broken_file_is_listed_with_its_findings(
    project: DefinitionProject, content: bytes, told: tuple[str, int | None]
) -> None:
    """CR-07, CR-23"""
    project.write("rubrics/a.yaml", "").write_bytes(content)
    found = only(project)

    assert found.content is None
    assert [(finding.code, finding.line) for finding in found.findings] == [told]


def test_a_broken_json_file_is_listed_too(project: DefinitionProject) -> None:
    project.write("rubrics/a.json", '{"id": "\\ud800",\n}')

    assert [finding.code for finding in only(project).findings] == ["invalid_json"]


def test_a_file_that_cannot_be_read_is_a_finding(project: DefinitionProject) -> None:
    (project.root / "rubrics" / "a.yaml").mkdir(parents=True)
    (finding,) = only(project).findings

    assert (finding.code, finding.message) == ("unreadable_file", "cannot read: Is a directory")


def test_json_may_write_a_character_as_a_pair_of_escapes(project: DefinitionProject) -> None:
    """CR-25"""
    text = (
        '{"id": "thumbs", "version": "1.0.0", "scoring": {"combine": "any_pass"}, "checks": '
        r'[{"id": "a", "kind": "must_contain_any", "phrases": '
        r'["\ud83d\udc4d", "C:\\ud83d\\udc4d", "\u00e9"]}]}'
    )
    project.write("rubrics/thumbs.json", text)
    content = only(project).content

    assert isinstance(content, Rubric)
    assert content.checks[0].check == MustContainAny(phrases=("👍", r"C:\ud83d\udc4d", "é"))


def test_a_path_is_seen_from_the_current_folder_and_then_from_the_root(
    project: DefinitionProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CR-24"""
    project.rubric("basic@1.0.0")
    here = project.write("elsewhere/own.yaml", RUBRIC.format(id="own", version="1.0.0"))
    monkeypatch.chdir(here.parent)

    assert [
        found.shown if found else None
        for found in map(project.folder.at, ["own.yaml", "rubrics/basic@1.0.0.yaml", "gone.yaml"])
    ] == ["elsewhere/own.yaml", "rubrics/basic@1.0.0.yaml", None]


def test_a_file_outside_of_the_project_is_shown_as_it_was_named(
    project: DefinitionProject, tmp_path: Path
) -> None:
    """CR-24"""
    path = tmp_path / "own.yaml"
    path.write_text(RUBRIC.format(id="own", version="1.0.0"), encoding="utf-8")
    found = project.folder.at(str(path))

    assert found
    assert found.shown == str(path)


def test_what_was_published_is_read_with_what_may_change(tmp_path: Path) -> None:
    project = RegistryProject(tmp_path)
    project.publish(project.judge("tone@1.0.0", "validation: {tpr: 0.9}\n"), "judge")
    (tmp_path / "judges" / "tone@1.0.0.yaml").unlink()
    (found,) = project.folder.published("judge")

    assert found.is_published
    assert (found.shown, found.stem) == ("registry/judge/tone@1.0.0.json", "tone")
    assert isinstance(found.content, Judge)
    assert found.content.validation
    assert found.content.validation.tpr == 0.9


@pytest.mark.parametrize("damage", ["gone", "changed"])
def test_published_content_that_is_damaged_is_told(tmp_path: Path, damage: str) -> None:
    project = RegistryProject(tmp_path)
    made = project.publish(project.rubric("basic@1.0.0"))
    assert made.published
    place = project.registry.place(made.published.sha256)
    place.chmod(0o644)
    if damage == "gone":
        place.unlink()
    else:
        place.write_bytes(b"{}")
    (found,) = project.folder.published("rubric")

    assert found.content is None
    assert [finding.code for finding in found.findings] == ["unreadable_file"]
    assert found.stem == "basic"


def test_a_published_judge_takes_the_place_of_one_that_comes_along(tmp_path: Path) -> None:
    project = RegistryProject(tmp_path)
    project.publish(project.judge("accuracy@9.0.0"), "judge")
    (tmp_path / "judges" / "accuracy@9.0.0.yaml").unlink()

    assert "judge/accuracy@1.0.0" not in names(project, "judge")
