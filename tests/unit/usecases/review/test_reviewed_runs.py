"""The responses of a run, and the runs whose responses they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.reviews import RUN, ReviewProject, check, failed, response
from steelyard.errors import RequestError, UnreadableFileError
from steelyard.usecases.review.reviewed_runs import (
    read_responses,
    require_responses,
    response_runs,
)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[ReviewProject]:
    """A project without a run."""
    made = ReviewProject(tmp_path)
    yield made
    made.close()


def test_a_response_is_found_by_id_or_by_index(project: ReviewProject) -> None:
    found = read_responses(project.run([response(0), response(0, repeat=1), failed(1)]))

    assert [row.index for row in found.rows] == [0, 0, 1]
    assert found.names == {0: "r0", 1: "r1"}
    assert found.find("r0", 1) is found.rows[1]
    assert found.find("1", 0) is found.rows[2]
    assert found.find("r0", 2) is None
    assert found.find("r7", 0) is None
    assert [row.turns for row in found.rows] == [2, 2, 0]


def test_an_id_wins_over_an_index_that_is_written_like_it(project: ReviewProject) -> None:
    found = read_responses(project.run([response(0), response(1, record_id="0")]))

    assert found.find("0", 0) is found.rows[1]


def test_records_without_an_id_of_their_own_are_called_by_their_index(
    project: ReviewProject,
) -> None:
    rows = [response(0, record_id="x"), response(1, record_id="x"), response(2, record_id=None)]
    found = read_responses(project.run(rows))

    assert found.names == {0: "0", 1: "1", 2: "2"}
    assert found.find("x", 0) is None
    assert found.is_ambiguous("x")
    assert not found.is_ambiguous("0")


def test_checks_within_composites_are_named_after_both(project: ReviewProject) -> None:
    inner = {"rubric": "rubric/desk-v1", "results": [check({"trace": {}, "turns": {}})]}
    outer = check(None, check="asked", kind="composite", judge=None, details=inner)
    by_hand = {**outer, "details": {"results": [check()]}}
    nothing: dict[str, Any] = {}
    bare = {**outer, "details": nothing}
    rows = [response(0, outer), response(1, by_hand), response(2, bare)]
    found = read_responses(project.run(rows))

    assert [within for _, _, within in found.rows[1].checks()] == [None, ""]
    assert [name for name, _, _ in found.rows[2].checks()] == ["asked"]
    assert [(name, one.judge, within) for name, one, within in found.rows[0].checks()] == [
        ("asked", None, None),
        ("asked/questions", "judge/questionnaire@1.0.0", "rubric/desk-v1"),
    ]


def test_a_run_in_which_nobody_answered_has_nothing_to_look_at(project: ReviewProject) -> None:
    with pytest.raises(RequestError, match="run_1 has no response"):
        require_responses(read_responses(project.run([failed(0)])))


def test_a_damaged_run_is_told(project: ReviewProject) -> None:
    folder = project.run([])
    (folder / "predictions.jsonl").write_text("{", encoding="utf-8")

    with pytest.raises(UnreadableFileError, match="damaged"):
        read_responses(folder)


def derived(run_id: str, folder: Path, how: str = "regrade") -> dict[str, str]:
    return {"run_id": run_id, "how": how, "folder": str(folder)}


def test_a_regraded_run_has_the_responses_of_its_parents(project: ReviewProject) -> None:
    first = project.run([response(0)])
    second = project.run([], "run_2", derived_from=derived(RUN, first))
    third = project.run([], "run_3", derived_from=derived("run_2", Path("/moved/run_2")))

    assert response_runs(first) == (RUN,)
    assert response_runs(second) == ("run_2", RUN)
    assert response_runs(third) == ("run_3", "run_2", RUN)


def test_a_parent_that_is_gone_is_known_by_its_id(project: ReviewProject) -> None:
    folder = project.run([], derived_from=derived("run_0", Path("/gone/run_0")))

    assert response_runs(folder) == (RUN, "run_0")


def test_a_retry_has_responses_of_its_own(project: ReviewProject) -> None:
    first = project.run([])
    second = project.run([], "run_2", derived_from=derived(RUN, first, "retry"))

    assert response_runs(second) == ("run_2",)


@pytest.mark.parametrize(
    ("responses", "runs"),
    [
        (".steelyard/runs/run_1/predictions.jsonl", ("run_2", RUN)),
        (".steelyard/runs/run_0/predictions.jsonl", ("run_2", "run_0")),
        ("responses/both.jsonl", ("run_2",)),
        ("predictions.jsonl", ("run_2",)),
        (None, ("run_2",)),
    ],
)
def test_responses_of_another_run_are_those_of_that_run(
    project: ReviewProject, responses: str | None, runs: tuple[str, ...]
) -> None:
    project.run([])
    folder = project.run([], "run_2", options={"responses": responses})

    assert response_runs(folder) == runs


def test_runs_that_lead_in_a_circle_are_named_once(project: ReviewProject) -> None:
    folder = project.root / "runs" / "run_2"
    first = project.run([], derived_from=derived("run_2", folder))
    project.run([], "run_2", derived_from=derived(RUN, first))

    assert response_runs(first) == (RUN, "run_2")
