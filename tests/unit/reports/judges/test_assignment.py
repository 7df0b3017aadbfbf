"""A sample with its design: how many of how many, and with which chances."""

from __future__ import annotations

from dataclasses import replace

from steelyard.model.labels.assignment import Assigned, Assignment, AssignmentChoice, Candidate
from steelyard.reports.judges.assignment import assignment_json, assignment_lines

FOUND = Assignment(
    run_id="run_1",
    rubric="rubric/desk-v1",
    choice=AssignmentChoice(count=2, by="near_threshold", threshold=0.6, seed=3),
    records=1_200,
    left_out={"without a response": 1_001},
    assigned=(
        Assigned(candidate=Candidate(record_id="a", score=0.6), inclusion_prob=0.5),
        Assigned(candidate=Candidate(record_id="b", repeat=1), inclusion_prob=0.05),
    ),
    strata={"pass\x1bed": (1, 900), "failed": (1, 300)},
)


def test_the_design_is_told() -> None:
    assert "\n".join(assignment_lines(FOUND)) == (
        "2 of 1,200 records of run_1 for rubric/desk-v1, the nearer to the threshold, the likelier"
        " (seed 3)\n"
        "  inclusion probability 0.05 to 0.5\n"
        "  pass·ed  1 of 900\n"
        "  failed  1 of 300\n"
        "  left out: 1,001 without a response"
    )


def test_a_sample_of_none_has_no_chances() -> None:
    nothing = replace(FOUND, assigned=(), strata={}, left_out={})

    assert len([*assignment_lines(nothing)]) == 1


def test_programs_get_every_record() -> None:
    found = assignment_json(FOUND)

    assert (found["of"], found["by"], found["seed"], found["threshold"]) == (
        1200,
        "near_threshold",
        3,
        0.6,
    )
    assert found["strata"] == {
        "pass\x1bed": {"assigned": 1, "of": 900},
        "failed": {"assigned": 1, "of": 300},
    }
    assert found["assigned"] == [
        {"record_id": "a", "repeat": 0, "inclusion_prob": 0.5, "stratum": None, "score": 0.6},
        {"record_id": "b", "repeat": 1, "inclusion_prob": 0.05, "stratum": None, "score": None},
    ]
