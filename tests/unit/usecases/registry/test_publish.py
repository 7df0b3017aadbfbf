"""Fixing versions of rubrics and judges."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fakes.definitions import RUBRIC, asks, composed_of
from fakes.registry import WHEN, RegistryProject
from steelyard.engine.verdict_changes import ChangedVerdict, Graded, Shift
from steelyard.errors import NotFoundError, RequestError
from steelyard.reports.publication import MeasuredShift
from steelyard.stats.paired import paired_difference
from steelyard.usecases.registry.publish import carry_out, plan_publication

IS_JSON = "{id: right, kind: is_json}"


@pytest.fixture
def project(tmp_path: Path) -> RegistryProject:
    return RegistryProject(tmp_path)


def shifted(*, by: float) -> MeasuredShift:
    """A shift of one trace, or of none."""
    moved = ChangedVerdict(
        0, "q1", 0, Graded("evaluated", 0.0, False), Graded("evaluated", by, by > 0.5)
    )
    shift = Shift(
        pairs=1,
        unpaired=0,
        moved=(moved,) if by else (),
        gained=0,
        lost=0,
        p_value=1.0,
        test="exact McNemar test",
        score=paired_difference([by]).interval,
        is_judged=False,
    )
    return MeasuredShift(
        run_id="run_1", old="old", new="new", old_run="run_2", new_run="run_3", shift=shift
    )


def test_a_file_is_published_with_its_hash_and_the_time(project: RegistryProject) -> None:
    made = project.publish(project.rubric("basic@1.0.0"))

    assert (made.reference, made.outcome) == ("rubric/basic@1.0.0", "published")
    assert made.published
    assert made.published.published_at == WHEN
    assert made.published.source == "rubrics/basic@1.0.0.yaml"
    assert (made.warnings, made.refusals) == ((), ())
    assert project.registry.all("rubric") == (made.published,)


@pytest.mark.parametrize("name", ["rubric/basic@1.0", "basic@1.0", "rubric/basic", "basic"])
def test_a_reference_names_a_file_too(project: RegistryProject, name: str) -> None:
    project.rubric("basic@1.0.0")

    assert project.publish(name).outcome == "published"


def test_the_same_content_again_changes_nothing(project: RegistryProject) -> None:
    path = project.rubric("basic@1.0.0")
    first = project.publish(path)
    path.write_text(f"# a comment\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    again = project.publish(path)
    path.unlink()
    gone = project.publish("rubric/basic@1.0")

    assert (again.outcome, gone.outcome) == ("unchanged", "unchanged")
    assert again.published == gone.published == first.published


@pytest.mark.parametrize("name", ["rubrics/basic@1.0.0.yaml", "rubric/basic@1.0"])
def test_other_content_under_a_version_is_refused(
    project: RegistryProject, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.root)
    project.publish(project.rubric("basic@1.0.0"))
    project.rubric("basic@1.0.0", IS_JSON)
    made = project.publish(name)

    assert made.outcome == "refused"
    assert made.refusals == (
        (
            "rubrics/basic@1.0.0.yaml is not what was published as rubric/basic@1.0.0; neither is "
            "used (give it a new version, or put back what `steelyard rubric show "
            "rubric/basic@1.0.0` prints)"
        ),
    )


def test_other_content_of_another_folder_is_refused_as_well(project: RegistryProject) -> None:
    project.publish(project.rubric("basic@1.0.0"))
    text = RUBRIC.format(id="basic", version="1.0.0").replace("equals", "is_json")
    made = project.publish(project.write("drafts/b.yaml", text))

    assert made.outcome == "refused"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id: basic\n", "rubrics/a.yaml:1: missing checks"),
        (
            RUBRIC.format(id="basic", version="1.0.0") + "descripton: x\n",
            "unknown field 'descripton' (did you mean 'description'?)",
        ),
        (
            RUBRIC.format(id="basic", version="1.0.0").replace(
                "equals", "llm_judge, judge_prompt_ref: judge/accuracy"
            ),
            "judge/accuracy is not pinned; judge/accuracy@1.0.0 is used",
        ),
        (
            RUBRIC.format(id="basic", version="1.0.0").replace(
                "equals", "llm_judge, judge_prompt_ref: judge/none@1.0"
            ),
            "cannot resolve judge/none@1.0",
        ),
    ],
)
def test_what_strict_mode_takes_for_an_error_is_refused(
    project: RegistryProject, text: str, told: str
) -> None:
    made = project.publish(project.write("rubrics/a.yaml", text))

    assert made.outcome == "refused"
    assert any(told in refusal for refusal in made.refusals), made.refusals
    assert project.registry.all("rubric") == ()


def test_two_files_of_one_version_are_refused(project: RegistryProject) -> None:
    project.rubric("basic@1.0.0")
    made = project.publish(
        project.write("rubrics/b.yaml", RUBRIC.format(id="basic", version="1.0.0"))
    )

    assert made.outcome == "refused"
    assert "stands in" in made.refusals[0]


def test_an_id_that_is_no_file_name_on_windows_is_refused(project: RegistryProject) -> None:
    made = project.publish(project.rubric("aux@1.0.0"))

    assert made.outcome == "refused"
    assert "'aux' is the name of a device on Windows; take another id" in made.refusals[0]


def test_a_clash_of_names_is_refused(project: RegistryProject) -> None:
    project.publish(project.rubric("basic@1.0.0"))
    (project.root / "rubrics" / "basic@1.0.0.yaml").unlink()
    made = project.publish(project.questions("basic"))

    assert made.outcome == "refused"
    assert "has the version that is the id of a check rubric" in made.refusals[0]


def test_a_rubric_refers_to_nothing_that_may_change(project: RegistryProject) -> None:
    judge = project.judge("tone@1.0.0")
    path = project.rubric("kind@1.0.0", asks("judge/tone@1.0"))
    first = project.publish(path)
    project.publish(judge, "judge")
    then = project.publish(path)

    assert first.refusals == (
        (
            "rubrics/kind@1.0.0.yaml refers to judge/tone@1.0.0, which is not published: "
            "`steelyard judge publish judge/tone@1.0.0` first"
        ),
    )
    assert then.outcome == "published"


def test_a_composite_refers_to_what_is_published(project: RegistryProject) -> None:
    inner = project.rubric("inner@1.0.0")
    outer = project.rubric("outer@1.0.0", composed_of("rubric/inner@1.0"))
    refused = project.publish(outer)
    project.publish(inner)

    assert refused.outcome == "refused"
    assert project.publish(outer).outcome == "published"


def test_a_judge_that_comes_along_is_fixed_already(project: RegistryProject) -> None:
    path = project.rubric("kind@1.0.0", asks("judge/accuracy@1.0"))

    assert project.publish(path).outcome == "published"
    with pytest.raises(RequestError, match="comes with Steelyard"):
        project.publish("accuracy", "judge")


@pytest.mark.parametrize(
    ("name", "error", "told"),
    [
        ("rubrics/none.yaml", NotFoundError, "no such rubric file"),
        ("rubric/none@1.0", NotFoundError, "there is no rubric of that id"),
        ("judge/tone@1.0", RequestError, "is no rubric"),
        ("what is this", RequestError, "write rubric/id@version or a path"),
    ],
)
def test_what_names_nothing_is_wrong_usage(
    project: RegistryProject, name: str, error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        project.publish(name)


def test_a_judge_is_no_rubric(project: RegistryProject) -> None:
    with pytest.raises(RequestError, match="which is no rubric"):
        project.publish(project.judge("tone@1.0.0"))


def test_what_differs_from_the_version_before_is_told(project: RegistryProject) -> None:
    project.publish(project.rubric("basic@1.0.0"))
    made = project.publish(project.rubric("basic@1.1.0", IS_JSON))

    assert made.outcome == "refused"
    assert made.bump == "minor"
    assert made.diff
    assert made.diff.old == "rubric/basic@1.0.0"
    assert [one.path for one in made.diff.differences] == ["checks.right.kind"]
    (why,) = made.refusals
    assert why.startswith(
        "what changed can move scores, and this is a minor version: show `against`"
    )
    assert len(project.registry.all("rubric")) == 1


def test_a_major_version_may_break(project: RegistryProject) -> None:
    project.publish(project.rubric("basic@1.0.0"))
    made = project.publish(project.rubric("basic@2.0.0", IS_JSON))

    assert made.warnings == ("whether scores moved was not tested `against` a run",)


def test_a_version_below_is_compared_with_what_is_below_it(project: RegistryProject) -> None:
    project.publish(project.rubric("basic@1.0.0"))
    project.publish(project.rubric("basic@2.0.0"))
    made = project.publish(project.rubric("basic@1.0.1"))

    assert made.diff
    assert (made.diff.old, made.bump) == ("rubric/basic@1.0.0", "patch")


@pytest.mark.parametrize(
    ("version", "by", "outcome"),
    [
        ("1.0.1", 0.0, "published"),
        ("1.0.1", 0.5, "refused"),
        ("1.1.0", 0.5, "refused"),
        ("2.0.0", 0.5, "published"),
    ],
)
def test_only_a_major_version_may_move_scores(
    project: RegistryProject, version: str, by: float, outcome: str
) -> None:
    project.publish(project.rubric("basic@1.0.0"))
    project.rubric(f"basic@{version}", IS_JSON)
    ports = project.ports
    plan = plan_publication(ports, "rubric", f"rubric/basic@{version}")
    made = carry_out(ports, plan, shifted(by=by))

    assert made.outcome == outcome
    assert made.warnings == ()
    assert len(project.registry.all("rubric")) == 1 + (outcome == "published")
    said = ["needs a new major version" in refusal for refusal in made.refusals]
    assert said == ([] if outcome == "published" else [True])


def test_another_process_may_be_faster(project: RegistryProject) -> None:
    path = project.rubric("basic@1.0.0")
    ports = project.ports
    plan = plan_publication(ports, "rubric", str(path))
    project.rubric("basic@1.0.0", IS_JSON)
    project.publish(path)
    made = carry_out(ports, plan)

    assert made.outcome == "refused"
    assert made.refusals == ("rubric/basic@1.0.0 was published with other content just now",)


def test_a_judge_may_be_validated_anew_under_its_version(project: RegistryProject) -> None:
    project.publish(project.judge("tone@1.0.0"), "judge")
    path = project.judge("tone@1.0.0", "validation: {tpr: 0.9}\napplicable_to: [rag]\n")
    made = project.publish(path, "judge")
    again = project.publish(path, "judge")

    assert (made.outcome, again.outcome) == ("noted", "unchanged")
    (held,) = project.registry.all("judge")
    assert held.beside == {"validation": {"tpr": 0.9}, "applicable_to": ["rag"]}
    assert made.published == replace(held)


def test_a_draft_is_published_with_a_word_to_the_author(project: RegistryProject) -> None:
    made = project.publish(project.questions("quality-v1", "draft"))

    assert made.outcome == "published"
    assert made.warnings == (
        "the file still says draft; its content is fixed now: write status: published",
    )
    assert project.publish(project.questions("quality-v1")).outcome == "unchanged"
    assert made.bump is None


def test_a_published_version_can_be_archived_and_no_other(project: RegistryProject) -> None:
    first = project.publish(project.questions("quality-v1", "archived"))
    project.publish(project.questions("quality-v1"))
    then = project.publish(project.questions("quality-v1", "archived"))

    assert first.refusals == ("rubrics/quality-v1.yml is archived, and was never published",)
    assert then.outcome == "noted"
    assert project.registry.all("rubric")[0].status == "archived"


@pytest.mark.parametrize("status", ["draft", "published"])
def test_an_archived_version_does_not_come_back(project: RegistryProject, status: str) -> None:
    project.publish(project.questions("quality-v1", "published"))
    project.publish(project.questions("quality-v1", "archived"))
    made = project.publish(project.questions("quality-v1", status))

    assert made.refusals == (
        "rubric/quality-v1 is archived, which is for good; publish a new version",
    )
    assert project.registry.all("rubric")[0].status == "archived"
