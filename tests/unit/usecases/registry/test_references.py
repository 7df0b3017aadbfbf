"""Whether everything that rubrics refer to is there and can be used."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from fakes.definitions import JUDGE, NOW, RUBRIC, DefinitionProject, asks, composed_of
from steelyard.formats.schema import spoken
from steelyard.model.definition import Content
from steelyard.model.json_value import path_text
from steelyard.model.rubric import Rubric, RubricCheck, StatedCheck
from steelyard.usecases.registry.load_definition import load_judge
from steelyard.usecases.registry.references import References, Resolution, is_stale, references_in

OLD = "validation: {validated_at: 2026-01-15}\n"


@pytest.fixture
def project(tmp_path: Path) -> DefinitionProject:
    return DefinitionProject(tmp_path)


def content_of(project: DefinitionProject, path: Path) -> Content:
    found = project.folder.at(str(path))
    assert found
    assert found.content
    return found.content


def told(project: DefinitionProject, path: Path) -> list[tuple[str, str, str]]:
    """Severity, code and path of what is wrong with the references of a file."""
    problems = project.references.problems_of(content_of(project, path))
    return [(one.severity, one.code, path_text(one.path)) for one in problems]


def message(project: DefinitionProject, path: Path) -> str:
    (problem,) = project.references.problems_of(content_of(project, path))
    return spoken(problem)


class TestJudges:
    def test_a_judge_that_is_there_is_no_problem(self, project: DefinitionProject) -> None:
        """CR-27"""
        project.judge("tone@1.0.0")

        assert told(project, project.rubric("a@1.0.0", asks("judge/tone@1.0"))) == []
        assert told(project, project.rubric("b@1.0.0", asks("judge/accuracy@1.0"))) == []

    def test_a_judge_that_is_not_there_is_an_error_of_the_rubric(
        self, project: DefinitionProject
    ) -> None:
        """CR-27"""
        path = project.rubric("a@1.0.0", asks("judge/tone@1.0"))

        assert told(project, path) == [
            ("error", "dangling_reference", "checks[0].judge_prompt_ref")
        ]
        assert message(project, path) == (
            "checks[0].judge_prompt_ref: cannot resolve judge/tone@1.0: "
            "there is no judge of that id"
        )

    def test_every_judge_of_a_jury_is_looked_up(self, project: DefinitionProject) -> None:
        """CR-27"""
        project.judge("tone@1.0.0")
        jury = (
            "{id: a, kind: llm_judge, jury: {judges: [{judge_prompt_ref: judge/tone}, "
            "{judge_prompt_ref: judge/tone@1.0}, {judge_prompt_ref: judge/gone@1.0}]}}"
        )
        place = "checks[1].jury.judges[{}].judge_prompt_ref"

        assert told(project, project.rubric("a@1.0.0", "{id: b, kind: equals}", jury)) == [
            ("warning", "unpinned_reference", place.format(0)),
            ("error", "dangling_reference", place.format(2)),
        ]

    def test_a_misspelt_field_of_a_judge_is_told_where_it_is_used(
        self, project: DefinitionProject
    ) -> None:
        """CR-29"""
        project.judge("tone@1.0.0", "scoreType: binary\n")
        path = project.rubric("a@1.0.0", asks("judge/tone@1.0"))

        assert told(project, path) == [("warning", "unknown_field", "checks[0].judge_prompt_ref")]
        assert "judges/tone@1.0.0.yaml:4: unknown field 'scoreType'" in message(project, path)


class TestStaleness:
    @pytest.mark.parametrize(
        ("validated_at", "is_stale"),
        [
            ("2026-03-03", False),  # 90 days before the first of June
            ("2026-03-02", True),
            ("2026-03-02T23:59:59Z", True),
            ("2026-03-03T01:00+02:00", True),
            ("2026-02-01", True),
            ("2026-06-02", False),
        ],
    )
    def test_a_judge_is_stale_after_90_days(
        self, project: DefinitionProject, validated_at: str, is_stale: bool
    ) -> None:
        """JD-09"""
        path = project.judge("tone@1.0.0", f"validation: {{validated_at: {validated_at}}}\n")
        stale = [("warning", "stale_validation", "validation.validated_at")]

        assert told(project, path) == (stale if is_stale else [])

    @pytest.mark.parametrize("validated_at", ["2026-06-03", "2099-01-01"])
    def test_a_judge_cannot_have_been_validated_in_the_future(
        self, project: DefinitionProject, validated_at: str
    ) -> None:
        path = project.judge("tone@1.0.0", f"validation: {{validated_at: {validated_at}}}\n")

        assert told(project, path) == [("error", "value_out_of_range", "validation.validated_at")]
        assert f"was validated in the future ({validated_at})" in message(project, path)

    @pytest.mark.parametrize(
        ("recorded", "days"),
        [(None, 318), ("2025-01-01", 318), ("2026-02-01", 120), ("2026-05-01T10:00:00Z", None)],
    )
    def test_the_newest_of_file_and_registry_counts(
        self, project: DefinitionProject, recorded: str | None, days: int | None
    ) -> None:
        project.judge("tone@1.0.0", "validation: {validated_at: 2025-07-18}\n")
        references = References(project.folder, NOW, lambda _judge: recorded)
        judge = load_judge(references, "judge/tone@1.0.0")
        found = [one.message for one in references.problems_of(judge)]

        assert [f"was validated {days} days ago" in one for one in found] == [True] * bool(days)

    @pytest.mark.parametrize(
        ("validated_at", "now", "expected"),
        [
            ("2026-03-03", "2026-06-01T23:59:59+00:00", False),  # a day lasts until it is over
            ("2026-03-03", "2026-06-02T00:00:00+00:00", True),
            ("2026-03-03", "2026-06-02T01:00:00+02:00", False),
            ("2026-03-03T00:00:00Z", "2026-06-01T00:00:00+00:00", False),
            ("2026-03-03T00:00:00Z", "2026-06-01T00:00:01+00:00", True),
            ("2026-02-30", "2026-02-28T00:00:00+00:00", True),  # no time at all
        ],
    )
    def test_a_day_counts_as_a_whole(self, validated_at: str, now: str, expected: bool) -> None:
        """JD-09"""
        assert is_stale(validated_at, datetime.fromisoformat(now)) is expected

    @pytest.mark.parametrize("more", ["", "validation: {tpr: 0.9}\n"])
    def test_a_judge_that_was_never_validated_is_not_stale(
        self, project: DefinitionProject, more: str
    ) -> None:
        """JD-09"""
        assert told(project, project.judge("tone@1.0.0", more)) == []

    def test_the_message_says_how_old_it_is(self, project: DefinitionProject) -> None:
        """JD-09"""
        assert message(project, project.judge("tone@1.0.0", OLD)) == (
            "validation.validated_at: judge/tone@1.0.0 was validated 137 days ago (2026-01-15); "
            "after 90 days a judge is stale"
        )

    def test_a_rubric_that_asks_a_stale_judge_is_told(self, project: DefinitionProject) -> None:
        """JD-09"""
        project.judge("tone@1.0.0", OLD)

        assert told(project, project.rubric("a@1.0.0", asks("judge/tone@1.0"))) == [
            ("warning", "stale_validation", "checks[0].judge_prompt_ref")
        ]


class TestComposites:
    def test_one_level_is_allowed(self, project: DefinitionProject) -> None:
        """CR-30"""
        project.rubric("inner@1.0.0")

        assert told(project, project.rubric("a@1.0.0", composed_of("rubric/inner@1.0"))) == []

    def test_a_question_rubric_may_be_part_of_another(self, project: DefinitionProject) -> None:
        """CR-30"""
        path = project.questions("q-v1")

        assert told(project, project.rubric("a@1.0.0", composed_of("rubric/q-v1"))) == []
        assert told(project, path) == []

    def test_two_levels_are_too_deep(self, project: DefinitionProject) -> None:
        """CR-30"""
        project.rubric("innermost@1.0.0")
        project.rubric("inner@1.0.0", composed_of("rubric/innermost@1.0"))
        path = project.rubric("a@1.0.0", composed_of("rubric/inner@1.0"))

        assert told(project, path) == [("error", "nested_composite", "checks[0].rubric_ref")]
        assert message(project, path) == (
            "checks[0].rubric_ref: rubric/inner@1.0.0 has a composite itself ('inner'); "
            "only one level is allowed"
        )

    @pytest.mark.parametrize("length", [1, 2, 3, 300])
    def test_a_way_back_is_a_cycle(self, project: DefinitionProject, length: int) -> None:
        """CR-30"""
        paths = [
            project.rubric(f"r{n}@1.0.0", composed_of(f"rubric/r{(n + 1) % length}@1.0"))
            for n in range(length)
        ]

        assert told(project, paths[0]) == [("error", "reference_cycle", "checks[0].rubric_ref")]
        said = message(project, paths[0])
        assert said.startswith("checks[0].rubric_ref: rubric/r0@1.0.0 leads back to itself: ")
        assert said.count("rubric/r") == length + 2

    def test_a_cycle_beside_the_way_is_too_deep_and_does_not_trap_the_search(
        self, project: DefinitionProject
    ) -> None:
        """CR-30"""
        project.rubric("b@1.0.0", composed_of("rubric/c@1.0"))
        project.rubric("c@1.0.0", composed_of("rubric/b@1.0"))
        path = project.rubric("a@1.0.0", composed_of("rubric/b@1.0"))

        assert told(project, path) == [("error", "nested_composite", "checks[0].rubric_ref")]

    def test_a_part_that_cannot_be_used_spoils_the_whole(self, project: DefinitionProject) -> None:
        """CR-30"""
        project.rubric("inner@1.0.0", asks("judge/gone@1.0"))
        path = project.rubric("a@1.0.0", composed_of("rubric/inner@1.0"))

        assert told(project, path) == [("error", "dangling_reference", "checks[0].rubric_ref")]
        assert message(project, path) == (
            "checks[0].rubric_ref: rubric/inner@1.0.0: checks[0].judge_prompt_ref: "
            "cannot resolve judge/gone@1.0: there is no judge of that id"
        )

    def test_a_part_that_is_not_there_is_dangling(self, project: DefinitionProject) -> None:
        """CR-30"""
        path = project.rubric("a@1.0.0", composed_of("rubric/gone@1.0"))

        assert told(project, path) == [("error", "dangling_reference", "checks[0].rubric_ref")]


class TestReferencesIn:
    def test_only_the_fields_of_the_kind_are_references(self) -> None:
        settings = {"max_usd": 1, "rubric_ref": "rubric/a@1.0"}
        check = RubricCheck(id="a", check=StatedCheck(kind="cost", settings=settings))

        assert list(references_in(Rubric(id="a", version="1.0.0", checks=(check,)))) == []

    def test_a_text_that_is_no_reference_is_passed_over(self) -> None:
        stated = StatedCheck(kind="composite", settings={"rubric_ref": "none"})
        rubric = Rubric(id="a", version="1.0.0", checks=(RubricCheck(id="a", check=stated),))

        assert list(references_in(rubric)) == []


class TestResolution:
    def test_a_reference_leads_to_a_rubric(self, project: DefinitionProject) -> None:
        """QS-12"""
        project.rubric("basic@1.2.0")
        resolution = project.references.rubric("rubric/basic@1.2")

        assert isinstance(resolution.rubric, Rubric)
        assert resolution == Resolution(rubric=resolution.rubric)

    @pytest.mark.parametrize("text", ["judge/accuracy@1.0", "basic", "", "rubric/"])
    def test_another_text_is_no_reference_to_a_rubric(
        self, project: DefinitionProject, text: str
    ) -> None:
        (problem,) = project.references.rubric(text).problems

        assert problem.code == "dangling_reference"
        assert problem.message == (
            f"'{text}' is no reference to a rubric; write rubric/id@version"
        )

    def test_each_reference_is_resolved_once(self, project: DefinitionProject) -> None:
        project.rubric("basic@1.0.0")
        references = project.references
        first = references.rubric("rubric/basic@1.0")
        project.write("rubrics/basic@1.0.0.yaml", "{")

        assert references.rubric("rubric/basic@1.0") is first

    def test_an_error_further_down_makes_the_rubric_unusable(
        self, project: DefinitionProject
    ) -> None:
        """QS-12"""
        project.rubric("basic@1.0.0", asks("judge/gone@1.0"))
        resolution = project.references.rubric("rubric/basic@1.0")

        assert resolution.rubric is None
        assert [problem.message for problem in resolution.problems] == [
            (
                "rubric/basic@1.0.0: checks[0].judge_prompt_ref: cannot resolve judge/gone@1.0: "
                "there is no judge of that id"
            )
        ]

    def test_a_doubt_further_down_is_a_note(self, project: DefinitionProject) -> None:
        """QS-14"""
        project.judge("tone@1.0.0", OLD)
        text = RUBRIC.format(id="basic", version="1.0.0").replace("kind", "negat: true, kind")
        project.write("rubrics/basic.yaml", text)
        project.rubric("other@1.0.0", asks("judge/tone"))
        references = project.references
        basic, other = (references.rubric(f"rubric/{name}@1.0") for name in ("basic", "other"))

        assert basic.problems == other.problems == ()
        assert [note.code for note in basic.notes] == ["unknown_field"]
        assert [note.code for note in other.notes] == ["unpinned_reference", "stale_validation"]
        assert basic.rubric
        assert other.rubric

    def test_an_archived_rubric_is_not_used(self, project: DefinitionProject) -> None:
        """CR-28"""
        project.questions("q-v1", "archived")
        resolution = project.references.rubric("rubric/q-v1")

        assert resolution.rubric is None
        assert [problem.code for problem in resolution.problems] == ["archived_rubric"]


class TestScope:
    @pytest.mark.parametrize(
        ("scope", "bundle", "told"),
        [
            ("[faq, rag]", "rag", None),
            ("[faq, rag]", "agent", "faq, rag"),
            ("[]", "agent", "nothing"),
            ("[faq]", None, None),
            (None, "agent", None),
        ],
    )
    def test_a_judge_is_out_of_scope_where_it_has_not_been_validated(
        self, project: DefinitionProject, scope: str | None, bundle: str | None, told: str | None
    ) -> None:
        """JD-09"""
        project.judge("tone@1.0.0", f"applicable_to: {scope}\n" if scope else "")
        project.rubric("basic@1.0.0", asks("judge/tone@1.0"))
        found = list(project.references.rubric("rubric/basic@1.0").out_of_scope(bundle))
        said = f"judge/tone@1.0.0 has not been validated for '{bundle}'; it has for {told}"

        assert [(one.severity, one.code, one.message) for one in found] == (
            [("warning", "out_of_scope_judge", said)] if told else []
        )

    def test_the_judges_of_a_part_count_and_each_once(self, project: DefinitionProject) -> None:
        """JD-09"""
        project.judge("tone@1.0.0")
        project.rubric("inner@1.0.0", asks("judge/tone@1.0"))
        second = "{id: again, kind: llm_judge, judge_prompt_ref: judge/tone@1.0.0}"
        project.rubric("basic@1.0.0", composed_of("rubric/inner@1.0"), second)
        resolution = project.references.rubric("rubric/basic@1.0")

        assert [judge.name for judge in resolution.judges] == ["judge/tone@1.0.0"]


class TestConflicts:
    def conflicts(self, project: DefinitionProject, path: Path) -> list[tuple[str, str]]:
        found = project.references.conflicts_of(path, content_of(project, path))
        return [(problem.code, path_text(problem.path)) for problem in found]

    def test_two_files_of_one_version_are_told_at_both(self, project: DefinitionProject) -> None:
        """CR-22"""
        paths = [
            project.rubric("basic@1.0.0"),
            project.write("rubrics/other.yaml", RUBRIC.format(id="basic", version="1.0")),
            project.rubric("basic@1.1.0"),
        ]

        assert [self.conflicts(project, path) for path in paths] == [
            [("version_conflict", "version")],
            [("version_conflict", "version")],
            [],
        ]

    def test_judges_conflict_as_rubrics_do(self, project: DefinitionProject) -> None:
        """CR-22"""
        first = project.judge("tone@1.0.0")
        project.write("judges/tone.yaml", JUDGE.format(id="tone", version="1.0"))

        assert self.conflicts(project, first) == [("version_conflict", "version")]

    def test_a_clash_of_two_sorts_of_rubric_is_told_at_both(
        self, project: DefinitionProject
    ) -> None:
        """CR-28"""
        checks, asked = project.rubric("basic@1.0.0"), project.questions("basic")

        assert self.conflicts(project, checks) == [("version_conflict", "id")]
        assert self.conflicts(project, asked) == [("version_conflict", "version")]

    def test_a_file_from_elsewhere_conflicts_with_nothing(
        self, project: DefinitionProject
    ) -> None:
        """CR-22"""
        project.rubric("basic@1.0.0")
        other = project.write("drafts/basic.yaml", RUBRIC.format(id="basic", version="1.0.0"))

        assert self.conflicts(project, other) == []
