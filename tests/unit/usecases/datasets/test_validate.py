"""Validating files, folders and globs."""

from __future__ import annotations

import io
from pathlib import Path
from typing import BinaryIO

import pytest

from fakes.definitions import DefinitionProject, asks
from steelyard.errors import NotFoundError
from steelyard.model.finding import Finding
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.validate import (
    FileReport,
    ValidateOptions,
    ValidationReport,
    validate,
)

ROW = '{"id": "a", "expected_outcome": "Says so.", "input": "?"}\n'
BAD_ROW = '{"id": "b", "input": "?"}\n'
NEAR_ROW = '{"id": "c", "expected_outcome": "x", "input": "?", "evalutor": "x"}\n'
CASES = "evalcases:\n- {id: a, expected_outcome: Says so., input: '?'}\n"
LEGAL = '{"task_type": "mcq"}\n'


@pytest.fixture
def disk(tmp_path: Path) -> DiskWorkspace:
    """The test's own folder."""
    return DiskWorkspace(tmp_path)


def write(folder: Path, **files: str) -> None:
    """Write files; in a name, `_` stands for the dot."""
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")


def codes(file: FileReport) -> list[tuple[str, str]]:
    return [(finding.severity, finding.code) for finding in file.findings]


def seen(disk: DiskWorkspace, path: Path, **options: object) -> ValidationReport:
    return validate(disk, [str(path)], ValidateOptions(**options))  # pyright: ignore[reportArgumentType]


class TestCounting:
    def test_total_is_accepted_plus_rejected(self, disk: DiskWorkspace, tmp_path: Path) -> None:
        write(tmp_path, a_jsonl=ROW + BAD_ROW + NEAR_ROW)
        (file,) = seen(disk, tmp_path / "a.jsonl").files

        assert (file.total, file.accepted, file.rejected) == (3, 2, 1)
        assert codes(file) == [("error", "missing_required_field"), ("warning", "unknown_field")]
        assert not file.is_valid

    def test_strict_rejects_a_row_with_a_near_miss(
        self, disk: DiskWorkspace, tmp_path: Path
    ) -> None:
        write(tmp_path, a_jsonl=ROW + NEAR_ROW)
        (file,) = seen(disk, tmp_path / "a.jsonl", strict=True).files

        assert (file.accepted, file.rejected) == (1, 1)
        assert codes(file) == [("error", "unknown_field")]

    def test_a_line_that_is_no_json_spoils_all_rows(
        self, disk: DiskWorkspace, tmp_path: Path
    ) -> None:
        write(tmp_path, a_jsonl=ROW + "{\n")
        (file,) = seen(disk, tmp_path / "a.jsonl").files

        assert (file.total, file.accepted) == (2, 0)

    @pytest.mark.parametrize(("strict", "accepted"), [(False, 1), (True, 0)])
    def test_an_error_of_the_whole_file_leaves_no_record(
        self, disk: DiskWorkspace, tmp_path: Path, strict: bool, accepted: int
    ) -> None:
        write(tmp_path, a_yaml="descripton: a typo\n" + CASES)
        (file,) = seen(disk, tmp_path / "a.yaml", strict=strict).files

        assert (file.total, file.accepted, file.is_valid) == (1, accepted, not strict)

    def test_a_report_counts_by_severity(self) -> None:
        findings = [Finding(severity="error", code="a", message="")] * 2
        file = FileReport(path="a", contract=None, findings=tuple(findings))
        report = ValidationReport(files=(file, FileReport(path="b", contract=None)))

        assert (report.count("error"), report.count("warning")) == (2, 0)
        assert not report.is_valid


class TestWalking:
    def test_unrecognised_files_of_a_folder_are_passed_over(
        self, disk: DiskWorkspace, tmp_path: Path
    ) -> None:
        write(tmp_path, a_jsonl=ROW, b_txt="x", c_json="{}")
        report = seen(disk, tmp_path)

        assert [file.path for file in report.files] == [str(tmp_path / "a.jsonl")]
        assert report.skipped == (str(tmp_path / "b.txt"), str(tmp_path / "c.json"))
        assert report.is_valid

    def test_a_named_file_is_never_passed_over(self, disk: DiskWorkspace, tmp_path: Path) -> None:
        write(tmp_path, b_txt="x")
        (file,) = seen(disk, tmp_path / "b.txt").files

        assert codes(file) == [("error", "unsupported_format")]

    @pytest.mark.parametrize(
        ("patterns", "message"),
        [
            (["{folder}"], "no evaluation file in {folder}; 0 file(s) skipped"),
            (["{folder}", ""], "an empty path names nothing; '.' is the current folder"),
            (["{folder}/x"], "no such file or folder: {folder}/x"),
        ],
    )
    def test_nothing_to_validate_is_an_error(
        self, disk: DiskWorkspace, tmp_path: Path, patterns: list[str], message: str
    ) -> None:
        given = [pattern.format(folder=tmp_path) for pattern in patterns]
        with pytest.raises(NotFoundError) as raised:
            validate(disk, given, ValidateOptions())

        assert str(raised.value) == message.format(folder=tmp_path)

    def test_a_file_named_twice_is_reported_once(
        self, disk: DiskWorkspace, tmp_path: Path
    ) -> None:
        write(tmp_path, a_jsonl=ROW)
        report = validate(disk, [str(tmp_path), str(tmp_path / "a.jsonl")], ValidateOptions())

        assert len(report.files) == 1


class TestSidecars:
    @pytest.mark.parametrize("named", [["."], ["a.jsonl"], ["a.yaml", "a.jsonl"]])
    def test_a_sidecar_has_its_own_entry_beside_its_rows(
        self, disk: DiskWorkspace, tmp_path: Path, named: list[str]
    ) -> None:
        write(tmp_path, a_jsonl=ROW, a_yaml="descripton: a typo\n")
        report = validate(disk, [str(tmp_path / name) for name in named], ValidateOptions())
        files = {Path(file.path).name: file for file in report.files}

        assert set(files) == {"a.jsonl", "a.yaml"}
        assert (files["a.jsonl"].total, files["a.yaml"].total) == (1, 0)
        assert codes(files["a.yaml"]) == [("warning", "unknown_field")]

    def test_a_sidecar_named_alone_is_reported_alone(
        self, disk: DiskWorkspace, tmp_path: Path
    ) -> None:
        write(tmp_path, a_jsonl=ROW, a_yaml="dataset: 7\n")
        (file,) = seen(disk, tmp_path / "a.yaml").files

        assert Path(file.path).name == "a.yaml"
        assert codes(file) == [("error", "invalid_field_type")]

    def test_a_yaml_file_with_cases_is_no_sidecar(
        self, disk: DiskWorkspace, tmp_path: Path
    ) -> None:
        write(tmp_path, a_jsonl=ROW, a_yaml=CASES)

        assert [file.total for file in seen(disk, tmp_path).files] == [1, 1]

    def test_a_yaml_file_beside_rows_that_take_no_sidecar_does_not_vanish(
        self, disk: DiskWorkspace, tmp_path: Path
    ) -> None:
        write(tmp_path, a_jsonl=LEGAL, a_yaml="name: x\n")

        assert codes(seen(disk, tmp_path / "a.yaml").files[0]) == [("error", "unsupported_format")]
        assert seen(disk, tmp_path).skipped == (str(tmp_path / "a.yaml"),)

    @pytest.mark.parametrize(("verbose", "found"), [(False, []), (True, ["missing_sidecar"])])
    def test_verbose_warns_of_a_missing_sidecar(
        self, disk: DiskWorkspace, tmp_path: Path, verbose: bool, found: list[str]
    ) -> None:
        write(tmp_path, a_jsonl=ROW)
        (file,) = seen(disk, tmp_path / "a.jsonl", verbose=verbose).files

        assert [code for _, code in codes(file)] == found
        assert file.is_valid

    def test_strict_looks_at_sidecars_too(self, disk: DiskWorkspace, tmp_path: Path) -> None:
        write(tmp_path, a_jsonl=ROW, a_yaml="descripton: a typo\n")

        assert not seen(disk, tmp_path, strict=True).is_valid


class TestKinds:
    def test_a_kind_gives_findings_where_a_file_does_not_fit(
        self, disk: DiskWorkspace, tmp_path: Path
    ) -> None:
        write(tmp_path, c_json="{}")
        (file,) = seen(disk, tmp_path, kind="dataset").files

        assert file.contract == "dataset_document"
        assert {code for _, code in codes(file)} == {"missing_required_field"}


class FailingDisk(DiskWorkspace):
    """A disk that fails in the middle of a file, on its second reading."""

    def __init__(self, current: Path) -> None:
        super().__init__(current)
        self.openings = 0

    def open(self, path: Path) -> BinaryIO:
        self.openings += 1
        return super().open(path) if self.openings == 1 else FailingStream(path.read_bytes())


class FailingStream(io.BytesIO):
    """Gives one line, then fails."""

    def readline(self, size: int | None = -1, /) -> bytes:
        if self.tell():
            raise OSError(5, "Input/output error")
        return super().readline(size)


RESPONSE = '{"record_id": "a", "candidate_name": "x", "response_text": "Yes."}\n'
LABEL = '{"record_id": "a", "rubric": "rubric/r@1.0.0", "annotator": "ann", "exposure": "blind"}\n'
OF_A_RUN = [
    RESPONSE,
    "\n" + RESPONSE,
    LABEL,
    '{"example_id": "a", "candidate_name": "x", "trace": {}}\n',
    '{"record_id": "a", "error_code": "timeout"}\n',
]


@pytest.mark.parametrize("rows", OF_A_RUN)
def test_a_walk_passes_over_the_files_of_runs(
    disk: DiskWorkspace, tmp_path: Path, rows: str
) -> None:
    judge = "id: a\nversion: 1.0.0\ntemplate: '{{ output }}?'\n"
    write(tmp_path, a_jsonl=rows, a_yaml=judge, b_jsonl=ROW)
    report = seen(disk, tmp_path)
    named = seen(disk, tmp_path / "a.jsonl").files

    assert [file.contract for file in report.files] == ["judge", "eval_cases"]
    assert report.skipped == (str(tmp_path / "a.jsonl"),)
    assert report.is_valid
    assert [file.is_valid for file in named if file.path.endswith(".jsonl")] == [False]


@pytest.mark.parametrize(
    "row",
    [
        '{"record_id": "a", "expected_outcome": "x", "input": "?"}\n',
        '{"id": "a", "record_id": "a", "response_text": "x"}\n',
        '{"response_text": "x"}\n',
        "[]\n",
    ],
)
def test_a_walk_reads_every_other_file_of_rows(
    disk: DiskWorkspace, tmp_path: Path, row: str
) -> None:
    write(tmp_path, a_jsonl=row)

    assert [file.is_valid for file in seen(disk, tmp_path).files] == [False]


def test_a_disk_that_fails_on_the_way_is_a_finding(tmp_path: Path) -> None:
    write(tmp_path, a_jsonl=ROW * 3)
    (file,) = seen(FailingDisk(tmp_path), tmp_path / "a.jsonl").files

    assert (file.total, file.accepted) == (1, 0)
    assert file.findings[0].message == "reading stopped: Input/output error"


class TestReferences:
    @pytest.fixture
    def project(self, tmp_path: Path) -> DefinitionProject:
        made = DefinitionProject(tmp_path)
        made.judge("old@1.0.0", "validation: {validated_at: 2026-01-15}\n")
        made.rubric("basic@1.0.0", asks("judge/old"))
        made.rubric("broken@1.0.0", asks("judge/gone@1.0"))
        made.write(
            "q.yaml",
            "questions:\n"
            "- {id: a, input: b, rubric_ref: rubric/basic@1.0}\n"
            "- {id: b, input: b, rubric_ref: rubric/broken@1.0}\n"
            "- {id: c, input: b}\n",
        )
        return made

    def report(self, project: DefinitionProject, name: str, *, strict: bool = False) -> FileReport:
        references = project.references
        (file,) = validate(
            DiskWorkspace(project.root),
            [str(project.root / name)],
            ValidateOptions(strict=strict),
            references=lambda path: references,  # noqa: ARG005
        ).files
        return file

    @pytest.mark.parametrize(("strict", "accepted"), [(False, 2), (True, 1)])
    def test_the_references_of_rows_are_looked_up(
        self, project: DefinitionProject, strict: bool, accepted: int
    ) -> None:
        """QS-12, QS-13"""
        file = self.report(project, "q.yaml", strict=strict)

        assert (file.total, file.accepted) == (3, accepted)
        assert [(finding.code, finding.line) for finding in file.findings] == [
            ("unpinned_reference", 2),
            ("stale_validation", 2),
            ("dangling_reference", 3),
        ]

    @pytest.mark.parametrize(
        ("name", "strict", "told"),
        [
            (
                "rubrics/basic@1.0.0.yaml",
                False,
                [
                    ("warning", "unpinned_reference", "checks[0].judge_prompt_ref", 4),
                    ("warning", "stale_validation", "checks[0].judge_prompt_ref", 4),
                ],
            ),
            (
                "rubrics/basic@1.0.0.yaml",
                True,
                [
                    ("error", "unpinned_reference", "checks[0].judge_prompt_ref", 4),
                    ("error", "stale_validation", "checks[0].judge_prompt_ref", 4),
                ],
            ),
            (
                "rubrics/broken@1.0.0.yaml",
                False,
                [("error", "dangling_reference", "checks[0].judge_prompt_ref", 4)],
            ),
            (
                "judges/old@1.0.0.yaml",
                False,
                [("warning", "stale_validation", "validation.validated_at", 4)],
            ),
        ],
    )
    def test_the_references_of_rubrics_are_looked_up(
        self,
        project: DefinitionProject,
        name: str,
        strict: bool,
        told: list[tuple[str, str, str, int]],
    ) -> None:
        """CR-27, CR-29, JD-09"""
        file = self.report(project, name, strict=strict)

        assert [(one.severity, one.code, one.path, one.line) for one in file.findings] == told
        assert file.total == 1
        assert file.is_valid is all(severity == "warning" for severity, *_ in told)

    def test_a_conflict_is_told_at_each_file(self, project: DefinitionProject) -> None:
        """CR-22"""
        project.write(
            "judges/twin.json", '{"id": "old", "version": "1.0", "template": "{{ output }}"}'
        )
        file = self.report(project, "judges/twin.json")

        assert [(one.code, one.path, one.line) for one in file.findings] == [
            ("version_conflict", "version", None)
        ]

    def test_a_broken_file_is_told_without_its_references(
        self, project: DefinitionProject
    ) -> None:
        project.write("rubrics/bad.yaml", "id: bad\n")

        assert {one.code for one in self.report(project, "rubrics/bad.yaml").findings} == {
            "missing_required_field"
        }

    def test_without_a_project_references_are_not_looked_up(
        self, project: DefinitionProject
    ) -> None:
        (file,) = seen(DiskWorkspace(project.root), project.root / "q.yaml").files

        assert file.findings == ()
