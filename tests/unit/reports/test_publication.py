"""What publishing came to, in text and JSON."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.engine.verdict_changes import ChangedVerdict, Graded, Shift
from steelyard.model.difference import Diff, FieldDifference
from steelyard.model.published import Published, StoredFile
from steelyard.reports.findings import plain
from steelyard.reports.publication import (
    MeasuredShift,
    Publication,
    publication_json,
    publication_lines,
)
from steelyard.stats.paired import paired_difference

PUBLISHED = Published(
    kind="rubric",
    id="basic",
    version="1.1.0",
    contract="check_rubric",
    sha256="0123456789abcdef" * 4,
    published_at="2026-01-15T12:00:00.000+00:00",
    source="rubrics/basic.yaml",
    files=(StoredFile("rubric.json", "0" * 64, 12),),
)
DIFF = Diff(
    old="rubric/basic@1.0.0",
    new="rubric/basic@1.1.0",
    differences=(
        FieldDifference(
            kind="changed", path="scoring.combine", old="min", new="max", is_breaking=True
        ),
    ),
)
MOVED = ChangedVerdict(0, "q1", 0, Graded("evaluated", 0.0, False), Graded("evaluated", 1.0, True))
SHIFT = Shift(
    pairs=2,
    unpaired=1,
    moved=(MOVED,),
    gained=1,
    lost=0,
    p_value=1.0,
    test="exact McNemar test",
    score=paired_difference([1.0, 0.0]).interval,
    is_judged=False,
)


def measured(shift: Shift) -> MeasuredShift:
    return MeasuredShift(
        run_id="run_1",
        old="rubric/basic@1.0.0",
        new="rubric/basic@1.1.0",
        old_run="run_2",
        new_run="run_3",
        shift=shift,
    )


def lines(publication: Publication) -> list[str]:
    return list(publication_lines(publication, plain))


def test_what_was_published_is_one_line() -> None:
    made = Publication(reference="rubric/basic@1.1.0", outcome="published", published=PUBLISHED)

    assert lines(made) == ["rubric/basic@1.1.0  published  sha256 0123456789ab"]
    assert publication_json(made) == {
        "reference": "rubric/basic@1.1.0",
        "outcome": "published",
        "sha256": PUBLISHED.sha256,
        "published_at": PUBLISHED.published_at,
        "refusals": [],
        "warnings": [],
        "bump": None,
        "diff": None,
        "shift": None,
    }


def test_what_speaks_against_it_and_what_must_be_known_follow() -> None:
    made = Publication(
        reference="rubric/basic@1.1.0",
        outcome="refused",
        refusals=("scores moved",),
        warnings=("not tested",),
        bump="minor",
        diff=DIFF,
    )

    assert lines(made) == [
        "rubric/basic@1.1.0  not published",
        "  refused  scores moved",
        "  since rubric/basic@1.0.0 (minor):",
        '  ~ scoring.combine: "min" → "max"',
        "  breaking: 1 of 1 can move scores",
        "  warning  not tested",
    ]
    assert publication_json(made)["sha256"] is None


def test_a_shift_is_told_with_its_tests_and_denominators() -> None:
    made = Publication(reference="r", outcome="refused", shift=measured(SHIFT))

    assert lines(made)[1:] == [
        "  scores moved: the traces of run_1, graded by rubric/basic@1.0.0",
        "  (run_2) and by rubric/basic@1.1.0 (run_3)",
        "    1 of 3 traces moved; 2 have a score in both",
        "    passes  1 gained, 0 lost (exact McNemar test, p = 1)",
        "    score   +0.500 [-0.486, +0.905] (paired score interval, 95 %)",
        "    q1  0.000 fail → 1.000 pass",
    ]


def test_where_nothing_moved_it_is_said() -> None:
    calm = replace(SHIFT, moved=(), score=paired_difference([]).interval)
    said = lines(Publication(reference="r", outcome="published", shift=measured(calm)))

    assert said[1].startswith("  scores did not move:")
    assert len(said) == 5


@pytest.mark.parametrize(
    ("moved", "told"),
    [
        (MOVED._replace(repeat=2), "    q1 (repeat 2)  0.000 fail → 1.000 pass"),
        (MOVED._replace(record_id=None), "    record 0  0.000 fail → 1.000 pass"),
        (
            MOVED._replace(new=Graded("evaluation_error", None, None)),
            "    q1  0.000 fail → evaluation_error",
        ),
    ],
)
def test_a_record_that_moved_is_named(moved: ChangedVerdict, told: str) -> None:
    made = Publication(
        reference="r", outcome="refused", shift=measured(replace(SHIFT, moved=(moved,)))
    )

    assert lines(made)[-1] == told


def test_text_names_the_first_records_and_json_all() -> None:
    many = replace(SHIFT, moved=(MOVED,) * 25)
    made = Publication(reference="r", outcome="refused", shift=measured(many))
    shift = publication_json(made)["shift"]

    assert lines(made)[-1] == "    … and 5 more; --format json lists all"
    assert isinstance(shift, dict)
    assert isinstance(shift["moved"], list)
    assert len(shift["moved"]) == shift["moved_count"] == 25
    assert shift["moved"][0] == {
        "index": 0,
        "record_id": "q1",
        "repeat": 0,
        "old_status": "evaluated",
        "new_status": "evaluated",
        "old_score": 0.0,
        "new_score": 1.0,
        "old_passed": False,
        "new_passed": True,
    }
    assert shift["passes"] == {
        "gained": 1,
        "lost": 0,
        "p_value": 1.0,
        "method": "exact McNemar test",
    }
